// SPDX-License-Identifier: Apache-2.0
//
// Moving elements: one routine under transpose, slice, pad, tile, reverse, concatenate and split.
#pragma once

#include <cstdint>
#include <span>

#include "base/thread_pool.h"
#include "kernels/checks.h"
#include "slipway/dtype.h"
#include "slipway/tensor.h"

namespace slipway::kernels {

// Where an element of a tensor lies.
inline char* ElementAt(const Tensor& t, int64_t element) {
  return static_cast<char*>(t.raw_data()) + element * static_cast<int64_t>(DTypeSize(t.dtype()));
}

// n elements side by side; objects by assignment. The ranges do not overlap.
void CopyElements(DType dtype, const void* from, void* to, int64_t n);

// For every index of `dims`: to[index · to_strides] = from[index · from_strides]. Strides are in
// elements and may be 0 (repeats; source only) or negative (backwards). Sizes may be 0.
// REQUIRES: all places lie within the memory of either side; equal lengths of the spans.
void StridedCopy(DType dtype, std::span<const int64_t> dims, const void* from,
                 std::span<const int64_t> from_strides, void* to,
                 std::span<const int64_t> to_strides, ThreadPool* pool = nullptr);

// The distance of neighbours along each dimension of a row-major tensor, in elements.
IntVec RowMajorStrides(const Shape& shape);
// The product of dimensions [begin, end).
int64_t ProductOfDims(const Shape& shape, int begin, int end);

// n elements, all `*value`.
void FillElements(DType dtype, const void* value, void* to, int64_t n);

}  // namespace slipway::kernels
