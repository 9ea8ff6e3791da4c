// SPDX-License-Identifier: Apache-2.0
//
// Walking back from results and copying nodes between graphs: what ExtractFunction and InlineCall
// share. Nothing recurses: graphs from files may be very deep.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"

namespace slipway::ir {

// What `roots` need, each node behind what it needs. `cut` tells which values (data inputs, or
// {node, -1} for control inputs) are not followed. INVALID_ARGUMENT names a node on a cycle.
StatusOr<std::vector<const Node*>> NeededNodes(std::span<const Node* const> roots,
                                               const std::function<bool(Output)>& cut);

// A copy of `node` under the wanted name with other inputs; its shapes are inferred anew, or taken
// over where the op has no shape function. A resource that is known by its node's name keeps that
// as its shared_name when the copy is called otherwise.
StatusOr<Node*> CopyNode(Graph* graph, const Node& node, std::string name,
                         std::vector<Output> inputs, std::vector<Node*> control_inputs);

}  // namespace slipway::ir
