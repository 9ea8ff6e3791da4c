// SPDX-License-Identifier: Apache-2.0
//
// InlineCall: a function's body in place of a call.
#include "base/strings.h"
#include "ir/effect.h"
#include "ir/function.h"
#include "ir/subgraph.h"

namespace slipway::ir {
namespace {

// Must run although no result needs it. Not so an op we do not know: nothing but need runs it.
bool HasOwnEffect(const Node& node) { return node.schema() != nullptr && HasEffect(node); }

// Takes part in program order.
bool IsOrdered(const Node& node) {
  if (HasEffect(node)) return true;
  // Not the making of a handle, which touches nothing.
  return node.effect() == Effect::kReadsResource && !node.inputs().empty();
}

class Inliner {
 public:
  Inliner(Graph* graph, const Function& callee, std::span<const Output> inputs,
          std::string_view prefix, std::span<Node* const> before)
      : graph_(graph), callee_(callee), inputs_(inputs), prefix_(prefix) {
    before_.assign(before.begin(), before.end());
  }

  StatusOr<std::vector<Output>> Run(Node** last) {
    RETURN_IF_ERROR(CheckInputs());
    RETURN_IF_ERROR(JoinBefore());
    ASSIGN_OR_RETURN(const std::vector<const Node*> needed, Needed());
    for (const Node* node : needed) {
      if (!args_.contains(node)) RETURN_IF_ERROR(Copy(*node));
    }
    std::vector<Output> results;
    for (const Function::Return& result : callee_.returns) results.push_back(Mapped(result.value));
    if (last != nullptr) {
      for (const auto& [name, node] : callee_.control_returns) {
        if (Node* copy = MappedNode(node)) ordered_.push_back(copy);
      }
      ASSIGN_OR_RETURN(*last, Join("done", ordered_.empty() ? before_ : ordered_));
    }
    return results;
  }

 private:
  Status CheckInputs() {
    const auto& args = callee_.args;
    if (inputs_.size() != args.size()) {
      return InvalidArgumentError(StrCat("Call of function ", Quoted(callee_.name), " with ",
                                         inputs_.size(), " inputs; it has ", args.size(),
                                         " arguments"));
    }
    for (size_t i = 0; i < args.size(); ++i) {
      if (inputs_[i].dtype() != args[i].dtype) {
        return InvalidArgumentError(StrCat("Call of function ", Quoted(callee_.name), ": input ", i,
                                           " (", inputs_[i].ToString(), ") is ",
                                           DTypeName(inputs_[i].dtype()), "; argument '",
                                           args[i].name, "' is ", DTypeName(args[i].dtype)));
      }
      args_[args[i].node] = inputs_[i];
    }
    return OkStatus();
  }

  StatusOr<Node*> Join(std::string_view name, const std::vector<Node*>& nodes) {
    NodeSpec spec;
    spec.op = "NoOp";
    spec.name = StrCat(prefix_, "/", name);
    spec.control_inputs = nodes;
    return graph_->AddNode(std::move(spec));
  }

  // One node in place of many, lest there be a control edge from each to each.
  Status JoinBefore() {
    if (before_.size() < 2) return OkStatus();
    ASSIGN_OR_RETURN(Node * joined, Join("before", before_));
    before_ = {joined};
    return OkStatus();
  }

  StatusOr<std::vector<const Node*>> Needed() const {
    std::vector<const Node*> roots;
    for (const Function::Return& result : callee_.returns) roots.push_back(result.value.node);
    for (const auto& [name, node] : callee_.control_returns) roots.push_back(node);
    for (const Node* node : callee_.graph.nodes()) {
      if (HasOwnEffect(*node)) roots.push_back(node);
    }
    return NeededNodes(roots, [](Output) { return false; });
  }

  Node* MappedNode(const Node* node) const {
    if (const auto arg = args_.find(node); arg != args_.end()) return arg->second.node;
    const auto copy = copies_.find(node);
    return copy == copies_.end() ? nullptr : copy->second;
  }

  Output Mapped(Output value) const {
    if (const auto arg = args_.find(value.node); arg != args_.end()) return arg->second;
    return {MappedNode(value.node), value.index};
  }

  Status Copy(const Node& node) {
    std::vector<Output> inputs;
    for (const Output& input : node.inputs()) inputs.push_back(Mapped(input));
    std::vector<Node*> controls;
    for (const Node* before : node.control_inputs()) controls.push_back(MappedNode(before));
    const bool ordered = IsOrdered(node);
    if (ordered) controls.insert(controls.end(), before_.begin(), before_.end());
    ASSIGN_OR_RETURN(Node * copy, CopyNode(graph_, node, StrCat(prefix_, "/", node.name()),
                                           std::move(inputs), std::move(controls)));
    copies_[&node] = copy;
    if (ordered) ordered_.push_back(copy);
    return OkStatus();
  }

  Graph* graph_;
  const Function& callee_;
  std::span<const Output> inputs_;
  std::string_view prefix_;
  std::vector<Node*> before_;
  std::vector<Node*> ordered_;
  std::unordered_map<const Node*, Output> args_;
  std::unordered_map<const Node*, Node*> copies_;
};

}  // namespace

StatusOr<std::vector<Output>> InlineCall(Graph* graph, const Function& callee,
                                         std::span<const Output> inputs, std::string_view prefix,
                                         std::span<Node* const> before, Node** last) {
  return Inliner(graph, callee, inputs, prefix, before).Run(last);
}

}  // namespace slipway::ir
