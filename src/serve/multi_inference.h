// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "serve/front_end.h"
#include "serve/predict.h"
#include "slipway/status.h"
#include "wire/inference.h"

namespace slipway::serve {

// A MultiInferenceRequest answered: several signatures of one version of a model, each over the
// same examples. Runs on this thread; deadline_ns 0: none. INVALID_ARGUMENT: tasks of different
// models, a signature twice, one that is not there. UNIMPLEMENTED: a method other than classify and
// regress.
StatusOr<std::string> MultiInference(const FrontEnd& front, std::string_view request,
                                     int64_t deadline_ns);

// The same without the look-up: all tasks by prediction->lease. Appends a MultiInferenceResponse.
Status RunTasks(const MultiInferenceRequestView& request, bool check_method_names,
                const std::atomic<bool>* cancelled, Prediction* prediction, std::string* response);

}  // namespace slipway::serve
