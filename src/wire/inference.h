// SPDX-License-Identifier: Apache-2.0
//
// The requests of TensorFlow Serving whose input is tf.Example: Classify, Regress and
// MultiInference (classification.proto, regression.proto, inference.proto, input.proto).
#pragma once

#include <string_view>
#include <vector>

#include "slipway/status.h"
#include "slipway/tensor.h"
#include "wire/model_spec.h"

namespace slipway {

// Views point into the bytes decoded.
struct ExamplesRequestView {
  bool has_model_spec = false;
  ModelSpecView model_spec;
  std::string_view input;
};

struct InferenceTaskView {
  bool has_model_spec = false;
  ModelSpecView model_spec;
  std::string_view method_name;
};

struct MultiInferenceRequestView {
  std::vector<InferenceTaskView> tasks;
  std::string_view input;
};

// A ClassificationRequest or a RegressionRequest, which are alike. INVALID_ARGUMENT: malformed.
StatusOr<ExamplesRequestView> DecodeExamplesRequest(std::string_view bytes);
StatusOr<MultiInferenceRequestView> DecodeMultiInferenceRequest(std::string_view bytes);

// The Examples of an Input, serialised, as a vector of strings: what graphs parse. Where there is a
// context it stands in front of each, so that a feature of the example's own wins.
// INVALID_ARGUMENT "Input is empty." if there are none, or malformed.
StatusOr<Tensor> DecodeInput(std::string_view input);

// A vector of these strings.
StatusOr<Tensor> StringVector(std::vector<std::string> values);

}  // namespace slipway
