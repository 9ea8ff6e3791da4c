// SPDX-License-Identifier: Apache-2.0
//
// The seam of optimizers: the slots that they keep for each weight, and the nodes of an update.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nn/config.h"
#include "nn/context.h"
#include "nn/fields.h"
#include "slipway/optimizers.h"

namespace slipway::nn {

// The variables of one use of an optimizer, under Keras's paths: "adam/iteration" (int64),
// "adam/learning_rate", "adam/dense_kernel_momentum"…
struct OptimizerState {
  VariablePtr iteration;
  VariablePtr learning_rate;
  std::vector<VariablePtr> weights;             // that it updates
  std::vector<std::vector<VariablePtr>> slots;  // of each weight, in the order of slot_names()
  std::vector<VariablePtr> variables() const;   // in Keras's order, without the weights
};

class Optimizer : public Configurable {
 public:
  explicit Optimizer(std::string name, double learning_rate)
      : name_(std::move(name)), learning_rate_(learning_rate) {}
  const std::string& name() const { return name_; }
  void Fields(FieldVisitor& visit) override;
  std::optional<Problem> Check() const override;
  void Configure(double learning_rate, std::optional<double> weight_decay,
                 const optimizers::Clipping& clipping);

  OptimizerState NewState(std::span<const VariablePtr> weights) const;
  // One step with a gradient for each weight; those that are invalid leave their weight alone.
  void Apply(CallContext& context, const OptimizerState& state,
             std::span<const ir::Output> gradients) const;

 protected:
  virtual std::vector<const char*> slot_names() const = 0;
  // The values that all weights of a step share.
  struct Step {
    ir::Output learning_rate;
    ir::Output number;  // float32: 1 for the first step
  };
  // Called once a step, before the updates.
  virtual std::vector<ir::Output> Prepare(CallContext&, const Step&) const { return {}; }
  virtual void Update(CallContext& context, const Step& step, std::span<const ir::Output> prepared,
                      const Variable& weight, std::span<const VariablePtr> slots,
                      ir::Output gradient) const = 0;

 private:
  std::vector<ir::Output> Clip(ir::GraphBuilder& builder,
                               std::span<const ir::Output> gradients) const;

  std::string name_;
  double learning_rate_;
  std::optional<double> weight_decay_;
  optimizers::Clipping clipping_;
};
using OptimizerPtr = std::shared_ptr<Optimizer>;

const std::vector<ClassEntry<Optimizer>>& OptimizerClasses();
StatusOr<OptimizerPtr> OptimizerFromConfig(std::string_view json, ConfigProblem* problem = nullptr);

}  // namespace slipway::nn
