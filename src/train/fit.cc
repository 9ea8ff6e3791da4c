// SPDX-License-Identifier: Apache-2.0
#include "train/fit.h"

#include <algorithm>
#include <cmath>

#include "base/log.h"
#include "base/strings.h"
#include "train/callback_classes.h"
#include "train/fit_state.h"

namespace slipway::train {
namespace {

bool SameShapes(const std::vector<Tensor>& a, const BatchSpec& spec) {
  return a[1].dtype() == spec.labels.dtype && spec.labels.shape.Admits(a[1].shape()) &&
         (a.size() > 2) == spec.weights.has_value();
}

std::optional<int64_t> Smaller(std::optional<int64_t> a, std::optional<int64_t> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

Status NoData() {
  return InvalidArgumentError("The dataset has no batches; check its source, and drop_remainder");
}

}  // namespace

StatusOr<Logs> RunEvaluation(ModelState& state, const data::Dataset& batches,
                             std::optional<int64_t> steps, Progress* progress) {
  ASSIGN_OR_RETURN(auto iterator, batches.MakeIterator());
  if (progress != nullptr) progress->Begin("", Smaller(steps, batches.cardinality()));
  std::vector<Tensor> batch;
  int64_t done = 0;
  for (; !steps || done < *steps; ++done) {
    ASSIGN_OR_RETURN(bool more, iterator->Next(&batch));
    if (!more) break;
    ASSIGN_OR_RETURN(const exec::Executable* step, state.TestStep(batch));
    if (done == 0) RETURN_IF_ERROR(state.ResetMetrics());
    RETURN_IF_ERROR(step->Run(batch, {}));
    if (progress != nullptr && progress->Due()) {
      ASSIGN_OR_RETURN(Logs logs, state.MetricResults());
      progress->Draw(done + 1, logs);
    }
  }
  if (done == 0) return NoData();
  ASSIGN_OR_RETURN(Logs logs, state.MetricResults());
  if (progress != nullptr) progress->End(done, logs);
  return logs;
}

FitLoop::FitLoop(Model* model, const data::Dataset& batches, const FitOptions& options)
    : model_(model),
      state_(model->state()),
      options_(options),
      dataset_(batches),
      stream_(batches, options.initial_epoch, options.steps_per_epoch.has_value()),
      class_weights_(options.class_weight),
      callbacks_(options.callbacks),
      progress_(options.verbose, Clock::Default()),
      steps_in_epoch_(Smaller(options.steps_per_epoch, batches.cardinality())),
      epoch_(options.initial_epoch) {
  for (const CallbackPtr& callback : callbacks_) wants_batch_logs_ |= callback->WantsBatchLogs();
}

int64_t FitLoop::steps_done() const {
  auto setup = state_.Setup();
  if (!setup.ok()) return 0;
  auto value = state_.variables().Read((*setup)->optimizer_state.iteration->path);
  return value.ok() ? value->scalar<int64_t>() : 0;
}

void FitLoop::StopTraining(std::string reason) {
  stop_ = true;
  if (!reason.empty()) progress_.Say(reason);
}

template <typename Hook>
Status FitLoop::ForEachCallback(bool last, Hook&& hook) {
  for (const CallbackPtr& callback : callbacks_) {
    if (callback->RunsLast() == last) RETURN_IF_ERROR(hook(*callback));
  }
  return OkStatus();
}

StatusOr<History> FitLoop::Run() {
  if (!state_.compiled()) {
    return FailedPreconditionError("Fit before Compile: call Compile with an optimizer and a loss");
  }
  // Weights and slots exist before callbacks look for them or restore them.
  RETURN_IF_ERROR(Prepare(dataset_));
  auto begin = [&](Callback& callback) { return callback.OnTrainBegin(*this); };
  RETURN_IF_ERROR(ForEachCallback(false, begin));
  RETURN_IF_ERROR(ForEachCallback(true, begin));
  RETURN_IF_ERROR(RunEpochs());
  Logs logs;
  for (const auto& [name, values] : history_.history) logs[name] = values.back();
  auto end = [&](Callback& callback) { return callback.OnTrainEnd(*this, logs); };
  RETURN_IF_ERROR(ForEachCallback(false, end));
  RETURN_IF_ERROR(ForEachCallback(true, end));
  return std::move(history_);
}

Status FitLoop::RunEpochs() {
  while (epoch_ < options_.epochs && !stop_) {
    auto begin = [&](Callback& callback) { return callback.OnEpochBegin(*this, epoch_); };
    RETURN_IF_ERROR(ForEachCallback(false, begin));
    RETURN_IF_ERROR(ForEachCallback(true, begin));
    progress_.Begin(StrCat("Epoch ", epoch_ + 1, "/", options_.epochs), steps_in_epoch_);
    ASSIGN_OR_RETURN(Logs logs, RunEpoch());
    progress_.End(batches_done_, logs);
    RETURN_IF_ERROR(FinishEpoch(&logs));
  }
  return OkStatus();
}

StatusOr<Logs> FitLoop::RunEpoch() {
  RETURN_IF_ERROR(RunBatches());
  if (batches_done_ == 0) return NoData();
  if (!options_.steps_per_epoch) steps_in_epoch_ = batches_done_;
  ASSIGN_OR_RETURN(Logs logs, state_.MetricResults());
  WarnIfNotFinite(logs);
  bool validate = options_.validation_data && (epoch_ + 1) % options_.validation_freq == 0;
  if (!validate) return logs;
  auto result =
      RunEvaluation(state_, *options_.validation_data, options_.validation_steps, nullptr);
  if (!result.ok()) return result.status().WithContext("Validation data");
  RETURN_IF_ERROR(ForEachCallback(
      false, [&](Callback& callback) { return callback.OnTestEnd(*this, *result); }));
  for (const auto& [name, value] : *result) logs[StrCat("val_", name)] = value;
  return logs;
}

Status FitLoop::RunBatches() {
  RETURN_IF_ERROR(stream_.BeginEpoch());
  bool resumed = batches_done_ > 0;
  while (!stop_ && (!options_.steps_per_epoch || batches_done_ < *options_.steps_per_epoch)) {
    if (!class_weights_.empty() && batch_.size() > 2) batch_.pop_back();
    ASSIGN_OR_RETURN(bool more, stream_.Next(&batch_));
    if (!more) break;
    if (!class_weights_.empty()) RETURN_IF_ERROR(class_weights_.Apply(&batch_));
    if (step_ == nullptr || batch_.size() < 2 || !SameShapes(batch_, step_spec_)) {
      ASSIGN_OR_RETURN(step_, state_.TrainStep(batch_));
      step_spec_ = BatchSpecOf(batch_);
    }
    if (batches_done_ == 0 && !resumed) RETURN_IF_ERROR(state_.ResetMetrics());
    RETURN_IF_ERROR(step_->Run(batch_, {}));
    RETURN_IF_ERROR(AfterBatch(batches_done_++));
  }
  return OkStatus();
}

Status FitLoop::AfterBatch(int64_t batch) {
  Logs logs;
  bool draw = progress_.Due();
  if (draw || wants_batch_logs_) {
    ASSIGN_OR_RETURN(logs, state_.MetricResults());
    if (draw) {
      WarnIfNotFinite(logs);
      progress_.Draw(batch + 1, logs);
    }
    if (!wants_batch_logs_) logs.clear();
  }
  if (callbacks_.empty()) return OkStatus();
  auto hook = [&](Callback& callback) { return callback.OnTrainBatchEnd(*this, batch, logs); };
  RETURN_IF_ERROR(ForEachCallback(false, hook));
  return ForEachCallback(true, hook);
}

Status FitLoop::Prepare(const data::Dataset& batches) {
  std::vector<Tensor> first;
  for (const TensorSpec& spec : batches.element_spec()) {
    PartialShape shape = spec.shape;
    if (shape.rank() > 0) shape.set_dim(0, 1);
    std::optional<Shape> full = shape.ToShape();
    if (!full) break;
    ASSIGN_OR_RETURN(Tensor example, Tensor::Allocate(spec.dtype, *full));
    first.push_back(std::move(example));
  }
  if (first.empty() || first.size() != batches.element_spec().size()) {
    ASSIGN_OR_RETURN(auto iterator, batches.MakeIterator({.epoch = options_.initial_epoch}));
    ASSIGN_OR_RETURN(bool more, iterator->Next(&first));
    if (!more) return NoData();
  }
  if (!class_weights_.empty() && first.size() == 2) {
    first.push_back(Tensor(DType::kFloat, Shape({first[0].dim(0)})));
  }
  ASSIGN_OR_RETURN(step_, state_.TrainStep(first));
  step_spec_ = BatchSpecOf(first);
  return OkStatus();
}

Status FitLoop::FinishEpoch(Logs* logs) {
  auto end = [&](Callback& callback) { return callback.OnEpochEnd(*this, epoch_, *logs); };
  RETURN_IF_ERROR(ForEachCallback(false, end));
  history_.epochs.push_back(epoch_);
  for (const auto& [name, value] : *logs) history_.history[name].push_back(value);
  int finished = epoch_++;
  batches_done_ = 0;
  return ForEachCallback(
      true, [&](Callback& callback) { return callback.OnEpochEnd(*this, finished, *logs); });
}

void FitLoop::WarnIfNotFinite(const Logs& logs) {
  double loss = logs.at("loss");
  if (warned_ || std::isfinite(loss)) return;
  warned_ = true;
  LOG_WARNING("The loss is ", PythonFloat(loss), " in epoch ", epoch_ + 1, " after ", batches_done_,
              " batches: the weights are of no use from here on. Lower the learning rate, clip "
              "gradients, or check the data for NaN; TerminateOnNaN stops such a run");
}

Status FitLoop::CheckFinite() {
  if (batches_done_ > 0 || !history_["loss"].empty()) {
    double loss = history_["loss"].empty() ? 0 : history_["loss"].back();
    if (batches_done_ > 0) {
      ASSIGN_OR_RETURN(Logs logs, state_.MetricResults());
      loss = logs.at("loss");
    }
    if (!std::isfinite(loss)) {
      return FailedPreconditionError(StrCat("the loss is ", PythonFloat(loss)));
    }
  }
  ASSIGN_OR_RETURN(const TrainingSetup* setup, state_.Setup());
  std::vector<nn::VariablePtr> variables = state_.network().variables();
  const auto& slots = setup->optimizer_state.slots;
  for (const auto& of_weight : slots)
    variables.insert(variables.end(), of_weight.begin(), of_weight.end());
  for (const nn::VariablePtr& variable : variables) {
    ASSIGN_OR_RETURN(const Tensor value, state_.variables().Read(variable->path));
    if (value.dtype() != DType::kFloat) continue;
    for (const float number : value.flat<float>()) {
      if (std::isfinite(number)) continue;
      return FailedPreconditionError(
          StrCat("'", variable->path, "' holds ", PythonFloat(static_cast<double>(number))));
    }
  }
  return OkStatus();
}

Status FitLoop::SaveState(const std::string& prefix) {
  FitPosition position;
  position.epoch = epoch_;
  position.batches_done = batches_done_;
  ASSIGN_OR_RETURN(position.data, stream_.SaveState());
  position.history = history_;
  return WriteFitState(prefix, state_, position, callbacks_);
}

Status FitLoop::RestoreState(const std::string& prefix) {
  ASSIGN_OR_RETURN(FitPosition position, ReadFitState(prefix, state_, callbacks_));
  epoch_ = position.epoch;
  batches_done_ = position.batches_done;
  history_ = std::move(position.history);
  return stream_.RestoreState(position.data);
}

}  // namespace slipway::train
