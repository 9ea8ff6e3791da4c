// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
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
constexpr int kMaxNodes = 2'000'000;

using Names = std::vector<std::string>;
// The functions whose bodies a node came through; null: none. Nodes of one body share it.
using Chain = std::shared_ptr<const Names>;

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
      ASSIGN_OR_RETURN(std::vector<Body> bodies, InlineAll(calls));
      NoteNewNodes(&bodies);
      Replacements replacements(function_);
      for (Body& body : bodies) {
        // The effects of the body happen although nobody may ask for its results.
        if (body.effects) {
          function_.control_returns.emplace_back(StrCat(body.call->name(), "/done"), body.last);
        }
        replacements.Replace(body.call, std::move(body.results), {body.last});
      }
      replacements.Apply();
      inlined += static_cast<int>(calls.size());
    }
  }

 private:
  // A body that stands in the graph beside its call. Its nodes have the numbers up to end that are
  // not those of the body before.
  struct Body {
    Node* call = nullptr;
    Node* last = nullptr;
    std::vector<Output> results;
    Chain chain;
    int end = 0;
    bool effects = false;
  };

  StatusOr<std::vector<Body>> InlineAll(const std::vector<Node*>& calls) {
    first_new_ = function_.graph.nodes().back()->id() + 1;
    std::vector<Body> bodies;
    for (Node* call : calls) {
      ASSIGN_OR_RETURN(Body body, InlineOne(call));
      bodies.push_back(std::move(body));
    }
    return bodies;
  }

  // One walk for all bodies of a round: a walk for each would be quadratic.
  void NoteNewNodes(std::vector<Body>* bodies) {
    auto body = bodies->begin();
    for (Node* node : function_.graph.nodes()) {
      if (node->id() < first_new_) continue;
      while (node->id() >= body->end) ++body;
      body->effects = body->effects || HasEffect(*node);
      if (!Callee(*node, library_).empty()) chains_[node] = body->chain;
    }
  }

  StatusOr<Body> InlineOne(Node* call) {
    const std::string callee(Callee(*call, library_));
    ASSIGN_OR_RETURN(Chain chain, Extended(*call, callee));
    ASSIGN_OR_RETURN(const Function* body, library_.Find(callee));
    if (call->inputs().size() != body->args.size() ||
        call->num_outputs() > static_cast<int>(body->returns.size())) {
      return InvalidArgumentError(StrCat("Node '", call->name(), "' calls '", callee, "' with ",
                                         call->inputs().size(), " inputs and ", call->num_outputs(),
                                         " outputs; it has ", body->args.size(), " and ",
                                         body->returns.size()));
    }
    Graph& graph = function_.graph;
    if (graph.num_nodes() + body->graph.num_nodes() > kMaxNodes) {
      return ResourceExhaustedError(
          StrCat("Inlining '", body->name, "' would make more than ", kMaxNodes, " nodes"));
    }
    Body made;
    made.call = call;
    made.chain = std::move(chain);
    ASSIGN_OR_RETURN(made.results, InlineCall(&graph, *body, call->inputs(), call->name(),
                                              call->control_inputs(), &made.last));
    made.end = made.last->id() + 1;  // it is made after all others
    return made;
  }

  // The chain of what `callee` brings in place of `call`.
  StatusOr<Chain> Extended(const Node& call, const std::string& callee) const {
    const auto found = chains_.find(&call);
    Names names = found == chains_.end() || found->second == nullptr ? Names() : *found->second;
    if (std::find(names.begin(), names.end(), callee) != names.end()) {
      return InvalidArgumentError(StrCat("Function '", callee, "' calls itself (",
                                         StrJoin(names, " -> "), " -> ", callee,
                                         "); a recursion without a branch never ends"));
    }
    names.push_back(callee);
    if (names.size() > kMaxDepth) {
      return InvalidArgumentError(
          StrCat("Calls are nested more than ", kMaxDepth, " deep at node '", call.name(), "'"));
    }
    return std::make_shared<const Names>(std::move(names));
  }

  Function& function_;
  const FunctionLibrary& library_;
  std::unordered_map<const Node*, Chain> chains_;
  int first_new_ = 0;  // the number from which nodes came in this round
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
