// SPDX-License-Identifier: Apache-2.0
//
// Segments, sets, partitions and updates by index.
#include <algorithm>

#include "base/strings.h"
#include "ir/ops/families.h"
#include "ir/ops/shape_helpers.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

// [segments] + data[1:]; the number is input `kCount`, if there is one.
template <int kCount>
Status SegmentShape(ShapeContext& c) {
  RETURN_IF_ERROR(CheckMinRank(c, 0, 1));
  RETURN_IF_ERROR(c.InputOfRank(1, 1).status());
  const PartialShape& data = c.input(0);
  if (!data.has_rank()) return OkStatus();
  int64_t rows = -1;
  if (kCount > 0) {
    RETURN_IF_ERROR(CheckScalar(c, kCount));
    rows = std::max<int64_t>(ConstInteger(c, kCount).value_or(-1), -1);
  }
  Dims dims = {rows};
  Append(&dims, data, 1, data.rank());
  c.set_output(0, PartialShape(std::move(dims)));
  return OkStatus();
}

Status UniqueShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(const PartialShape x, c.InputOfRank(0, 1));
  c.set_output(0, {-1});
  c.set_output(1, x);
  if (c.node().num_outputs() == 3) c.set_output(2, {-1});
  return OkStatus();
}

Status UniqueV2Shape(ShapeContext& c) {
  if (c.input(0).has_rank()) c.set_output(0, PartialShape::UnknownOfRank(c.input(0).rank()));
  c.set_output(1, {-1});
  if (c.node().num_outputs() == 3) c.set_output(2, {-1});
  return OkStatus();
}

Status ListDiffShape(ShapeContext& c) {
  RETURN_IF_ERROR(c.InputOfRank(0, 1).status());
  RETURN_IF_ERROR(c.InputOfRank(1, 1).status());
  c.set_output(0, {-1});
  c.set_output(1, {-1});
  return OkStatus();
}

Status NthElementShape(ShapeContext& c) {
  RETURN_IF_ERROR(CheckMinRank(c, 0, 1));
  RETURN_IF_ERROR(CheckScalar(c, 1));
  const PartialShape& in = c.input(0);
  if (in.has_rank()) c.set_output(0, PartialShape(SubDims(in, 0, in.rank() - 1)));
  return OkStatus();
}

Status BoundShape(ShapeContext& c) {
  RETURN_IF_ERROR(c.InputOfRank(0, 2).status());
  RETURN_IF_ERROR(c.InputOfRank(1, 2).status());
  c.set_output(0, c.input(1));
  return OkStatus();
}

Status PartitionShape(ShapeContext& c) {
  const PartialShape &data = c.input(0), &of = c.input(1);
  if (!data.has_rank() || !of.has_rank()) return OkStatus();
  RETURN_IF_ERROR(CheckMinRank(c, 0, of.rank()));
  RETURN_IF_ERROR(MergeShapes(c, PartialShape(SubDims(data, 0, of.rank())), of).status());
  Dims dims = {-1};
  Append(&dims, data, of.rank(), data.rank());
  for (int i = 0; i < c.node().num_outputs(); ++i) c.set_output(i, PartialShape(dims));
  return OkStatus();
}

Status StitchShape(ShapeContext& c) {
  const int pieces = c.num_inputs() / 2;
  PartialShape row;
  for (int p = 0; p < pieces; ++p) {
    const PartialShape &indices = c.input(p), &data = c.input(pieces + p);
    if (!indices.has_rank() || !data.has_rank()) continue;
    RETURN_IF_ERROR(CheckMinRank(c, pieces + p, indices.rank()));
    ASSIGN_OR_RETURN(row,
                     MergeShapes(c, row, PartialShape(SubDims(data, indices.rank(), data.rank()))));
  }
  if (!row.has_rank()) return OkStatus();
  Dims dims = {-1};
  Append(&dims, row, 0, row.rank());
  c.set_output(0, PartialShape(std::move(dims)));
  return OkStatus();
}

Status ReverseSequenceShape(ShapeContext& c) {
  RETURN_IF_ERROR(c.InputOfRank(1, 1).status());
  return UnchangedShape(c);
}

Status RollShape(ShapeContext& c) {
  RETURN_IF_ERROR(CheckMinRank(c, 0, 1));
  return UnchangedShape(c);
}

Status UnravelIndexShape(ShapeContext& c) {
  const PartialShape &indices = c.input(0), &dims = c.input(1);
  if (!indices.has_rank() || !dims.has_rank() || dims.rank() != 1) return OkStatus();
  c.set_output(0, indices.rank() == 0 ? PartialShape{dims.dim(0)}
                                      : PartialShape{dims.dim(0), indices.num_elements()});
  return OkStatus();
}

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"DynamicPartition", "data: T, partitions: int32", "outputs: num_partitions * T",
     "num_partitions: int >= 1, T: type", kPure, PartitionShape},
    {"DynamicStitch", "indices: N * int32, data: N * T", "merged: T",
     "N: int >= 1, T: type", kPure, StitchShape},
    {"ListDiff", "x: T, y: T", "out: T, idx: out_idx",
     "T: type, out_idx: index = int32", kPure, ListDiffShape},
    {"LowerBound", "sorted_inputs: T, values: T", "output: out_type",
     "T: type, out_type: index = int32", kPure, BoundShape},
    {"NthElement", "input: T, n: int32", "values: T",
     "reverse: bool = false, T: realnumeric", kPure, NthElementShape},
    {"ParallelDynamicStitch", "indices: N * int32, data: N * T", "merged: T",
     "N: int >= 1, T: type", kPure, StitchShape},
    {"ResourceScatterDiv", "resource: resource, indices: Tindices, updates: dtype", "",
     "dtype: numeric, Tindices: index", kWritesResource, NoOutputs},
    {"ResourceScatterMax", "resource: resource, indices: Tindices, updates: dtype", "",
     "dtype: numeric, Tindices: index", kWritesResource, NoOutputs},
    {"ResourceScatterMin", "resource: resource, indices: Tindices, updates: dtype", "",
     "dtype: numeric, Tindices: index", kWritesResource, NoOutputs},
    {"ResourceScatterMul", "resource: resource, indices: Tindices, updates: dtype", "",
     "dtype: numeric, Tindices: index", kWritesResource, NoOutputs},
    {"ResourceScatterNdAdd", "ref: resource, indices: Tindices, updates: T", "",
     "T: type, Tindices: index, use_locking: bool = true, bad_indices_policy: string = ''",
     kWritesResource, NoOutputs},
    {"ResourceScatterNdMax", "ref: resource, indices: Tindices, updates: T", "",
     "T: type, Tindices: index, use_locking: bool = true, bad_indices_policy: string = ''",
     kWritesResource, NoOutputs},
    {"ResourceScatterNdMin", "ref: resource, indices: Tindices, updates: T", "",
     "T: type, Tindices: index, use_locking: bool = true, bad_indices_policy: string = ''",
     kWritesResource, NoOutputs},
    {"ResourceScatterNdSub", "ref: resource, indices: Tindices, updates: T", "",
     "T: type, Tindices: index, use_locking: bool = true, bad_indices_policy: string = ''",
     kWritesResource, NoOutputs},
    {"ResourceScatterNdUpdate", "ref: resource, indices: Tindices, updates: T", "",
     "T: type, Tindices: index, use_locking: bool = true, bad_indices_policy: string = ''",
     kWritesResource, NoOutputs},
    {"ResourceScatterSub", "resource: resource, indices: Tindices, updates: dtype", "",
     "dtype: numeric, Tindices: index", kWritesResource, NoOutputs},
    {"ResourceStridedSliceAssign",
     "ref: resource, begin: Index, end: Index, strides: Index, value: T",
     "",
     "T: type, Index: index, begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0,"
     " new_axis_mask: int = 0, shrink_axis_mask: int = 0", kWritesResource, NoOutputs},
    {"ReverseSequence", "input: T, seq_lengths: Tlen", "output: T",
     "seq_dim: int, batch_dim: int = 0, T: type, Tlen: index = int64", kPure, ReverseSequenceShape},
    {"Roll", "input: T, shift: Tshift, axis: Taxis", "output: T",
     "T: type, Tshift: index, Taxis: index", kPure, RollShape},
    {"ScatterNdNonAliasingAdd", "input: T, indices: Tindices, updates: T", "output: T",
     "T: {bfloat16, bool, complex128, complex64, float16, float32, float64, int16, int32, int64,"
     " int8, qint16, qint32, qint8, quint16, quint8, uint16, uint32, uint64, uint8}, Tindices:"
     " index, bad_indices_policy: string = ''", kPure, UnchangedShape},
    {"SegmentMax", "data: T, segment_ids: Tindices", "output: T",
     "T: realnumeric, Tindices: index", kPure, SegmentShape<0>},
    {"SegmentMean", "data: T, segment_ids: Tindices", "output: T",
     "T: numeric, Tindices: index", kPure, SegmentShape<0>},
    {"SegmentMin", "data: T, segment_ids: Tindices", "output: T",
     "T: realnumeric, Tindices: index", kPure, SegmentShape<0>},
    {"SegmentProd", "data: T, segment_ids: Tindices", "output: T",
     "T: numeric, Tindices: index", kPure, SegmentShape<0>},
    {"SegmentSum", "data: T, segment_ids: Tindices", "output: T",
     "T: numeric, Tindices: index", kPure, SegmentShape<0>},
    {"SparseSegmentMean", "data: T, indices: Tidx, segment_ids: Tsegmentids", "output: T",
     "T: floating, Tidx: index = int32, Tsegmentids: index = int32, sparse_gradient: bool ="
     " false", kPure, SegmentShape<0>},
    {"SparseSegmentMeanWithNumSegments",
     "data: T, indices: Tidx, segment_ids: Tsegmentids, num_segments: Tnumsegments",
     "output: T",
     "T: floating, Tidx: index = int32, Tnumsegments: index = int32, Tsegmentids: index = int32,"
     " sparse_gradient: bool = false", kPure, SegmentShape<3>},
    {"SparseSegmentSqrtN", "data: T, indices: Tidx, segment_ids: Tsegmentids", "output: T",
     "T: floating, Tidx: index = int32, Tsegmentids: index = int32, sparse_gradient: bool ="
     " false", kPure, SegmentShape<0>},
    {"SparseSegmentSqrtNWithNumSegments",
     "data: T, indices: Tidx, segment_ids: Tsegmentids, num_segments: Tnumsegments",
     "output: T",
     "T: floating, Tidx: index = int32, Tnumsegments: index = int32, Tsegmentids: index = int32,"
     " sparse_gradient: bool = false", kPure, SegmentShape<3>},
    {"SparseSegmentSum", "data: T, indices: Tidx, segment_ids: Tsegmentids", "output: T",
     "T: realnumeric, Tidx: index = int32, Tsegmentids: index = int32, sparse_gradient: bool ="
     " false", kPure, SegmentShape<0>},
    {"SparseSegmentSumWithNumSegments",
     "data: T, indices: Tidx, segment_ids: Tsegmentids, num_segments: Tnumsegments",
     "output: T",
     "T: realnumeric, Tidx: index = int32, Tnumsegments: index = int32, Tsegmentids: index ="
     " int32, sparse_gradient: bool = false", kPure, SegmentShape<3>},
    {"TensorScatterMax", "tensor: T, indices: Tindices, updates: T", "output: T",
     "T: type, Tindices: index, bad_indices_policy: string = ''", kPure, UnchangedShape},
    {"TensorScatterMin", "tensor: T, indices: Tindices, updates: T", "output: T",
     "T: type, Tindices: index, bad_indices_policy: string = ''", kPure, UnchangedShape},
    {"TensorStridedSliceUpdate",
     "input: T, begin: Index, end: Index, strides: Index, value: T",
     "output: T",
     "T: type, Index: index, begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0,"
     " new_axis_mask: int = 0, shrink_axis_mask: int = 0", kPure, UnchangedShape},
    {"Unique", "x: T", "y: T, idx: out_idx", "T: type, out_idx: index = int32", kPure, UniqueShape},
    {"UniqueV2", "x: T, axis: Taxis", "y: T, idx: out_idx",
     "T: type, Taxis: index = int64, out_idx: index = int32", kPure, UniqueV2Shape},
    {"UniqueWithCounts", "x: T", "y: T, idx: out_idx, count: out_idx",
     "T: type, out_idx: index = int32", kPure, UniqueShape},
    {"UniqueWithCountsV2", "x: T, axis: Taxis", "y: T, idx: out_idx, count: out_idx",
     "T: type, Taxis: index = int64, out_idx: index = int32", kPure, UniqueV2Shape},
    {"UnravelIndex", "indices: Tidx, dims: Tidx", "output: Tidx",
     "Tidx: index = int32", kPure, UnravelIndexShape},
    {"UpperBound", "sorted_inputs: T, values: T", "output: out_type",
     "T: type, out_type: index = int32", kPure, BoundShape},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> IndexingOps() { return kOps; }

}  // namespace slipway::ir
