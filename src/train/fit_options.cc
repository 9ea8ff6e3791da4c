// SPDX-License-Identifier: Apache-2.0
#include "train/fit_options.h"

#include <cmath>

#include "base/strings.h"

namespace slipway::train {
namespace {

using Problem = nn::Configurable::Problem;

std::optional<Problem> AtLeast(int64_t least, const char* name, std::optional<int64_t> value) {
  if (!value || *value >= least) return std::nullopt;
  return Problem{name, StrCat("'", name, "' must be at least ", least, ", got ", *value)};
}

// An enumerator may be any integer.
std::optional<Problem> VerboseProblem(Verbose verbose) {
  switch (verbose) {
    case Verbose::kAuto:
    case Verbose::kSilent:
    case Verbose::kBar:
    case Verbose::kLine:
      return std::nullopt;
  }
  return Problem{"verbose", StrCat("'verbose' must be kAuto, kSilent, kBar or kLine (0 to 3), got ",
                                   static_cast<int>(verbose))};
}

std::optional<Problem> ClassWeightProblem(const std::map<int64_t, double>& weights) {
  for (const auto& [label, weight] : weights) {
    if (std::isfinite(weight)) continue;
    return Problem{"class_weight", StrCat("'class_weight' of class ", label,
                                          " must be a finite number, got ", weight)};
  }
  return std::nullopt;
}

std::optional<Problem> First(std::initializer_list<std::optional<Problem>> problems) {
  for (const auto& problem : problems) {
    if (problem) return problem;
  }
  return std::nullopt;
}

Status ErrorOf(const std::optional<Problem>& problem) {
  return problem ? InvalidArgumentError(problem->what) : OkStatus();
}

Status CheckCallbacks(const FitOptions& options) {
  for (const CallbackPtr& callback : options.callbacks) {
    if (callback == nullptr) return InvalidArgumentError("A callback of Fit is null");
    RETURN_IF_ERROR(callback->Validate());
  }
  return OkStatus();
}

}  // namespace

std::optional<Problem> FindProblem(const FitOptions& options) {
  return First({AtLeast(0, "epochs", options.epochs),
                AtLeast(0, "initial_epoch", options.initial_epoch),
                AtLeast(1, "validation_freq", options.validation_freq),
                AtLeast(1, "validation_steps", options.validation_steps),
                AtLeast(1, "steps_per_epoch", options.steps_per_epoch),
                ClassWeightProblem(options.class_weight), VerboseProblem(options.verbose)});
}

std::optional<Problem> FindProblem(const FitArraysOptions& options) {
  const double split = options.validation_split;
  std::optional<Problem> wrong_split;
  if (!(split >= 0 && split < 1)) {
    wrong_split =
        Problem{"validation_split",
                StrCat("'validation_split' must be at least 0 and less than 1, got ", split)};
  }
  return First({FindProblem(static_cast<const FitOptions&>(options)),
                AtLeast(1, "batch_size", options.batch_size),
                AtLeast(1, "validation_batch_size", options.validation_batch_size), wrong_split});
}

std::optional<Problem> FindProblem(const EvaluateOptions& options) {
  return First({AtLeast(1, "steps", options.steps), VerboseProblem(options.verbose)});
}

Status CheckOptions(const FitOptions& options) {
  RETURN_IF_ERROR(ErrorOf(FindProblem(options)));
  return CheckCallbacks(options);
}

Status CheckOptions(const FitArraysOptions& options) {
  RETURN_IF_ERROR(ErrorOf(FindProblem(options)));
  return CheckCallbacks(options);
}

Status CheckOptions(const EvaluateOptions& options) { return ErrorOf(FindProblem(options)); }

}  // namespace slipway::train
