// SPDX-License-Identifier: Apache-2.0
#include "slipway/model.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "base/strings.h"
#include "train/arrays.h"
#include "train/export.h"
#include "train/fit.h"
#include "train/fit_options.h"
#include "train/fit_state.h"
#include "train/graph_state.h"

namespace slipway {
namespace {

std::unique_ptr<train::ModelState> NewState(std::vector<nn::LayerPtr> layers,
                                            const ModelOptions& options) {
  uint64_t seed = options.seed.value_or(RandomSeed());
  nn::Network network(options.name, std::move(layers), seed);
  return std::make_unique<train::ModelState>(std::move(network), options, seed);
}

std::vector<nn::LayerPtr> Unwrapped(std::vector<layers::Layer> layers) {
  std::vector<nn::LayerPtr> out;
  for (const layers::Layer& layer : layers) out.push_back(layer.impl());
  return out;
}

}  // namespace

Model::Model(std::unique_ptr<train::ModelState> state) : state_(std::move(state)) {}
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

const std::string& Model::name() const { return state_->network().name(); }
bool Model::built() const { return state_->network().built(); }

Status Model::Build(PartialShape input_shape, DType dtype) {
  return state_->Build(dtype, input_shape);
}

Status Model::Compile(CompileOptions options) { return state_->Compile(std::move(options)); }

StatusOr<History> Model::Fit(const data::Dataset& batches, const FitOptions& options) {
  RETURN_IF_ERROR(train::CheckOptions(options));
  return train::FitLoop(this, batches, options).Run();
}

StatusOr<History> Model::Fit(const Tensor& x, const Tensor& y, const FitArraysOptions& options) {
  RETURN_IF_ERROR(train::CheckOptions(options));
  train::ArraySplit split;
  ASSIGN_OR_RETURN(split, train::SplitArrays(x, y, options));
  FitOptions fit = options;
  uint64_t seed = options.shuffle_seed ? *options.shuffle_seed : state_->NextSeed();
  ASSIGN_OR_RETURN(data::Dataset rows, data::Dataset::FromTensorSlices(split.train));
  if (options.shuffle) rows = rows.Shuffle(split.train[0].dim(0), seed);
  if (!split.validation.empty()) {
    ASSIGN_OR_RETURN(data::Dataset held_out, data::Dataset::FromTensorSlices(split.validation));
    fit.validation_data =
        held_out.Batch(options.validation_batch_size.value_or(options.batch_size));
  }
  return Fit(rows.Batch(options.batch_size), fit);
}

StatusOr<Logs> Model::Evaluate(const data::Dataset& batches, const EvaluateOptions& options) {
  RETURN_IF_ERROR(train::CheckOptions(options));
  train::Progress progress(options.verbose, Clock::Default());
  return train::RunEvaluation(*state_, batches, options.steps, &progress);
}

StatusOr<Logs> Model::Evaluate(const Tensor& x, const Tensor& y, int64_t batch_size,
                               const EvaluateOptions& options) {
  RETURN_IF_ERROR(train::CheckArrays(x, y, batch_size));
  ASSIGN_OR_RETURN(data::Dataset rows, data::Dataset::FromTensorSlices({x, y}));
  return Evaluate(rows.Batch(batch_size), options);
}

StatusOr<Tensor> Model::Predict(const Tensor& x, int64_t batch_size) const {
  return state_->Predict(x, batch_size);
}

Status Model::Save(const std::string& directory) const {
  return train::ExportSavedModel(*state_, directory);
}

Status Model::SaveWeights(const std::string& prefix) const {
  if (!built()) {
    return FailedPreconditionError(
        StrCat("Model '", name(), "' has no weights yet; call Build or Fit first"));
  }
  return train::WriteWeights(prefix, *state_);
}

Status Model::LoadWeights(const std::string& prefix) {
  if (!built()) {
    return FailedPreconditionError(
        StrCat("Model '", name(), "' has no weights yet; call Build before LoadWeights"));
  }
  return train::ReadWeights(prefix, *state_);
}

std::vector<Variable> Model::variables() const {
  std::vector<Variable> out;
  for (const nn::VariablePtr& description : state_->network().variables()) {
    auto resource = state_->variables().Find(description->path);
    if (!resource.ok()) continue;  // not built
    auto shared = std::make_shared<Variable::State>();
    shared->resource = *resource;
    shared->description = description;
    out.push_back(Variable(std::move(shared)));
  }
  return out;
}

std::vector<Variable> Model::trainable_variables() const {
  std::vector<Variable> all = variables();
  std::erase_if(all, [](const Variable& variable) { return !variable.trainable(); });
  return all;
}

std::vector<Tensor> Model::GetWeights() const {
  std::vector<Tensor> out;
  for (const Variable& variable : variables()) out.push_back(variable.value());
  return out;
}

Status Model::SetWeights(const std::vector<Tensor>& values) {
  std::vector<Variable> all = variables();
  if (values.size() != all.size()) {
    return InvalidArgumentError(StrCat("Model '", name(), "' has ", all.size(),
                                       " weights, SetWeights was given ", values.size()));
  }
  for (size_t i = 0; i < all.size(); ++i) RETURN_IF_ERROR(all[i].Assign(values[i]));
  return OkStatus();
}

StatusOr<double> Model::learning_rate() const {
  ASSIGN_OR_RETURN(const train::TrainingSetup* setup, state_->Setup());
  ASSIGN_OR_RETURN(Tensor value,
                   state_->variables().Read(setup->optimizer_state.learning_rate->path));
  return static_cast<double>(value.scalar<float>());
}

Status Model::set_learning_rate(double rate) {
  if (!std::isfinite(static_cast<float>(rate))) {
    return InvalidArgumentError(
        StrCat("The learning rate must be a finite number as float32, got ", rate));
  }
  ASSIGN_OR_RETURN(const train::TrainingSetup* setup, state_->Setup());
  return state_->variables().Write(setup->optimizer_state.learning_rate->path,
                                   Tensor::Scalar(static_cast<float>(rate)));
}

Value Model::Call(Graph& graph, Value x, bool training) const {
  if (!built()) {
    graph.Fail(FailedPreconditionError(
        StrCat("Model '", name(), "' has no weights yet; call Build before Call")));
    return {};
  }
  Graph::State& state = graph.state();
  for (const Variable& variable : variables()) state.Register(variable);
  auto [node, index] = graph.Unwrap(x);
  if (node == nullptr) return {};
  state.context.set_training(training);
  ir::Output y = state_->network().Call(state.context, {static_cast<ir::Node*>(node), index});
  return graph.Wrap(y.node, y.index);
}

std::string Model::Summary() const { return state_->network().Summary(); }
std::string Model::ToJson() const { return state_->network().ToJson(); }

Sequential::Sequential(std::vector<layers::Layer> layers, ModelOptions options)
    : Model(NewState(Unwrapped(std::move(layers)), options)) {}

StatusOr<Sequential> Sequential::FromJson(std::string_view json, ModelOptions options) {
  ASSIGN_OR_RETURN(nn::SequentialLayers parsed, nn::LayersFromJson(json));
  if (!parsed.name.empty()) options.name = parsed.name;
  std::vector<layers::Layer> layers;
  for (nn::LayerPtr& layer : parsed.layers) layers.push_back(layers::Layer(std::move(layer)));
  return Sequential(std::move(layers), std::move(options));
}

}  // namespace slipway
