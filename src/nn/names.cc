// SPDX-License-Identifier: Apache-2.0
#include "nn/names.h"

namespace slipway::nn {

const NameTable<Activation>& ActivationNames() {
  static const NameTable<Activation> names = {
      {"linear", Activation::kLinear},
      {"relu", Activation::kRelu},
      {"relu6", Activation::kRelu6},
      {"elu", Activation::kElu},
      {"selu", Activation::kSelu},
      {"leaky_relu", Activation::kLeakyRelu},
      {"sigmoid", Activation::kSigmoid},
      {"tanh", Activation::kTanh},
      {"softmax", Activation::kSoftmax},
      {"log_softmax", Activation::kLogSoftmax},
      {"softplus", Activation::kSoftplus},
      {"softsign", Activation::kSoftsign},
      {"exponential", Activation::kExponential},
      {"silu", Activation::kSilu},
      {"swish", Activation::kSilu},
  };
  return names;
}

const NameTable<Reduction>& ReductionNames() {
  static const NameTable<Reduction> names = {
      {"sum_over_batch_size", Reduction::kSumOverBatchSize},
      {"sum", Reduction::kSum},
      {"mean_with_sample_weight", Reduction::kMeanWithSampleWeight},
      {"none", Reduction::kNone},
  };
  return names;
}

const NameTable<Initializer::Mode>& ModeNames() {
  static const NameTable<Initializer::Mode> names = {
      {"fan_in", Initializer::Mode::kFanIn},
      {"fan_out", Initializer::Mode::kFanOut},
      {"fan_avg", Initializer::Mode::kFanAvg},
  };
  return names;
}

const NameTable<Initializer::Distribution>& DistributionNames() {
  using D = Initializer::Distribution;
  static const NameTable<D> names = {
      {"truncated_normal", D::kTruncatedNormal},
      {"untruncated_normal", D::kUntruncatedNormal},
      {"uniform", D::kUniform},
  };
  return names;
}

}  // namespace slipway::nn
