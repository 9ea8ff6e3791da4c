// SPDX-License-Identifier: Apache-2.0
//
// Attributes of the node that is differentiated.
#pragma once

#include <initializer_list>

#include "ir/graph.h"

namespace slipway::ir::grad {

template <typename T>
T AttrOr(const Node& node, const char* name, T fallback) {
  const AttrValue* value = node.FindAttr(name);
  const T* typed = value == nullptr ? nullptr : value->As<T>();
  return typed == nullptr ? fallback : *typed;
}

// Those of `names` that the node has, for a node that belongs to its gradient.
inline AttrMap CopyAttrs(const Node& node, std::initializer_list<const char*> names) {
  AttrMap attrs;
  for (const char* name : names) {
    if (const AttrValue* value = node.FindAttr(name)) attrs[name] = *value;
  }
  return attrs;
}

}  // namespace slipway::ir::grad
