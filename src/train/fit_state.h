// SPDX-License-Identifier: Apache-2.0
//
// Training's whole state as a TensorFlow tensor bundle. Keys:
//   the variables' paths      weights, seed states, "adam/iteration", slots, "metrics/loss/total"…
//   fit/epoch, fit/batch      int64: the epoch that goes on, and its batches that are done
//   fit/data                  string: the place in the data
//   fit/epochs                int64 [n]: the epochs of the history
//   fit/history/NAME          float64: the values of NAME
//   callbacks/I/J             what callback I keeps
#pragma once

#include <string>
#include <vector>

#include "slipway/callbacks.h"
#include "train/model_state.h"

namespace slipway::train {

struct FitPosition {
  int epoch = 0;
  int64_t batches_done = 0;
  std::string data;
  History history;
};

// Written so that a bundle that was at the prefix stays whole until the new one is.
Status WriteFitState(const std::string& prefix, ModelState& state, const FitPosition& position,
                     const std::vector<CallbackPtr>& callbacks);

// REQUIRES: the model is built and has its slots. NOT_FOUND and INVALID_ARGUMENT name what the
// bundle and the model do not have in common; the model may be partly restored then.
StatusOr<FitPosition> ReadFitState(const std::string& prefix, ModelState& state,
                                   const std::vector<CallbackPtr>& callbacks);

// The weights alone.
Status WriteWeights(const std::string& prefix, ModelState& state);
Status ReadWeights(const std::string& prefix, ModelState& state);

}  // namespace slipway::train
