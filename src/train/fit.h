// SPDX-License-Identifier: Apache-2.0
//
// The loop of Model::Fit and Model::Evaluate.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "slipway/model.h"
#include "train/batches.h"
#include "train/model_state.h"
#include "train/progress.h"

namespace slipway::train {

// One pass of test steps; metrics are reset first. INVALID_ARGUMENT if there is no batch.
StatusOr<Logs> RunEvaluation(ModelState& state, const data::Dataset& batches,
                             std::optional<int64_t> steps, Progress* progress);

// One call of Fit. Not thread safe.
class FitLoop final : public FitControl {
 public:
  FitLoop(Model* model, const data::Dataset& batches, const FitOptions& options);

  StatusOr<History> Run();

  Model& model() override { return *model_; }
  int epochs() const override { return options_.epochs; }
  int64_t steps_done() const override;
  std::optional<int64_t> steps_per_epoch() const override { return steps_in_epoch_; }
  void StopTraining(std::string reason) override;
  const History& history() const override { return history_; }
  Status SaveState(const std::string& prefix) override;
  Status RestoreState(const std::string& prefix) override;
  Status CheckFinite() override;

 private:
  // Builds the model and compiles the step from what is known of the batches.
  Status Prepare(const data::Dataset& batches);
  Status RunEpochs();
  StatusOr<Logs> RunEpoch();
  Status RunBatches();
  Status AfterBatch(int64_t batch);
  Status FinishEpoch(Logs* logs);
  void WarnIfNotFinite(const Logs& logs);
  template <typename Hook>
  Status ForEachCallback(bool last, Hook&& hook);

  Model* model_;
  ModelState& state_;
  const FitOptions& options_;
  const data::Dataset& dataset_;
  BatchStream stream_;
  ClassWeights class_weights_;
  std::vector<CallbackPtr> callbacks_;
  Progress progress_;
  History history_;
  std::optional<int64_t> steps_in_epoch_;
  bool wants_batch_logs_ = false;
  bool warned_ = false;
  bool stop_ = false;
  std::vector<Tensor> batch_;
  const exec::Executable* step_ = nullptr;
  BatchSpec step_spec_;

  // Where training stands.
  int epoch_;
  int64_t batches_done_ = 0;  // of the epoch
};

}  // namespace slipway::train
