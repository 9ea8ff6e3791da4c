// SPDX-License-Identifier: Apache-2.0
//
// Frames of TensorFlow 1's loops as While. Loops within loops go first: to the outer one, the inner
// one is then a node like any other.
#include <algorithm>
#include <map>
#include <set>

#include "base/strings.h"
#include "ir/effect.h"
#include "ir/lower_v1.h"

namespace slipway::ir {
namespace {

constexpr int kRoot = 0;
constexpr size_t kMaxFrameDepth = 64;

struct Frame {
  int parent = kRoot;
  std::string name;
  size_t depth = 0;
};

Status Refuse(const Node& node, std::string_view why) {
  return UnimplementedError(
      StrCat("Node '", node.name(), "' (", node.op(),
             ") belongs to a loop of TensorFlow 1 that cannot be lowered: ", why));
}

class FrameLowering {
 public:
  FrameLowering(Function& function, const std::string& prefix, FunctionLibrary* library)
      : function_(function), graph_(function.graph), prefix_(prefix), library_(library) {}

  Status Run() {
    frames_.push_back({});
    RETURN_IF_ERROR(AssignFrames());
    nodes_of_.resize(frames_.size());
    for (Node* node : graph_.nodes()) {
      const auto it = frame_of_.find(node);
      if (it != frame_of_.end()) nodes_of_[static_cast<size_t>(it->second)].push_back(node);
    }
    std::vector<int> order(frames_.size() - 1);
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i) + 1;
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return FrameAt(a).depth > FrameAt(b).depth; });
    for (const int frame : order) RETURN_IF_ERROR(LowerFrame(frame));
    return OkStatus();
  }

 private:
  struct LoopParts {
    std::vector<Node*> nodes;              // all of the frame
    std::vector<Node*> merges;             // one a variable
    std::map<const Node*, int> variables;  // their numbers
    std::vector<Node*> constants;          // Enter nodes of what does not change
    std::vector<Node*> effects;            // of an iteration that runs
    std::vector<Node*> always;             // effects that come with the condition
    Node* condition = nullptr;             // LoopCond
  };

  const Frame& FrameAt(int i) const { return frames_[static_cast<size_t>(i)]; }

  // The frame of what a node gives.
  int FrameOfOutputs(const Node* node) const {
    const int own = frame_of_.at(node);
    return node->op() == "Exit" ? FrameAt(own).parent : own;
  }

  StatusOr<int> EnterFrame(const Node& enter, int from) {
    ASSIGN_OR_RETURN(const std::string name, enter.Attr<std::string>("frame_name"));
    const auto [it, added] = numbers_.try_emplace({from, name}, static_cast<int>(frames_.size()));
    if (added) {
      const size_t depth = FrameAt(from).depth + 1;
      if (depth > kMaxFrameDepth) return Refuse(enter, "loops are nested too deep");
      frames_.push_back({from, name, depth});
    }
    return it->second;
  }

  // From nodes without inputs along all edges. What comes in first decides; all else must agree.
  // Constants may come from outside, they are the same everywhere: they decide last.
  Status AssignFrames() {
    std::vector<Node*> ready, constants;
    for (Node* node : graph_.nodes()) {
      if (!node->inputs().empty() || !node->control_inputs().empty()) continue;
      frame_of_[node] = kRoot;
      (node->IsConst() ? constants : ready).push_back(node);
    }
    for (const Node* constant : constants) RETURN_IF_ERROR(Spread(constant, true, &ready));
    RETURN_IF_ERROR(SpreadAll(&ready));
    for (const Node* constant : constants) {
      RETURN_IF_ERROR(Spread(constant, false, &ready));
      RETURN_IF_ERROR(SpreadAll(&ready));
    }
    return OkStatus();
  }

  Status SpreadAll(std::vector<Node*>* ready) {
    while (!ready->empty()) {
      const Node* node = ready->back();
      ready->pop_back();
      RETURN_IF_ERROR(Spread(node, false, ready));
    }
    return OkStatus();
  }

  // Gives the users of a node their frame; those that had none are added to `ready`.
  Status Spread(const Node* node, bool only_into_frames, std::vector<Node*>* ready) {
    const int frame = FrameOfOutputs(node);
    for (Node* user : node->users()) {
      int of_user = frame;
      if (user->op() == "Enter") {
        ASSIGN_OR_RETURN(of_user, EnterFrame(*user, frame));
      } else if (only_into_frames) {
        continue;
      }
      const auto [it, added] = frame_of_.try_emplace(user, of_user);
      if (added) ready->push_back(user);
      if (it->second != of_user && !node->IsConst()) {
        return Refuse(*user, StrCat("it uses '", node->name(), "' of another frame"));
      }
    }
    return OkStatus();
  }

  StatusOr<LoopParts> Collect(int frame) {
    LoopParts parts;
    parts.nodes = nodes_of_[static_cast<size_t>(frame)];
    for (Node* node : parts.nodes) {
      if (node->op() == "LoopCond") {
        if (parts.condition != nullptr) return Refuse(*node, "there are two conditions");
        parts.condition = node;
      } else if (IsLoopMerge(*node)) {
        parts.variables.emplace(node, static_cast<int>(parts.merges.size()));
        parts.merges.push_back(node);
      } else if (node->op() == "Enter") {
        RETURN_IF_ERROR(CollectEnter(node, &parts));
      } else if (HasEffect(*node)) {
        parts.effects.push_back(node);
      }
    }
    if (parts.condition == nullptr) {
      return Refuse(*parts.nodes.front(),
                    StrCat("frame '", FrameAt(frame).name, "' has no LoopCond"));
    }
    SplitEffects(&parts);
    return parts;
  }

  static bool IsLoopMerge(const Node& node) {
    return node.op() == "Merge" && node.inputs().size() == 2 &&
           node.input(0).node->op() == "Enter" && node.input(1).node->op() == "NextIteration";
  }

  static StatusOr<bool> IsConstant(const Node& enter) { return enter.Attr<bool>("is_constant"); }

  // A variable is known in the body by its handle, not by an argument of which nobody knows where
  // it comes from: there it can be frozen.
  Status BringHandleInside(Node* enter) {
    Output from = enter->input(0);
    while (from.node->op() == "Enter") {
      ASSIGN_OR_RETURN(const bool constant, IsConstant(*from.node));
      if (!constant) return OkStatus();
      from = from.node->input(0);
    }
    if (from.node->op() == "VarHandleOp") graph_.ReplaceUses({enter, 0}, from);
    return OkStatus();
  }

  // Effects that do not wait for the condition happen with it: once more than those of the body.
  void SplitEffects(LoopParts* parts) {
    std::set<const Node*> behind;
    std::vector<const Node*> stack;
    for (const Node* node : parts->nodes) {
      if (node->op() == "Switch" && node->input(1).node == parts->condition) stack.push_back(node);
    }
    while (!stack.empty()) {
      const Node* node = stack.back();
      stack.pop_back();
      for (const Node* user : node->users()) {
        const bool leaves = user->op() == "Exit" || user->op() == "NextIteration";
        if (!leaves && behind.insert(user).second) stack.push_back(user);
      }
    }
    std::vector<Node*> all = std::move(parts->effects);
    parts->effects.clear();
    for (Node* node : all) {
      (behind.contains(node) ? parts->effects : parts->always).push_back(node);
    }
    // The condition is done before the body begins: nothing there need wait for a part of it.
    for (Node* node : parts->always) {
      const std::vector<Node*> users = node->users();
      for (Node* user : users) {
        if (!behind.contains(user)) continue;
        std::vector<Node*> before = user->control_inputs();
        if (std::erase(before, node) > 0) graph_.SetControlInputs(user, std::move(before));
      }
    }
  }

  Status CollectEnter(Node* enter, LoopParts* parts) {
    ASSIGN_OR_RETURN(const bool constant, IsConstant(*enter));
    if (constant) {
      RETURN_IF_ERROR(BringHandleInside(enter));
      if (enter->users().empty()) return OkStatus();
      parts->constants.push_back(enter);
      return OkStatus();
    }
    for (const Node* user : enter->users()) {
      if (!IsLoopMerge(*user)) {
        return Refuse(*enter, StrCat("its value is used by '", user->name(),
                                     "' in the first iteration only"));
      }
    }
    return OkStatus();
  }

  // In an iteration that runs, what a variable's Switch lets through is what its Merge gave.
  Status BypassSwitches(const LoopParts& parts) {
    for (Node* node : parts.nodes) {
      if (node->op() != "Switch" || node->input(1).node != parts.condition) continue;
      const Output value = node->input(0);
      if (!parts.variables.contains(value.node)) {
        return Refuse(*node, "it switches something that is no variable of the loop");
      }
      graph_.ReplaceUses({node, 1}, value);
      // Waiting for a switch is waiting for the iteration to begin.
      std::vector<Node*> users = node->users();
      for (Node* user : users) {
        if (user->op() == "Exit") continue;
        std::vector<Node*> before = user->control_inputs();
        if (std::erase(before, node) > 0) graph_.SetControlInputs(user, std::move(before));
      }
    }
    graph_.ReplaceUses({parts.condition, 0}, parts.condition->input(0));
    graph_.ReplaceControl(parts.condition, nullptr);
    return OkStatus();
  }

  SubgraphSpec Spec(const LoopParts& parts, const std::string& name) const {
    SubgraphSpec spec;
    spec.name = name;
    for (Node* merge : parts.merges) spec.feeds.emplace_back(merge->name(), Output{merge, 0});
    for (Node* enter : parts.constants) spec.feeds.emplace_back(enter->name(), Output{enter, 0});
    return spec;
  }

  // Only nodes of the frame, and constants, may be part of the loop's functions.
  Status CheckInside(const Function& body, int frame) const {
    for (const Node* node : body.graph.nodes()) {
      if (node->op() == "_Arg" || node->op() == "VarHandleOp" || node->IsConst()) continue;
      const Node* original = graph_.FindNode(node->name());
      const auto it = original == nullptr ? frame_of_.end() : frame_of_.find(original);
      if (it != frame_of_.end() && it->second != frame) {
        return Refuse(*original, StrCat("it is used inside of the frame '", FrameAt(frame).name,
                                        "' without Enter"));
      }
    }
    return OkStatus();
  }

  Status AddFunction(Function body, int frame) {
    RETURN_IF_ERROR(CheckInside(body, frame));
    const std::string name = body.name;
    if (library_->Contains(name)) return OkStatus();
    RETURN_IF_ERROR(LowerConditionals(body, name, library_));
    return library_->Add(std::move(body));
  }

  Status LowerFrame(int frame) {
    ASSIGN_OR_RETURN(const LoopParts parts, Collect(frame));
    const Output condition = parts.condition->input(0);
    RETURN_IF_ERROR(BypassSwitches(parts));
    const std::string name = StrCat(prefix_, "/", FrameAt(frame).name, "#", frame);

    SubgraphSpec cond = Spec(parts, name + "/cond");
    cond.fetches.emplace_back("condition", condition);
    cond.targets = parts.always;
    ASSIGN_OR_RETURN(Function cond_function, ExtractFunction(graph_, cond));

    SubgraphSpec body = Spec(parts, name + "/body");
    std::set<Node*> targets(parts.effects.begin(), parts.effects.end());
    for (Node* merge : parts.merges) {
      const Node* next = merge->input(1).node;
      body.fetches.emplace_back(merge->name(), next->input(0));
      targets.insert(next->control_inputs().begin(), next->control_inputs().end());
    }
    for (Node* enter : parts.constants) body.fetches.emplace_back(enter->name(), Output{enter, 0});
    for (Node* target : targets) {
      if (target->op() != "Enter" && !IsLoopMerge(*target)) body.targets.push_back(target);
    }
    std::sort(body.targets.begin(), body.targets.end(),
              [](const Node* a, const Node* b) { return a->id() < b->id(); });
    ASSIGN_OR_RETURN(Function body_function, ExtractFunction(graph_, body));
    for (const Node* node : parts.always) {
      if (body_function.graph.FindNode(node->name()) == nullptr) continue;
      return Refuse(*node, "it comes with the condition, and the body needs it as well");
    }
    RETURN_IF_ERROR(AddFunction(std::move(cond_function), frame));
    RETURN_IF_ERROR(AddFunction(std::move(body_function), frame));
    return PutLoop(parts, frame, name);
  }

  Status PutLoop(const LoopParts& parts, int frame, const std::string& name) {
    NodeSpec spec;
    spec.op = parts.effects.empty() && parts.always.empty() ? "StatelessWhile" : "While";
    spec.name = FrameAt(frame).name;
    std::vector<DType> types;
    const auto add = [&](const Node* enter) {
      spec.inputs.push_back(enter->input(0));
      types.push_back(enter->dtype(0));
      for (Node* before : enter->control_inputs()) {
        if (std::find(spec.control_inputs.begin(), spec.control_inputs.end(), before) ==
            spec.control_inputs.end()) {
          spec.control_inputs.push_back(before);
        }
      }
    };
    for (const Node* merge : parts.merges) add(merge->input(0).node);
    for (const Node* enter : parts.constants) add(enter);
    spec.attrs = {{"T", std::move(types)},
                  {"cond", FunctionRef{name + "/cond", {}}},
                  {"body", FunctionRef{name + "/body", {}}}};
    ASSIGN_OR_RETURN(Node * loop, graph_.AddNode(std::move(spec)));
    frame_of_[loop] = FrameAt(frame).parent;
    nodes_of_[static_cast<size_t>(FrameAt(frame).parent)].push_back(loop);
    return Detach(parts, loop);
  }

  // Exits become the loop's outputs; the frame's nodes go.
  Status Detach(const LoopParts& parts, Node* loop) {
    for (Node* exit : parts.nodes) {
      if (exit->op() != "Exit") continue;
      const Output way = exit->input(0);
      const bool leaves = way.node->op() == "Switch" && way.index == 0;
      const auto at = parts.variables.find(leaves ? way.node->input(0).node : nullptr);
      if (at == parts.variables.end()) {
        return Refuse(*exit, "it lets something out that is no variable of the loop");
      }
      const Output result = {loop, at->second};
      graph_.ReplaceUses({exit, 0}, result);
      graph_.ReplaceControl(exit, loop);
      for (auto& r : function_.returns) {
        if (r.value.node == exit) r.value = result;
      }
      for (auto& [name, target] : function_.control_returns) {
        if (target == exit) target = loop;
      }
    }
    return RemoveNodes(parts.nodes);
  }

  Status RemoveNodes(const std::vector<Node*>& nodes) {
    const std::set<const Node*> gone(nodes.begin(), nodes.end());
    for (Node* node : nodes) {
      for (const Node* user : node->users()) {
        if (!gone.contains(user)) {
          return Refuse(*node, StrCat("'", user->name(), "' uses it without Exit"));
        }
      }
    }
    for (const auto& r : function_.returns) {
      if (gone.contains(r.value.node)) return Refuse(*r.value.node, "it is fetched from inside");
    }
    for (auto& [name, target] : function_.control_returns) {
      if (gone.contains(target)) return Refuse(*target, "it is a target inside of the loop");
    }
    for (Node* node : nodes) {
      frame_of_.erase(node);
      graph_.SetControlInputs(node, {});
      for (size_t i = 0; i < node->inputs().size(); ++i) {
        graph_.SetInput(node, static_cast<int>(i), {});
      }
    }
    for (Node* node : nodes) graph_.Remove(node);
    return OkStatus();
  }

  Function& function_;
  Graph& graph_;
  const std::string& prefix_;
  FunctionLibrary* library_;
  std::vector<Frame> frames_;
  std::map<std::pair<int, std::string>, int> numbers_;
  std::map<const Node*, int> frame_of_;
  std::vector<std::vector<Node*>> nodes_of_;  // of each frame
};

bool Holds(const Graph& graph, std::string_view op) {
  const std::vector<Node*> nodes = graph.nodes();
  return std::any_of(nodes.begin(), nodes.end(), [&](const Node* n) { return n->op() == op; });
}

}  // namespace

Status LowerFrames(Function& function, const std::string& prefix, FunctionLibrary* library) {
  if (!Holds(function.graph, "Enter")) return OkStatus();
  return FrameLowering(function, prefix, library).Run();
}

Status LowerV1(Function& function, const std::string& prefix, FunctionLibrary* library) {
  RETURN_IF_ERROR(LowerRefVariables(function));
  RETURN_IF_ERROR(LowerFrames(function, prefix, library));
  return LowerConditionals(function, prefix, library);
}

}  // namespace slipway::ir
