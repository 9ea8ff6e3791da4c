// SPDX-License-Identifier: Apache-2.0
//
// One prediction, apart from the protocol it came by: the inputs of a request put in the order of
// a signature, run, timed.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "serve/registry.h"
#include "slipway/status.h"
#include "slipway/tensor.h"
#include "wire/predict.h"

namespace slipway::serve {

// What a request names: a model, and a version or a label, or neither (the latest).
struct Target {
  std::string_view model;
  std::optional<int64_t> version;
  std::string_view label;
};

// Where the model and version stand, or why they cannot be had, in TensorFlow Serving's words:
// INVALID_ARGUMENT "ModelSpec has no name specified.", "Unrecognized servable version label: x";
// NOT_FOUND "Servable not found for request: Latest(m)" or "Specific(m, 9)". `metrics`, if not
// null, is set whenever the model is known.
StatusOr<Lease> FindServable(const Registry& registry, const Target& target,
                             ModelMetrics** metrics);

// Everything a run needs; reused from request to request on one thread, so that the vectors keep
// their memory.
struct Prediction {
  Lease lease;
  const ServedSignature* signature = nullptr;
  ModelMetrics* metrics = nullptr;  // null: not counted
  Method method = Method::kPredict;
  int64_t start_ns = 0;         // when the request was whole
  int64_t deadline_ns = 0;      // 0: none
  std::vector<Tensor> inputs;   // in the order of the signature
  std::vector<int> fetched;     // empty: all outputs
  std::vector<Tensor> outputs;  // of the signature, or of `fetched`, in order

  // The rows that its cost grows with: dimension 0 of the first input.
  int64_t Rows() const;
  std::string_view OutputName(size_t i) const;
  // Lets go of the request. Small outputs of our own stay, to be written in place by the next run
  // on this thread (whatever signature that is: only outputs that fit are used).
  void Recycle();
};

// Makes the signature (kDefaultSignature if `name` is empty) the prediction's.
// FAILED_PRECONDITION 'Serving signature key "s" not found.'; UNIMPLEMENTED as Servable says.
Status FindPredictSignature(std::string_view name, Prediction* prediction);

// Takes the tensors out of `inputs` (a request) into prediction->inputs, with defaults for those
// left out, and resolves the filter. INVALID_ARGUMENT: "input size does not match signature…",
// "Expects arg[0] to be float but string is provided", "output tensor alias not found in
// signature: a", "duplicate output tensor alias: y".
Status BindInputs(std::span<NamedTensor> inputs, std::span<const std::string_view> filter,
                  Prediction* prediction);

// Runs it on this thread. Outputs that are there from the last run are written in place. CANCELLED
// soon after *cancelled is set.
Status Run(Prediction* prediction, const std::atomic<bool>* cancelled);

}  // namespace slipway::serve
