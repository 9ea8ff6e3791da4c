// SPDX-License-Identifier: Apache-2.0
//
// Sparse tensors: indices [n, rank], values [n], shape [rank]. How many elements an output has is
// seen when it is computed.
#include <algorithm>

#include "base/strings.h"
#include "ir/ops/families.h"
#include "ir/ops/shape_helpers.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

// The rank that an input, the vector of sizes, stands for; -1 if unknown.
StatusOr<int64_t> RankFrom(const ShapeContext& c, int shape_input) {
  ASSIGN_OR_RETURN(const PartialShape shape, c.InputOfRank(shape_input, 1));
  return shape.has_rank() ? shape.dim(0) : -1;
}

// Indices, values and, if there is a third output, the shape of as many dimensions.
template <int kShape>
Status SparseResult(ShapeContext& c) {
  ASSIGN_OR_RETURN(const int64_t rank, RankFrom(c, kShape));
  c.set_output(0, {-1, rank});
  c.set_output(1, {-1});
  if (c.node().num_outputs() > 2) c.set_output(2, {rank});
  return OkStatus();
}

Status ReorderShape(ShapeContext& c) {
  RETURN_IF_ERROR(c.InputOfRank(0, 2).status());
  RETURN_IF_ERROR(c.InputOfRank(1, 1).status());
  c.set_output(0, c.input(0));
  c.set_output(1, c.input(1));
  return OkStatus();
}

Status ConcatShape(ShapeContext& c) {
  const int pieces = c.num_inputs() / 3;
  ASSIGN_OR_RETURN(const int64_t rank, RankFrom(c, 2 * pieces));
  c.set_output(0, {-1, rank});
  c.set_output(1, {-1});
  c.set_output(2, {rank});
  return OkStatus();
}

Status FillEmptyRowsShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(const int64_t rank, RankFrom(c, 2));
  RETURN_IF_ERROR(c.InputOfRank(1, 1).status());
  const std::optional<Dims> shape = ConstIntegers(c, 2);
  const int64_t rows = shape && !shape->empty() ? std::max<int64_t>(shape->front(), -1) : -1;
  c.set_output(0, {-1, rank});
  c.set_output(1, {-1});
  c.set_output(2, {rows});
  c.set_output(3, {c.input(1).has_rank() ? c.input(1).dim(0) : -1});
  return OkStatus();
}

Status SparseMatMulShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(const PartialShape a, c.InputOfRank(0, 2));
  ASSIGN_OR_RETURN(const PartialShape b, c.InputOfRank(1, 2));
  const int ta = AttrOf<bool>(c, "transpose_a"), tb = AttrOf<bool>(c, "transpose_b");
  RETURN_IF_ERROR(MergeDims(c, a.dim(1 - ta), b.dim(tb)).status());
  c.set_output(0, {a.dim(ta), b.dim(1 - tb)});
  return OkStatus();
}

Status DenseProductShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(const PartialShape b, c.InputOfRank(3, 2));
  const int aa = AttrOf<bool>(c, "adjoint_a"), ab = AttrOf<bool>(c, "adjoint_b");
  const std::optional<Dims> shape = ConstIntegers(c, 2);
  const bool known = shape && shape->size() == 2;
  const int64_t rows = known ? std::max<int64_t>((*shape)[static_cast<size_t>(aa)], -1) : -1;
  c.set_output(0, {rows, b.has_rank() ? b.dim(1 - ab) : -1});
  return OkStatus();
}

Status ReshapeShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(const PartialShape indices, c.InputOfRank(0, 2));
  ASSIGN_OR_RETURN(const int64_t rank, RankFrom(c, 2));
  c.set_output(0, {indices.has_rank() ? indices.dim(0) : -1, rank});
  c.set_output(1, {rank});
  return OkStatus();
}

Status ReduceShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(const int64_t rank, RankFrom(c, 2));
  if (AttrOf<bool>(c, "keep_dims") && rank >= 0 && rank <= Shape::kMaxRank) {
    c.set_output(0, PartialShape::UnknownOfRank(static_cast<int>(rank)));
  }
  return OkStatus();
}

Status ReduceSparseShape(ShapeContext& c) {
  c.set_output(0, {-1, -1});
  c.set_output(1, {-1});
  c.set_output(2, {-1});
  return OkStatus();
}

template <int kValues>
Status ShapeOfInput(ShapeContext& c) {
  c.set_output(0, c.input(kValues));
  return OkStatus();
}

Status ToDenseShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(PartialShape shape, ShapeFromInput(c, 1));
  c.set_output(0, std::move(shape));
  return OkStatus();
}

// The rank is that of a dense operand, or the size of a sparse one's shape.
Status SetOperationShape(ShapeContext& c) {
  const bool dense = c.node().op().starts_with("Dense");
  int64_t rank = -1;
  if (dense && c.input(0).has_rank()) rank = c.input(0).rank();
  const PartialShape& shape = c.input(c.num_inputs() - 1);
  if (c.num_inputs() > 2 && shape.rank() == 1 && rank < 0) rank = shape.dim(0);
  c.set_output(0, PartialShape({-1, rank}));
  c.set_output(1, PartialShape({-1}));
  c.set_output(2, PartialShape({rank}));
  return OkStatus();
}

Status SetSizeShape(ShapeContext& c) {
  const PartialShape& shape = c.input(2);
  if (shape.rank() == 1 && shape.dim(0) > 0 && shape.dim(0) <= Shape::kMaxRank) {
    c.set_output(0, PartialShape::UnknownOfRank(static_cast<int>(shape.dim(0)) - 1));
  }
  return OkStatus();
}

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"DenseToDenseSetOperation",
     "set1: T, set2: T",
     "result_indices: int64, result_values: T, result_shape: int64",
     "set_operation: string, validate_indices: bool = true, T: {int16, int32, int64, int8,"
     " string, uint16, uint8}", kPure, SetOperationShape},
    {"DenseToSparseSetOperation",
     "set1: T, set2_indices: int64, set2_values: T, set2_shape: int64",
     "result_indices: int64, result_values: T, result_shape: int64",
     "set_operation: string, validate_indices: bool = true, T: {int16, int32, int64, int8,"
     " string, uint16, uint8}", kPure, SetOperationShape},
    {"SetSize", "set_indices: int64, set_values: T, set_shape: int64", "size: int32",
     "validate_indices: bool = true, T: {int16, int32, int64, int8, string, uint16, uint8}",
     kPure, SetSizeShape},
    {"SparseToSparseSetOperation",
     "set1_indices: int64, set1_values: T, set1_shape: int64, set2_indices: int64, set2_values:"
     " T, set2_shape: int64",
     "result_indices: int64, result_values: T, result_shape: int64",
     "set_operation: string, validate_indices: bool = true, T: {int16, int32, int64, int8,"
     " string, uint16, uint8}", kPure, SetOperationShape},
    {"DenseCountSparseOutput",
     "values: T, weights: output_type",
     "output_indices: int64, output_values: output_type, output_dense_shape: int64",
     "T: index, minlength: int >= -1 = -1, maxlength: int >= -1 = -1, binary_output: bool,"
     " output_type: {float32, float64, int32, int64}", kPure, ReduceSparseShape},
    {"SparseAdd",
     "a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape:"
     " int64, thresh: Treal",
     "sum_indices: int64, sum_values: T, sum_shape: int64",
     "T: numeric, Treal: realnumeric", kPure, SparseResult<2>},
    {"SparseConcat",
     "indices: N * int64, values: N * T, shapes: N * int64",
     "output_indices: int64, output_values: T, output_shape: int64",
     "concat_dim: int, N: int >= 2, T: type", kPure, ConcatShape},
    {"SparseCountSparseOutput",
     "indices: int64, values: T, dense_shape: int64, weights: output_type",
     "output_indices: int64, output_values: output_type, output_dense_shape: int64",
     "T: index, minlength: int >= -1 = -1, maxlength: int >= -1 = -1, binary_output: bool,"
     " output_type: {float32, float64, int32, int64}", kPure, ReduceSparseShape},
    {"SparseDenseCwiseAdd",
     "sp_indices: int64, sp_values: T, sp_shape: int64, dense: T",
     "output: T",
     "T: numeric", kPure, ShapeOfInput<1>},
    {"SparseDenseCwiseDiv",
     "sp_indices: int64, sp_values: T, sp_shape: int64, dense: T",
     "output: T",
     "T: numeric", kPure, ShapeOfInput<1>},
    {"SparseDenseCwiseMul",
     "sp_indices: int64, sp_values: T, sp_shape: int64, dense: T",
     "output: T",
     "T: numeric", kPure, ShapeOfInput<1>},
    {"SparseFillEmptyRows",
     "indices: int64, values: T, dense_shape: int64, default_value: T",
     "output_indices: int64, output_values: T, empty_row_indicator: bool, reverse_index_map: int64",
     "T: type", kPure, FillEmptyRowsShape},
    {"SparseMatMul", "a: Ta, b: Tb", "product: float32",
     "transpose_a: bool = false, transpose_b: bool = false, a_is_sparse: bool = false,"
     " b_is_sparse: bool = false, Ta: {bfloat16, float32} = float32, Tb: {bfloat16, float32} ="
     " float32", kPure, SparseMatMulShape},
    {"SparseReduceMax",
     "input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32",
     "output: T",
     "keep_dims: bool = false, T: realnumeric", kPure, ReduceShape},
    {"SparseReduceMaxSparse",
     "input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32",
     "output_indices: int64, output_values: T, output_shape: int64",
     "keep_dims: bool = false, T: realnumeric", kPure, ReduceSparseShape},
    {"SparseReduceSum",
     "input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32",
     "output: T",
     "keep_dims: bool = false, T: numeric", kPure, ReduceShape},
    {"SparseReduceSumSparse",
     "input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32",
     "output_indices: int64, output_values: T, output_shape: int64",
     "keep_dims: bool = false, T: numeric", kPure, ReduceSparseShape},
    {"SparseReorder",
     "input_indices: int64, input_values: T, input_shape: int64",
     "output_indices: int64, output_values: T",
     "T: type", kPure, ReorderShape},
    {"SparseReshape",
     "input_indices: int64, input_shape: int64, new_shape: int64",
     "output_indices: int64, output_shape: int64",
     "", kPure, ReshapeShape},
    {"SparseSlice",
     "indices: int64, values: T, shape: int64, start: int64, size: int64",
     "output_indices: int64, output_values: T, output_shape: int64",
     "T: type", kPure, SparseResult<2>},
    {"SparseSoftmax", "sp_indices: int64, sp_values: T, sp_shape: int64", "output: T",
     "T: {float16, float32, float64}", kPure, ShapeOfInput<1>},
    {"SparseSparseMaximum",
     "a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape:"
     " int64",
     "output_indices: int64, output_values: T",
     "T: realnumeric", kPure, SparseResult<2>},
    {"SparseSparseMinimum",
     "a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape:"
     " int64",
     "output_indices: int64, output_values: T",
     "T: numeric", kPure, SparseResult<2>},
    {"SparseTensorDenseAdd",
     "a_indices: Tindices, a_values: T, a_shape: Tindices, b: T",
     "output: T",
     "T: numeric, Tindices: index", kPure, ShapeOfInput<3>},
    {"SparseTensorDenseMatMul",
     "a_indices: Tindices, a_values: T, a_shape: int64, b: T",
     "product: T",
     "T: type, Tindices: index = int64, adjoint_a: bool = false, adjoint_b: bool = false",
     kPure, DenseProductShape},
    {"SparseToDense",
     "sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, default_value: T",
     "dense: T",
     "validate_indices: bool = true, T: type, Tindices: index", kPure, ToDenseShape},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> SparseOps() { return kOps; }

}  // namespace slipway::ir
