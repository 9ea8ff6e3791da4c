// SPDX-License-Identifier: Apache-2.0
#include "ir/subgraph.h"

#include "base/strings.h"

namespace slipway::ir {
namespace {

// Inputs, then control inputs, as {node, -1}.
Output Predecessor(const Node& node, size_t i) {
  const size_t data = node.inputs().size();
  return i < data ? node.inputs()[i] : Output{node.control_inputs()[i - data], -1};
}

size_t NumPredecessors(const Node& node) {
  return node.inputs().size() + node.control_inputs().size();
}

void KeepResourceName(const Node& original, Node* copy) {
  if (copy->name() == original.name()) return;
  const AttrValue* shared = original.FindAttr("shared_name");
  const auto* name = shared != nullptr ? shared->As<std::string>() : nullptr;
  if (name != nullptr && name->empty()) copy->SetAttr("shared_name", original.name());
}

}  // namespace

StatusOr<std::vector<const Node*>> NeededNodes(std::span<const Node* const> roots,
                                               const std::function<bool(Output)>& cut) {
  std::unordered_map<const Node*, bool> done;  // false while the node is on the stack
  std::vector<const Node*> order;
  std::vector<std::pair<const Node*, size_t>> stack;
  for (const Node* root : roots) {
    if (!done.try_emplace(root, false).second) continue;
    stack.emplace_back(root, 0);
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      if (next == NumPredecessors(*node)) {
        done[node] = true;
        order.push_back(node);
        stack.pop_back();
        continue;
      }
      const Output before = Predecessor(*node, next++);
      if (!before.valid() || cut(before)) continue;
      const auto [it, added] = done.try_emplace(before.node, false);
      if (added) {
        stack.emplace_back(before.node, 0);
      } else if (!it->second) {
        return InvalidArgumentError(StrCat(before.node->op(), " '", before.node->name(),
                                           "': lies on a cycle of the graph"));
      }
    }
  }
  return order;
}

StatusOr<Node*> CopyNode(Graph* graph, const Node& node, std::string name,
                         std::vector<Output> inputs, std::vector<Node*> control_inputs) {
  NodeSpec spec;
  spec.op = node.op();
  spec.name = std::move(name);
  spec.inputs = std::move(inputs);
  spec.control_inputs = std::move(control_inputs);
  spec.attrs = node.attrs();
  spec.device = node.device();
  if (node.schema() == nullptr) {
    std::vector<DType> dtypes;
    for (int i = 0; i < node.num_outputs(); ++i) dtypes.push_back(node.dtype(i));
    return graph->AddOpaqueNode(std::move(spec), std::move(dtypes));
  }
  ASSIGN_OR_RETURN(Node * copy, graph->AddNode(std::move(spec)));
  KeepResourceName(node, copy);
  for (int i = 0; i < copy->num_outputs() && i < node.num_outputs(); ++i) {
    // What somebody knew of the original beyond its shape function still holds.
    StatusOr<PartialShape> shape = copy->shape(i).Merge(node.shape(i));
    if (shape.ok()) copy->set_shape(i, *std::move(shape));
  }
  return copy;
}

}  // namespace slipway::ir
