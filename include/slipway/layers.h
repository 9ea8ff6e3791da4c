// SPDX-License-Identifier: Apache-2.0
//
// Layers, with Keras's names and defaults:
//   layers::Dense(300, {.activation = Activation::kRelu})
//
// A layer is a handle to its description; its weights belong to the model it is put into, and it
// can be in one model only.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "slipway/initializers.h"
#include "slipway/shape.h"
#include "slipway/status.h"
#include "slipway/tensor.h"

namespace slipway {

namespace nn {
class Layer;
}

enum class Activation {
  kLinear,
  kRelu,
  kRelu6,
  kElu,
  kSelu,
  kLeakyRelu,  // slope 0.2, as Keras's activation function
  kSigmoid,
  kTanh,
  kSoftmax,  // over the last axis
  kLogSoftmax,
  kSoftplus,
  kSoftsign,
  kExponential,
  kSilu,
};

namespace layers {

class Layer {
 public:
  explicit Layer(std::shared_ptr<nn::Layer> impl) : impl_(std::move(impl)) {}

  // "dense", "dense_1": given by the model if no name was chosen.
  const std::string& name() const;
  // Frozen if false: the optimizer leaves its weights alone. Before the model is compiled.
  Layer& set_trainable(bool trainable);
  const std::shared_ptr<nn::Layer>& impl() const { return impl_; }

 private:
  std::shared_ptr<nn::Layer> impl_;
};

struct InputOptions {
  DType dtype = DType::kFloat;
  std::string name;
};
// The shape of one example, without the batch dimension. A model that does not begin with it takes
// the shape from the first data it sees.
Layer Input(PartialShape shape, InputOptions options = {});

struct FlattenOptions {
  std::string name;
};
// [batch, a, b…] becomes [batch, a·b·…].
Layer Flatten(FlattenOptions options = {});

struct DenseOptions {
  Activation activation = Activation::kLinear;
  bool use_bias = true;
  Initializer kernel_initializer = initializers::GlorotUniform();
  Initializer bias_initializer = initializers::Zeros();
  std::string name;
};
// activation(x · kernel + bias) over the last axis. Weights: kernel [in, units], bias [units].
Layer Dense(int64_t units, DenseOptions options = {});

struct DropoutOptions {
  // Nothing: drawn from the model's seed.
  std::optional<int64_t> seed;
  std::string name;
};
// In training sets a share `rate` of the values to 0 and scales the others by 1 / (1 - rate).
Layer Dropout(double rate, DropoutOptions options = {});

struct ActivationOptions {
  std::string name;
};
Layer Activation(slipway::Activation activation, ActivationOptions options = {});

struct RescalingOptions {
  double offset = 0;
  std::string name;
};
// x · scale + offset, as float32: Rescaling(1.0 / 255) for images.
Layer Rescaling(double scale, RescalingOptions options = {});

}  // namespace layers
}  // namespace slipway
