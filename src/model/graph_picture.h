// SPDX-License-Identifier: Apache-2.0
//
// A picture of a graph as SVG: a box an op, calls folded to one box, and below it the functions
// they call, each on its own; a box that calls one links to it. Constants and nodes that only hand
// a value on are not drawn; what a box takes and gives is told when the pointer rests on it.
#pragma once

#include <string>

#include "ir/function.h"
#include "slipway/status.h"

namespace slipway::model {

struct PictureOptions {
  int max_functions = 40;  // beside the entry
  int max_nodes = 2000;    // of one function; a larger one is only named
};

// `library` may be null: no functions are drawn. INVALID_ARGUMENT if the graph has a cycle.
StatusOr<std::string> DrawFunction(const ir::Function& entry, const ir::FunctionLibrary* library,
                                   const PictureOptions& options = {});

}  // namespace slipway::model
