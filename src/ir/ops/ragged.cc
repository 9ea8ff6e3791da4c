// SPDX-License-Identifier: Apache-2.0
//
// Ragged tensors: how many values there are is not known before they are.
#include "ir/op_schema.h"
#include "ir/ops/shape_helpers.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

Status ToTensorShape(ShapeContext& c) {
  if (const auto wanted = ConstIntegers(c, 0); wanted && c.input(0).rank() == 1) {
    Dims dims;
    for (int64_t dim : *wanted) dims.push_back(dim < 0 ? -1 : dim);
    c.set_output(0, PartialShape(std::move(dims)));
    return OkStatus();
  }
  if (!c.input(1).has_rank() || c.input(1).rank() < 1) return OkStatus();
  int rank = c.input(1).rank();
  const auto& types = AttrOf<std::vector<std::string>>(c, "row_partition_types");
  for (const std::string& type : types) rank += type != "FIRST_DIM_SIZE";
  if (rank <= Shape::kMaxRank) c.set_output(0, PartialShape::UnknownOfRank(rank));
  return OkStatus();
}

Status ToSparseShape(ShapeContext& c) {
  c.set_output(0, PartialShape({-1, -1}));
  c.set_output(1, PartialShape({-1}));
  c.set_output(2, PartialShape({-1}));
  return OkStatus();
}

Status TwoVectors(ShapeContext& c) {
  c.set_output(0, PartialShape({-1}));
  c.set_output(1, PartialShape({-1}));
  return OkStatus();
}

Status BincountShape(ShapeContext& c) {
  c.set_output(0, PartialShape({-1, -1}));
  return OkStatus();
}

Status ToVariantShape(ShapeContext& c) {
  c.set_output(0, AttrOf<bool>(c, "batched_input") ? PartialShape({-1}) : PartialShape({}));
  return OkStatus();
}

Status FromVariantShape(ShapeContext& c) {
  for (int i = 0; i + 1 < c.node().num_outputs(); ++i) c.set_output(i, PartialShape({-1}));
  return OkStatus();
}

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"RaggedTensorToTensor",
     "shape: Tshape, values: T, default_value: T, row_partition_tensors:"
     " num_row_partition_tensors * Tindex",
     "result: T",
     "T: type, Tindex: index, Tshape: index, num_row_partition_tensors: int >= 1,"
     " row_partition_types: list(string)", kPure, ToTensorShape},
    {"RaggedTensorToVariant",
     "rt_nested_splits: RAGGED_RANK * Tsplits, rt_dense_values: Tvalues",
     "encoded_ragged: variant",
     "RAGGED_RANK: int >= 0, Tvalues: type, Tsplits: index = int64, batched_input: bool",
     kPure, ToVariantShape},
    {"RaggedTensorFromVariant",
     "encoded_ragged: variant",
     "output_nested_splits: output_ragged_rank * Tsplits, output_dense_values: Tvalues",
     "input_ragged_rank: int >= -1, output_ragged_rank: int >= 0, Tvalues: type, Tsplits: index"
     " = int64", kPure, FromVariantShape},
    {"RaggedTensorToSparse",
     "rt_nested_splits: RAGGED_RANK * Tsplits, rt_dense_values: T",
     "sparse_indices: int64, sparse_values: T, sparse_dense_shape: int64",
     "RAGGED_RANK: int >= 1, T: type, Tsplits: index = int64", kPure, ToSparseShape},
    {"RaggedRange",
     "starts: T, limits: T, deltas: T",
     "rt_nested_splits: Tsplits, rt_dense_values: T",
     "T: {bfloat16, float32, float64, int32, int64} = int32, Tsplits: index = int64",
     kPure, TwoVectors},
    {"RaggedGather",
     "params_nested_splits: PARAMS_RAGGED_RANK * Tsplits, params_dense_values: Tvalues, indices:"
     " Tindices",
     "output_nested_splits: OUTPUT_RAGGED_RANK * Tsplits, output_dense_values: Tvalues",
     "Tvalues: type, Tindices: index, Tsplits: index = int64, PARAMS_RAGGED_RANK: int >= 1,"
     " OUTPUT_RAGGED_RANK: int >= 0", kPure, nullptr},
    {"RaggedBincount", "splits: int64, values: Tidx, size: Tidx, weights: T", "output: T",
     "Tidx: index, T: {float32, float64, int32, int64}, binary_output: bool = false",
     kPure, BincountShape},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> RaggedOps() { return kOps; }

}  // namespace slipway::ir
