// SPDX-License-Identifier: Apache-2.0
//
// What the kernels over strings share.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/checks.h"
#include "kernels/kernel.h"

namespace slipway::kernels {

// A bind function for kernels that need nothing of their node.
template <Status (*kRun)(KernelContext&)>
StatusOr<KernelFn> BindRun(const BindContext&) {
  return KernelFn(kRun);
}

// Output 0, of the shape of input 0, is fn(element) of each string.
template <typename Out, typename Fn>
Status MapStrings(KernelContext& c, Fn&& fn) {
  const Tensor& x = c.input(0);
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, x.shape()));
  const auto from = x.flat<std::string>();
  const auto to = y->flat<Out>();
  for (size_t i = 0; i < from.size(); ++i) to[i] = fn(from[i]);
  return OkStatus();
}
// The same where fn(element, &out) may fail.
template <typename Out, typename Fn>
Status TryMapStrings(KernelContext& c, Fn&& fn) {
  const Tensor& x = c.input(0);
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, x.shape()));
  const auto from = x.flat<std::string>();
  const auto to = y->flat<Out>();
  for (size_t i = 0; i < from.size(); ++i) RETURN_IF_ERROR(fn(from[i], &to[i]));
  return OkStatus();
}

// Output i as a vector of these values, which are moved where they can be.
template <typename T>
Status OutputVector(KernelContext& c, int i, std::vector<T> values) {
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(i, Shape({static_cast<int64_t>(values.size())})));
  std::move(values.begin(), values.end(), out->flat<T>().begin());
  return OkStatus();
}
// The same for an int32 or int64 output.
inline Status OutputIndices(KernelContext& c, int i, DType dtype,
                            const std::vector<int64_t>& values) {
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(i, Shape({static_cast<int64_t>(values.size())})));
  for (size_t k = 0; k < values.size(); ++k) {
    if (dtype == DType::kInt64) {
      out->flat<int64_t>()[k] = values[k];
    } else {
      out->flat<int32_t>()[k] = static_cast<int32_t>(values[k]);
    }
  }
  return OkStatus();
}

}  // namespace slipway::kernels
