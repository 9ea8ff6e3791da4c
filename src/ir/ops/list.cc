// SPDX-License-Identifier: Apache-2.0
//
// Values that hold tensors: lists and optionals (variants), arrays and stacks (resources).
#include "ir/op_schema.h"
#include "ir/ops/shape_helpers.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

// Sets an output to the element shape that input i gives: sizes, or the scalar -1 (unknown).
Status SetElementShape(ShapeContext& c, int i, int output) {
  if (c.input(i).rank() != 1) return OkStatus();
  ASSIGN_OR_RETURN(PartialShape shape, ShapeFromInput(c, i));
  c.set_output(output, std::move(shape));
  return OkStatus();
}

Status GetItemShape(ShapeContext& c) { return SetElementShape(c, 2, 0); }

Status PopBackShape(ShapeContext& c) {
  c.set_output(0, PartialShape({}));
  return SetElementShape(c, 1, 1);
}

Status SetRows(ShapeContext& c, int64_t rows, int shape_input) {
  if (c.input(shape_input).rank() != 1) return OkStatus();
  ASSIGN_OR_RETURN(const PartialShape shape, ShapeFromInput(c, shape_input));
  if (!shape.has_rank()) return OkStatus();
  Dims dims = {rows};
  Append(&dims, shape, 0, shape.rank());
  c.set_output(0, PartialShape(std::move(dims)));
  return OkStatus();
}

Status StackShape(ShapeContext& c) { return SetRows(c, AttrOf<int64_t>(c, "num_elements"), 1); }

Status GatherShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(const PartialShape indices, c.InputOfRank(1, 1));
  return SetRows(c, indices.dim(0), 2);
}

Status ConcatShape(ShapeContext& c) {
  c.set_output(1, PartialShape({-1}));
  return OkStatus();
}

// A handle and a flow.
Status ArrayShape(ShapeContext& c) {
  RETURN_IF_ERROR(CheckScalar(c, 0));
  c.set_output(0, PartialShape({}));
  c.set_output(1, PartialShape({}));
  return OkStatus();
}

Status PushShape(ShapeContext& c) {
  c.set_output(0, c.input(1));
  return OkStatus();
}

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"EmptyTensorList", "element_shape: shape_type, max_num_elements: int32", "handle: variant",
     "element_dtype: type, shape_type: index", kPure, ScalarShape},
    {"TensorListReserve", "element_shape: shape_type, num_elements: int32", "handle: variant",
     "element_dtype: type, shape_type: index", kPure, ScalarShape},
    {"TensorListFromTensor",
     "tensor: element_dtype, element_shape: shape_type",
     "output_handle: variant",
     "element_dtype: type, shape_type: index", kPure, ScalarShape},
    {"TensorListPushBack", "input_handle: variant, tensor: element_dtype", "output_handle: variant",
     "element_dtype: type", kPure, ScalarShape},
    {"TensorListSetItem",
     "input_handle: variant, index: int32, item: element_dtype",
     "output_handle: variant",
     "element_dtype: type, resize_if_index_out_of_bounds: bool = false", kPure, ScalarShape},
    {"TensorListResize", "input_handle: variant, size: int32", "output_handle: variant",
     "", kPure, ScalarShape},
    {"TensorListSplit",
     "tensor: element_dtype, element_shape: shape_type, lengths: int64",
     "output_handle: variant",
     "element_dtype: type, shape_type: index", kPure, ScalarShape},
    {"TensorListScatter",
     "tensor: element_dtype, indices: int32, element_shape: shape_type",
     "output_handle: variant",
     "element_dtype: type, shape_type: index", kPure, ScalarShape},
    {"TensorListScatterV2",
     "tensor: element_dtype, indices: int32, element_shape: shape_type, num_elements: int32",
     "output_handle: variant",
     "element_dtype: type, shape_type: index", kPure, ScalarShape},
    {"TensorListScatterIntoExistingList",
     "input_handle: variant, tensor: element_dtype, indices: int32",
     "output_handle: variant",
     "element_dtype: type", kPure, ScalarShape},
    {"TensorListPushBackBatch",
     "input_handles: variant, tensor: element_dtype",
     "output_handles: variant",
     "element_dtype: type", kPure, UnchangedShape},
    {"TensorListConcatLists", "input_a: variant, input_b: variant", "output: variant",
     "element_dtype: type", kPure, UnchangedShape},
    {"TensorListPopBack",
     "input_handle: variant, element_shape: int32",
     "output_handle: variant, tensor: element_dtype",
     "element_dtype: type", kPure, PopBackShape},
    {"TensorListGetItem",
     "input_handle: variant, index: int32, element_shape: Tshape",
     "item: element_dtype",
     "element_dtype: type, Tshape: index = int32", kPure, GetItemShape},
    {"TensorListStack", "input_handle: variant, element_shape: int32", "tensor: element_dtype",
     "element_dtype: type, num_elements: int = -1", kPure, StackShape},
    {"TensorListGather",
     "input_handle: variant, indices: int32, element_shape: int32",
     "values: element_dtype",
     "element_dtype: type", kPure, GatherShape},
    {"TensorListLength", "input_handle: variant", "length: int32", "", kPure, ScalarShape},
    {"TensorListElementShape", "input_handle: variant", "element_shape: shape_type",
     "shape_type: index", kPure, nullptr},
    {"TensorListConcat", "input_handle: variant", "tensor: element_dtype, lengths: int64",
     "element_dtype: type, element_shape: shape = unknown", kPure, ConcatShape},
    {"TensorListConcatV2",
     "input_handle: variant, element_shape: shape_type, leading_dims: int64",
     "tensor: element_dtype, lengths: int64",
     "element_dtype: type, shape_type: index", kPure, ConcatShape},
    {"OptionalFromValue", "components: Toutput_types", "optional: variant",
     "Toutput_types: list(type) >= 1", kPure, ScalarShape},
    {"OptionalGetValue", "optional: variant", "components: output_types",
     "output_types: list(type) >= 1, output_shapes: list(shape) >= 1", kPure, nullptr},
    {"OptionalHasValue", "optional: variant", "has_value: bool", "", kPure, ScalarShape},
    {"OptionalNone", "", "optional: variant", "", kPure, ScalarShape},
    {"TensorArrayV3", "size: int32", "handle: resource, flow: float32",
     "dtype: type, element_shape: shape = unknown, dynamic_size: bool = false, clear_after_read:"
     " bool = true, identical_element_shapes: bool = false, tensor_array_name: string = ''",
     kRandom, ArrayShape},
    {"TensorArrayWriteV3",
     "handle: resource, index: int32, value: T, flow_in: float32",
     "flow_out: float32",
     "T: type", kRandom, ScalarShape},
    {"TensorArrayScatterV3",
     "handle: resource, indices: int32, value: T, flow_in: float32",
     "flow_out: float32",
     "T: type", kRandom, ScalarShape},
    {"TensorArraySplitV3",
     "handle: resource, value: T, lengths: int64, flow_in: float32",
     "flow_out: float32",
     "T: type", kRandom, ScalarShape},
    {"TensorArrayReadV3", "handle: resource, index: int32, flow_in: float32", "value: dtype",
     "dtype: type", kReadsResource, nullptr},
    {"TensorArrayGatherV3", "handle: resource, indices: int32, flow_in: float32", "value: dtype",
     "dtype: type, element_shape: shape = unknown", kReadsResource, nullptr},
    {"TensorArrayConcatV3", "handle: resource, flow_in: float32", "value: dtype, lengths: int64",
     "dtype: type, element_shape_except0: shape = unknown", kReadsResource, nullptr},
    {"TensorArraySizeV3", "handle: resource, flow_in: float32", "size: int32",
     "", kReadsResource, ScalarShape},
    {"TensorArrayCloseV3", "handle: resource", "", "", kWritesResource, NoOutputs},
    {"TensorArrayGradV3",
     "handle: resource, flow_in: float32",
     "grad_handle: resource, flow_out: float32",
     "source: string", kRandom, ArrayShape},
    {"TensorArrayGradWithShape",
     "handle: resource, flow_in: float32, shape_to_prepend: int32",
     "grad_handle: resource, flow_out: float32",
     "source: string", kRandom, ArrayShape},
    {"StackV2", "max_size: int32", "handle: resource",
     "elem_type: type, stack_name: string = ''", kRandom, ScalarShape},
    {"StackPushV2", "handle: resource, elem: T", "output: T",
     "T: type, swap_memory: bool = false", kWritesResource, PushShape},
    {"StackPopV2", "handle: resource", "elem: elem_type", "elem_type: type", kWritesResource, nullptr},
    {"StackCloseV2", "handle: resource", "", "", kWritesResource, NoOutputs},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> ListOps() { return kOps; }

}  // namespace slipway::ir
