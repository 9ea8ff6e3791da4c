// SPDX-License-Identifier: Apache-2.0
//
// What is behind a public Model: the network, its variables, how it is trained, and the graphs
// compiled so far.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/env.h"
#include "slipway/model.h"
#include "train/programs.h"
#include "train/variables.h"

namespace slipway::train {

// Not thread safe, but for Predict.
class ModelState {
 public:
  ModelState(nn::Network network, const ModelOptions& options, uint64_t seed);

  const nn::Network& network() const { return network_; }
  VariableStore& variables() { return variables_; }
  bool deterministic() const { return deterministic_; }
  // Another number for something random each time (shuffles), from the model's seed.
  uint64_t NextSeed();

  Status Build(DType dtype, const PartialShape& input);
  Status Compile(CompileOptions options);
  bool compiled() const { return compile_.has_value(); }
  // FAILED_PRECONDITION unless built and compiled.
  StatusOr<const TrainingSetup*> Setup();

  // Builds from the first batch if needed, makes slots and metrics, compiles the step; kept until
  // Compile or a batch of another kind. INVALID_ARGUMENT if (x, y[, weight]) do not fit the model.
  StatusOr<const exec::Executable*> TrainStep(const std::vector<Tensor>& batch);
  StatusOr<const exec::Executable*> TestStep(const std::vector<Tensor>& batch);
  Status ResetMetrics();
  // "loss" and the metrics as they stand.
  StatusOr<Logs> MetricResults();

  StatusOr<Tensor> Predict(const Tensor& x, int64_t batch_size);

  // Paths of all that training needs to go on: weights, slots, counters, metrics.
  std::vector<nn::VariablePtr> AllVariables() const;

 private:
  struct Step {
    BatchSpec batch;
    std::unique_ptr<exec::Executable> executable;
  };
  Status CheckBatch(const std::vector<Tensor>& batch) const;
  Status Prepare(const std::vector<Tensor>& batch);
  Status MakeSetup(const BatchSpec& batch);
  StatusOr<const exec::Executable*> StepFor(std::optional<Step>* step, bool training,
                                            const std::vector<Tensor>& batch);
  StatusOr<std::unique_ptr<exec::Executable>> CompileFunction(ir::Function function);

  nn::Network network_;
  bool deterministic_;
  uint64_t seed_;
  uint64_t seeds_drawn_ = 0;
  VariableStore variables_;
  std::optional<CompileOptions> compile_;
  std::optional<TrainingSetup> setup_;
  std::optional<Step> train_;
  std::optional<Step> test_;
  std::unique_ptr<exec::Executable> results_;
  std::mutex predict_mutex_;
  std::unique_ptr<exec::Executable> predict_;
};

}  // namespace slipway::train
