// SPDX-License-Identifier: Apache-2.0
#include "nn/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "nn/layer.h"
#include "nn/loss.h"
#include "nn/metric.h"
#include "nn/network.h"
#include "nn/optimizer.h"

namespace slipway::nn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ConfigTest, LayersSurviveARoundTrip) {
  for (
      const char* text : {
          R"({"class_name": "Dense", "config": {"name": "d", "units": 7, "activation": "relu",
               "use_bias": false, "kernel_initializer": {"class_name": "VarianceScaling", "config":
               {"scale": 2.0, "mode": "fan_out", "distribution": "uniform", "seed": 3}}}})",
          R"({"class_name": "Dropout", "config": {"rate": 0.25, "seed": 9}})",
          R"({"class_name": "Flatten", "config": {"data_format": "channels_first"}})",
          R"({"class_name": "Activation", "config": {"activation": "softmax"}})",
          R"({"class_name": "Rescaling", "config": {"scale": 0.5, "offset": -1.0}})",
          R"({"class_name": "InputLayer", "config": {"batch_shape": [null, 28], "dtype": "uint8"}})"}) {
    auto layer = LayerFromConfig(text);
    ASSERT_TRUE(layer.ok()) << layer.status().ToString();
    std::string written = WriteConfig(layer->get(), "keras.layers");
    auto again = LayerFromConfig(written);
    ASSERT_TRUE(again.ok()) << again.status().ToString();
    EXPECT_EQ(WriteConfig(again->get(), "keras.layers"), written);
  }
  auto dense = LayerFromConfig(R"({"class_name": "Dense", "config": {"units": 7}})");
  EXPECT_THAT(WriteFields(dense->get()), HasSubstr(R"("units":7)"));
  EXPECT_THAT(WriteFields(dense->get()), HasSubstr("GlorotUniform"));
}

TEST(ConfigTest, NamesStandForDefaults) {
  EXPECT_STREQ((*OptimizerFromConfig("\"adam\""))->class_name(), "Adam");
  EXPECT_EQ((*LossFromConfig("\"mse\""))->name(), "mean_squared_error");
  EXPECT_EQ((*MetricFromConfig("\"accuracy\""))->name(), "accuracy");
  EXPECT_EQ((*MetricFromConfig("\"sparse_categorical_crossentropy\""))->name(),
            "sparse_categorical_crossentropy");
}

TEST(ConfigTest, ErrorsSayWhatIsAllowed) {
  ConfigProblem problem;
  auto error = [&](std::string_view text) {
    return LayerFromConfig(text, &problem).status().ToString();
  };
  EXPECT_THAT(error(R"({"class_name": "Dens"})"), HasSubstr("did you mean 'Dense'? There are: "));
  EXPECT_THAT(error(R"({"class_name": "3"})"), HasSubstr("Unknown layer '3'. There are: "));
  EXPECT_THAT(error(R"({"class_name": "Dense", "config": {"units": 3, "biass": 1}})"),
              HasSubstr("Dense has no key 'biass'"));
  EXPECT_EQ(problem.key, "biass");
  EXPECT_THAT(error(R"({"class_name": "Dense", "config": {"units": 100000000000}})"),
              HasSubstr("'units' must be 1 to 2147483647, got 100000000000"));
  EXPECT_THAT(error(R"({"class_name": "Dense", "config": {"units": "3"}})"),
              HasSubstr("'units' must be an integer, got \"3\""));
  EXPECT_THAT(
      error(R"({"class_name": "Dense", "config": {"units": 3, "kernel_regularizer": "l2"}})"),
      HasSubstr("UNIMPLEMENTED"));
  EXPECT_THAT(error("{"), HasSubstr("must be JSON"));
  EXPECT_THAT(OptimizerFromConfig(R"({"class_name": "SGD", "config": {"clipnorm": 1.0,
                                     "clipvalue": 1.0}})")
                  .status()
                  .ToString(),
              HasSubstr("only one of"));
}

TEST(ConfigTest, WrongTypesAreErrorsNotExceptions) {
  auto error = [](const char* initializer) {
    std::string text = std::string(R"({"class_name": "Dense", "config": {"units": 3,
        "kernel_initializer": )") +
                       initializer + "}}";
    return LayerFromConfig(text).status().ToString();
  };
  for (const char* text : {R"({"class_name": 5})", R"({"class_name": null})", "{}", "[1]", "5"}) {
    EXPECT_THAT(error(text), HasSubstr("'kernel_initializer' must be an initializer")) << text;
  }
  EXPECT_THAT(error(R"({"class_name": "VarianceScaling", "config": {"mode": 5}})"),
              HasSubstr("must be the name of a mode, got 5"));
  EXPECT_THAT(error(R"({"class_name": "HeNormal", "config": {"seed": "x"}})"),
              HasSubstr("'seed' must be an integer"));
  EXPECT_FALSE(
      LayerFromConfig(R"({"class_name": "Activation", "config": {"activation": {}}})").ok());
  EXPECT_FALSE(LayerFromConfig(R"({"class_name": {"a": 1}})").ok());
  EXPECT_FALSE(LayersFromJson(R"({"class_name": 5, "config": 3})").ok());
  EXPECT_FALSE(LayersFromJson(R"({"class_name": "Sequential", "config": 3})").ok());
}

struct NarrowSettings final : Configurable {
  int small = 1;
  int64_t large = 1;
  const char* class_name() const override { return "Narrow"; }
  void Fields(FieldVisitor& visit) override {
    visit("small", &small);
    visit("large", &large);
  }
};

TEST(ConfigTest, NumbersThatDoNotFitAreRefused) {
  NarrowSettings settings;
  auto read = [&](const char* json) { return ReadFields(json, &settings, nullptr).ToString(); };
  EXPECT_THAT(read(R"({"small": 4294967297})"),
              HasSubstr("'small' must be an integer of 32 bits, got 4294967297"));
  EXPECT_THAT(read(R"({"small": -2147483649})"), HasSubstr("32 bits"));
  EXPECT_THAT(read(R"({"large": 9223372036854775808})"), HasSubstr("an integer of 64 bits"));
  EXPECT_EQ(settings.small, 1);
  EXPECT_TRUE(
      ReadFields(R"({"small": -2147483648, "large": 9223372036854775807})", &settings, nullptr)
          .ok());
  EXPECT_EQ(settings.small, std::numeric_limits<int>::min());
}

TEST(ConfigTest, ErrorsQuoteTheBeginningOnly) {
  const std::string longest(100000, 'a');
  for (const std::string& text :
       {"{\"class_name\": \"" + longest + "\"}", "[\"" + longest + "\"]", longest,
        R"({"class_name": "Dense", "config": {"units": ")" + longest + "\"}}",
        R"({"class_name": "Dense", "config": {")" + longest + "\": 1}}",
        R"({"class_name": "Dense", "config": {"units": 3, "activation": ")" + longest + "\"}}"}) {
    const Status status = LayerFromConfig(text).status();
    ASSERT_FALSE(status.ok());
    EXPECT_LT(status.message().size(), 600u) << status.message().substr(0, 100);
  }
  // Nor does depth overflow the stack.
  EXPECT_THAT(LayerFromConfig(std::string(1 << 20, '[')).status().ToString(),
              HasSubstr("nested deeper"));
}

TEST(NetworkTest, NamesAsKerasDoes) {
  EXPECT_EQ(SnakeCase("SparseCategoricalCrossentropy"), "sparse_categorical_crossentropy");
  EXPECT_EQ(SnakeCase("SGD"), "sgd");
  EXPECT_EQ(SnakeCase("InputLayer"), "input_layer");
  auto make = [](const char* text) { return *LayerFromConfig(text); };
  Network network("m",
                  {make(R"({"class_name": "Dense", "config": {"units": 2}})"),
                   make(R"({"class_name": "Dropout", "config": {"rate": 0.5}})"),
                   make(R"({"class_name": "Dense", "config": {"units": 3, "name": "dense"}})"),
                   make(R"({"class_name": "Dense", "config": {"units": 1}})")},
                  1);
  ASSERT_TRUE(network.Build(DType::kFloat, PartialShape({-1, 4})).ok());
  std::vector<std::string> paths;
  for (const VariablePtr& variable : network.variables()) paths.push_back(variable->path);
  // The chosen name is kept; the others are counted around it.
  EXPECT_THAT(paths,
              ElementsAre("dense_1/kernel", "dense_1/bias", "seed_generator/seed_generator_state",
                          "dense/kernel", "dense/bias", "dense_2/kernel", "dense_2/bias"));
  EXPECT_EQ(network.output().shape, PartialShape({-1, 1}));
  EXPECT_THAT(network.Summary(), HasSubstr("Total params: 25 (100.00 B)"));
}

TEST(NetworkTest, WritesAConfigThatItReads) {
  auto layers = LayersFromJson(R"({"class_name": "Sequential", "config": {"name": "net", "layers": [
      {"class_name": "InputLayer", "config": {"batch_shape": [null, 4]}},
      {"class_name": "Dense", "config": {"units": 2}}]}})");
  ASSERT_TRUE(layers.ok()) << layers.status().ToString();
  Network network(layers->name, layers->layers, 1);
  auto again = LayersFromJson(network.ToJson());
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(again->name, "net");
  EXPECT_EQ(Network(again->name, again->layers, 1).ToJson(), network.ToJson());
  EXPECT_EQ(LayersFromJson(R"({"class_name": "Functional"})").status().code(),
            Code::kUnimplemented);
}

}  // namespace
}  // namespace slipway::nn
