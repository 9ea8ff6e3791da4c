// SPDX-License-Identifier: Apache-2.0
//
// Graph: nodes, their edges, and what is known of the values on them. The vocabulary of ops,
// attributes and their meaning is TensorFlow's.
//
// Thread safety: a Graph that nobody changes may be read from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/attr.h"
#include "ir/op_schema.h"
#include "slipway/status.h"

namespace slipway::ir {

// One output of a node: a value that flows along edges.
struct Output {
  Node* node = nullptr;
  int index = 0;

  bool valid() const { return node != nullptr; }
  inline DType dtype() const;
  inline const PartialShape& shape() const;
  std::string ToString() const;  // "dense/MatMul:0"
  friend bool operator==(const Output&, const Output&) = default;
};

class Node {
 public:
  int id() const { return id_; }  // unique in its graph, in the order of creation
  const std::string& name() const { return name_; }
  const std::string& op() const { return op_; }
  // Null for an opaque node: an op we do not know, kept until something needs to run it.
  const OpSchema* schema() const { return schema_; }
  Effect effect() const { return schema_ ? schema_->effect : Effect::kStateful; }
  const std::string& device() const { return device_; }
  void set_device(std::string device) { device_ = std::move(device); }

  const std::vector<Output>& inputs() const { return inputs_; }
  const Output& input(int i) const { return inputs_[static_cast<size_t>(i)]; }
  const std::vector<Node*>& control_inputs() const { return control_inputs_; }
  // Nodes that have this one as an input or control input, one entry for each such edge, in no
  // particular order.
  const std::vector<Node*>& users() const { return users_; }

  int num_outputs() const { return static_cast<int>(dtypes_.size()); }
  DType dtype(int i) const { return dtypes_[static_cast<size_t>(i)]; }
  const PartialShape& shape(int i) const { return shapes_[static_cast<size_t>(i)]; }
  void set_shape(int i, PartialShape shape) { shapes_[static_cast<size_t>(i)] = std::move(shape); }

  const AttrMap& attrs() const { return attrs_; }
  // The attribute's value, the schema's default if the node has none, or null.
  const AttrValue* FindAttr(std::string_view name) const;
  void SetAttr(std::string name, AttrValue value) { attrs_[std::move(name)] = std::move(value); }
  // As T. INVALID_ARGUMENT names node, attribute, the type seen and the one wanted.
  template <typename T>
  StatusOr<T> Attr(std::string_view name) const {
    const AttrValue* value = FindAttr(name);
    if (value != nullptr) {
      if (const T* typed = value->As<T>()) return *typed;
    }
    return AttrError(name, AttrValue(T()));
  }
  // The same where the schema guarantees the attribute (validated when the node was added).
  template <typename T>
  const T& CheckedAttr(std::string_view name) const {
    return *FindAttr(name)->template As<T>();
  }

  // Const nodes: the value.
  bool IsConst() const { return op_ == "Const"; }
  const Tensor& const_value() const { return CheckedAttr<Tensor>("value"); }

 private:
  friend class Graph;
  Status AttrError(std::string_view name, const AttrValue& wanted) const;

  int id_ = 0;
  std::string name_;
  std::string op_;
  const OpSchema* schema_ = nullptr;
  std::string device_;
  std::vector<Output> inputs_;
  std::vector<Node*> control_inputs_;
  std::vector<Node*> users_;
  AttrMap attrs_;
  std::vector<DType> dtypes_;
  std::vector<PartialShape> shapes_;
};

DType Output::dtype() const { return node->dtype(index); }
const PartialShape& Output::shape() const { return node->shape(index); }

// What a node is made from.
struct NodeSpec {
  std::string op;
  std::string name;  // made unique with "_1", "_2"…; the op's name if empty
  std::vector<Output> inputs;
  std::vector<Node*> control_inputs;
  AttrMap attrs;
  std::string device;
};

class Graph {
 public:
  Graph();
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;
  ~Graph();

  // Checks attributes and input dtypes against the schema, fills type attributes that follow from
  // the inputs, infers dtypes and shapes of the outputs. INVALID_ARGUMENT names the node, its op
  // and what does not fit.
  StatusOr<Node*> AddNode(NodeSpec spec);
  // For ops without a schema: kept as it is, with the outputs that its consumers are known to use.
  StatusOr<Node*> AddOpaqueNode(NodeSpec spec, std::vector<DType> output_dtypes);

  // Every node, in the order of creation. Edges may point forward only in graphs being read.
  std::vector<Node*> nodes() const;
  int num_nodes() const;
  Node* FindNode(std::string_view name) const;

  // Edits, for passes and readers. Inputs are checked by Validate, not here.
  void SetInput(Node* node, int i, Output value);
  void AddControlInput(Node* node, Node* before);
  void SetControlInputs(Node* node, std::vector<Node*> before);
  void ReplaceUses(Output from, Output to);   // of data inputs, in the whole graph
  void ReplaceControl(Node* from, Node* to);  // of control inputs; to may be null (drop)
  // Whoever still uses the node keeps an invalid input in its place (Validate finds it).
  void Remove(Node* node);

  // A unique name that begins with `base`.
  std::string UniqueName(std::string_view base);

  // Nodes so that each stands behind its inputs and control inputs. INVALID_ARGUMENT names a node
  // on a cycle.
  StatusOr<std::vector<Node*>> TopologicalOrder() const;
  // Infers dtypes and shapes of every node again, in topological order. Nodes without a shape
  // function (_Arg, calls, opaque nodes) keep the shapes they have.
  Status InferShapes();
  // Edges lead to nodes of this graph, dtypes fit, there is no cycle.
  Status Validate() const;

  Graph Clone(std::unordered_map<const Node*, Node*>* mapping = nullptr) const;

 private:
  struct Impl;
  Node* Insert(NodeSpec spec, const OpSchema* schema);
  std::unique_ptr<Impl> impl_;
};

// Who uses each output of a graph; a snapshot.
class Uses {
 public:
  struct Use {
    Node* node;
    int input;
  };
  explicit Uses(const Graph& graph);
  // Uses of one output, in node order.
  const std::vector<Use>& of(Output output) const;
  // Nodes that have `node` as a control input.
  const std::vector<Node*>& control_of(const Node* node) const;

 private:
  std::unordered_map<const Node*, std::vector<std::vector<Use>>> data_;
  std::unordered_map<const Node*, std::vector<Node*>> control_;
};

}  // namespace slipway::ir
