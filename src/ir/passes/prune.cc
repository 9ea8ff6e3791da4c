// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/strings.h"
#include "ir/passes/passes.h"
#include "ir/passes/rewrite.h"

namespace slipway::ir {
namespace {

int RemoveUnreachable(Function& function) {
  const std::unordered_set<const Node*> reachable = ReachableNodes(function);
  std::vector<Node*> dead;
  for (Node* node : function.graph.nodes()) {
    if (!reachable.contains(node)) dead.push_back(node);
  }
  for (Node* node : dead) function.graph.SetControlInputs(node, {});
  // Users first; in a graph that was read, creation order need not be that.
  if (auto order = function.graph.TopologicalOrder(); order.ok()) {
    std::unordered_set<const Node*> is_dead(dead.begin(), dead.end());
    dead.clear();
    for (auto it = order->rbegin(); it != order->rend(); ++it) {
      if (is_dead.contains(*it)) dead.push_back(*it);
    }
  }
  for (Node* node : dead) function.graph.Remove(node);
  return static_cast<int>(dead.size());
}

}  // namespace

Status Prune(Function& function, const PassContext&, std::string* note) {
  ASSIGN_OR_RETURN(std::vector<Node*> order, function.graph.TopologicalOrder());
  const std::unordered_set<const Node*> free = EffectFreeNodes(order);
  auto is_free = [&](const Node* node) { return free.contains(node); };
  std::erase_if(function.control_returns, [&](const auto& entry) { return is_free(entry.second); });
  int edges = 0;
  for (Node* node : order) {
    std::vector<Node*> before = node->control_inputs();
    const auto dropped = std::erase_if(before, is_free);
    if (dropped == 0) continue;
    edges += static_cast<int>(dropped);
    function.graph.SetControlInputs(node, std::move(before));
  }
  const int removed = RemoveUnreachable(function);
  *note = StrCat(removed, " nodes and ", edges, " control edges removed");
  return OkStatus();
}

}  // namespace slipway::ir
