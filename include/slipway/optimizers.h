// SPDX-License-Identifier: Apache-2.0
//
// Optimizers, with Keras 3's names, defaults and formulas.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace slipway {

namespace nn {
class Optimizer;
}

// A handle to a description; slots and step count belong to the model that it is compiled into.
class Optimizer {
 public:
  Optimizer() = default;
  explicit Optimizer(std::shared_ptr<nn::Optimizer> impl) : impl_(std::move(impl)) {}
  const std::shared_ptr<nn::Optimizer>& impl() const { return impl_; }

 private:
  std::shared_ptr<nn::Optimizer> impl_;
};

namespace optimizers {

// What gradients go through first; at most one of the three.
struct Clipping {
  std::optional<double> clipnorm;         // each gradient's norm
  std::optional<double> clipvalue;        // each number
  std::optional<double> global_clipnorm;  // the norm of all gradients together
};

struct SgdOptions {
  double learning_rate = 0.01;
  double momentum = 0;
  bool nesterov = false;
  std::optional<double> weight_decay;  // decoupled: w -= w * weight_decay * learning_rate, first
  Clipping clipping;
};
Optimizer Sgd(SgdOptions options = {});

struct AdamOptions {
  double learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  std::optional<double> weight_decay;
  Clipping clipping;
};
Optimizer Adam(AdamOptions options = {});

}  // namespace optimizers
}  // namespace slipway
