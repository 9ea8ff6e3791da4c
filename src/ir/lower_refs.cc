// SPDX-License-Identifier: Apache-2.0
//
// Reference variables as resource variables.
#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "base/strings.h"
#include "ir/lower_v1.h"

namespace slipway::ir {
namespace {

// Where a reference leads, and what comes before a read through it.
struct Ref {
  Output handle;
  DType dtype = DType::kInvalid;
  std::vector<Node*> after;
};

bool IsVariable(const Node& node) { return node.op() == "VariableV2" || node.op() == "Variable"; }

// The op on resources that does the same, or empty.
std::string ResourceOp(const std::string& op) {
  if (op == "Assign") return "AssignVariableOp";
  if (op == "AssignAdd") return "AssignAddVariableOp";
  if (op == "AssignSub") return "AssignSubVariableOp";
  if (op == "IsVariableInitialized") return "VarIsInitializedOp";
  const bool updates =
      op.starts_with("Scatter") || op.starts_with("Apply") || op.starts_with("SparseApply");
  return updates && FindOpSchema("Resource" + op) != nullptr ? "Resource" + op : "";
}

bool PassesReference(const std::string& op) {
  return op == "RefEnter" || op == "RefSwitch" || op == "RefIdentity" || op == "RefExit";
}

class RefLowering {
 public:
  explicit RefLowering(Function& function) : function_(function), graph_(function.graph) {}

  Status Run() {
    for (Node* node : graph_.nodes()) {
      if (IsVariable(*node)) RETURN_IF_ERROR(AddVariable(node));
    }
    while (!refs_.empty()) {
      const auto [output, ref] = refs_.front();
      refs_.pop_front();
      RETURN_IF_ERROR(Lower(output, ref));
    }
    for (Node* node : graph_.nodes()) {
      if (gone_.contains(node)) graph_.SetControlInputs(node, {});
    }
    for (auto it = order_gone_.rbegin(); it != order_gone_.rend(); ++it) graph_.Remove(*it);
    return OkStatus();
  }

 private:
  Status AddVariable(Node* variable) {
    ASSIGN_OR_RETURN(auto shape, variable->Attr<PartialShape>("shape"));
    ASSIGN_OR_RETURN(const DType dtype, variable->Attr<DType>("dtype"));
    ASSIGN_OR_RETURN(std::string shared, variable->Attr<std::string>("shared_name"));
    ASSIGN_OR_RETURN(std::string container, variable->Attr<std::string>("container"));
    if (ShapeMayChange(*variable)) shape = PartialShape::Unknown();
    NodeSpec spec;
    spec.op = "VarHandleOp";
    spec.name = variable->name() + "/handle";
    spec.device = variable->device();
    spec.attrs = {{"shape", std::move(shape)},
                  {"dtype", dtype},
                  {"container", std::move(container)},
                  {"shared_name", shared.empty() ? variable->name() : std::move(shared)}};
    ASSIGN_OR_RETURN(Node * handle, graph_.AddNode(std::move(spec)));
    Replaced(variable, handle);
    variables_[variable] = {handle, 0};
    refs_.push_back({Output{variable, 0}, Ref{{handle, 0}, dtype, {}}});
    return OkStatus();
  }

  static bool ShapeMayChange(const Node& variable) {
    return std::any_of(variable.users().begin(), variable.users().end(), [](const Node* user) {
      const AttrValue* validate =
          user->op() == "Assign" ? user->FindAttr("validate_shape") : nullptr;
      const bool* value = validate == nullptr ? nullptr : validate->As<bool>();
      return value != nullptr && !*value;
    });
  }

  // `with` runs in place of `node`, which goes at the end.
  void Replaced(Node* node, Node* with) {
    graph_.ReplaceControl(node, with);
    for (auto& [name, target] : function_.control_returns) {
      if (target == node) target = with;
    }
    if (gone_.insert(node).second) order_gone_.push_back(node);
  }

  static std::vector<Node*> Controls(const Node& node, const Ref& ref) {
    std::vector<Node*> controls = node.control_inputs();
    for (Node* before : ref.after) {
      if (std::find(controls.begin(), controls.end(), before) == controls.end()) {
        controls.push_back(before);
      }
    }
    return controls;
  }

  StatusOr<Output> Read(const std::string& name, const Ref& ref, std::vector<Node*> controls) {
    NodeSpec spec;
    spec.op = "ReadVariableOp";
    spec.name = name;
    spec.inputs = {ref.handle};
    spec.control_inputs = std::move(controls);
    spec.attrs = {{"dtype", ref.dtype}};
    ASSIGN_OR_RETURN(Node * read, graph_.AddNode(std::move(spec)));
    return Output{read, 0};
  }

  Status Lower(Output output, const Ref& ref) {
    std::vector<Node*> users = output.node->users();
    std::sort(users.begin(), users.end(), [](auto* a, auto* b) { return a->id() < b->id(); });
    users.erase(std::unique(users.begin(), users.end()), users.end());
    for (Node* user : users) {
      if (gone_.contains(user)) continue;
      if (std::find(user->inputs().begin(), user->inputs().end(), output) == user->inputs().end()) {
        continue;
      }
      const bool first = user->input(0) == output;
      if (first && PassesReference(user->op())) {
        RETURN_IF_ERROR(PassOn(user, ref));
      } else if (first && !ResourceOp(user->op()).empty()) {
        RETURN_IF_ERROR(Update(user, ref));
      } else {
        RETURN_IF_ERROR(ReadFor(user, output, ref));
      }
    }
    for (auto& result : function_.returns) {
      if (!(result.value == output)) continue;
      ASSIGN_OR_RETURN(result.value, Read(output.node->name() + "/read", ref, ref.after));
    }
    return OkStatus();
  }

  Status ReadFor(Node* user, Output output, const Ref& ref) {
    if (user->op().starts_with("Ref") || user->op().starts_with("Assign")) {
      return UnimplementedError(StrCat("Node '", user->name(), "' (", user->op(),
                                       ") uses the reference variable behind '",
                                       output.node->name(), "' in a way that cannot be lowered"));
    }
    ASSIGN_OR_RETURN(const Output value, Read(user->name() + "/read", ref, Controls(*user, ref)));
    for (size_t i = 0; i < user->inputs().size(); ++i) {
      if (user->inputs()[i] == output) graph_.SetInput(user, static_cast<int>(i), value);
    }
    return OkStatus();
  }

  Status PassOn(Node* user, const Ref& ref) {
    if (user->op() == "RefIdentity") {
      // Its control edges hold for who reads through it.
      Ref next = ref;
      next.after = Controls(*user, ref);
      NodeSpec spec;
      spec.op = "NoOp";
      spec.name = user->name() + "/reference";
      spec.control_inputs = next.after;
      ASSIGN_OR_RETURN(Node * done, graph_.AddNode(std::move(spec)));
      Replaced(user, done);
      refs_.push_back({Output{user, 0}, std::move(next)});
      return OkStatus();
    }
    NodeSpec spec;
    spec.op = user->op().substr(3);
    spec.name = user->name() + "/handle";
    spec.inputs = user->inputs();
    spec.inputs[0] = ref.handle;
    spec.control_inputs = Controls(*user, ref);
    spec.attrs = user->attrs();
    spec.attrs["T"] = DType::kResource;
    ASSIGN_OR_RETURN(Node * handle, graph_.AddNode(std::move(spec)));
    Replaced(user, handle);
    for (int i = 0; i < user->num_outputs(); ++i) {
      refs_.push_back({Output{user, i}, Ref{{handle, i}, ref.dtype, {}}});
    }
    return OkStatus();
  }

  // Further references (an optimizer's slots) must be variables themselves.
  Status Update(Node* user, const Ref& ref) {
    const std::string op = ResourceOp(user->op());
    const OpSchema* schema = FindOpSchema(op);
    NodeSpec spec;
    spec.op = op;
    spec.name = user->name() + "/update";
    spec.inputs = user->inputs();
    spec.inputs[0] = ref.handle;
    spec.control_inputs = Controls(*user, ref);
    for (size_t i = 1; i < spec.inputs.size() && i < schema->inputs.size(); ++i) {
      if (schema->inputs[i].dtype != DType::kResource) continue;
      const auto slot = variables_.find(spec.inputs[i].node);
      if (slot == variables_.end()) {
        return UnimplementedError(StrCat("Node '", user->name(), "' (", user->op(),
                                         ") updates something that is not a variable"));
      }
      spec.inputs[i] = slot->second;
    }
    for (const auto& attr : schema->attrs) {
      if (const AttrValue* value = user->FindAttr(attr.name)) spec.attrs[attr.name] = *value;
    }
    if (schema->FindAttr("dtype") != nullptr) spec.attrs["dtype"] = ref.dtype;
    ASSIGN_OR_RETURN(Node * update, graph_.AddNode(std::move(spec)));
    Replaced(user, update);
    if (update->num_outputs() > 0) {
      graph_.ReplaceUses({user, 0}, {update, 0});
      for (auto& result : function_.returns) {
        if (result.value.node == user) result.value.node = update;
      }
      return OkStatus();
    }
    refs_.push_back({Output{user, 0}, Ref{ref.handle, ref.dtype, {update}}});
    return OkStatus();
  }

  Function& function_;
  Graph& graph_;
  std::deque<std::pair<Output, Ref>> refs_;
  std::map<const Node*, Output> variables_;  // their handles
  std::set<const Node*> gone_;
  std::vector<Node*> order_gone_;
};

}  // namespace

Status LowerRefVariables(Function& function) {
  const std::vector<Node*> nodes = function.graph.nodes();
  const bool any =
      std::any_of(nodes.begin(), nodes.end(), [](const Node* n) { return IsVariable(*n); });
  return any ? RefLowering(function).Run() : OkStatus();
}

}  // namespace slipway::ir
