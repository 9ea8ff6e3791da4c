// SPDX-License-Identifier: Apache-2.0
//
// Tensors whose elements name rows or places of another: what gather, scatter and one-hot share.
#pragma once

#include <complex>
#include <string>
#include <string_view>

#include "kernels/checks.h"
#include "kernels/types.h"

namespace slipway::kernels {

// The types whose rows can be combined with others.
using CombinedTypes =
    TypeList<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
             uint64_t, Half, BFloat16, std::complex<float>, std::complex<double>>;

// Integers of 8, 16, 32 and 64 bits index. INVALID_ARGUMENT for other types.
Status CheckIndexType(const Tensor& t);
// INVALID_ARGUMENT "indices[1,0] = 7 is not in [0, 5)".
Status CheckIndices(const Tensor& indices, int64_t limit);

// Element i of an index tensor. REQUIRES: CheckIndexType.
inline int64_t IndexAt(const Tensor& t, int64_t i) {
  const auto at = static_cast<size_t>(i);
  switch (t.dtype()) {
    case DType::kInt32:
      return t.flat<int32_t>()[at];
    case DType::kInt64:
      return t.flat<int64_t>()[at];
    case DType::kInt16:
      return t.flat<int16_t>()[at];
    case DType::kUInt16:
      return t.flat<uint16_t>()[at];
    case DType::kInt8:
      return t.flat<int8_t>()[at];
    default:
      return t.flat<uint8_t>()[at];
  }
}

// Where an element lies.
inline const char* Bytes(const Tensor& t, int64_t element) {
  return static_cast<const char*>(t.raw_data()) +
         element * static_cast<int64_t>(DTypeSize(t.dtype()));
}
inline char* Bytes(Tensor& t, int64_t element) {
  return static_cast<char*>(t.raw_data()) + element * static_cast<int64_t>(DTypeSize(t.dtype()));
}

// Whether the first head_rank dimensions of `shape` are those of `head`.
bool StartsWith(const Shape& shape, const Shape& head, int head_rank);

// indices [..., depth] name places in the first `depth` dimensions of `shape`; each place holds
// `inner` elements.
struct Places {
  int64_t count = 1, depth = 0, inner = 1;
  IntVec strides;
};
// `what` has the shape. INVALID_ARGUMENT if the indices are too long, or no indices.
StatusOr<Places> PlanPlaces(const Shape& shape, const Tensor& indices, std::string_view what);

// The place that index row i names, or -1 if it lies outside.
inline int64_t PlaceAt(const Places& places, const Shape& shape, const Tensor& indices, int64_t i) {
  int64_t at = 0;
  for (int64_t d = 0; d < places.depth; ++d) {
    const int64_t index = IndexAt(indices, i * places.depth + d);
    if (index < 0 || index >= shape.dim(static_cast<int>(d))) return -1;
    at += index * places.strides[static_cast<size_t>(d)];
  }
  return at;
}

// The error for row i, which names no place.
Status BadPlace(const Places& places, const Shape& shape, const Tensor& indices, int64_t i);

}  // namespace slipway::kernels
