// SPDX-License-Identifier: Apache-2.0
#include "ir/passes/rewrite.h"

#include <algorithm>

namespace slipway::ir {

// A list of nodes without repetition, in the order of addition.
class Replacements::Waits {
 public:
  bool Add(Node* node) {
    if (!seen_.insert(node).second) return false;
    nodes_.push_back(node);
    return true;
  }
  std::vector<Node*> Take() { return std::move(nodes_); }

 private:
  std::unordered_set<const Node*> seen_;
  std::vector<Node*> nodes_;
};

void Replacements::Replace(Node* node, std::vector<Output> values, std::vector<Node*> waits) {
  waits.insert(waits.end(), node->control_inputs().begin(), node->control_inputs().end());
  entries_[node] = {std::move(values), std::move(waits)};
  order_.push_back(node);
}

Output Replacements::Resolve(Output value) const {
  for (auto it = entries_.find(value.node); it != entries_.end(); it = entries_.find(value.node)) {
    value = it->second.values[static_cast<size_t>(value.index)];
  }
  return value;
}

std::vector<Output> Replacements::ResolvedInputs(const Node& node) const {
  std::vector<Output> inputs;
  for (const Output& input : node.inputs()) inputs.push_back(Resolve(input));
  return inputs;
}

// What stands in control edges for a node that goes: its values' nodes and what it waited for.
void Replacements::AddWaits(const Node* replaced, Waits* waits) const {
  std::vector<const Node*> open = {replaced};
  std::unordered_set<const Node*> seen = {replaced};
  auto visit = [&](Node* node) {
    if (entries_.contains(node)) {
      if (seen.insert(node).second) open.push_back(node);
    } else {
      waits->Add(node);
    }
  };
  while (!open.empty()) {
    const Entry& entry = entries_.at(open.back());
    open.pop_back();
    for (const Output& value : entry.values) {
      if (value.valid()) visit(value.node);
    }
    for (Node* node : entry.waits) visit(node);
  }
}

void Replacements::Rewire(Node* node) {
  bool changed = false;
  Waits waits;
  for (Node* before : node->control_inputs()) {
    if (entries_.contains(before)) {
      changed = true;
      AddWaits(before, &waits);
    } else {
      waits.Add(before);
    }
  }
  for (int i = 0; i < static_cast<int>(node->inputs().size()); ++i) {
    Output value = node->input(i);
    if (!entries_.contains(value.node)) continue;
    // Only what the replaced nodes waited for: the value itself is waited for anyway.
    for (auto it = entries_.find(value.node); it != entries_.end();
         it = entries_.find(value.node)) {
      for (Node* before : it->second.waits) {
        changed = true;
        if (entries_.contains(before)) {
          AddWaits(before, &waits);
        } else {
          waits.Add(before);
        }
      }
      value = it->second.values[static_cast<size_t>(value.index)];
    }
    function_.graph.SetInput(node, i, value);
  }
  if (changed) function_.graph.SetControlInputs(node, waits.Take());
}

void Replacements::RewireReturns() {
  Waits targets;
  std::vector<std::pair<std::string, Node*>> kept;
  for (const auto& [name, node] : function_.control_returns) {
    if (!entries_.contains(node)) {
      if (targets.Add(node)) kept.emplace_back(name, node);
      continue;
    }
    Waits waits;
    AddWaits(node, &waits);
    for (Node* target : waits.Take()) {
      if (targets.Add(target)) kept.emplace_back(target->name(), target);
    }
  }
  for (Function::Return& result : function_.returns) {
    // What a returned node waited for must run still.
    for (auto it = entries_.find(result.value.node); it != entries_.end();
         it = entries_.find(result.value.node)) {
      for (Node* before : it->second.waits) {
        Waits waits;
        if (entries_.contains(before)) {
          AddWaits(before, &waits);
        } else {
          waits.Add(before);
        }
        for (Node* target : waits.Take()) {
          if (targets.Add(target)) kept.emplace_back(target->name(), target);
        }
      }
      result.value = it->second.values[static_cast<size_t>(result.value.index)];
    }
  }
  function_.control_returns = std::move(kept);
}

void Replacements::Apply() {
  if (entries_.empty()) return;
  for (Node* node : function_.graph.nodes()) {
    if (!entries_.contains(node)) Rewire(node);
  }
  RewireReturns();
  // Replaced nodes may use each other: freed of those edges they can go in any order.
  for (Node* node : order_) {
    function_.graph.SetControlInputs(node, {});
    for (int i = 0; i < static_cast<int>(node->inputs().size()); ++i) {
      function_.graph.SetInput(node, i, Resolve(node->input(i)));
    }
  }
  for (Node* node : order_) function_.graph.Remove(node);
  entries_.clear();
  order_.clear();
}

bool IsPure(const Node& node) { return node.schema() != nullptr && node.effect() == Effect::kPure; }

std::unordered_set<const Node*> ReachableNodes(const Function& function) {
  std::unordered_set<const Node*> reachable;
  std::vector<const Node*> open;
  auto visit = [&](const Node* node) {
    if (node != nullptr && reachable.insert(node).second) open.push_back(node);
  };
  for (const Function::Arg& arg : function.args) visit(arg.node);
  for (const Function::Return& result : function.returns) visit(result.value.node);
  for (const auto& [name, node] : function.control_returns) visit(node);
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    for (const Output& input : node->inputs()) visit(input.node);
    for (const Node* before : node->control_inputs()) visit(before);
  }
  return reachable;
}

std::unordered_set<const Node*> EffectFreeNodes(const std::vector<Node*>& topological_order) {
  std::unordered_set<const Node*> free;
  for (const Node* node : topological_order) {
    // An argument is there before anything runs; a handle is only a name; random numbers are
    // drawn in any order.
    bool is_free = IsPure(*node) || node->effect() == Effect::kRandom || node->op() == "_Arg" ||
                   node->op() == "VarHandleOp";
    for (const Output& input : node->inputs()) is_free = is_free && free.contains(input.node);
    for (const Node* before : node->control_inputs()) is_free = is_free && free.contains(before);
    if (is_free) free.insert(node);
  }
  return free;
}

}  // namespace slipway::ir
