// SPDX-License-Identifier: Apache-2.0
//
// The seam of metrics: state in variables, nodes that add a batch to it, nodes that give the
// result. All metrics here are weighted means (Keras's Mean): state "total" and "count".
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "nn/config.h"
#include "nn/context.h"
#include "nn/fields.h"
#include "slipway/metrics.h"

namespace slipway::nn {

// The variables of one use of a metric.
struct MetricState {
  VariablePtr total;
  VariablePtr count;
  std::vector<VariablePtr> variables() const { return {total, count}; }
};
// "name/total" and "name/count", zero.
MetricState NewMetricState(std::string_view name);
// Adds sum(values · weight) and sum(weight); without weight the number of examples counts. Values
// of rank above 1 are averaged to one an example first, as Keras does.
void AddToMean(CallContext& context, const MetricState& state, ir::Output values,
               ir::Output weight);
// total / count, 0 before the first example.
ir::Output MeanResult(CallContext& context, const MetricState& state);

class Metric : public Configurable {
 public:
  explicit Metric(std::string name) : name_(std::move(name)) {}
  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  void Fields(FieldVisitor& visit) override;

  // The metric that this one stands for, given shapes of labels and predictions: null for itself.
  virtual std::shared_ptr<Metric> Resolve(const PartialShape&, const PartialShape&) const {
    return nullptr;
  }
  // One value for each prediction.
  virtual ir::Output Values(ir::GraphBuilder& builder, ir::Output y_true,
                            ir::Output y_pred) const = 0;

 private:
  std::string name_;
};
using MetricPtr = std::shared_ptr<Metric>;

const std::vector<ClassEntry<Metric>>& MetricClasses();
// Also Keras's names: "accuracy" resolves by shapes; a loss's name means the mean of its values.
StatusOr<MetricPtr> MetricFromConfig(std::string_view json, ConfigProblem* problem = nullptr);

}  // namespace slipway::nn
