// SPDX-License-Identifier: Apache-2.0
//
// The graphs of a compiled model: one for a training step (forward, loss, gradients, update,
// metrics), one for a test step, one that reads the metrics, one that predicts.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/executable.h"
#include "nn/loss.h"
#include "nn/metric.h"
#include "nn/network.h"
#include "nn/optimizer.h"

namespace slipway::train {

// One use of a metric in a compiled model.
struct MetricUse {
  std::string name;  // in logs
  std::shared_ptr<const nn::Metric> metric;
  bool weighted = false;
  nn::MetricState state;
};

// What Compile chose, with the variables that belong to it.
struct TrainingSetup {
  std::shared_ptr<const nn::Optimizer> optimizer;
  std::shared_ptr<const nn::Loss> loss;
  nn::OptimizerState optimizer_state;
  nn::MetricState loss_state;  // the mean over examples of the batches' losses
  std::vector<MetricUse> metrics;

  std::vector<nn::VariablePtr> metric_variables() const;
};

// The shape with its first dimension, the batch's, left open.
PartialShape AnyBatch(const Shape& shape);

// What a batch looks like beside the input: labels, and weights of examples if there are any.
struct BatchSpec {
  TensorSpec labels;
  std::optional<TensorSpec> weights;
  friend bool operator==(const BatchSpec& a, const BatchSpec& b);
};
// Of tensors (x, y[, weight]); the batch dimension is left open.
BatchSpec BatchSpecOf(const std::vector<Tensor>& element);

// The function of a training step: arguments x, y[, weight]; no results, all effects.
// INVALID_ARGUMENT names layer, op and shapes that do not fit.
StatusOr<ir::Function> BuildTrainStep(const nn::Network& network, const TrainingSetup& setup,
                                      const BatchSpec& batch);
// The same without gradients and update, layers not in training mode.
StatusOr<ir::Function> BuildTestStep(const nn::Network& network, const TrainingSetup& setup,
                                     const BatchSpec& batch);
// No arguments; results: the loss, then the metrics.
StatusOr<ir::Function> BuildResults(const TrainingSetup& setup);
// Argument x, result the model's output.
StatusOr<ir::Function> BuildPredict(const nn::Network& network);

}  // namespace slipway::train
