// SPDX-License-Identifier: Apache-2.0
//
// The conventions of platforms that run containers with models: which port, which paths.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "slipway/status.h"

namespace slipway::serve {

struct ServerOptions;

// A path, as it stands in requests, beside those of the API.
struct ContainerRoute {
  enum class Kind { kHealth, kPredict };
  std::string path;
  Kind kind = Kind::kHealth;
};

// Vertex AI: AIP_HTTP_PORT, AIP_HEALTH_ROUTE and AIP_PREDICT_ROUTE of the environment, into
// *options. INVALID_ARGUMENT: a port that is none, a route that does not begin with '/'.
Status UseVertexRoutes(const std::function<const char*(const char*)>& getenv,
                       ServerOptions* options);
// SageMaker: /ping and /invocations, on port 8080 unless another one is set.
void UseSageMakerRoutes(ServerOptions* options);

// The model that SageMaker's X-Amzn-SageMaker-Custom-Attributes ("tfs-model-name=m,…") names, or
// "".
std::string_view ModelOfAttributes(std::string_view attributes);

}  // namespace slipway::serve
