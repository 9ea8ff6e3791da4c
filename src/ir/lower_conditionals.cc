// SPDX-License-Identifier: Apache-2.0
//
// Switch and Merge of TensorFlow 1's conditionals as If. Each value has a path: the branches that
// must be taken for it to be there, from the outside in. A Merge joins the two branches of one
// predicate; all merges that join the same ones become one If. The innermost go first.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/strings.h"
#include "ir/effect.h"
#include "ir/lower_v1.h"

namespace slipway::ir {
namespace {

struct Branch {
  Output predicate;  // what decides, behind Identity nodes
  bool taken = false;
  friend bool operator==(const Branch&, const Branch&) = default;
};
using Path = std::vector<Branch>;

constexpr size_t kMaxConditionalDepth = 64;
constexpr int kMaxConditionals = 10'000;
// Nodes looked at, over all conditionals: some seconds.
constexpr int64_t kMaxWork = 200'000'000;

Status Refuse(const Node& node, std::string_view why) {
  return UnimplementedError(StrCat("Node '", node.name(), "' (", node.op(),
                                   ") belongs to a conditional of TensorFlow 1 that cannot be "
                                   "lowered: ",
                                   why));
}

Output Root(Output predicate) {
  while (predicate.node->op() == "Identity") predicate = predicate.node->input(0);
  return predicate;
}

bool IsPrefix(const Path& shorter, const Path& longer) {
  return shorter.size() <= longer.size() &&
         std::equal(shorter.begin(), shorter.end(), longer.begin());
}

class ConditionalLowering {
 public:
  ConditionalLowering(Function& function, const std::string& prefix, FunctionLibrary* library)
      : function_(function), graph_(function.graph), prefix_(prefix), library_(library) {}

  Status Run() {
    RETURN_IF_ERROR(FindPaths());
    for (int number = 0; number < kMaxConditionals; ++number) {
      if (groups_.empty()) return CheckDone();
      RETURN_IF_ERROR(LowerGroup(TakeInnermost(), StrCat(prefix_, "/cond#", number)));
      if (work_ > kMaxWork) return TooLarge();
    }
    return TooLarge();
  }

 private:
  // What all merges of one conditional have in common, the deepest conditionals first. Outputs
  // count by their nodes' numbers, so that the order does not depend on addresses.
  struct Key {
    explicit Key(const Path& path, Output predicate) : depth(-static_cast<int>(path.size())) {
      for (const Branch& branch : path) Add(branch.predicate, branch.taken);
      Add(predicate, false);
    }
    void Add(Output predicate, bool taken) {
      numbers.insert(numbers.end(), {predicate.node->id(), predicate.index, taken ? 1 : 0});
    }
    int depth;
    std::vector<int> numbers;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  Status TooLarge() const {
    return ResourceExhaustedError(StrCat("The conditionals of TensorFlow 1 in '", function_.name,
                                         "' are more than can be lowered (", graph_.num_nodes(),
                                         " nodes, at most ", kMaxConditionals, " conditionals)"));
  }

  // Of a switch, the path of what it is given.
  const Path& PathOf(const Node* node) const { return paths_.at(node); }

  StatusOr<Path> PathOfOutput(Output value) const {
    Path path = PathOf(value.node);
    if (value.node->op() != "Switch" || value.index < 0) return path;
    if (path.size() >= kMaxConditionalDepth) return Refuse(*value.node, "it is nested too deep");
    path.push_back({Root(value.node->input(1)), value.index == 1});
    return path;
  }

  // The longest of the inputs' paths; the others must lead to it.
  Status Extend(const Node& node, const Path& by, Path* path) const {
    if (IsPrefix(by, *path)) return OkStatus();
    if (!IsPrefix(*path, by)) return Refuse(node, "its inputs come from different branches");
    *path = by;
    return OkStatus();
  }

  Status FindPaths() {
    paths_.clear();
    groups_.clear();
    effects_.clear();
    predicates_.clear();
    ASSIGN_OR_RETURN(const std::vector<Node*> order, graph_.TopologicalOrder());
    work_ += 8 * static_cast<int64_t>(order.size());
    for (Node* node : order) {
      Path path;
      if (node->op() == "Merge") {
        RETURN_IF_ERROR(PathOfMerge(*node, &path));
      } else {
        for (const Output& input : node->inputs()) {
          ASSIGN_OR_RETURN(const Path of_input, PathOfOutput(input));
          RETURN_IF_ERROR(Extend(*node, of_input, &path));
        }
        for (const Node* before : node->control_inputs()) {
          RETURN_IF_ERROR(Extend(*node, PathOf(before), &path));
        }
      }
      if (node->op() == "Switch") predicates_.insert(Root(node->input(1)).node);
      const bool in_branch = !path.empty();
      paths_.emplace(node, std::move(path));
      if (node->op() == "Merge") groups_[KeyOf(*node)].push_back(node);
      if (in_branch && HasEffect(*node)) effects_.emplace(node->id(), node);
    }
    const auto by_id = [](const Node* a, const Node* b) { return a->id() < b->id(); };
    for (auto& [key, merges] : groups_) std::sort(merges.begin(), merges.end(), by_id);
    return OkStatus();
  }

  Key KeyOf(const Node& merge) const { return Key(PathOf(&merge), PredicateOf(merge)); }

  Status PathOfMerge(const Node& merge, Path* path) const {
    if (merge.inputs().size() != 2) {
      return Refuse(merge, StrCat("it joins ", merge.inputs().size(), " values, not 2"));
    }
    ASSIGN_OR_RETURN(Path a, PathOfOutput(merge.input(0)));
    ASSIGN_OR_RETURN(const Path b, PathOfOutput(merge.input(1)));
    const bool joins = !a.empty() && a.size() == b.size() &&
                       std::equal(a.begin(), a.end() - 1, b.begin()) &&
                       a.back().predicate == b.back().predicate && a.back().taken != b.back().taken;
    if (!joins) return Refuse(merge, "it does not join the two branches of one predicate");
    a.pop_back();
    *path = std::move(a);
    return OkStatus();
  }

  // The merges to lower next: deepest, of one predicate, none of which needs another.
  std::vector<Node*> TakeInnermost() {
    const auto group = groups_.begin();
    std::vector<Node*> merges = std::move(group->second);
    groups_.erase(group);
    if (merges.size() == 1) return merges;
    const std::unordered_set<const Node*> behind = Behind(merges);
    std::vector<Node*> later;
    for (Node* merge : merges) {
      if (behind.contains(merge)) later.push_back(merge);
    }
    std::erase_if(merges, [&](const Node* merge) { return behind.contains(merge); });
    if (!later.empty()) groups_[KeyOf(*later.front())] = std::move(later);
    return merges;
  }

  Output PredicateOf(const Node& merge) const {
    const Output& input = merge.input(0);
    if (input.node->op() == "Switch") return Root(input.node->input(1));
    return PathOf(input.node).back().predicate;
  }

  // All that needs one of the nodes.
  std::unordered_set<const Node*> Behind(const std::vector<Node*>& nodes) {
    std::unordered_set<const Node*> seen;
    std::vector<const Node*> stack(nodes.begin(), nodes.end());
    while (!stack.empty()) {
      const Node* node = stack.back();
      stack.pop_back();
      for (const Node* user : node->users()) {
        ++work_;
        if (seen.insert(user).second) stack.push_back(user);
      }
    }
    return seen;
  }

  // What lies in the branches and what comes into them.
  struct Group {
    std::vector<Node*> merges;
    Path outside;
    Output predicate;
    std::set<Node*> inside;
    std::vector<Node*> switches;                 // in the order they are met
    std::vector<Output> captured;                // values from outside that come without a switch
    std::vector<Node*> before;                   // control edges from outside
    std::set<std::pair<const Node*, int>> seen;  // of these three; -1 for nodes
    std::vector<Node*> effects[2];               // of the branch not taken, and taken
  };

  bool IsBoundary(const Group& group, const Node& node) const {
    return node.op() == "Switch" && PathOf(&node) == group.outside &&
           Root(node.input(1)) == group.predicate;
  }

  // A node that runs in a branch of the group.
  bool IsInside(const Group& group, const Node& node) const {
    const Path& path = PathOf(&node);
    return path.size() > group.outside.size() && IsPrefix(group.outside, path) &&
           path[group.outside.size()].predicate == group.predicate;
  }

  Status Collect(Group* group) {
    std::vector<Node*> stack;
    for (Node* merge : group->merges) {
      for (const Output& input : merge->inputs()) Reach(group, input, &stack);
      for (Node* before : merge->control_inputs()) ReachControl(group, before, nullptr, &stack);
    }
    // Effects of the branches that no merge asks for: with the first group they belong to.
    std::vector<Node*> effects;
    work_ += static_cast<int64_t>(effects_.size());
    for (const auto& [id, node] : effects_) {
      if (IsInside(*group, *node)) effects.push_back(node);
    }
    if (!effects.empty()) {
      const std::unordered_set<const Node*> behind = Behind(group->merges);
      std::erase_if(effects, [&](const Node* node) { return behind.contains(node); });
    }
    for (Node* node : effects) {
      if (group->inside.insert(node).second) stack.push_back(node);
      const bool taken = PathOf(node)[group->outside.size()].taken;
      group->effects[taken ? 1 : 0].push_back(node);
    }
    while (!stack.empty()) {
      Node* node = stack.back();
      stack.pop_back();
      for (const Output& input : node->inputs()) Reach(group, input, &stack);
      const std::vector<Node*> controls = node->control_inputs();
      for (Node* before : controls) ReachControl(group, before, node, &stack);
    }
    return OkStatus();
  }

  void Reach(Group* group, Output value, std::vector<Node*>* stack) {
    if (IsBoundary(*group, *value.node)) {
      if (group->seen.insert({value.node, -1}).second) group->switches.push_back(value.node);
    } else if (IsInside(*group, *value.node) || value.node->IsConst()) {
      if (group->inside.insert(value.node).second) stack->push_back(value.node);
    } else if (group->seen.insert({value.node, value.index}).second) {
      group->captured.push_back(value);
    }
  }

  // Waiting for something outside is the If's to do.
  void ReachControl(Group* group, Node* before, Node* user, std::vector<Node*>* stack) {
    if (IsInside(*group, *before)) {
      if (group->inside.insert(before).second) stack->push_back(before);
      return;
    }
    // A node is a switch of the group or before it, never both.
    if (group->seen.insert({before, -1}).second) {
      (IsBoundary(*group, *before) ? group->switches : group->before).push_back(before);
    }
    if (user == nullptr) return;
    std::vector<Node*> rest = user->control_inputs();
    std::erase(rest, before);
    graph_.SetControlInputs(user, std::move(rest));
  }

  static void AddOnce(std::vector<Node*>* nodes, Node* node) {
    if (std::find(nodes->begin(), nodes->end(), node) == nodes->end()) nodes->push_back(node);
  }

  StatusOr<Function> MakeBranch(const Group& group, bool taken, const std::string& name) {
    SubgraphSpec spec;
    spec.name = name;
    for (Node* node : group.switches) {
      spec.feeds.emplace_back(node->name(), Output{node, taken ? 1 : 0});
    }
    for (const Output& value : group.captured) spec.feeds.emplace_back(value.node->name(), value);
    for (Node* merge : group.merges) {
      ASSIGN_OR_RETURN(const Path first, PathOfOutput(merge->input(0)));
      const int from = (first.back().taken == taken) ? 0 : 1;
      spec.fetches.emplace_back(merge->name(), merge->input(from));
      NodeSpec index;
      index.op = "Const";
      index.name = merge->name() + "/value_index";
      index.attrs = {{"dtype", DType::kInt32}, {"value", Tensor::Scalar<int32_t>(from)}};
      ASSIGN_OR_RETURN(Node * constant, graph_.AddNode(std::move(index)));
      paths_.emplace(constant, Path());
      spec.fetches.emplace_back(constant->name(), Output{constant, 0});
    }
    spec.targets = group.effects[taken ? 1 : 0];
    return ExtractFunction(graph_, spec);
  }

  Status LowerGroup(const std::vector<Node*>& merges, const std::string& name) {
    Group group;
    group.merges = merges;
    group.outside = PathOf(merges.front());
    group.predicate = PredicateOf(*merges.front());
    RETURN_IF_ERROR(Collect(&group));
    for (const bool taken : {false, true}) {
      const std::string branch = name + (taken ? "/then" : "/else");
      ASSIGN_OR_RETURN(Function function, MakeBranch(group, taken, branch));
      if (!library_->Contains(branch)) RETURN_IF_ERROR(library_->Add(std::move(function)));
    }
    return PutIf(group, name);
  }

  Status PutIf(const Group& group, const std::string& name) {
    NodeSpec spec;
    spec.op = group.effects[0].empty() && group.effects[1].empty() ? "StatelessIf" : "If";
    spec.name = group.merges.front()->name() + "/If";
    spec.inputs = {group.predicate};
    spec.control_inputs = group.before;
    std::vector<DType> in, out;
    for (const Node* node : group.switches) spec.inputs.push_back(node->input(0));
    spec.inputs.insert(spec.inputs.end(), group.captured.begin(), group.captured.end());
    for (size_t i = 1; i < spec.inputs.size(); ++i) in.push_back(spec.inputs[i].dtype());
    for (const Node* merge : group.merges) {
      out.push_back(merge->dtype(0));
      out.push_back(DType::kInt32);
    }
    spec.attrs = {{"Tcond", DType::kBool},
                  {"Tin", std::move(in)},
                  {"Tout", std::move(out)},
                  {"then_branch", FunctionRef{name + "/then", {}}},
                  {"else_branch", FunctionRef{name + "/else", {}}}};
    ASSIGN_OR_RETURN(Node * branch, graph_.AddNode(std::move(spec)));
    paths_.emplace(branch, group.outside);
    if (HasEffect(*branch) && !group.outside.empty()) effects_.emplace(branch->id(), branch);
    for (size_t i = 0; i < group.merges.size(); ++i) {
      Node* merge = group.merges[i];
      for (const int output : {0, 1}) {
        const Output result = {branch, static_cast<int>(2 * i) + output};
        graph_.ReplaceUses({merge, output}, result);
        for (auto& r : function_.returns) {
          if (r.value == Output{merge, output}) r.value = result;
        }
      }
      graph_.ReplaceControl(merge, branch);
      for (auto& [target_name, target] : function_.control_returns) {
        if (target == merge) target = branch;
      }
    }
    // Whoever waits for something inside waits for the whole.
    for (Node* node : group.effects[0]) Hand(group, node, branch);
    for (Node* node : group.effects[1]) Hand(group, node, branch);
    return RemoveUnused(group) ? FindPaths() : OkStatus();
  }

  void Hand(const Group& group, Node* effect, Node* branch) {
    for (auto& [name, target] : function_.control_returns) {
      if (target == effect) target = branch;
    }
    const std::vector<Node*> users = effect->users();
    for (Node* user : users) {
      if (group.inside.contains(user) || IsInside(group, *user)) continue;
      std::vector<Node*> before = user->control_inputs();
      if (std::erase(before, effect) == 0) continue;
      AddOnce(&before, branch);
      graph_.SetControlInputs(user, std::move(before));
    }
  }

  // The merges, and then all of the branches that nobody else uses, users first. Whether one of
  // them decided in turn (mostly a merge): its branches are now those of another value.
  bool RemoveUnused(const Group& group) {
    bool decides = false;
    std::set<const Node*> kept;
    for (const auto& r : function_.returns) kept.insert(r.value.node);
    for (const auto& [name, target] : function_.control_returns) kept.insert(target);
    for (const auto& arg : function_.args) kept.insert(arg.node);
    work_ += static_cast<int64_t>(kept.size() + group.inside.size());
    std::vector<Node*> candidates = group.merges;
    candidates.insert(candidates.end(), group.switches.begin(), group.switches.end());
    candidates.insert(candidates.end(), group.inside.begin(), group.inside.end());
    std::set<Node*> left(candidates.begin(), candidates.end());
    std::vector<Node*> stack = candidates;
    while (!stack.empty()) {
      Node* node = stack.back();
      stack.pop_back();
      if (!left.contains(node) || kept.contains(node) || !node->users().empty()) continue;
      left.erase(node);
      for (const Output& input : node->inputs()) stack.push_back(input.node);
      for (Node* before : node->control_inputs()) stack.push_back(before);
      graph_.SetControlInputs(node, {});
      for (size_t i = 0; i < node->inputs().size(); ++i) {
        graph_.SetInput(node, static_cast<int>(i), {});
      }
      paths_.erase(node);
      effects_.erase(node->id());
      decides = decides || predicates_.contains(node);
      graph_.Remove(node);
    }
    return decides;
  }

  // What is left in a branch would have to be there whichever way it goes.
  Status CheckDone() const {
    for (const auto& r : function_.returns) {
      ASSIGN_OR_RETURN(const Path path, PathOfOutput(r.value));
      if (!path.empty()) {
        return Refuse(*r.value.node, "its value is fetched from a branch that may not run");
      }
    }
    for (const auto& [name, target] : function_.control_returns) {
      if (!PathOf(target).empty()) {
        return Refuse(*target, "it is a target in a branch that may not run");
      }
    }
    return OkStatus();
  }

  Function& function_;
  Graph& graph_;
  const std::string& prefix_;
  FunctionLibrary* library_;
  std::unordered_map<const Node*, Path> paths_;
  std::map<Key, std::vector<Node*>> groups_;  // merges that are still there
  std::map<int, Node*> effects_;              // nodes in branches, by number
  std::set<const Node*> predicates_;          // nodes that decide something
  int64_t work_ = 0;
};

}  // namespace

Status LowerConditionals(Function& function, const std::string& prefix, FunctionLibrary* library) {
  const std::vector<Node*> nodes = function.graph.nodes();
  const bool any = std::any_of(nodes.begin(), nodes.end(), [](const Node* n) {
    return n->op() == "Switch" || n->op() == "Merge";
  });
  return any ? ConditionalLowering(function, prefix, library).Run() : OkStatus();
}

}  // namespace slipway::ir
