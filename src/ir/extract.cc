// SPDX-License-Identifier: Apache-2.0
//
// ExtractFunction: a piece of a graph as a function.
#include <algorithm>
#include <map>
#include <set>

#include "base/strings.h"
#include "ir/function.h"
#include "ir/subgraph.h"

namespace slipway::ir {
namespace {

class Extractor {
 public:
  Extractor(const Graph& graph, const SubgraphSpec& spec) : graph_(graph), spec_(spec) {
    for (size_t i = 0; i < spec.feeds.size(); ++i) {
      const Output& fed = spec.feeds[i].second;
      feeds_.emplace(std::pair(fed.node, fed.index), i);
    }
  }

  StatusOr<Function> Run() {
    RETURN_IF_ERROR(CheckSpec());
    function_.name = spec_.name;
    ASSIGN_OR_RETURN(const std::vector<const Node*> needed, Needed());
    RETURN_IF_ERROR(AddArgs(needed));
    for (const Node* node : needed) RETURN_IF_ERROR(Copy(*node));
    for (const auto& [node, input] : loops_) {
      function_.graph.SetInput(copies_[node], input, Mapped(node->input(input)));
    }
    for (const auto& [name, value] : spec_.fetches) {
      function_.returns.push_back({name, Mapped(value)});
    }
    for (const Node* target : spec_.targets) {
      function_.control_returns.emplace_back(target->name(), copies_[target]);
    }
    return std::move(function_);
  }

 private:
  Status CheckSpec() const {
    const auto check = [&](const char* what, const std::string& name, Output value) {
      const bool fits = value.valid() && graph_.FindNode(value.node->name()) == value.node &&
                        value.index >= 0 && value.index < value.node->num_outputs();
      if (fits) return OkStatus();
      return InvalidArgumentError(StrCat(what, " ", Quoted(name), " of ", Quoted(spec_.name),
                                         " is not a value of the graph"));
    };
    for (const auto& [name, value] : spec_.feeds) RETURN_IF_ERROR(check("Feed", name, value));
    for (const auto& [name, value] : spec_.fetches) RETURN_IF_ERROR(check("Fetch", name, value));
    for (const Node* target : spec_.targets) {
      if (target != nullptr && graph_.FindNode(target->name()) == target) continue;
      return InvalidArgumentError(
          StrCat("A target of ", Quoted(spec_.name), " is not a node of the graph"));
    }
    if (feeds_.size() == spec_.feeds.size()) return OkStatus();
    return InvalidArgumentError(StrCat("A value is fed twice in ", Quoted(spec_.name)));
  }

  // Feeding output 0 stands for the node, so that waiting for it is over too.
  bool IsFed(Output value) const { return feeds_.contains({value.node, std::max(value.index, 0)}); }

  // The way back of a TensorFlow 1 loop is no cycle: what lies behind it is needed as well.
  StatusOr<std::vector<const Node*>> NeededThroughLoops(std::vector<const Node*> roots) const {
    std::set<const Node*> ways_back;
    while (true) {
      ASSIGN_OR_RETURN(std::vector<const Node*> needed, NeededNodes(roots, [&](Output value) {
                         return IsFed(value) || IsWayBack(value);
                       }));
      bool more = false;
      for (const Node* node : needed) {
        for (const Output& input : node->inputs()) {
          if (IsFed(input) || !IsWayBack(input) || !ways_back.insert(input.node).second) continue;
          roots.push_back(input.node);
          more = true;
        }
      }
      if (!more) return needed;
    }
  }
  static bool IsWayBack(Output value) {
    return value.valid() && value.index >= 0 && value.node->op() == "NextIteration";
  }

  StatusOr<std::vector<const Node*>> Needed() const {
    std::vector<const Node*> roots;
    for (const auto& [name, value] : spec_.fetches) {
      if (!IsFed(value)) roots.push_back(value.node);
    }
    roots.insert(roots.end(), spec_.targets.begin(), spec_.targets.end());
    ASSIGN_OR_RETURN(std::vector<const Node*> needed, NeededThroughLoops(std::move(roots)));
    for (const Node* node : needed) {
      if (node->op() != "Placeholder" || IsFed({const_cast<Node*>(node), 0})) continue;
      return InvalidArgumentError(StrCat("You must feed a value for placeholder tensor '",
                                         node->name(), "' with dtype ", DTypeName(node->dtype(0)),
                                         " and shape ", node->shape(0).ToString(), "; ",
                                         Quoted(spec_.name), " needs it"));
    }
    return needed;
  }

  // Nodes keep their names (a variable may be known by it), so arguments give way.
  Status AddArgs(const std::vector<const Node*>& needed) {
    std::map<std::string_view, const Node*> taken;
    for (const Node* node : needed) taken.emplace(node->name(), node);
    for (const auto& [name, value] : spec_.feeds) {
      std::string node_name = name.empty() ? "arg" : name;
      while (taken.contains(node_name)) node_name += "_arg";
      ASSIGN_OR_RETURN(const Output arg,
                       function_.AddArg(std::move(node_name), value.dtype(), value.shape()));
      function_.args.back().name = name;
      CopyHandleAttrs(*value.node, arg.node);
    }
    return OkStatus();
  }

  // What is known of the variable behind a resource argument.
  static void CopyHandleAttrs(const Node& from, Node* to) {
    for (const char* name : {"_handle_dtypes", "_handle_shapes"}) {
      if (const AttrValue* value = from.FindAttr(name)) to->SetAttr(name, *value);
    }
  }

  Output Mapped(Output value) const {
    const auto fed = feeds_.find({value.node, value.index});
    if (fed != feeds_.end()) return {function_.args[fed->second].node, 0};
    const auto copy = copies_.find(value.node);
    return copy == copies_.end() ? Output() : Output{copy->second, value.index};
  }

  Status Copy(const Node& node) {
    std::vector<Output> inputs;
    for (const Output& input : node.inputs()) {
      inputs.push_back(Mapped(input));
      // The way in stands for the way back until that is there.
      if (inputs.back().valid() || !IsWayBack(input)) continue;
      loops_.push_back({&node, static_cast<int>(inputs.size()) - 1});
      inputs.back() = inputs.front();
    }
    std::vector<Node*> controls;
    for (Node* before : node.control_inputs()) {
      const auto copy = copies_.find(before);
      if (copy != copies_.end() && !IsFed({before, -1})) controls.push_back(copy->second);
    }
    ASSIGN_OR_RETURN(Node * copy, CopyNode(&function_.graph, node, node.name(), std::move(inputs),
                                           std::move(controls)));
    copies_[&node] = copy;
    return OkStatus();
  }

  const Graph& graph_;
  const SubgraphSpec& spec_;
  std::map<std::pair<const Node*, int>, size_t> feeds_;
  Function function_;
  std::unordered_map<const Node*, Node*> copies_;
  std::vector<std::pair<const Node*, int>> loops_;  // inputs that are set at the end
};

}  // namespace

StatusOr<Function> ExtractFunction(const Graph& graph, const SubgraphSpec& spec) {
  return Extractor(graph, spec).Run();
}

}  // namespace slipway::ir
