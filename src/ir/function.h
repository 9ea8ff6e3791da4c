// SPDX-License-Identifier: Apache-2.0
//
// Function: a graph with arguments and results. It is the unit that passes work on and that is
// compiled: a signature, a train step, a branch of If.
//
// In the body, argument i is the node of op "_Arg" with attributes index = i and T.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"

namespace slipway::ir {

struct Function {
  struct Arg {
    std::string name;
    DType dtype = DType::kInvalid;
    PartialShape shape;
    Node* node = nullptr;  // the "_Arg"
  };
  struct Return {
    std::string name;
    Output value;
  };

  std::string name;
  std::vector<Arg> args;
  Graph graph;
  std::vector<Return> returns;
  // Nodes that run although no result depends on them (FunctionDef's control_ret, a session's
  // target nodes), by name.
  std::vector<std::pair<std::string, Node*>> control_returns;
  // Attributes of the function itself (_input_shapes, api_implements…), kept for writing.
  AttrMap attrs;

  // Appends an argument and its node.
  StatusOr<Output> AddArg(std::string arg_name, DType dtype, PartialShape shape);
  StatusOr<Function> Clone() const;
};

// Functions by name. Those of a file are parsed when first asked for: a library may hold hundreds
// that nobody calls, with ops nobody has (tf-traps 1).
//
// Thread safety: all methods from any thread; a Function once returned does not change or move.
class FunctionLibrary {
 public:
  using Parser = std::function<StatusOr<Function>()>;

  FunctionLibrary() = default;

  // ALREADY_EXISTS if the name is taken.
  Status Add(Function function);
  // The parser runs at most once. It must not ask the library for functions: calls go by name.
  Status AddLazily(std::string name, Parser parser);

  bool Contains(std::string_view name) const;
  // NOT_FOUND, or why it could not be parsed (the same error each time).
  StatusOr<const Function*> Find(std::string_view name) const;
  std::vector<std::string> Names() const;  // sorted

 private:
  struct Entry {
    std::once_flag parsed;
    Parser parser;
    std::unique_ptr<const Function> function;
    Status error;
  };
  Status Insert(std::string name, std::unique_ptr<Entry> entry);

  mutable std::mutex mutex_;  // guards the map, not the entries
  std::unordered_map<std::string, std::unique_ptr<Entry>> entries_;
};

// The part of `graph` between `feeds` and `fetches` as a function: feeds become arguments (what
// lies before them is cut off), fetches results, `targets` control returns. This is how a
// signature of a MetaGraph, or a session's run, becomes something that can be compiled.
// INVALID_ARGUMENT if a fetch depends on a Placeholder that is not fed (it is named) or on a cycle.
// Nodes keep their names; only what fetches and targets need is copied.
struct SubgraphSpec {
  std::string name;
  std::vector<std::pair<std::string, Output>> feeds;
  std::vector<std::pair<std::string, Output>> fetches;
  std::vector<Node*> targets;
};
StatusOr<Function> ExtractFunction(const Graph& graph, const SubgraphSpec& spec);

// Copies the body of `callee` into `graph` with its arguments replaced by `inputs`, names prefixed
// by "prefix/"; what it returns. Copied is what results, control returns and effects (kStateful,
// kWritesResource) need. Control inputs of the call go to `before`: effects and reads of the body
// wait for them; `last`, if wanted, gets a node that is done when all effects and reads of the
// body are, so that program order holds through it. INVALID_ARGUMENT if the inputs do not fit.
StatusOr<std::vector<Output>> InlineCall(Graph* graph, const Function& callee,
                                         std::span<const Output> inputs, std::string_view prefix,
                                         std::span<Node* const> before, Node** last);

}  // namespace slipway::ir
