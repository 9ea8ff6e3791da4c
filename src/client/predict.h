// SPDX-License-Identifier: Apache-2.0
//
// Predictions from a model server: what is sent and what comes back, over REST or gRPC.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "slipway/status.h"
#include "slipway/tensor.h"

namespace slipway::client {

enum class Protocol { kRest, kGrpc };

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

struct PredictTarget {
  Protocol protocol = Protocol::kGrpc;
  std::string host = "localhost";
  int port = 8500;
  std::string model_name = "default";
  std::optional<int64_t> version;  // the latest if not given
  std::string signature_name;      // "serving_default" if empty
};

// "/v1/models/NAME:predict", or the gRPC method.
std::string PredictPath(const PredictTarget& target);
// The body of one request: JSON in columns, or a PredictRequest.
StatusOr<std::string> EncodePredict(const PredictTarget& target, const NamedTensors& inputs);

struct Prediction {
  std::optional<int64_t> version;  // that answered; REST does not tell
  NamedTensors outputs;            // over REST numbers come as float32, one output is named ""
};
StatusOr<Prediction> DecodePredict(Protocol protocol, std::string_view body);
// Only the version of a gRPC answer, for those who count.
std::optional<int64_t> AnsweringVersion(std::string_view grpc_response);

// One call on a new connection. Errors are the server's (HTTP codes as the canonical code that they
// stand for, with the text of the answer), or UNAVAILABLE and DEADLINE_EXCEEDED on the way.
StatusOr<Prediction> Predict(const PredictTarget& target, const NamedTensors& inputs);

}  // namespace slipway::client
