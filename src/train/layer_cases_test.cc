// SPDX-License-Identifier: Apache-2.0
//
// Layers, losses, metrics, optimizers and initialisers against Keras's numbers.
#include "ir/gradient.h"
#include "nn/layer.h"
#include "nn/loss.h"
#include "nn/metric.h"
#include "nn/optimizer.h"
#include "train/cases_testing.h"

namespace slipway::train::cases {
namespace {

#define SKIP_WITHOUT_CASES() \
  if (GetParam() == "none") GTEST_SKIP() << "no cases in " << TrainingFolder()

Case Loaded(const char* group, const std::string& name) {
  auto loaded = LoadCase(group, name);
  EXPECT_TRUE(loaded.ok()) << loaded.status().ToString();
  return loaded.ok() ? *loaded : Case();
}

// ---- layers

bool TakesLayer(const Case& c) {
  return c.doc["kind"] == "layer" && c.doc["input_spec"] == "single" &&
         nn::LayerFromConfig(c.Text("layer")).ok();
}

class LayerCase : public testing::TestWithParam<std::string> {
 protected:
  void Check() {
    Tensor input = TensorOf(case_, case_.doc["inputs"]);
    auto layer = nn::LayerFromConfig(case_.Text("layer"));
    ASSERT_TRUE(layer.ok()) << layer.status().ToString();
    layer_ = *layer;
    nn::BuildContext build(1);
    Status built = layer_->Build(build, input.dtype(), PartialShape(input.shape()));
    ASSERT_TRUE(built.ok()) << built.ToString();
    ASSERT_TRUE(store_.Create(layer_->variables()).ok());
    ASSERT_EQ(layer_->variables().size(), case_.doc["weights"].size());
    for (const Json& weight : case_.doc["weights"]) {
      Status written =
          store_.Write(weight["path"].get<std::string>(), TensorOf(case_, weight["value"]));
      ASSERT_TRUE(written.ok()) << written.ToString();
    }
    const Json& expect = case_.doc["expect"];
    CheckCall(input, expect["inference"], /*training=*/false, "inference");
    if (!expect.contains("training")) return;
    int number = 0;
    for (const Json& call : expect["training"]["calls"]) {
      CheckCall(input, call, /*training=*/true, StrCat("call ", number++));
    }
    const Json state_after = expect["training"].value("state_after", Json::object());
    for (const auto& [path, value] : state_after.items()) {
      auto found = store_.Read(path);
      ASSERT_TRUE(found.ok()) << found.status().ToString();
      ExpectNear(*found, TensorOf(case_, value), 0, 0, path);
    }
  }

  // Output, and gradients if the case has them.
  void CheckCall(const Tensor& input, const Json& call, bool training, const std::string& what) {
    bool differentiate = call.contains("gradients");
    std::vector<nn::VariablePtr> weights;
    for (const nn::VariablePtr& v : layer_->variables()) {
      if (v->trainable) weights.push_back(v);
    }
    auto results = RunGraph(&store_, training, [&](nn::CallContext& c) {
      ir::Output x = c.builder().Const(input);
      ir::Output y = layer_->Call(c, x);
      std::vector<ir::Output> out = {y};
      if (!differentiate || !c.builder().ok()) return out;
      ir::Output upstream = c.builder().Const(TensorOf(case_, call["upstream"][0]));
      std::vector<ir::Output> xs = {x};
      for (const nn::VariablePtr& weight : weights) xs.push_back(c.Read(*weight));
      auto gradients = ir::AddGradients(c.builder(), {&y, 1}, xs, {&upstream, 1});
      if (!gradients.ok()) c.builder().Fail(gradients.status());
      if (gradients.ok()) out.insert(out.end(), gradients->begin(), gradients->end());
      return out;
    });
    ASSERT_TRUE(results.ok()) << what << ": " << results.status().ToString();
    ExpectNear((*results)[0], TensorOf(case_, call["outputs"][0]), case_.rtol(), case_.atol(),
               StrCat(what, " output"));
    if (!differentiate) return;
    ExpectNear((*results)[1], TensorOf(case_, call["gradients"]["inputs"]), case_.rtol(),
               case_.atol(), StrCat(what, " gradient of the input"));
    for (size_t i = 0; i < weights.size(); ++i) {
      ExpectNear((*results)[2 + i], TensorOf(case_, call["gradients"]["weights"][weights[i]->path]),
                 case_.rtol(), case_.atol(), StrCat(what, " gradient of ", weights[i]->path));
    }
  }

  Case case_;
  nn::LayerPtr layer_;
  VariableStore store_;
};

TEST_P(LayerCase, GivesKerasNumbers) {
  SKIP_WITHOUT_CASES();
  case_ = Loaded("layers", GetParam());
  Check();
}

INSTANTIATE_TEST_SUITE_P(Training, LayerCase, testing::ValuesIn(CasesOf("layers", TakesLayer)),
                         [](const auto& info) { return info.param; });

// ---- losses

bool TakesLoss(const Case& c) {
  return c.doc["kind"] == "loss" && c.doc["mask"].is_null() &&
         nn::LossFromConfig(c.Text("loss")).ok();
}

class LossCase : public testing::TestWithParam<std::string> {};

TEST_P(LossCase, GivesKerasNumbers) {
  SKIP_WITHOUT_CASES();
  Case c = Loaded("losses", GetParam());
  auto loss = nn::LossFromConfig(c.Text("loss"));
  ASSERT_TRUE(loss.ok()) << loss.status().ToString();
  const Json& expect = c.doc["expect"];
  VariableStore store;
  auto results = RunGraph(&store, true, [&](nn::CallContext& context) {
    ir::GraphBuilder& b = context.builder();
    ir::Output y_pred = b.Const(TensorOf(c, c.doc["y_pred"]));
    ir::Output weight;
    if (!c.doc["sample_weight"].is_null()) weight = b.Const(TensorOf(c, c.doc["sample_weight"]));
    ir::Output value = (*loss)->Build(b, b.Const(TensorOf(c, c.doc["y_true"])), y_pred, weight);
    if (!b.ok()) return std::vector<ir::Output>();
    ir::Output upstream = b.Const(TensorOf(c, expect["upstream"]));
    auto gradients = ir::AddGradients(b, {&value, 1}, {&y_pred, 1}, {&upstream, 1});
    if (!gradients.ok()) b.Fail(gradients.status());
    return std::vector<ir::Output>{value, gradients.ok() ? (*gradients)[0] : ir::Output()};
  });
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  ExpectNear((*results)[0], TensorOf(c, expect["value"]), c.rtol(), c.atol(), "value");
  ExpectNear((*results)[1], TensorOf(c, expect["gradient_y_pred"]), c.rtol(), c.atol(), "gradient");
}

INSTANTIATE_TEST_SUITE_P(Training, LossCase, testing::ValuesIn(CasesOf("losses", TakesLoss)),
                         [](const auto& info) { return info.param; });

// ---- metrics

bool TakesMetric(const Case& c) {
  return c.doc.contains("y_true") && nn::MetricFromConfig(c.Text("metric")).ok();
}

class MetricCase : public testing::TestWithParam<std::string> {};

TEST_P(MetricCase, GivesKerasNumbers) {
  SKIP_WITHOUT_CASES();
  Case c = Loaded("metrics", GetParam());
  auto metric = nn::MetricFromConfig(c.Text("metric"));
  ASSERT_TRUE(metric.ok()) << metric.status().ToString();
  nn::MetricState state = nn::NewMetricState("metric");
  VariableStore store;
  ASSERT_TRUE(store.Create(state.variables()).ok());
  Tensor y_true = TensorOf(c, c.doc["y_true"]);
  Tensor y_pred = TensorOf(c, c.doc["y_pred"]);
  Tensor weights = TensorOf(c, c.doc["sample_weight"]);
  // Update i sees row i of each tensor.
  auto row = [](const Tensor& all, int64_t i) {
    return all.Slice(i, i + 1).Reshaped(Shape(all.shape().dims().subspan(1)));
  };
  for (int64_t i = 0; i < y_true.dim(0); ++i) {
    auto results = RunGraph(&store, false, [&](nn::CallContext& context) {
      ir::GraphBuilder& b = context.builder();
      ir::Output values = (*metric)->Values(b, b.Const(row(y_true, i)), b.Const(row(y_pred, i)));
      ir::Output weight = weights.valid() ? b.Const(row(weights, i)) : ir::Output();
      nn::AddToMean(context, state, values, weight);
      return std::vector<ir::Output>{nn::MeanResult(context, state)};
    });
    ASSERT_TRUE(results.ok()) << results.status().ToString();
    ExpectNumberNear((*results)[0].scalar<float>(),
                     NumberOf(c.doc["expect"]["results"][static_cast<size_t>(i)]), c.rtol(),
                     c.atol(), StrCat("after update ", i));
  }
  const Json& final_state = c.doc["expect"]["state"];
  ExpectNear(*store.Read("metric/total"), TensorOf(c, final_state[0]["value"]), c.rtol(), c.atol(),
             "total");
  ExpectNear(*store.Read("metric/count"), TensorOf(c, final_state[1]["value"]), c.rtol(), c.atol(),
             "count");
}

INSTANTIATE_TEST_SUITE_P(Training, MetricCase, testing::ValuesIn(CasesOf("metrics", TakesMetric)),
                         [](const auto& info) { return info.param; });

// ---- optimizers

bool TakesOptimizer(const Case& c) {
  bool dense = true;
  const Json variables = c.doc.value("variables", Json::array());
  for (const Json& variable : variables) {
    dense &= variable.contains("gradients");
  }
  return dense && nn::OptimizerFromConfig(c.Text("optimizer")).ok();
}

class OptimizerCase : public testing::TestWithParam<std::string> {};

TEST_P(OptimizerCase, GivesKerasNumbers) {
  SKIP_WITHOUT_CASES();
  Case c = Loaded("optimizers", GetParam());
  auto optimizer = nn::OptimizerFromConfig(c.Text("optimizer"));
  ASSERT_TRUE(optimizer.ok()) << optimizer.status().ToString();
  std::vector<nn::VariablePtr> weights;
  std::vector<Tensor> gradients;
  std::vector<Tensor> wanted;
  for (const Json& variable : c.doc["variables"]) {
    auto weight = std::make_shared<nn::Variable>();
    weight->path = variable["name"];
    weight->initial = TensorOf(c, variable["initial"]);
    weight->shape = weight->initial.shape();
    weight->trainable = true;
    weights.push_back(weight);
    gradients.push_back(TensorOf(c, variable["gradients"]));
    wanted.push_back(TensorOf(c, variable["after_each_step"]));
  }
  nn::OptimizerState state = (*optimizer)->NewState(weights);
  VariableStore store;
  ASSERT_TRUE(store.Create(weights).ok());
  Status created = store.Create(state.variables());
  ASSERT_TRUE(created.ok()) << created.ToString();
  auto row = [](const Tensor& all, int64_t i) {
    return all.Slice(i, i + 1).Reshaped(Shape(all.shape().dims().subspan(1)));
  };
  for (int64_t step = 0; step < c.doc["steps"].get<int64_t>(); ++step) {
    auto results = RunGraph(&store, true, [&](nn::CallContext& context) {
      std::vector<ir::Output> values;
      for (const Tensor& all : gradients) values.push_back(context.builder().Const(row(all, step)));
      (*optimizer)->Apply(context, state, values);
      return std::vector<ir::Output>();
    });
    ASSERT_TRUE(results.ok()) << results.status().ToString();
    for (size_t i = 0; i < weights.size(); ++i) {
      ExpectNear(*store.Read(weights[i]->path), row(wanted[i], step), c.rtol(), c.atol(),
                 StrCat(weights[i]->path, " after step ", step));
    }
  }
  for (const auto& [path, value] : c.doc["expect"]["slots"].items()) {
    auto found = store.Read(path);
    ASSERT_TRUE(found.ok()) << found.status().ToString();
    ExpectNear(*found, TensorOf(c, value), c.rtol(), c.atol(), path);
  }
}

INSTANTIATE_TEST_SUITE_P(Training, OptimizerCase,
                         testing::ValuesIn(CasesOf("optimizers", TakesOptimizer)),
                         [](const auto& info) { return info.param; });

// ---- initialisers

// An initialiser is read as a Dense layer's.
StatusOr<nn::LayerPtr> DenseWith(const Case& c) {
  Json config = {{"class_name", "Dense"},
                 {"config", {{"units", 1}, {"kernel_initializer", c.doc["initializer"]}}}};
  return nn::LayerFromConfig(config.dump());
}

bool TakesInitializer(const Case& c) { return c.doc["kind"] == "initializer" && DenseWith(c).ok(); }

class InitializerCase : public testing::TestWithParam<std::string> {};

// Reads the initialiser that a layer holds.
class InitializerFinder final : public nn::FieldVisitor {
 public:
  Initializer found;
  void operator()(const char*, bool*) override {}
  void operator()(const char*, int*) override {}
  void operator()(const char*, int64_t*) override {}
  void operator()(const char*, double*) override {}
  void operator()(const char*, std::string*) override {}
  void operator()(const char*, std::optional<int64_t>*) override {}
  void operator()(const char*, std::optional<double>*) override {}
  void operator()(const char*, Activation*) override {}
  void operator()(const char* key, Initializer* value) override {
    if (std::string_view(key) == "kernel_initializer") found = *value;
  }
  void operator()(const char*, Reduction*) override {}
  void operator()(const char*, DType*) override {}
  void operator()(const char*, PartialShape*) override {}
  void Fixed(const char*, const char*) override {}
};

TEST_P(InitializerCase, GivesKerasNumbers) {
  SKIP_WITHOUT_CASES();
  Case c = Loaded("initializers", GetParam());
  auto layer = DenseWith(c);
  ASSERT_TRUE(layer.ok()) << layer.status().ToString();
  InitializerFinder finder;
  (*layer)->Fields(finder);
  Tensor wanted = TensorOf(c, c.doc["expect"]["values"]);
  auto variable = std::make_shared<nn::Variable>();
  variable->path = "value";
  variable->shape = wanted.shape();
  variable->initializer = finder.found;
  VariableStore store;
  Status created = store.Create(std::vector<nn::VariablePtr>{variable});
  ASSERT_TRUE(created.ok()) << created.ToString();
  ExpectNear(*store.Read("value"), wanted, c.rtol(), c.atol(), "values");
}

INSTANTIATE_TEST_SUITE_P(Training, InitializerCase,
                         testing::ValuesIn(CasesOf("initializers", TakesInitializer)),
                         [](const auto& info) { return info.param; });

// A case that can no longer be read would be passed over in silence otherwise.
TEST(CaseCoverage, TakesAtLeastTheseManyCases) {
  bool all = Env::Default()->Exists(TrainingFolder());
  EXPECT_GE(CasesOf("layers", TakesLayer).size(), all ? 36u : 7u);
  EXPECT_GE(CasesOf("losses", TakesLoss).size(), all ? 24u : 5u);
  EXPECT_GE(CasesOf("metrics", TakesMetric).size(), all ? 14u : 3u);
  EXPECT_GE(CasesOf("optimizers", TakesOptimizer).size(), all ? 15u : 5u);
  EXPECT_GE(CasesOf("initializers", TakesInitializer).size(), all ? 30u : 4u);
}

}  // namespace
}  // namespace slipway::train::cases
