// SPDX-License-Identifier: Apache-2.0
#include "kernels/index_tensor.h"

#include "kernels/strided_copy.h"

namespace slipway::kernels {
namespace {

// "indices[1,0]" for flat position i of `shape`.
std::string PositionName(const Shape& shape, int64_t i) {
  if (shape.rank() == 0) return "indices";
  std::vector<int64_t> at(static_cast<size_t>(shape.rank()));
  for (int d = shape.rank() - 1; d >= 0; --d) {
    at[static_cast<size_t>(d)] = i % shape.dim(d);
    i /= shape.dim(d);
  }
  return StrCat("indices[", StrJoin(at, ","), "]");
}

}  // namespace

Status CheckIndexType(const Tensor& t) {
  switch (t.dtype()) {
    case DType::kInt32:
    case DType::kInt64:
    case DType::kInt16:
    case DType::kUInt16:
    case DType::kInt8:
    case DType::kUInt8:
      return OkStatus();
    default:
      return InvalidArgumentError(StrCat("indices of ", DTypeName(t.dtype())));
  }
}

Status CheckIndices(const Tensor& indices, int64_t limit) {
  RETURN_IF_ERROR(CheckIndexType(indices));
  for (int64_t i = 0; i < indices.num_elements(); ++i) {
    const int64_t index = IndexAt(indices, i);
    if (index >= 0 && index < limit) continue;
    return InvalidArgumentError(
        StrCat(PositionName(indices.shape(), i), " = ", index, " is not in [0, ", limit, ")"));
  }
  return OkStatus();
}

bool StartsWith(const Shape& shape, const Shape& head, int head_rank) {
  if (shape.rank() < head_rank) return false;
  for (int d = 0; d < head_rank; ++d) {
    if (shape.dim(d) != head.dim(d)) return false;
  }
  return true;
}

StatusOr<Places> PlanPlaces(const Shape& shape, const Tensor& indices, std::string_view what) {
  if (indices.rank() < 1) return InvalidArgumentError("indices must be at least a vector");
  RETURN_IF_ERROR(CheckIndexType(indices));
  Places places;
  places.depth = indices.dim(indices.rank() - 1);
  if (places.depth > shape.rank()) {
    return InvalidArgumentError(StrCat("index innermost dimension length must be <= ", what,
                                       " rank; saw: ", places.depth, " vs. ", shape.rank()));
  }
  places.count = ProductOfDims(indices.shape(), 0, indices.rank() - 1);
  const int depth = static_cast<int>(places.depth);
  places.inner = ProductOfDims(shape, depth, shape.rank());
  for (int d = 0; d < depth; ++d) places.strides.push_back(ProductOfDims(shape, d + 1, depth));
  return places;
}

Status BadPlace(const Places& places, const Shape& shape, const Tensor& indices, int64_t i) {
  std::vector<int64_t> row;
  for (int64_t d = 0; d < places.depth; ++d) row.push_back(IndexAt(indices, i * places.depth + d));
  Shape rows;
  for (int d = 0; d + 1 < indices.rank(); ++d) rows.AddDim(indices.dim(d));
  return InvalidArgumentError(StrCat(PositionName(rows, i), " = [", StrJoin(row, ", "),
                                     "] does not index into shape ", shape.ToString()));
}

}  // namespace slipway::kernels
