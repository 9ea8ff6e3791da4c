// SPDX-License-Identifier: Apache-2.0
//
// Functions of your own, built from ops, differentiated and compiled: what tf.function and
// GradientTape are for. A C++ function is called once to build the graph; the compiled Function is
// then run as often as needed.
//
//   Variable w("w", …), b("b", …);
//   auto step = Function::Compile(
//       {{DType::kFloat, {-1, 784}, "x"}, {DType::kInt64, {-1}, "y"}},
//       [&](Graph& g, std::span<const Value> in) -> std::vector<Value> {
//         Value logits = ops::MatMul(in[0], g.Read(w)) + g.Read(b);
//         Value loss = ops::ReduceMean(ops::SparseSoftmaxCrossEntropy(in[1], logits));
//         std::vector<Value> d = g.Gradients(loss, {w, b});
//         g.AssignSub(w, 0.1 * d[0]);
//         g.AssignSub(b, 0.1 * d[1]);
//         return {loss};
//       });
//
// Errors while building stick to the Graph and come out of Compile, with the name of the op and
// both shapes.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "slipway/losses.h"
#include "slipway/optimizers.h"
#include "slipway/shape.h"
#include "slipway/status.h"
#include "slipway/tensor.h"

namespace slipway {

class Graph;

// A tensor that a graph will compute. Invalid after an error. Lives as long as its Graph.
class Value {
 public:
  Value() = default;
  bool valid() const { return node_ != nullptr; }
  DType dtype() const;
  PartialShape shape() const;
  Graph* graph() const { return graph_; }

 private:
  friend class Graph;
  Graph* graph_ = nullptr;
  void* node_ = nullptr;
  int index_ = 0;
};

// A tensor that outlives steps and that steps change. Copies share the value.
// Thread safety: as kernels' variables: reads and writes from any thread, each whole.
class Variable {
 public:
  Variable(std::string name, const Tensor& initial_value, bool trainable = true);

  const std::string& name() const;
  DType dtype() const;
  Shape shape() const;
  bool trainable() const;
  // Shares memory until somebody writes.
  Tensor value() const;
  // INVALID_ARGUMENT if dtype or shape differ.
  Status Assign(const Tensor& value);

  struct State;
  explicit Variable(std::shared_ptr<State> state) : state_(std::move(state)) {}
  const std::shared_ptr<State>& state() const { return state_; }

 private:
  std::shared_ptr<State> state_;
};

// The graph that a build function adds to.
class Graph {
 public:
  using Attr = std::variant<bool, int64_t, double, std::string, DType, std::vector<int64_t>>;
  using Attrs = std::vector<std::pair<std::string, Attr>>;

  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();

  const Status& status() const;
  void Fail(Status status);

  // Any op by TensorFlow's name; its only (or first) output.
  Value Op(std::string_view op, std::vector<Value> inputs, const Attrs& attrs = {});
  std::vector<Value> Ops(std::string_view op, std::vector<Value> inputs, const Attrs& attrs = {});
  Value Constant(const Tensor& value);
  // A scalar in the dtype of `like`.
  Value Constant(double value, const Value& like);

  Value Read(const Variable& variable);
  // Effects keep the order in which they are written here.
  void Assign(const Variable& variable, const Value& value);
  void AssignAdd(const Variable& variable, const Value& value);
  void AssignSub(const Variable& variable, const Value& value);

  // d(sum of y)/d(variable) for each. INVALID_ARGUMENT if y does not depend on one of them.
  std::vector<Value> Gradients(const Value& y, const std::vector<Variable>& variables);
  // The same towards any values of this graph.
  std::vector<Value> Gradients(const Value& y, const std::vector<Value>& xs);

  // A loss reduced to a scalar.
  Value LossOf(const Loss& loss, const Value& y_true, const Value& y_pred);

  struct State;
  explicit Graph(std::unique_ptr<State> state);
  State& state() { return *state_; }
  Value Wrap(void* node, int index);
  std::pair<void*, int> Unwrap(const Value& value) const { return {value.node_, value.index_}; }

 private:
  std::unique_ptr<State> state_;
};

// A compiled function. Thread safety: Run from any thread.
class Function {
 public:
  using BuildFn = std::function<std::vector<Value>(Graph& graph, std::span<const Value> inputs)>;

  struct Options {
    bool deterministic = false;
  };
  // Calls `build` once. Dimensions of -1 may differ from call to call.
  static StatusOr<Function> Compile(std::vector<TensorSpec> inputs, const BuildFn& build,
                                    const Options& options);
  static StatusOr<Function> Compile(std::vector<TensorSpec> inputs, const BuildFn& build) {
    return Compile(std::move(inputs), build, Options());
  }
  Function(Function&&) noexcept;
  Function& operator=(Function&&) noexcept;
  ~Function();

  StatusOr<std::vector<Tensor>> Run(std::span<const Tensor> inputs) const;
  StatusOr<std::vector<Tensor>> Run(std::initializer_list<Tensor> inputs) const {
    return Run(std::span<const Tensor>(inputs.begin(), inputs.size()));
  }

 private:
  struct State;
  explicit Function(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

Value operator+(const Value& a, const Value& b);
Value operator-(const Value& a, const Value& b);
Value operator*(const Value& a, const Value& b);
Value operator/(const Value& a, const Value& b);
Value operator+(const Value& a, double b);
Value operator-(const Value& a, double b);
Value operator*(const Value& a, double b);
Value operator/(const Value& a, double b);
Value operator+(double a, const Value& b);
Value operator-(double a, const Value& b);
Value operator*(double a, const Value& b);
Value operator-(const Value& a);

namespace ops {

Value MatMul(const Value& a, const Value& b);
Value Relu(const Value& x);
Value Sigmoid(const Value& x);
Value Tanh(const Value& x);
Value Softmax(const Value& x);
Value Exp(const Value& x);
Value Log(const Value& x);
Value Sqrt(const Value& x);
Value Square(const Value& x);
// Over all axes if none are given.
Value ReduceMean(const Value& x, std::vector<int64_t> axes = {}, bool keep_dims = false);
Value ReduceSum(const Value& x, std::vector<int64_t> axes = {}, bool keep_dims = false);
Value ReduceMax(const Value& x, std::vector<int64_t> axes = {}, bool keep_dims = false);
// One dimension may be -1.
Value Reshape(const Value& x, const std::vector<int64_t>& shape);
Value Cast(const Value& x, DType dtype);
Value ArgMax(const Value& x, int64_t axis = -1);
Value Equal(const Value& a, const Value& b);
// One value a row; labels are class numbers.
Value SparseSoftmaxCrossEntropy(const Value& labels, const Value& logits);

}  // namespace ops
}  // namespace slipway
