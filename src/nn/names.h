// SPDX-License-Identifier: Apache-2.0
//
// The names that Keras's configs have for values of enums. Internal to nn.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "nn/config.h"

namespace slipway::nn {

template <typename E>
using NameTable = std::vector<std::pair<const char*, E>>;

// A value with several names is written under the first.
const NameTable<Activation>& ActivationNames();
const NameTable<Reduction>& ReductionNames();
const NameTable<Initializer::Mode>& ModeNames();
const NameTable<Initializer::Distribution>& DistributionNames();

// Empty if it has none.
template <typename E>
std::string NameOf(const NameTable<E>& names, E value) {
  for (const auto& [name, candidate] : names) {
    if (candidate == value) return name;
  }
  return "";
}

template <typename E>
std::vector<std::string> NamesIn(const NameTable<E>& names) {
  std::vector<std::string> out;
  for (const auto& entry : names) out.push_back(entry.first);
  return out;
}

}  // namespace slipway::nn
