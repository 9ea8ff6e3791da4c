// SPDX-License-Identifier: Apache-2.0
//
// The batches of an epoch: passes over a dataset one after the other, class weights applied, and
// where in the data training stands.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slipway/data.h"

namespace slipway::train {

// Weights of examples by their class, as a third tensor of the batch.
class ClassWeights {
 public:
  explicit ClassWeights(std::map<int64_t, double> weights) : weights_(std::move(weights)) {}
  bool empty() const { return weights_.empty(); }
  // Labels are class numbers [batch] or [batch, 1], or one-hot rows. INVALID_ARGUMENT if the batch
  // has weights already, or for labels of another kind.
  Status Apply(std::vector<Tensor>* batch);

 private:
  std::map<int64_t, double> weights_;
  Tensor memory_;
};

// Not thread safe.
class BatchStream {
 public:
  // `goes_on`: an epoch continues where the last one stopped (steps_per_epoch), and starts the data
  // again at its end.
  BatchStream(data::Dataset dataset, int64_t first_pass, bool goes_on)
      : dataset_(std::move(dataset)), pass_(first_pass), goes_on_(goes_on) {}

  Status BeginEpoch();
  // False at the end of the pass. Tensors in `batch` are written in place where they fit.
  StatusOr<bool> Next(std::vector<Tensor>* batch);

  // The pass and the place in it.
  StatusOr<std::string> SaveState() const;
  Status RestoreState(std::string_view state);

 private:
  Status NewPass();

  data::Dataset dataset_;
  int64_t pass_;  // that the next iterator is for
  bool goes_on_;
  bool fresh_ = false;  // the iterator has given nothing yet
  bool epoch_began_ = false;
  std::unique_ptr<data::Iterator> iterator_;
};

}  // namespace slipway::train
