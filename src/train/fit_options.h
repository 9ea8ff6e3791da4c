// SPDX-License-Identifier: Apache-2.0
//
// Whether the settings of Fit and Evaluate make sense; asked before anything is read or built, by
// the API and by recipes (which add the line).
#pragma once

#include <optional>

#include "nn/fields.h"
#include "slipway/model.h"

namespace slipway::train {

// The first setting that is not plausible: its name, the value seen and the value wanted.
// As in Keras, epochs that do not exceed initial_epoch are fine: nothing is trained then.
std::optional<nn::Configurable::Problem> FindProblem(const FitOptions& options);
std::optional<nn::Configurable::Problem> FindProblem(const FitArraysOptions& options);
std::optional<nn::Configurable::Problem> FindProblem(const EvaluateOptions& options);

// INVALID_ARGUMENT for the problem, and for what a callback finds wrong with itself.
Status CheckOptions(const FitOptions& options);
Status CheckOptions(const FitArraysOptions& options);
Status CheckOptions(const EvaluateOptions& options);

}  // namespace slipway::train
