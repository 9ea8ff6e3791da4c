// SPDX-License-Identifier: Apache-2.0
//
// The seam of losses: one value an example, and Keras's reductions of them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/builder.h"
#include "nn/config.h"
#include "nn/fields.h"
#include "slipway/losses.h"

namespace slipway::nn {

class Loss : public Configurable {
 public:
  explicit Loss(std::string name) : name_(std::move(name)) {}
  const std::string& name() const { return name_; }
  Reduction reduction() const { return reduction_; }
  void set_reduction(Reduction reduction) { reduction_ = reduction; }
  void Fields(FieldVisitor& visit) override;

  // One value for each prediction: y_pred without its last axis. Labels as they come; the loss
  // converts them.
  virtual ir::Output Values(ir::GraphBuilder& builder, ir::Output y_true,
                            ir::Output y_pred) const = 0;
  // Values weighted (if `weight` is valid) and reduced.
  ir::Output Build(ir::GraphBuilder& builder, ir::Output y_true, ir::Output y_pred,
                   ir::Output weight) const;

 private:
  std::string name_;
  Reduction reduction_ = Reduction::kSumOverBatchSize;
};
using LossPtr = std::shared_ptr<Loss>;

const std::vector<ClassEntry<Loss>>& LossClasses();
StatusOr<LossPtr> LossFromConfig(std::string_view json, ConfigProblem* problem = nullptr);

}  // namespace slipway::nn
