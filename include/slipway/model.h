// SPDX-License-Identifier: Apache-2.0
//
// Sequential models: compile, fit, evaluate, predict, save; names and defaults are Keras's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "slipway/callbacks.h"
#include "slipway/data.h"
#include "slipway/layers.h"
#include "slipway/losses.h"
#include "slipway/metrics.h"
#include "slipway/ops.h"
#include "slipway/optimizers.h"
#include "slipway/tensor.h"

namespace slipway {

namespace train {
class ModelState;
}

struct CompileOptions {
  Optimizer optimizer;
  Loss loss;
  std::vector<Metric> metrics;
  std::vector<Metric> weighted_metrics;  // the same, with sample and class weights
};

enum class Verbose {
  kAuto,  // a progress bar on a terminal, else a line an epoch
  kSilent,
  kBar,
  kLine,
};

struct FitOptions {
  // The number of the last epoch, so initial_epoch ones less are run. If that is none, Fit trains
  // nothing and its history is empty, as in Keras.
  int epochs = 1;
  int initial_epoch = 0;
  // Elements (x, y) or (x, y, sample_weight), in batches.
  std::optional<data::Dataset> validation_data;
  int validation_freq = 1;
  std::optional<int64_t> validation_steps;
  // Batches of an epoch. The data then goes on from epoch to epoch, and starts again at its end.
  std::optional<int64_t> steps_per_epoch;
  std::vector<CallbackPtr> callbacks;
  std::map<int64_t, double> class_weight;
  Verbose verbose = Verbose::kAuto;
};

// The same for arrays in memory.
struct FitArraysOptions : FitOptions {
  int64_t batch_size = 32;
  bool shuffle = true;                           // before each epoch
  double validation_split = 0;                   // of the examples, from the end, before shuffling
  std::optional<int64_t> validation_batch_size;  // batch_size if not given
  Tensor sample_weight;                          // one an example, if valid
  std::optional<uint64_t> shuffle_seed;          // drawn from the model's seed if not given
};

struct EvaluateOptions {
  Verbose verbose = Verbose::kAuto;
  std::optional<int64_t> steps;
};

struct ModelOptions {
  std::string name = "sequential";
  // Of everything random in the model that has no seed of its own: weights, dropout, shuffling.
  // Drawn from the operating system if not given.
  std::optional<uint64_t> seed;
  // Results do not depend on timing: the same seed and thread count give the same bits.
  bool deterministic = false;
};

// Not thread safe; Predict may be called from several threads while nothing else is.
class Model {
 public:
  virtual ~Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;

  const std::string& name() const;

  // Makes the weights for inputs of this shape, batch dimension included ([-1, 28, 28]).
  // INVALID_ARGUMENT names the layer, its op and the shapes that do not fit. Fit, Evaluate and
  // Predict do it from their first data.
  Status Build(PartialShape input_shape, DType dtype = DType::kFloat);
  bool built() const;

  // How it is to be trained. May be called again: weights stay, slots start anew.
  Status Compile(CompileOptions options);

  // Trains on batches. FAILED_PRECONDITION before Compile; INVALID_ARGUMENT if data and model do
  // not fit (names layer, op, shapes), the data is empty, or an option makes no sense (names it,
  // the value seen and the value wanted).
  StatusOr<History> Fit(const data::Dataset& batches, const FitOptions& options = {});
  StatusOr<History> Fit(const Tensor& x, const Tensor& y, const FitArraysOptions& options = {});

  // "loss" and the metrics.
  StatusOr<Logs> Evaluate(const data::Dataset& batches, const EvaluateOptions& options = {});
  StatusOr<Logs> Evaluate(const Tensor& x, const Tensor& y, int64_t batch_size = 32,
                          const EvaluateOptions& options = {});

  // The outputs of all examples, in batches so that memory stays bounded.
  StatusOr<Tensor> Predict(const Tensor& x, int64_t batch_size = 32) const;

  // A SavedModel directory: callable in TensorFlow, with the signature serving_default.
  Status Save(const std::string& directory) const;
  // A TensorFlow tensor bundle (PREFIX.index, PREFIX.data-…) of the weights by path.
  Status SaveWeights(const std::string& prefix) const;
  // NOT_FOUND names the weight that is missing, INVALID_ARGUMENT one of another shape.
  Status LoadWeights(const std::string& prefix);

  // Weights by path ("dense/kernel") in the order of the layers, seed states included.
  std::vector<Variable> variables() const;
  std::vector<Variable> trainable_variables() const;
  std::vector<Tensor> GetWeights() const;
  Status SetWeights(const std::vector<Tensor>& values);

  StatusOr<double> learning_rate() const;
  Status set_learning_rate(double rate);

  // The model's layers on a value of a graph that is being built (custom loops). Build first.
  Value Call(Graph& graph, Value x, bool training) const;

  // A table of layers, output shapes and parameter counts, as Keras prints it.
  std::string Summary() const;
  // Keras's config as JSON: what model.to_json() gives.
  std::string ToJson() const;

  train::ModelState& state() const { return *state_; }

 protected:
  explicit Model(std::unique_ptr<train::ModelState> state);
  std::unique_ptr<train::ModelState> state_;
};

class Sequential : public Model {
 public:
  explicit Sequential(std::vector<layers::Layer> layers, ModelOptions options = {});
  // From Keras's config of a Sequential model (with or without its envelope of class_name and
  // config). UNIMPLEMENTED names a layer or setting that is not supported.
  static StatusOr<Sequential> FromJson(std::string_view json, ModelOptions options = {});
};

}  // namespace slipway
