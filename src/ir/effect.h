// SPDX-License-Identifier: Apache-2.0
//
// What passes and plans ask about a node's effect.
#pragma once

#include "ir/graph.h"

namespace slipway::ir {

// Whether running the node changes something that others see: a resource, a file, a stream. Such a
// node is not dropped and keeps its place among others. Drawing random numbers does not count.
inline bool HasEffect(const Node& node) {
  return node.effect() == Effect::kWritesResource || node.effect() == Effect::kStateful;
}

}  // namespace slipway::ir
