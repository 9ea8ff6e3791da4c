// SPDX-License-Identifier: Apache-2.0
//
// Sparse tensors as ops get them: indices [n, rank] of int64, values [n], shape [rank].
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/kernel.h"

namespace slipway::kernels {

struct SparseView {
  const int64_t* indices = nullptr;
  const Tensor* values = nullptr;  // null for ops that have none
  int64_t count = 0;
  int rank = 0;
  std::span<const int64_t> shape;

  const int64_t* at(int64_t i) const { return indices + i * rank; }
};

// The sparse tensor at inputs first, first + 1, first + 2. INVALID_ARGUMENT unless the three fit
// each other, the sizes make a shape, and every index lies in it.
StatusOr<SparseView> SparseInput(const KernelContext& c, int first);

// Compares the first `rank` numbers of two indices: <0, 0, >0.
int CompareIndices(const int64_t* a, const int64_t* b, int rank);
// "[2,0,5]".
std::string IndexText(const int64_t* index, int rank);
// INVALID_ARGUMENT unless every index comes after the one before it.
Status CheckSorted(const SparseView& s);
// The elements in the order of their indices; equal ones stay as they are.
std::vector<int64_t> SortedOrder(const SparseView& s);

// Outputs first… = indices [n, rank], and the shape at `shape_output` unless it is negative.
StatusOr<int64_t*> PutIndices(KernelContext& c, int output, int64_t count, int rank);
Status PutShape(KernelContext& c, int output, std::span<const int64_t> shape);

}  // namespace slipway::kernels
