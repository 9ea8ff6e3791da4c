// SPDX-License-Identifier: Apache-2.0
//
// GraphBuilder: how layers, gradients and users add ops. Errors stick: after the first one every
// call is a no-op that returns an invalid Output, and status() tells what went wrong where, so that
// code that builds needs one check at its end.
//
// Ops that touch a resource get control edges that keep program order: a write waits for the last
// write and all reads since; a read waits for the last write (TensorFlow's automatic control
// dependencies). Other stateful ops are ordered among themselves. What the graph holds already when
// a builder is made counts as what came before. Two VarHandleOps with one shared_name are one
// resource.
//
// Not thread safe.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace slipway::ir {

class GraphBuilder {
 public:
  // `graph` outlives the builder.
  explicit GraphBuilder(Graph* graph);

  Graph* graph() const { return graph_; }
  const Status& status() const { return status_; }
  bool ok() const { return status_.ok(); }
  // Keeps the first error.
  void Fail(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  // Adds a node; null after an error. Type and number attributes follow from the inputs where the
  // schema lets them.
  Node* AddNode(std::string_view op, std::vector<Output> inputs, AttrMap attrs = {},
                std::string_view name = "");
  // The only (or first) output of a new node.
  Output Op(std::string_view op, std::vector<Output> inputs, AttrMap attrs = {},
            std::string_view name = "");
  // All outputs of a new node.
  std::vector<Output> Ops(std::string_view op, std::vector<Output> inputs, AttrMap attrs = {},
                          std::string_view name = "");

  Output Const(Tensor value, std::string_view name = "Const");
  template <typename T>
  Output Scalar(T value) {
    return Const(Tensor::Scalar<T>(value));
  }
  // A float scalar in the dtype of `like`.
  Output ScalarLike(double value, Output like);
  Output Int32Vector(const std::vector<int32_t>& values);
  Output Placeholder(DType dtype, PartialShape shape, std::string_view name);

  // Names of nodes added while it lives begin with "name/".
  class Scope {
   public:
    Scope(GraphBuilder* builder, std::string_view name);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    GraphBuilder* builder_;
    size_t previous_length_;
  };

 private:
  struct ResourceOrder {
    Node* last_write = nullptr;
    std::vector<Node*> reads_since;
  };
  ResourceOrder& OrderOf(Output handle);
  void OrderEffects(Node* node, bool add_edges);

  Graph* graph_;
  Status status_;
  std::string scope_;  // "a/b/" or ""
  std::map<std::pair<const Node*, int>, ResourceOrder> resources_;
  std::map<std::pair<std::string, std::string>, Node*> named_;  // container, shared_name
  Node* last_stateful_ = nullptr;
};

}  // namespace slipway::ir
