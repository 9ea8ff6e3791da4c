// SPDX-License-Identifier: Apache-2.0
//
// Losses, with Keras's names, defaults and formulas.
#pragma once

#include <memory>
#include <string>

namespace slipway {

namespace nn {
class Loss;
}

enum class Reduction {
  kSumOverBatchSize,  // the sum of all values over their number
  kSum,
  kMeanWithSampleWeight,  // the sum of all values over the sum of the weights
  kNone,                  // one value an example; not for training
};

// A handle to an immutable description. An empty one stands for "no loss".
class Loss {
 public:
  Loss() = default;
  explicit Loss(std::shared_ptr<const nn::Loss> impl) : impl_(std::move(impl)) {}
  const std::shared_ptr<const nn::Loss>& impl() const { return impl_; }

 private:
  std::shared_ptr<const nn::Loss> impl_;
};

namespace losses {

struct SparseCategoricalCrossentropyOptions {
  // The model's output is logits, not probabilities. If the output comes from a softmax activation
  // its logits are used in any case, which is exact where probabilities would round to 0 or 1.
  bool from_logits = false;
  Reduction reduction = Reduction::kSumOverBatchSize;
};
// Labels are class numbers, [batch] or [batch, 1]; predictions [batch, classes].
Loss SparseCategoricalCrossentropy(SparseCategoricalCrossentropyOptions options = {});

struct CategoricalCrossentropyOptions {
  bool from_logits = false;
  double label_smoothing = 0;
  Reduction reduction = Reduction::kSumOverBatchSize;
};
// Labels are distributions (one-hot rows), [batch, classes].
Loss CategoricalCrossentropy(CategoricalCrossentropyOptions options = {});

struct MeanSquaredErrorOptions {
  Reduction reduction = Reduction::kSumOverBatchSize;
};
Loss MeanSquaredError(MeanSquaredErrorOptions options = {});

}  // namespace losses
}  // namespace slipway
