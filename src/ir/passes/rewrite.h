// SPDX-License-Identifier: Apache-2.0
//
// What many passes share: replacing nodes by values without losing the order of effects.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/function.h"

namespace slipway::ir {

// Collects "these outputs are those values from now on" and applies all of it in one walk.
//
// Order is kept: who used a replaced node also waits for the node's control inputs, and who waited
// for it waits for the nodes of its new values.
class Replacements {
 public:
  explicit Replacements(Function& function) : function_(function) {}

  // Output i of `node` becomes values[i], which must not depend on the node. `waits` are nodes that
  // stand for the node in control edges, beside those of the values.
  void Replace(Node* node, std::vector<Output> values, std::vector<Node*> waits = {});
  // What a value is after the replacements made so far.
  Output Resolve(Output value) const;
  std::vector<Output> ResolvedInputs(const Node& node) const;
  bool Replaced(const Node* node) const { return entries_.contains(node); }
  int size() const { return static_cast<int>(entries_.size()); }

  // Rewires inputs, control edges, returns and control returns, and removes the replaced nodes.
  void Apply();

 private:
  struct Entry {
    std::vector<Output> values;
    std::vector<Node*> waits;
  };
  class Waits;
  void Rewire(Node* node);
  void RewireReturns();
  void AddWaits(const Node* replaced, Waits* waits) const;

  Function& function_;
  std::unordered_map<const Node*, Entry> entries_;
  std::vector<Node*> order_;
};

// Nodes from which a return, a control return or an argument can be reached backwards: what runs.
std::unordered_set<const Node*> ReachableNodes(const Function& function);

// Nodes of which neither they nor anything before them has an effect or reads a resource: it makes
// no difference when they run.
std::unordered_set<const Node*> EffectFreeNodes(const std::vector<Node*>& topological_order);

// Whether nothing but its outputs tells that the node ran.
bool IsPure(const Node& node);

}  // namespace slipway::ir
