// SPDX-License-Identifier: Apache-2.0
//
// Arrays handed to Fit, checked and split as Keras does.
#pragma once

#include <vector>

#include "slipway/model.h"

namespace slipway::train {

// INVALID_ARGUMENT unless x and y have as many rows, at least one, and batch_size is positive.
Status CheckArrays(const Tensor& x, const Tensor& y, int64_t batch_size);

struct ArraySplit {
  std::vector<Tensor> train;       // x, y[, sample_weight]
  std::vector<Tensor> validation;  // the same, or empty
};
// The first int(n · (1 - validation_split)) rows train, the rest validates; nothing is copied.
StatusOr<ArraySplit> SplitArrays(const Tensor& x, const Tensor& y, const FitArraysOptions& options);

}  // namespace slipway::train
