// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"
#include "ir/op_schema.h"
#include "ir/ops/shape_helpers.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

// Gather: params[:axis] + indices[batch_dims:] + params[axis + 1:].
Status GatherShape(ShapeContext& c) {
  const bool v2 = c.num_inputs() == 3;
  if (v2) RETURN_IF_ERROR(CheckScalar(c, 2));
  RETURN_IF_ERROR(CheckMinRank(c, 0, 1));
  const PartialShape &params = c.input(0), &indices = c.input(1);
  if (!params.has_rank() || !indices.has_rank()) return OkStatus();
  int64_t batch = v2 ? AttrOf<int64_t>(c, "batch_dims") : 0;
  if (batch < 0) batch += indices.rank();
  if (batch < 0 || batch > indices.rank() || batch > params.rank()) {
    return c.Error(StrCat("batch_dims ", batch, " must be at most the ranks ", params.rank(),
                          " of params and ", indices.rank(), " of indices"));
  }
  const std::optional<int64_t> given = v2 ? ConstInteger(c, 2) : std::optional<int64_t>(0);
  const auto b = static_cast<int>(batch);
  if (!given) {
    c.set_output(0, PartialShape::UnknownOfRank(params.rank() + indices.rank() - 1 - b));
    return OkStatus();
  }
  ASSIGN_OR_RETURN(const int axis, WrapAxis(c, *given, params.rank()));
  if (b > axis) {
    return c.Error(StrCat("batch_dims ", b, " must be less than or equal to axis ", axis));
  }
  Dims dims = SubDims(params, 0, axis);
  Append(&dims, indices, b, indices.rank());
  Append(&dims, params, axis + 1, params.rank());
  c.set_output(0, PartialShape(std::move(dims)));
  return OkStatus();
}

Status GatherNdShape(ShapeContext& c) {
  RETURN_IF_ERROR(CheckMinRank(c, 1, 1));
  const PartialShape &params = c.input(0), &indices = c.input(1);
  if (!params.has_rank() || !indices.has_rank()) return OkStatus();
  const int last = indices.rank() - 1;
  const int64_t depth = indices.dim(last);
  if (depth < 0) return OkStatus();
  if (depth > params.rank()) {
    return c.Error(StrCat("indices.shape[-1] must be <= params.rank, but saw indices shape: ",
                          indices.ToString(), " and params shape: ", params.ToString()));
  }
  Dims dims = SubDims(indices, 0, last);
  Append(&dims, params, static_cast<int>(depth), params.rank());
  c.set_output(0, PartialShape(std::move(dims)));
  return OkStatus();
}

Status ScatterNdShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(PartialShape shape, ShapeFromInput(c, 2));
  c.set_output(0, std::move(shape));
  return OkStatus();
}

// [num_segments] + data[segment_ids.rank:]
Status UnsortedSegmentShape(ShapeContext& c) {
  RETURN_IF_ERROR(CheckScalar(c, 2));
  const PartialShape &data = c.input(0), &ids = c.input(1);
  if (!data.has_rank() || !ids.has_rank()) return OkStatus();
  if (ids.rank() > data.rank()) {
    return c.Error(StrCat("Shape must be at least rank ", ids.rank(), " but is rank ", data.rank(),
                          " for input 0 of shape ", data.ToString()));
  }
  RETURN_IF_ERROR(MergeShapes(c, PartialShape(SubDims(data, 0, ids.rank())), ids).status());
  const std::optional<int64_t> count = ConstInteger(c, 2);
  if (count && *count < 0) {
    return c.Error(
        StrCat("Dimension size, given by scalar input 2, must be non-negative but is ", *count));
  }
  Dims dims = {count.value_or(-1)};
  Append(&dims, data, ids.rank(), data.rank());
  c.set_output(0, PartialShape(std::move(dims)));
  return OkStatus();
}

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"Gather", "params: Tparams, indices: Tindices", "output: Tparams",
     "validate_indices: bool = true, Tparams: type, Tindices: index", kPure, GatherShape},
    {"GatherV2", "params: Tparams, indices: Tindices, axis: Taxis", "output: Tparams",
     "batch_dims: int = 0, Tparams: type, Tindices: {int16, int32, int64}, Taxis: index",
     kPure, GatherShape},
    {"GatherNd", "params: Tparams, indices: Tindices", "output: Tparams",
     "Tparams: type, Tindices: {int16, int32, int64}, bad_indices_policy: string = ''",
     kPure, GatherNdShape},
    {"ScatterNd", "indices: Tindices, updates: T, shape: Tindices", "output: T",
     "T: type, Tindices: {int16, int32, int64}, bad_indices_policy: string = ''",
     kPure, ScatterNdShape},
    {"TensorScatterUpdate", "tensor: T, indices: Tindices, updates: T", "output: T",
     "T: type, Tindices: {int16, int32, int64, uint16}, bad_indices_policy: string = ''",
     kPure, UnchangedShape},
    {"TensorScatterAdd", "tensor: T, indices: Tindices, updates: T", "output: T",
     "T: type, Tindices: index, bad_indices_policy: string = ''", kPure, UnchangedShape},
    {"TensorScatterSub", "tensor: T, indices: Tindices, updates: T", "output: T",
     "T: type, Tindices: index, bad_indices_policy: string = ''", kPure, UnchangedShape},
    {"UnsortedSegmentSum",
     "data: T, segment_ids: Tindices, num_segments: Tnumsegments",
     "output: T",
     "T: numeric, Tindices: {int16, int32, int64}, Tnumsegments: index = int32",
     kPure, UnsortedSegmentShape},
    {"UnsortedSegmentMax",
     "data: T, segment_ids: Tindices, num_segments: Tnumsegments",
     "output: T",
     "T: realnumeric, Tindices: index, Tnumsegments: index = int32", kPure, UnsortedSegmentShape},
    {"UnsortedSegmentMin",
     "data: T, segment_ids: Tindices, num_segments: Tnumsegments",
     "output: T",
     "T: realnumeric, Tindices: index, Tnumsegments: index = int32", kPure, UnsortedSegmentShape},
    {"UnsortedSegmentProd",
     "data: T, segment_ids: Tindices, num_segments: Tnumsegments",
     "output: T",
     "T: numeric, Tindices: index, Tnumsegments: index = int32", kPure, UnsortedSegmentShape},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> GatherOps() { return kOps; }

}  // namespace slipway::ir
