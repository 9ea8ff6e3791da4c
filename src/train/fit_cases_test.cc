// SPDX-License-Identifier: Apache-2.0
//
// Whole runs of Model::Fit against Keras's: history, weights, slots, evaluation.
#include "nn/loss.h"
#include "nn/metric.h"
#include "nn/optimizer.h"
#include "slipway/model.h"
#include "train/callback_config.h"
#include "train/cases_testing.h"
#include "train/model_state.h"

namespace slipway::train::cases {
namespace {

StatusOr<CompileOptions> CompileFrom(const Json& compile) {
  CompileOptions out;
  ASSIGN_OR_RETURN(auto optimizer, nn::OptimizerFromConfig(compile.at("optimizer").dump()));
  ASSIGN_OR_RETURN(auto loss, nn::LossFromConfig(compile.at("loss").dump()));
  out.optimizer = Optimizer(std::move(optimizer));
  out.loss = Loss(std::move(loss));
  for (const char* key : {"metrics", "weighted_metrics"}) {
    const Json texts = compile.value(key, Json::array());
    for (const Json& text : texts) {
      ASSIGN_OR_RETURN(auto metric, nn::MetricFromConfig(text.dump()));
      auto& list = std::string_view(key) == "metrics" ? out.metrics : out.weighted_metrics;
      list.push_back(Metric(std::move(metric)));
    }
  }
  return out;
}

StatusOr<CallbackPtr> CallbackFrom(const Json& config) {
  if (config.at("class_name") == "LearningRateScheduler") {
    std::vector<double> rates = config.at("config").at("rates");
    return callbacks::LearningRateScheduler(
        [rates](int epoch, double) { return rates[static_cast<size_t>(epoch)]; });
  }
  ASSIGN_OR_RETURN(auto callback,
                   nn::FromConfig(CallbackClasses(), "callback", config.dump(), nullptr));
  return CallbackPtr(std::move(callback));
}

bool TakesFit(const Case& c) {
  if (c.doc["kind"] != "fit" || c.doc["compile"].contains("steps_per_execution")) return false;
  if (!Sequential::FromJson(c.Text("model")).ok()) return false;
  return CompileFrom(c.doc["compile"]).ok();
}

class FitCase : public testing::TestWithParam<std::string> {
 protected:
  FitArraysOptions Options() {
    const Json& fit = case_.doc["fit"];
    FitArraysOptions out;
    out.epochs = fit.value("epochs", 1);
    out.initial_epoch = fit.value("initial_epoch", 0);
    out.batch_size = fit.value("batch_size", 32);
    out.shuffle = fit.value("shuffle", true);
    out.validation_split = fit.value("validation_split", 0.0);
    out.validation_freq = fit.value("validation_freq", 1);
    if (fit.contains("steps_per_epoch")) out.steps_per_epoch = fit["steps_per_epoch"];
    const Json class_weight = fit.value("class_weight", Json::object());
    for (const auto& [label, weight] : class_weight.items()) {
      out.class_weight[std::stoll(label)] = weight;
    }
    out.sample_weight = TensorOf(case_, case_.doc["sample_weight"]);
    out.verbose = Verbose::kSilent;
    for (const Json& config : case_.doc["callbacks"]) {
      auto callback = CallbackFrom(config);
      EXPECT_TRUE(callback.ok()) << callback.status().ToString();
      if (callback.ok()) out.callbacks.push_back(*callback);
    }
    if (case_.doc.contains("validation_x") && !case_.doc["validation_x"].is_null()) {
      std::vector<Tensor> rows = {TensorOf(case_, case_.doc["validation_x"]),
                                  TensorOf(case_, case_.doc["validation_y"])};
      Tensor weight = TensorOf(case_, case_.doc.value("validation_sample_weight", Json()));
      if (weight.valid()) rows.push_back(weight);
      int64_t batch = fit.value("validation_batch_size", out.batch_size);
      out.validation_data = data::Dataset::FromTensorSlices(rows)->Batch(batch);
    }
    return out;
  }

  void CheckHistory(const History& history) {
    for (const auto& [name, values] : case_.doc["expect"]["history"].items()) {
      ASSERT_EQ(history[name].size(), values.size()) << name;
      for (size_t i = 0; i < values.size(); ++i) {
        // Which of an overflown row's logits are infinite and which NaN depends on the order of
        // sums.
        if (name != "loss" && case_.doc["expect"]["history"]["loss"][i] == "NaN") continue;
        ExpectNumberNear(history[name][i], NumberOf(values[i]), case_.rtol(), case_.atol(),
                         StrCat(name, " of epoch ", i));
      }
    }
    EXPECT_EQ(history.history.size(), case_.doc["expect"]["history"].size());
    EXPECT_EQ(Json(history.epochs), case_.doc["expect"]["epochs"]);
  }

  void CheckVariables(Model& model, const char* key) {
    for (const auto& [path, value] : case_.doc["expect"][key].items()) {
      auto found = model.state().variables().Read(path);
      ASSERT_TRUE(found.ok()) << found.status().ToString();
      ExpectNear(*found, TensorOf(case_, value), case_.rtol(), case_.atol(), path);
    }
  }

  void CheckEvaluation(Model& model, const Tensor& x, const Tensor& y) {
    if (!case_.doc["expect"].contains("evaluate")) return;
    std::vector<Tensor> rows = {x, y};
    Tensor weight = TensorOf(case_, case_.doc["sample_weight"]);
    if (weight.valid()) rows.push_back(weight);
    auto logs = model.Evaluate(data::Dataset::FromTensorSlices(rows)->Batch(4),
                               {.verbose = Verbose::kSilent, .steps = {}});
    ASSERT_TRUE(logs.ok()) << logs.status().ToString();
    for (const auto& [name, value] : case_.doc["expect"]["evaluate"].items()) {
      ExpectNumberNear((*logs)[name], NumberOf(value), case_.rtol(), case_.atol(), name);
    }
  }

  Case case_;
};

TEST_P(FitCase, GoesAsInKeras) {
  if (GetParam() == "none") GTEST_SKIP() << "no cases in " << TrainingFolder();
  auto loaded = LoadCase("fit", GetParam());
  ASSERT_TRUE(loaded.ok());
  case_ = *loaded;
  auto model = Sequential::FromJson(case_.Text("model"), {.seed = 1, .deterministic = true});
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  Tensor x = TensorOf(case_, case_.doc["x"]);
  Tensor y = TensorOf(case_, case_.doc["y"]);
  ASSERT_TRUE(model->Build(PartialShape(x.shape()), x.dtype()).ok());
  for (const Json& weight : case_.doc["weights"]) {
    Status written = model->state().variables().Write(weight["path"].get<std::string>(),
                                                      TensorOf(case_, weight["value"]));
    ASSERT_TRUE(written.ok()) << written.ToString();
  }
  auto compile = CompileFrom(case_.doc["compile"]);
  ASSERT_TRUE(compile.ok()) << compile.status().ToString();
  ASSERT_TRUE(model->Compile(*compile).ok());
  auto history = model->Fit(x, y, Options());
  ASSERT_TRUE(history.ok()) << history.status().ToString();
  CheckHistory(*history);
  CheckVariables(*model, "weights");
  CheckVariables(*model, "optimizer_slots");
  CheckEvaluation(*model, x, y);
  auto outputs = model->Predict(x, 5);
  ASSERT_TRUE(outputs.ok()) << outputs.status().ToString();
  ExpectNear(*outputs, TensorOf(case_, case_.doc["expect"]["outputs"]), case_.rtol(), case_.atol(),
             "outputs");
}

INSTANTIATE_TEST_SUITE_P(Training, FitCase, testing::ValuesIn(CasesOf("fit", TakesFit)),
                         [](const auto& info) { return info.param; });

TEST(FitCaseCoverage, TakesAtLeastTheseManyCases) {
  bool all = Env::Default()->Exists(TrainingFolder());
  EXPECT_GE(CasesOf("fit", TakesFit).size(), all ? 22u : 3u);
}

}  // namespace
}  // namespace slipway::train::cases
