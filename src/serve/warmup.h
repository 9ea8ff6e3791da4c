// SPDX-License-Identifier: Apache-2.0
//
// Recorded requests, replayed before a version serves: assets.extra/tf_serving_warmup_requests in
// its directory, a TFRecord file of PredictionLog.
#pragma once

#include <cstdint>
#include <string>

#include "base/env.h"
#include "serve/servable.h"
#include "slipway/status.h"

namespace slipway::serve {

struct WarmupOptions {
  bool replay = true;
  int32_t iterations = 1;  // of each record
};

// Replays the records, if there are any, and returns how many. DATA_LOSS: not a TFRecord file, or a
// damaged one. INVALID_ARGUMENT: more than 1000 records. UNIMPLEMENTED: a record of another kind
// than predict, classify, regress and multi-inference. Otherwise the error of the record that
// failed.
StatusOr<int64_t> ReplayWarmup(Env* env, const std::string& directory, const WarmupOptions& options,
                               Servable* servable);

}  // namespace slipway::serve
