// SPDX-License-Identifier: Apache-2.0
//
// MatMul → BiasAdd (or a sum with a vector) → activation becomes _FusedMatMul, TensorFlow's own
// name for it. In a training graph too: gradients of most activations use their output, so that the
// value before it has no other use.
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "base/strings.h"
#include "ir/passes/passes.h"
#include "ir/passes/rewrite.h"

namespace slipway::ir {
namespace {

constexpr std::array<std::string_view, 6> kActivations = {"Relu", "Relu6",   "Elu",
                                                          "Tanh", "Sigmoid", "LeakyRelu"};

struct Match {
  Node* matmul = nullptr;
  Node* add = nullptr;
  Node* activation = nullptr;  // may be null
  Output bias;

  Node* last() const { return activation != nullptr ? activation : add; }
};

class DenseFuser {
 public:
  explicit DenseFuser(Function& function) : function_(function), uses_(function.graph) {
    for (const Function::Return& result : function.returns) returned_.insert(result.value.node);
    for (const auto& [name, node] : function.control_returns) returned_.insert(node);
  }

  StatusOr<int> Run() {
    Replacements replacements(function_);
    for (Node* node : function_.graph.nodes()) {
      if (node->op() != "MatMul" || node->dtype(0) != DType::kFloat) continue;
      std::optional<Match> match = Find(node);
      if (!match.has_value()) continue;
      ASSIGN_OR_RETURN(Node * fused, Fuse(*match, replacements));
      const Output value{fused, 0};
      // The inner ones have no use left but each other's.
      replacements.Replace(match->last(), {value});
      if (match->activation != nullptr) replacements.Replace(match->add, {value});
      replacements.Replace(match->matmul, {value});
    }
    const int nodes = replacements.size();
    replacements.Apply();
    return nodes;
  }

 private:
  // The only node that uses a value in any way, or null.
  Node* OnlyUser(Node* node) const {
    if (returned_.contains(node) || !uses_.control_of(node).empty()) return nullptr;
    const std::vector<Uses::Use>& uses = uses_.of({node, 0});
    return uses.size() == 1 ? uses[0].node : nullptr;
  }

  std::optional<Match> Find(Node* matmul) const {
    Match match;
    match.matmul = matmul;
    match.add = OnlyUser(matmul);
    if (match.add == nullptr) return std::nullopt;
    match.bias = BiasOf(*match.add, matmul);
    if (!match.bias.valid()) return std::nullopt;
    Node* next = OnlyUser(match.add);
    if (next != nullptr &&
        std::find(kActivations.begin(), kActivations.end(), next->op()) != kActivations.end()) {
      match.activation = next;
    }
    return match;
  }

  // The vector that is added to each row of the product, if that is what the node does.
  static Output BiasOf(const Node& add, const Node* matmul) {
    const bool is_sum = add.op() == "AddV2" || add.op() == "Add";
    if (add.op() != "BiasAdd" && add.op() != "BiasAddV1" && !is_sum) return {};
    const int product = add.input(0).node == matmul ? 0 : 1;
    if (!is_sum && product != 0) return {};
    const Output bias = add.input(1 - product);
    if (bias.node == matmul) return {};
    if (!is_sum) return bias;
    // A sum would also stretch a bias of one element, or a product with one column.
    const PartialShape& shape = matmul->shape(0);
    const bool fits = bias.shape().rank() == 1 && shape.rank() == 2 && shape.dim(1) > 0 &&
                      bias.shape().dim(0) == shape.dim(1);
    return fits ? bias : Output();
  }

  StatusOr<Node*> Fuse(const Match& match, const Replacements& replacements) {
    NodeSpec spec;
    spec.op = "_FusedMatMul";
    spec.name = match.last()->name();
    spec.device = match.last()->device();
    spec.inputs = {match.matmul->input(0), match.matmul->input(1), match.bias};
    for (Output& input : spec.inputs) input = replacements.Resolve(input);
    for (const char* flag : {"transpose_a", "transpose_b"}) {
      if (const AttrValue* value = match.matmul->FindAttr(flag)) spec.attrs[flag] = *value;
    }
    std::vector<std::string> ops = {"BiasAdd"};
    if (match.activation != nullptr) {
      ops.push_back(match.activation->op());
      if (const AttrValue* alpha = match.activation->FindAttr("alpha")) {
        spec.attrs["leakyrelu_alpha"] = *alpha;
      }
    }
    spec.attrs["fused_ops"] = std::move(ops);
    spec.attrs["num_args"] = 1;
    // What the parts waited for reaches it through Replacements, which also asks it of users.
    for (const Node* part : {match.matmul, match.add, match.activation}) {
      if (part == nullptr) continue;
      for (Node* before : part->control_inputs()) spec.control_inputs.push_back(before);
    }
    return function_.graph.AddNode(std::move(spec));
  }

  Function& function_;
  Uses uses_;
  std::unordered_set<const Node*> returned_;
};

}  // namespace

Status FuseDense(Function& function, const PassContext&, std::string* note) {
  if (FindOpSchema("_FusedMatMul") == nullptr) return OkStatus();
  ASSIGN_OR_RETURN(const int nodes, DenseFuser(function).Run());
  *note = StrCat(nodes, " nodes fused");
  return OkStatus();
}

}  // namespace slipway::ir
