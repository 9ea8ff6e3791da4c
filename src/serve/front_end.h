// SPDX-License-Identifier: Apache-2.0
//
// What the REST and the gRPC front end have in common.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "serve/config_reload.h"
#include "serve/container_routes.h"
#include "serve/model_manager.h"
#include "serve/predict.h"
#include "serve/workers.h"

namespace slipway::serve {

// What is pointed to outlives the front ends.
struct FrontEnd {
  const ModelManager* manager = nullptr;
  Workers* workers = nullptr;
  ConfigReload* reload = nullptr;
  const MetricsRegistry* metrics = nullptr;
  std::string metrics_path;  // beside /metrics; empty: none
  // False once the server drains.
  const std::atomic<bool>* accepting = nullptr;
  // Set when running predictions are to be given up.
  const std::atomic<bool>* cancelled = nullptr;
  // A prediction that is expected to take longer runs on a worker.
  int64_t inline_limit_ns = 1'000'000;
  // Of REST requests; gRPC calls bring their own. 0: none.
  int64_t rest_timeout_ns = 30'000'000'000;
  bool cors = false;
  std::vector<ContainerRoute> routes;
  std::string default_model;  // of routes that name none
  // Classify and Regress want signatures of their own method name.
  bool check_method_names = false;
  // Outputs of gRPC as tensor_content.
  bool content_encoding = false;
};

}  // namespace slipway::serve
