// SPDX-License-Identifier: Apache-2.0
//
// The seam of layers: settings, weights, and the nodes that compute it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "nn/config.h"
#include "nn/context.h"
#include "nn/fields.h"

namespace slipway::nn {

class Layer : public Configurable {
 public:
  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  bool trainable() const { return trainable_; }
  // Weights that are frozen or not at once.
  void set_trainable(bool trainable);

  void Fields(FieldVisitor& visit) override;

  // Makes the weights for inputs of this dtype and shape (batch dimension included), once.
  // INVALID_ARGUMENT names layer, op and what does not fit.
  Status Build(BuildContext& context, DType dtype, const PartialShape& input);
  bool built() const { return built_; }
  // Adds the nodes of the layer; errors stick to the builder. REQUIRES: built().
  virtual ir::Output Call(CallContext& context, ir::Output x) const = 0;
  // In Keras's order: weights, then others (seed states).
  const std::vector<VariablePtr>& variables() const { return variables_; }

 protected:
  virtual Status MakeVariables(BuildContext&, const PartialShape&) { return OkStatus(); }
  // "name/weight", float32; a random initialiser without a seed gets one of the model's.
  VariablePtr AddWeight(BuildContext& context, std::string_view weight, Shape shape,
                        Initializer initializer);
  void AddVariable(VariablePtr variable) { variables_.push_back(std::move(variable)); }
  // INVALID_ARGUMENT "Layer 'name' (Class): text".
  Status Error(std::string_view text) const;

 private:
  std::string name_;
  bool trainable_ = true;
  bool built_ = false;
  std::vector<VariablePtr> weights_;  // those that are frozen or not
  std::vector<VariablePtr> variables_;
};
using LayerPtr = std::shared_ptr<Layer>;

// The first layer of a model whose input is known.
class InputLayer final : public Layer {
 public:
  const char* class_name() const override { return "InputLayer"; }
  void Fields(FieldVisitor& visit) override;
  ir::Output Call(CallContext&, ir::Output x) const override { return x; }
  const PartialShape& batch_shape() const { return batch_shape_; }
  DType dtype() const { return dtype_; }

  PartialShape batch_shape_;
  DType dtype_ = DType::kFloat;
};

const std::vector<ClassEntry<Layer>>& LayerClasses();
StatusOr<LayerPtr> LayerFromConfig(std::string_view json, ConfigProblem* problem = nullptr);

// activation(x).
ir::Output Activate(ir::GraphBuilder& builder, Activation activation, ir::Output x);
// x as float32: integers and halves are converted.
ir::Output AsFloat(ir::GraphBuilder& builder, ir::Output x);

}  // namespace slipway::nn
