// SPDX-License-Identifier: Apache-2.0
#include "train/recipe.h"

#include <cmath>
#include <cstdio>

#include "base/env.h"
#include "base/strings.h"
#include "formats/saved_model_writer.h"
#include "nn/layer.h"
#include "nn/loss.h"
#include "nn/metric.h"
#include "nn/optimizer.h"
#include "train/callback_classes.h"
#include "train/callback_config.h"
#include "train/curves.h"
#include "train/fit_options.h"
#include "train/progress.h"
#include "train/recipe_data.h"
#include "train/recipe_file.h"

namespace slipway::train {
namespace {

// "fit" of a recipe.
struct FitSettings final : nn::Configurable {
  int epochs = 1;
  int64_t batch_size = 32;
  bool shuffle = true;
  double validation_split = 0;
  int validation_freq = 1;
  int64_t validation_batch_size = 256;
  std::optional<int64_t> steps_per_epoch;
  int initial_epoch = 0;

  const char* class_name() const override { return "fit"; }
  void Fields(nn::FieldVisitor& visit) override {
    visit("epochs", &epochs);
    visit("batch_size", &batch_size);
    visit("shuffle", &shuffle);
    visit("validation_split", &validation_split);
    visit("validation_freq", &validation_freq);
    visit("validation_batch_size", &validation_batch_size);
    visit("steps_per_epoch", &steps_per_epoch);
    visit("initial_epoch", &initial_epoch);
  }
  FitArraysOptions Options() const {
    FitArraysOptions out;
    out.epochs = epochs;
    out.initial_epoch = initial_epoch;
    out.batch_size = batch_size;
    out.shuffle = shuffle;
    out.validation_split = validation_split;
    out.validation_freq = validation_freq;
    out.validation_batch_size = validation_batch_size;
    out.steps_per_epoch = steps_per_epoch;
    return out;
  }
  std::optional<Problem> Check() const override {
    if (epochs < 1) return Problem{"epochs", StrCat("'epochs' must be at least 1, got ", epochs)};
    return FindProblem(Options());
  }
};

// "model" of a recipe, without its layers.
struct ModelSettings final : nn::Configurable {
  std::string name = "sequential";
  std::optional<int64_t> seed;
  bool deterministic = false;

  const char* class_name() const override { return "model"; }
  void Fields(nn::FieldVisitor& visit) override {
    visit("name", &name);
    visit("seed", &seed);
    visit("deterministic", &deterministic);
  }
};

class Recipe {
 public:
  Recipe(RecipeNode root, const RecipeOptions& options)
      : root_(std::move(root)), options_(options) {}

  StatusOr<RecipeResult> Run() {
    RETURN_IF_ERROR(Check());
    ASSIGN_OR_RETURN(Sequential model, MakeModel());
    ASSIGN_OR_RETURN(CompileOptions compile, ReadCompile());
    ASSIGN_OR_RETURN(FitArraysOptions fit, ReadFit());
    RETURN_IF_ERROR(CheckSave());
    DataSettings settings;
    RETURN_IF_ERROR(root_["data"].Fill(&settings));
    auto data = LoadRecipeData(settings);
    if (!data.ok()) return root_["data"].Wrap(data.status());
    RETURN_IF_ERROR(Build(&model, data->train.x));
    RETURN_IF_ERROR(model.Compile(std::move(compile)));
    Print(model.Summary());
    return Train(&model, *data, std::move(fit));
  }

 private:
  Status Check() const {
    RETURN_IF_ERROR(
        root_.CheckKeys({"model", "data", "compile", "fit", "callbacks", "save"}, "a recipe"));
    for (const char* key : {"model", "data", "compile"}) {
      if (!root_[key].defined()) return root_.Error(StrCat("the recipe lacks '", key, "'"));
    }
    RETURN_IF_ERROR(root_["model"].CheckKeys({"name", "seed", "deterministic", "layers"}, "model"));
    RETURN_IF_ERROR(root_["compile"].CheckKeys({"optimizer", "loss", "metrics"}, "compile"));
    if (root_["callbacks"].defined() && !root_["callbacks"].is_list()) {
      return root_["callbacks"].Error("callbacks must be a list");
    }
    return OkStatus();
  }

  StatusOr<Sequential> MakeModel() {
    RecipeNode node = root_["model"];
    ModelSettings settings;
    for (const auto& [key, value] : node.entries()) {
      if (key == "layers") continue;
      // One key at a time, so that the layers are not taken for a setting.
      std::string json = StrCat("{\"", key, "\": ", value.ToJson(), "}");
      Status status = nn::ReadFields(json, &settings, nullptr);
      if (!status.ok()) return node.Wrap(status, key);
    }
    if (!node["layers"].is_list()) return node.Error("model needs a list 'layers'");
    std::vector<layers::Layer> layers;
    for (const RecipeNode& item : node["layers"].items()) {
      ASSIGN_OR_RETURN(nn::LayerPtr layer, item.ToObject(nn::LayerClasses(), "layer"));
      layers_.emplace_back(layer, item);
      layers.push_back(layers::Layer(std::move(layer)));
    }
    ModelOptions options{
        .name = settings.name, .seed = {}, .deterministic = settings.deterministic};
    if (settings.seed) options.seed = static_cast<uint64_t>(*settings.seed);
    return Sequential(std::move(layers), std::move(options));
  }

  StatusOr<CompileOptions> ReadCompile() const {
    RecipeNode node = root_["compile"];
    for (const char* key : {"optimizer", "loss"}) {
      if (!node[key].defined()) return node.Error(StrCat("compile lacks '", key, "'"));
    }
    CompileOptions out;
    ASSIGN_OR_RETURN(nn::OptimizerPtr optimizer,
                     node["optimizer"].ToObject(nn::OptimizerClasses(), "optimizer"));
    ASSIGN_OR_RETURN(nn::LossPtr loss, node["loss"].ToObject(nn::LossClasses(), "loss"));
    out.optimizer = Optimizer(std::move(optimizer));
    out.loss = Loss(std::move(loss));
    if (!node["metrics"].defined()) return out;
    if (!node["metrics"].is_list()) return node.Error("metrics must be a list, as [accuracy]");
    for (const RecipeNode& item : node["metrics"].items()) {
      ASSIGN_OR_RETURN(nn::MetricPtr metric, item.ToObject(nn::MetricClasses(), "metric"));
      out.metrics.push_back(Metric(std::move(metric)));
    }
    return out;
  }

  StatusOr<FitArraysOptions> ReadFit() const {
    FitSettings settings;
    if (root_["fit"].defined()) RETURN_IF_ERROR(root_["fit"].Fill(&settings));
    FitArraysOptions out = settings.Options();
    out.verbose = options_.verbose;
    if (!root_["callbacks"].defined()) return out;
    for (const RecipeNode& item : root_["callbacks"].items()) {
      ASSIGN_OR_RETURN(auto callback, item.ToObject(CallbackClasses(), "callback"));
      if (Status paths = callback->CheckPaths(); !paths.ok()) return item.Wrap(paths);
      out.callbacks.push_back(std::move(callback));
    }
    return out;
  }

  // An error of a layer points to its line.
  Status Build(Model* model, const Tensor& x) const {
    PartialShape shape(x.shape());
    shape.set_dim(0, -1);
    Status status = model->Build(shape, x.dtype());
    if (status.ok()) return status;
    std::string message(status.message());
    for (const auto& [layer, node] : layers_) {
      bool named = message.find(StrCat("'", layer->name(), "'")) != std::string::npos ||
                   message.find(StrCat(layer->name(), "/")) != std::string::npos;
      if (named) return node.Wrap(status);
    }
    return root_["model"].Wrap(status);
  }

  StatusOr<RecipeResult> Train(Model* model, const RecipeData& data, FitArraysOptions fit) {
    RecipeResult result;
    if (data.validation.valid()) {
      ASSIGN_OR_RETURN(data::Dataset held_out,
                       data::Dataset::FromTensorSlices({data.validation.x, data.validation.y}));
      fit.validation_data = held_out.Batch(*fit.validation_batch_size);
    }
    auto history = model->Fit(data.train.x, data.train.y, fit);
    if (history.status().code() == Code::kInvalidArgument) {
      // Labels and loss that do not fit each other.
      return root_["compile"].Wrap(history.status());
    }
    RETURN_IF_ERROR(history.status());
    result.history = *std::move(history);
    RETURN_IF_ERROR(CheckFinite(result.history));
    if (!result.history.history.empty()) {
      const char* shown = result.history["accuracy"].empty() ? "loss" : "accuracy";
      if (result.history.epochs.size() > 1) Print(CurvesText(result.history, shown));
    }
    if (data.test.valid()) {
      ASSIGN_OR_RETURN(result.test, model->Evaluate(data.test.x, data.test.y, 256,
                                                    {.verbose = Verbose::kSilent, .steps = {}}));
      Print(StrCat("Test: ", FormatLogs(result.test), "\n"));
    }
    return Save(model, std::move(result));
  }

  // Not only when hours of training are over.
  Status CheckSave() const {
    RecipeNode node = root_["save"];
    if (!node.defined()) return OkStatus();
    if (node.is_map() || node.is_list()) return node.Error("save must be a directory");
    Status target = formats::CheckSavedModelTarget(Env::Default(), node.text());
    return target.ok() ? target : node.Wrap(target.WithContext("save"));
  }

  StatusOr<RecipeResult> Save(Model* model, RecipeResult result) const {
    RecipeNode node = root_["save"];
    if (!node.defined()) return result;
    result.saved_to = node.text();
    Status saved = model->Save(result.saved_to);
    if (!saved.ok()) return node.Wrap(saved);
    Print(StrCat("Saved to ", result.saved_to, "\n"));
    return result;
  }

  Status CheckFinite(const History& history) const {
    const std::vector<double>& losses = history["loss"];
    for (size_t i = 0; i < losses.size(); ++i) {
      if (std::isfinite(losses[i])) continue;
      return root_["compile"].Error(
          StrCat("the loss became ", PythonFloat(losses[i]), " in epoch ", history.epochs[i] + 1,
                 ", so nothing is saved; lower the learning rate, set clipnorm, or check the data "
                 "for NaN"));
    }
    return OkStatus();
  }

  void Print(std::string_view text) const {
    if (options_.print) {
      options_.print(text);
    } else if (options_.verbose != Verbose::kSilent) {
      std::fwrite(text.data(), 1, text.size(), stdout);
    }
  }

  RecipeNode root_;
  const RecipeOptions& options_;
  std::vector<std::pair<nn::LayerPtr, RecipeNode>> layers_;
};

}  // namespace

StatusOr<RecipeResult> RunRecipe(const RecipeOptions& options) {
  ASSIGN_OR_RETURN(RecipeNode root, ReadRecipe(options.file, options.set));
  return Recipe(std::move(root), options).Run();
}

}  // namespace slipway::train
