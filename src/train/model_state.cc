// SPDX-License-Identifier: Apache-2.0
#include "train/model_state.h"

#include <algorithm>
#include <cstring>

#include "base/random.h"
#include "base/strings.h"

namespace slipway::train {
namespace {

std::string Describe(const std::vector<Tensor>& batch) {
  std::vector<std::string> texts;
  for (const Tensor& tensor : batch) {
    texts.push_back(StrCat(DTypeName(tensor.dtype()), tensor.shape().ToString()));
  }
  return StrCat("(", StrJoin(texts, ", "), ")");
}

// A layer may turn the batch into something else; such rows belong to no example.
Status CheckRows(const std::string& model, const Tensor& x, const Tensor& out) {
  if (out.rank() >= 1 && out.dim(0) == x.dim(0)) return OkStatus();
  return InvalidArgumentError(StrCat("Predict of model '", model, "' in batches: the input ",
                                     x.shape().ToString(), " gave the output ",
                                     out.shape().ToString(), ", which must have ", x.dim(0),
                                     " rows too; predict such a model in one batch"));
}

// "accuracy" may be used plain and weighted; logs need one name each.
std::string LogName(const std::string& name, bool weighted, const std::vector<MetricUse>& others) {
  std::string wanted = name;
  auto taken = [&] {
    return wanted == "loss" || std::any_of(others.begin(), others.end(),
                                           [&](const auto& use) { return use.name == wanted; });
  };
  if (weighted && taken()) wanted = StrCat("weighted_", name);
  for (int n = 1; taken(); ++n) wanted = StrCat(name, "_", n);
  return wanted;
}

}  // namespace

ModelState::ModelState(nn::Network network, const ModelOptions& options, uint64_t seed)
    : network_(std::move(network)), deterministic_(options.deterministic), seed_(seed) {}

uint64_t ModelState::NextSeed() {
  // Another stream than the one that layers draw from.
  Philox generator(seed_, ~seeds_drawn_++);
  Philox::Block words = generator.Next();
  return (uint64_t{words[0]} << 32) | words[1];
}

Status ModelState::Build(DType dtype, const PartialShape& input) {
  bool was_built = network_.built();
  RETURN_IF_ERROR(network_.Build(dtype, input));
  return was_built ? OkStatus() : variables_.Create(network_.variables());
}

Status ModelState::Compile(CompileOptions options) {
  if (options.optimizer.impl() == nullptr || options.loss.impl() == nullptr) {
    return InvalidArgumentError(StrCat("Compile of model '", network_.name(),
                                       "' needs an optimizer and a loss; one is missing"));
  }
  if (auto problem = options.optimizer.impl()->Check()) return InvalidArgumentError(problem->what);
  if (auto problem = options.loss.impl()->Check()) return InvalidArgumentError(problem->what);
  if (options.loss.impl()->reduction() == Reduction::kNone) {
    return InvalidArgumentError(StrCat("Loss '", options.loss.impl()->name(),
                                       "' has the reduction 'none'; training needs one number"));
  }
  if (setup_) {
    variables_.Remove(setup_->optimizer_state.variables());
    variables_.Remove(setup_->metric_variables());
  }
  compile_ = std::move(options);
  setup_.reset();
  train_.reset();
  test_.reset();
  results_.reset();
  return OkStatus();
}

StatusOr<const TrainingSetup*> ModelState::Setup() {
  if (!compile_) {
    return FailedPreconditionError(
        StrCat("Model '", network_.name(), "' was not compiled; call Compile first"));
  }
  if (!setup_) {
    return FailedPreconditionError(StrCat("Model '", network_.name(), "' has not seen data yet"));
  }
  return &*setup_;
}

Status ModelState::CheckBatch(const std::vector<Tensor>& batch) const {
  if (!compile_) {
    return FailedPreconditionError(
        StrCat("Model '", network_.name(), "' was not compiled; call Compile first"));
  }
  if (batch.size() < 2 || batch.size() > 3) {
    return InvalidArgumentError(StrCat("Batches must be (x, y) or (x, y, sample_weight), got ",
                                       batch.size(), " tensors ", Describe(batch)));
  }
  for (const Tensor& tensor : batch) {
    if (tensor.rank() >= 1 && tensor.dim(0) == batch[0].dim(0)) continue;
    return InvalidArgumentError(
        StrCat("The tensors of a batch must have the batch as first dimension, all the same, got ",
               Describe(batch), "; is a Batch stage missing from the dataset?"));
  }
  return OkStatus();
}

Status ModelState::Prepare(const std::vector<Tensor>& batch) {
  RETURN_IF_ERROR(CheckBatch(batch));
  RETURN_IF_ERROR(Build(batch[0].dtype(), AnyBatch(batch[0].shape())));
  return setup_ ? OkStatus() : MakeSetup(BatchSpecOf(batch));
}

Status ModelState::MakeSetup(const BatchSpec& batch) {
  TrainingSetup setup;
  setup.optimizer = compile_->optimizer.impl();
  setup.loss = compile_->loss.impl();
  setup.optimizer_state = setup.optimizer->NewState(network_.trainable_variables());
  setup.loss_state = nn::NewMetricState("metrics/loss");
  for (bool weighted : {false, true}) {
    for (const Metric& metric : weighted ? compile_->weighted_metrics : compile_->metrics) {
      MetricUse use;
      use.metric = metric.impl()->Resolve(batch.labels.shape, network_.output().shape);
      if (use.metric == nullptr) use.metric = metric.impl();
      use.weighted = weighted;
      use.name = LogName(metric.impl()->name(), weighted, setup.metrics);
      use.state = nn::NewMetricState(StrCat("metrics/", use.name));
      setup.metrics.push_back(std::move(use));
    }
  }
  RETURN_IF_ERROR(variables_.Create(setup.optimizer_state.variables()));
  RETURN_IF_ERROR(variables_.Create(setup.metric_variables()));
  ASSIGN_OR_RETURN(ir::Function results, BuildResults(setup));
  ASSIGN_OR_RETURN(results_, CompileFunction(std::move(results)));
  setup_ = std::move(setup);
  return OkStatus();
}

StatusOr<std::unique_ptr<exec::Executable>> ModelState::CompileFunction(ir::Function function) {
  exec::CompileOptions options;
  options.resources = variables_.container();
  options.deterministic = deterministic_;
  return exec::Executable::Compile(std::move(function), options);
}

StatusOr<const exec::Executable*> ModelState::StepFor(std::optional<Step>* step, bool training,
                                                      const std::vector<Tensor>& batch) {
  RETURN_IF_ERROR(Prepare(batch));
  BatchSpec spec = BatchSpecOf(batch);
  if (!step->has_value() || !((*step)->batch == spec)) {
    ASSIGN_OR_RETURN(ir::Function function, training ? BuildTrainStep(network_, *setup_, spec)
                                                     : BuildTestStep(network_, *setup_, spec));
    ASSIGN_OR_RETURN(auto executable, CompileFunction(std::move(function)));
    *step = Step{std::move(spec), std::move(executable)};
  }
  return (*step)->executable.get();
}

StatusOr<const exec::Executable*> ModelState::TrainStep(const std::vector<Tensor>& batch) {
  return StepFor(&train_, /*training=*/true, batch);
}

StatusOr<const exec::Executable*> ModelState::TestStep(const std::vector<Tensor>& batch) {
  return StepFor(&test_, /*training=*/false, batch);
}

Status ModelState::ResetMetrics() { return variables_.Reset(setup_->metric_variables()); }

StatusOr<Logs> ModelState::MetricResults() {
  std::vector<Tensor> values(results_->outputs().size());
  RETURN_IF_ERROR(results_->Run({}, values));
  Logs logs;
  logs["loss"] = values[0].scalar<float>();
  for (size_t i = 0; i < setup_->metrics.size(); ++i) {
    logs[setup_->metrics[i].name] = values[i + 1].scalar<float>();
  }
  return logs;
}

StatusOr<Tensor> ModelState::Predict(const Tensor& x, int64_t batch_size) {
  if (x.rank() < 1 || batch_size < 1) {
    return InvalidArgumentError(
        StrCat("Predict needs examples along dimension 0 and a batch size "
               "of at least 1, got ",
               x.shape().ToString(), " and ", batch_size));
  }
  {
    std::lock_guard lock(predict_mutex_);
    RETURN_IF_ERROR(Build(x.dtype(), AnyBatch(x.shape())));
    if (predict_ == nullptr) {
      ASSIGN_OR_RETURN(ir::Function function, BuildPredict(network_));
      ASSIGN_OR_RETURN(predict_, CompileFunction(std::move(function)));
    }
  }
  Tensor all;
  int64_t rows = x.dim(0);
  for (int64_t begin = 0; begin < rows || begin == 0; begin += batch_size) {
    Tensor part = x.Slice(begin, std::min(rows, begin + batch_size));
    Tensor out;
    RETURN_IF_ERROR(predict_->Run({&part, 1}, {&out, 1}));
    if (rows <= batch_size) return out;
    RETURN_IF_ERROR(CheckRows(network_.name(), part, out));
    if (!all.valid()) {
      Shape shape = out.shape();
      shape.set_dim(0, rows);
      ASSIGN_OR_RETURN(all, Tensor::Allocate(out.dtype(), shape));
    }
    Tensor place = all.Slice(begin, begin + part.dim(0));
    if (!(place.shape() == out.shape())) {
      return InvalidArgumentError(
          StrCat("Predict of model '", network_.name(), "' in batches: the rows from ", begin,
                 " gave the output ", out.shape().ToString(), ", those before ",
                 all.shape().ToString(), "; predict such a model in one batch"));
    }
    std::memcpy(place.raw_data(), out.raw_data(), out.byte_size());
  }
  return all;
}

std::vector<nn::VariablePtr> ModelState::AllVariables() const {
  std::vector<nn::VariablePtr> out = network_.variables();
  if (setup_) {
    for (auto& group : {setup_->optimizer_state.variables(), setup_->metric_variables()}) {
      out.insert(out.end(), group.begin(), group.end());
    }
  }
  return out;
}

}  // namespace slipway::train
