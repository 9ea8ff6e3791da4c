// SPDX-License-Identifier: Apache-2.0
//
// Optional attributes, with the value to take where a node has none of that type.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/graph.h"

namespace slipway::kernels {

template <typename T>
T AttrOr(const ir::Node& node, std::string_view name, T otherwise) {
  const ir::AttrValue* value = node.FindAttr(name);
  const T* typed = value == nullptr ? nullptr : value->As<T>();
  return typed == nullptr ? otherwise : *typed;
}
inline bool BoolAttr(const ir::Node& node, std::string_view name, bool otherwise = false) {
  return AttrOr<bool>(node, name, otherwise);
}
inline int64_t IntAttr(const ir::Node& node, std::string_view name, int64_t otherwise = 0) {
  return AttrOr<int64_t>(node, name, otherwise);
}

}  // namespace slipway::kernels
