// SPDX-License-Identifier: Apache-2.0
#include <unordered_map>

#include "base/strings.h"
#include "ir/effect.h"
#include "ir/passes/passes.h"
#include "ir/passes/rewrite.h"

namespace slipway::ir {
namespace {

// Deep enough for any model (exports nest three to ten deep), shallow enough to end soon.
constexpr size_t kMaxDepth = 64;
// What hostile nesting (each function calls the next twice) may grow to.
constexpr int kMaxNodes = 5'000'000;

using Chain = std::vector<std::string>;  // the functions whose bodies a node came through

// The called function's name, or empty if the node is no call.
std::string_view Callee(const Node& node, const FunctionLibrary& library) {
  if (node.op() == "PartitionedCall" || node.op() == "StatefulPartitionedCall") {
    const AttrValue* f = node.FindAttr("f");
    const FunctionRef* ref = f == nullptr ? nullptr : f->As<FunctionRef>();
    return ref == nullptr ? std::string_view() : std::string_view(ref->name);
  }
  // Graphs of TensorFlow 1 call a function by using its name as the op.
  if (node.schema() == nullptr && library.Contains(node.op())) return node.op();
  return {};
}

class Inliner {
 public:
  Inliner(Function& function, const FunctionLibrary& library)
      : function_(function), library_(library) {}

  // Rounds, since bodies bring calls of their own. Only what is reachable is looked at: a library
  // may hold functions with ops that nobody has.
  StatusOr<int> Run() {
    int inlined = 0;
    while (true) {
      const std::unordered_set<const Node*> reachable = ReachableNodes(function_);
      std::vector<Node*> calls;
      for (Node* node : function_.graph.nodes()) {
        if (reachable.contains(node) && !Callee(*node, library_).empty()) calls.push_back(node);
      }
      if (calls.empty()) return inlined;
      Replacements replacements(function_);
      for (Node* call : calls) RETURN_IF_ERROR(InlineOne(call, replacements));
      replacements.Apply();
      inlined += static_cast<int>(calls.size());
    }
  }

 private:
  Status InlineOne(Node* call, Replacements& replacements) {
    const std::string callee(Callee(*call, library_));
    Chain chain = chains_[call];
    for (const std::string& outer : chain) {
      if (outer == callee) {
        return InvalidArgumentError(StrCat("Function '", callee, "' calls itself (",
                                           StrJoin(chain, " -> "), " -> ", callee,
                                           "); a recursion without a branch never ends"));
      }
    }
    chain.push_back(callee);
    if (chain.size() > kMaxDepth) {
      return InvalidArgumentError(
          StrCat("Calls are nested more than ", kMaxDepth, " deep at node '", call->name(), "'"));
    }
    ASSIGN_OR_RETURN(const Function* body, library_.Find(callee));
    if (call->inputs().size() != body->args.size() ||
        call->num_outputs() > static_cast<int>(body->returns.size())) {
      return InvalidArgumentError(StrCat("Node '", call->name(), "' calls '", callee, "' with ",
                                         call->inputs().size(), " inputs and ", call->num_outputs(),
                                         " outputs; it has ", body->args.size(), " and ",
                                         body->returns.size()));
    }
    return CopyBody(call, *body, std::move(chain), replacements);
  }

  Status CopyBody(Node* call, const Function& body, Chain chain, Replacements& replacements) {
    Graph& graph = function_.graph;
    if (graph.num_nodes() + body.graph.num_nodes() > kMaxNodes) {
      return ResourceExhaustedError(
          StrCat("Inlining '", body.name, "' would make more than ", kMaxNodes, " nodes"));
    }
    const int first_new = graph.num_nodes() == 0 ? 0 : graph.nodes().back()->id() + 1;
    Node* last = nullptr;
    ASSIGN_OR_RETURN(
        std::vector<Output> results,
        InlineCall(&graph, body, call->inputs(), call->name(), call->control_inputs(), &last));
    bool effects = false;
    for (Node* node : graph.nodes()) {
      if (node->id() < first_new) continue;
      effects = effects || HasEffect(*node);
      if (!Callee(*node, library_).empty()) chains_[node] = chain;
    }
    // The effects of the body happen although nobody may ask for its results.
    if (effects) function_.control_returns.emplace_back(StrCat(call->name(), "/done"), last);
    replacements.Replace(call, std::move(results), {last});
    return OkStatus();
  }

  Function& function_;
  const FunctionLibrary& library_;
  std::unordered_map<const Node*, Chain> chains_;
};

}  // namespace

Status InlineCalls(Function& function, const PassContext& context, std::string* note) {
  if (context.library == nullptr) return OkStatus();
  ASSIGN_OR_RETURN(const int inlined, Inliner(function, *context.library).Run());
  *note = StrCat(inlined, " calls inlined");
  // Bodies now see the callers' shapes.
  return inlined == 0 ? OkStatus() : function.graph.InferShapes();
}

}  // namespace slipway::ir
