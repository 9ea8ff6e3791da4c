// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "kernels/conv_geometry.h"
#include "kernels/kernel.h"

namespace slipway::kernels {

// Calls add(sums) with zeros, one for each element of `out`, to add to in the type that T is
// computed in; what stands there afterwards becomes the output, rounded once.
template <typename T, typename Add>
Status AccumulateOutput(KernelContext& ctx, Tensor* out, Add add) {
  using A = ComputeType<T>;
  const auto n = static_cast<size_t>(out->num_elements());
  A* sums = nullptr;
  if constexpr (std::is_same_v<T, A>) {
    sums = out->flat<T>().data();
  } else {
    sums = static_cast<A*>(ctx.Scratch(n * sizeof(A)));
    if (sums == nullptr) return ResourceExhaustedError("No memory to accumulate a gradient");
  }
  std::fill_n(sums, n, A{0});
  add(sums);
  if constexpr (!std::is_same_v<T, A>) {
    for (size_t i = 0; i < n; ++i) out->flat<T>()[i] = T(sums[i]);
  }
  return OkStatus();
}

}  // namespace slipway::kernels
