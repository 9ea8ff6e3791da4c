// SPDX-License-Identifier: Apache-2.0
//
// Metrics, with Keras's names and formulas. Their state lives in the model's graphs: a step adds to
// it, and it is read only when somebody looks.
#pragma once

#include <memory>
#include <string>

#include "slipway/losses.h"

namespace slipway {

namespace nn {
class Metric;
}

// A handle to a description; the state belongs to the model that it is compiled into.
class Metric {
 public:
  explicit Metric(std::shared_ptr<nn::Metric> impl) : impl_(std::move(impl)) {}
  const std::shared_ptr<nn::Metric>& impl() const { return impl_; }

 private:
  std::shared_ptr<nn::Metric> impl_;
};

namespace metrics {

// What the string "accuracy" means in Keras: binary, sparse or categorical accuracy, by the shapes
// of labels and predictions.
Metric Accuracy(std::string name = "accuracy");
Metric BinaryAccuracy(std::string name = "binary_accuracy", double threshold = 0.5);
Metric SparseCategoricalAccuracy(std::string name = "sparse_categorical_accuracy");
Metric CategoricalAccuracy(std::string name = "categorical_accuracy");
// The mean of a loss's values, under the loss's name unless another is given.
Metric MeanOf(const Loss& loss, std::string name = "");

}  // namespace metrics
}  // namespace slipway
