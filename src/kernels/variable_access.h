// SPDX-License-Identifier: Apache-2.0
//
// From a kernel's resource input to the variable behind it, and updates of several at once.
#pragma once

#include <algorithm>
#include <array>
#include <string>

#include "base/strings.h"
#include "kernels/kernel.h"

namespace slipway::kernels {

// INVALID_ARGUMENT if the input holds no variable. The input keeps it alive for the call.
inline StatusOr<Variable*> InputVariable(const KernelContext& c, int i) {
  const Tensor& handle = c.input(i);
  if (handle.dtype() != DType::kResource || handle.num_elements() != 1) {
    return InvalidArgumentError(
        StrCat("Input ", i, " is not a resource handle: ", handle.ToString()));
  }
  const ResourceHandle& resource = handle.flat<ResourceHandle>()[0];
  auto* variable = dynamic_cast<Variable*>(resource.get());
  if (variable == nullptr) {
    return InvalidArgumentError(StrCat("Input ", i, " is ",
                                       resource ? resource->DebugString() : "an empty handle",
                                       ", a variable is wanted"));
  }
  return variable;
}

// Calls update(values) with the writable values of all variables, locked in one order for everyone.
// INVALID_ARGUMENT if one appears twice.
template <size_t N, typename Fn>
Status UpdateTogether(const std::array<Variable*, N>& variables, Fn&& update) {
  std::array<size_t, N> order;
  for (size_t i = 0; i < N; ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return std::less<>()(variables[a], variables[b]); });
  for (size_t i = 1; i < N; ++i) {
    if (variables[order[i]] == variables[order[i - 1]]) {
      return InvalidArgumentError("Variable " + variables[order[i]]->name() +
                                  " is given twice; each must be another one");
    }
  }
  std::array<Tensor*, N> values{};
  const auto lock_from = [&](const auto& self, size_t at) -> Status {
    if (at == N) return update(values);
    return variables[order[at]]->UpdateWith([&](Tensor& value) -> Status {
      values[order[at]] = &value;
      return self(self, at + 1);
    });
  };
  return lock_from(lock_from, 0);
}

}  // namespace slipway::kernels
