// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"
#include "ir/op_schema.h"
#include "ir/ops/shape_helpers.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

Status CheckHandleDtype(const ShapeContext& c, const HandleInfo& handle) {
  const DType wanted = AttrOf<DType>(c, "dtype");
  if (handle.dtype == DType::kInvalid || handle.dtype == wanted) return OkStatus();
  return c.Error(StrCat("the variable is of type ", DTypeName(handle.dtype), ", but dtype is ",
                        DTypeName(wanted)));
}

Status ReadVariableShape(ShapeContext& c) {
  RETURN_IF_ERROR(CheckScalar(c, 0));
  HandleInfo handle = HandleOf(c, 0);
  RETURN_IF_ERROR(CheckHandleDtype(c, handle));
  c.set_output(0, std::move(handle.shape));
  return OkStatus();
}

Status AssignVariableShape(ShapeContext& c) {
  RETURN_IF_ERROR(CheckScalar(c, 0));
  const HandleInfo handle = HandleOf(c, 0);
  RETURN_IF_ERROR(CheckHandleDtype(c, handle));
  return MergeShapes(c, handle.shape, c.input(1)).status();
}

Status VariableShapeShape(ShapeContext& c) {
  c.set_output(0, {HandleOf(c, 0).shape.rank()});
  return OkStatus();
}

// variable[indices], the leading batch_dims of both in common
Status ResourceGatherShape(ShapeContext& c) {
  const HandleInfo handle = HandleOf(c, 0);
  RETURN_IF_ERROR(CheckHandleDtype(c, handle));
  const PartialShape &params = handle.shape, &indices = c.input(1);
  if (!params.has_rank() || !indices.has_rank()) return OkStatus();
  const int64_t batch = AttrOf<int64_t>(c, "batch_dims");
  if (params.rank() < 1 || batch < 0 || batch >= params.rank() || batch > indices.rank()) {
    return c.Error(StrCat("batch_dims ", batch, " does not fit a variable of shape ",
                          params.ToString(), " and indices of shape ", indices.ToString()));
  }
  Dims dims = indices.dims();
  Append(&dims, params, static_cast<int>(batch) + 1, params.rank());
  c.set_output(0, PartialShape(std::move(dims)));
  return OkStatus();
}

// ResourceApply…: variable and slots are resources of the gradient's shape; all else are scalars.
template <int kGradient>
Status ApplyShape(ShapeContext& c) {
  PartialShape shape = c.input(kGradient);
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (i == kGradient) continue;
    RETURN_IF_ERROR(CheckScalar(c, i));
    if (c.node().input(i).dtype() != DType::kResource) continue;
    ASSIGN_OR_RETURN(shape, MergeShapes(c, shape, HandleOf(c, i).shape));
  }
  return OkStatus();
}

Status RefVariableShape(ShapeContext& c) {
  c.set_output(0, AttrOf<PartialShape>(c, "shape"));
  return OkStatus();
}

Status RefAssignShape(ShapeContext& c) {
  const AttrValue* validate = c.node().FindAttr("validate_shape");
  if (validate != nullptr && !*validate->As<bool>()) {
    c.set_output(0, c.input(1));
    return OkStatus();
  }
  ASSIGN_OR_RETURN(PartialShape shape, MergeShapes(c, c.input(0), c.input(1)));
  c.set_output(0, std::move(shape));
  return OkStatus();
}

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"VarHandleOp", "", "resource: resource",
     "container: string = '', shared_name: string = '', debug_name: string = '', dtype: type,"
     " shape: shape, allowed_devices: list(string) = []", kReadsResource, ScalarShape},
    {"VarIsInitializedOp", "resource: resource", "is_initialized: bool",
     "", kReadsResource, ScalarShape},
    {"ReadVariableOp", "resource: resource", "value: dtype",
     "dtype: type", kReadsResource, ReadVariableShape},
    {"VariableShape", "input: resource", "output: out_type",
     "out_type: index = int32", kReadsResource, VariableShapeShape},
    {"ResourceGather", "resource: resource, indices: Tindices", "output: dtype",
     "batch_dims: int = 0, validate_indices: bool = true, dtype: type, Tindices: index",
     kReadsResource, ResourceGatherShape},
    {"DisableCopyOnRead", "resource: resource", "", "", kReadsResource, NoOutputs},
    {"AssignVariableOp", "resource: resource, value: dtype", "",
     "dtype: type, validate_shape: bool = false", kWritesResource, AssignVariableShape},
    {"AssignAddVariableOp", "resource: resource, value: dtype", "",
     "dtype: type", kWritesResource, AssignVariableShape},
    {"AssignSubVariableOp", "resource: resource, value: dtype", "",
     "dtype: type", kWritesResource, AssignVariableShape},
    {"DestroyResourceOp", "resource: resource", "",
     "ignore_lookup_error: bool = true", kWritesResource, NoOutputs},
    {"ResourceScatterAdd", "resource: resource, indices: Tindices, updates: dtype", "",
     "dtype: numeric, Tindices: index", kWritesResource, NoOutputs},
    {"ResourceScatterUpdate", "resource: resource, indices: Tindices, updates: dtype", "",
     "dtype: type, Tindices: index", kWritesResource, NoOutputs},
    {"ResourceApplyAdagrad", "var: resource, accum: resource, lr: T, grad: T", "",
     "T: numeric, use_locking: bool = false, update_slots: bool = true",
     kWritesResource, ApplyShape<3>},
    {"ResourceApplyFtrl",
     "var: resource, accum: resource, linear: resource, grad: T, lr: T, l1: T, l2: T, lr_power:"
     " T",
     "",
     "T: numeric, use_locking: bool = false, multiply_linear_by_lr: bool = false",
     kWritesResource, ApplyShape<3>},
    {"ResourceApplyFtrlV2",
     "var: resource, accum: resource, linear: resource, grad: T, lr: T, l1: T, l2: T,"
     " l2_shrinkage: T, lr_power: T",
     "",
     "T: numeric, use_locking: bool = false, multiply_linear_by_lr: bool = false",
     kWritesResource, ApplyShape<3>},
    {"ResourceSparseApplyAdagrad",
     "var: resource, accum: resource, lr: T, grad: T, indices: Tindices",
     "",
     "T: numeric, Tindices: index, use_locking: bool = false, update_slots: bool = true",
     kWritesResource, NoOutputs},
    {"ResourceSparseApplyAdagradV2",
     "var: resource, accum: resource, lr: T, epsilon: T, grad: T, indices: Tindices",
     "",
     "T: numeric, Tindices: index, use_locking: bool = false, update_slots: bool = true",
     kWritesResource, NoOutputs},
    {"ResourceSparseApplyFtrl",
     "var: resource, accum: resource, linear: resource, grad: T, indices: Tindices, lr: T, l1:"
     " T, l2: T, lr_power: T",
     "",
     "T: numeric, Tindices: index, use_locking: bool = false, multiply_linear_by_lr: bool ="
     " false", kWritesResource, NoOutputs},
    {"ResourceSparseApplyFtrlV2",
     "var: resource, accum: resource, linear: resource, grad: T, indices: Tindices, lr: T, l1:"
     " T, l2: T, l2_shrinkage: T, lr_power: T",
     "",
     "T: numeric, Tindices: index, use_locking: bool = false, multiply_linear_by_lr: bool ="
     " false", kWritesResource, NoOutputs},
    {"ResourceSparseApplyKerasMomentum",
     "var: resource, accum: resource, lr: T, grad: T, indices: Tindices, momentum: T",
     "",
     "T: numeric, Tindices: index, use_locking: bool = false, use_nesterov: bool = false",
     kWritesResource, NoOutputs},
    {"ResourceSparseApplyMomentum",
     "var: resource, accum: resource, lr: T, grad: T, indices: Tindices, momentum: T",
     "",
     "T: numeric, Tindices: index, use_locking: bool = false, use_nesterov: bool = false",
     kWritesResource, NoOutputs},
    {"ResourceApplyGradientDescent", "var: resource, alpha: T, delta: T", "",
     "T: numeric, use_locking: bool = false", kWritesResource, ApplyShape<2>},
    {"ResourceApplyMomentum", "var: resource, accum: resource, lr: T, grad: T, momentum: T", "",
     "T: numeric, use_locking: bool = false, use_nesterov: bool = false",
     kWritesResource, ApplyShape<3>},
    {"ResourceApplyKerasMomentum",
     "var: resource, accum: resource, lr: T, grad: T, momentum: T",
     "",
     "T: numeric, use_locking: bool = false, use_nesterov: bool = false",
     kWritesResource, ApplyShape<3>},
    {"ResourceApplyAdam",
     "var: resource, m: resource, v: resource, beta1_power: T, beta2_power: T, lr: T, beta1: T,"
     " beta2: T, epsilon: T, grad: T",
     "",
     "T: numeric, use_locking: bool = false, use_nesterov: bool = false",
     kWritesResource, ApplyShape<9>},
    {"ResourceApplyAdagradV2", "var: resource, accum: resource, lr: T, epsilon: T, grad: T", "",
     "T: numeric, use_locking: bool = false, update_slots: bool = true",
     kWritesResource, ApplyShape<4>},
    {"ResourceApplyRMSProp",
     "var: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: T, epsilon: T, grad:"
     " T",
     "",
     "T: numeric, use_locking: bool = false", kWritesResource, ApplyShape<7>},
    {"VariableV2", "", "ref: dtype",
     "shape: shape, dtype: type, container: string = '', shared_name: string = ''",
     kStateful, RefVariableShape},
    {"Variable", "", "ref: dtype",
     "shape: shape, dtype: type, container: string = '', shared_name: string = ''",
     kStateful, RefVariableShape},
    {"Assign", "ref: T, value: T", "output_ref: T",
     "T: type, validate_shape: bool = true, use_locking: bool = true", kStateful, RefAssignShape},
    {"AssignAdd", "ref: T, value: T", "output_ref: T",
     "T: numeric, use_locking: bool = false", kStateful, RefAssignShape},
    {"AssignSub", "ref: T, value: T", "output_ref: T",
     "T: numeric, use_locking: bool = false", kStateful, RefAssignShape},
    {"ScatterUpdate", "ref: T, indices: Tindices, updates: T", "output_ref: T",
     "T: type, Tindices: index, use_locking: bool = true", kStateful, UnchangedShape},
    {"ScatterAdd", "ref: T, indices: Tindices, updates: T", "output_ref: T",
     "T: numeric, Tindices: index, use_locking: bool = false", kStateful, UnchangedShape},
    {"ScatterSub", "ref: T, indices: Tindices, updates: T", "output_ref: T",
     "T: numeric, Tindices: index, use_locking: bool = false", kStateful, UnchangedShape},
    {"ScatterMul", "ref: T, indices: Tindices, updates: T", "output_ref: T",
     "T: numeric, Tindices: index, use_locking: bool = false", kStateful, UnchangedShape},
    {"ScatterDiv", "ref: T, indices: Tindices, updates: T", "output_ref: T",
     "T: numeric, Tindices: index, use_locking: bool = false", kStateful, UnchangedShape},
    {"ScatterMin", "ref: T, indices: Tindices, updates: T", "output_ref: T",
     "T: {bfloat16, float16, float32, float64, int32, int64}, Tindices: index, use_locking: bool"
     " = false", kStateful, UnchangedShape},
    {"ScatterMax", "ref: T, indices: Tindices, updates: T", "output_ref: T",
     "T: {bfloat16, float16, float32, float64, int32, int64}, Tindices: index, use_locking: bool"
     " = false", kStateful, UnchangedShape},
    {"IsVariableInitialized", "ref: dtype", "is_initialized: bool", "dtype: type", kStateful, ScalarShape},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> ResourceOps() { return kOps; }

}  // namespace slipway::ir
