// SPDX-License-Identifier: Apache-2.0
//
// What layers, losses, metrics and optimizers need while they add nodes to a graph.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "nn/variable.h"

namespace slipway::nn {

// Not thread safe.
class CallContext {
 public:
  // The resource handle of a variable in this graph: a VarHandleOp, an argument of an exported
  // function… Called once a variable.
  using HandleFn = std::function<ir::Output(const Variable&)>;

  CallContext(ir::GraphBuilder* builder, bool training, HandleFn handle)
      : builder_(builder), training_(training), make_handle_(std::move(handle)) {}

  ir::GraphBuilder& builder() { return *builder_; }
  bool training() const { return training_; }
  void set_training(bool training) { training_ = training; }

  ir::Output Handle(const Variable& variable);
  // The value; read once until the context writes it.
  ir::Output Read(const Variable& variable);
  void Assign(const Variable& variable, ir::Output value);
  void AssignAdd(const Variable& variable, ir::Output value);
  void AssignSub(const Variable& variable, ir::Output value);
  // After an update op added by the caller: the next Read reads again.
  void Written(const Variable& variable) { reads_.erase(&variable); }

 private:
  void Update(const char* op, const Variable& variable, ir::Output value);

  ir::GraphBuilder* builder_;
  bool training_;
  HandleFn make_handle_;
  std::unordered_map<const Variable*, ir::Output> handles_;
  std::unordered_map<const Variable*, ir::Output> reads_;
};

// VarHandleOp nodes named by the variable's path: for graphs that run against a container.
CallContext::HandleFn HandlesByPath(ir::GraphBuilder* builder);

// Gives out what must be unique or random in a model.
class BuildContext {
 public:
  explicit BuildContext(uint64_t seed) : seed_(seed) {}
  // "dense", then "dense_1"…
  std::string UniqueName(const std::string& base);
  // A name that the user chose; ALREADY_EXISTS if it is taken.
  Status ClaimName(const std::string& name);
  // The next seed for something that has none, 1 to 1e9 as Keras draws them.
  int64_t NextSeed();

 private:
  uint64_t seed_;
  uint64_t draws_ = 0;
  std::unordered_map<std::string, int> counts_;
  std::unordered_set<std::string> taken_;
};

// "SparseCategoricalCrossentropy" to "sparse_categorical_crossentropy", by Keras's rule.
std::string SnakeCase(std::string_view class_name);

}  // namespace slipway::nn
