// SPDX-License-Identifier: Apache-2.0
//
// Models with loops, lists and graphs of TensorFlow 1, and their results, are TensorFlow's
// (tools/make_control_flow_goldens.py). Their numbers are exact.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "model/saved_model.h"
#include "wire/tensor_json.h"

namespace slipway::model {
namespace {

std::string Golden(const std::string& name) { return "tests/golden/saved_models/" + name; }

class ControlFlow : public ::testing::TestWithParam<std::tuple<const char*, bool>> {};

TEST_P(ControlFlow, GivesWhatTensorFlowGives) {
  const auto [name, passes] = GetParam();
  Env* env = Env::Default();
  LoadOptions options;
  options.run_passes = passes;
  auto model = SavedModel::Load(env, Golden(name) + "/saved_model", options);
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  const auto request = ReadTensorJsonRequest(env, Golden(name) + "/case.json");
  ASSERT_TRUE(request.ok()) << request.status().ToString();
  for (size_t step = 0; step < request->calls.size(); ++step) {
    SCOPED_TRACE(step);
    const auto& call = request->calls[step];
    auto signature = (*model)->FindSignature(call.signature);
    ASSERT_TRUE(signature.ok()) << signature.status().ToString();
    auto outputs = (*signature)->Run(TensorMap(call.inputs.begin(), call.inputs.end()));
    ASSERT_TRUE(outputs.ok()) << outputs.status().ToString();
    const auto wanted =
        ReadTensorJsonMap(env, Golden(name) + "/expected.json", StrCat("step", step));
    ASSERT_TRUE(wanted.ok()) << wanted.status().ToString();
    ASSERT_EQ(outputs->size(), wanted->size());
    for (const auto& [output, want] : *wanted) {
      EXPECT_EQ(TensorToJson(outputs->at(output)), TensorToJson(want)) << output;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ControlFlow,
                         ::testing::Combine(::testing::Values("loops", "lists", "graph_v1",
                                                              "words_1", "words_2"),
                                            ::testing::Bool()),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) +
                                  (std::get<1>(info.param) ? "" : "_without_passes");
                         });

// Two versions whose tables have the same names, as a server has them during a change.
TEST(ControlFlowModel, TwoVersionsOfATableAnswerFromTheirOwnVocabularies) {
  Env* env = Env::Default();
  const std::string versions[] = {"words_1", "words_2"};
  std::unique_ptr<SavedModel> models[2];
  for (int i = 0; i < 2; ++i) {
    auto model = SavedModel::Load(env, Golden(versions[i]) + "/saved_model");
    ASSERT_TRUE(model.ok()) << model.status().ToString();
    models[i] = *std::move(model);
  }
  const auto request = ReadTensorJsonRequest(env, Golden("words_1") + "/case.json");
  ASSERT_TRUE(request.ok());
  for (size_t step = 0; step < request->calls.size(); ++step) {
    const auto& call = request->calls[step];
    for (int i = 0; i < 2; ++i) {
      auto outputs = (*models[i]->FindSignature(call.signature))
                         ->Run(TensorMap(call.inputs.begin(), call.inputs.end()));
      ASSERT_TRUE(outputs.ok()) << outputs.status().ToString();
      const auto wanted =
          ReadTensorJsonMap(env, Golden(versions[i]) + "/expected.json", StrCat("step", step));
      ASSERT_TRUE(wanted.ok());
      for (const auto& [output, want] : *wanted) {
        EXPECT_EQ(TensorToJson(outputs->at(output)), TensorToJson(want)) << versions[i] << output;
      }
    }
  }
}

// What one loaded model writes, another one of the same files does not see.
TEST(ControlFlowModel, TwoVersionsShareNothingByName) {
  Env* env = Env::Default();
  auto a = SavedModel::Load(env, Golden("graph_v1") + "/saved_model");
  auto b = SavedModel::Load(env, Golden("graph_v1") + "/saved_model");
  ASSERT_TRUE(a.ok() && b.ok()) << a.status().ToString();
  const TensorMap by = {{"by", Tensor::Scalar(8.0f)}};
  ASSERT_TRUE((*(*a)->FindSignature("add"))->Run(by).ok());
  const auto count = [](const SavedModel& m) {
    return (*(*m.FindSignature("get"))->Run({})).at("count").scalar<float>();
  };
  EXPECT_NE(count(**a), count(**b));
}

TEST(ControlFlowModel, AnAssertOfTensorFlow1Fails) {
  auto model = SavedModel::Load(Env::Default(), Golden("graph_v1") + "/saved_model");
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  const auto result = (*(*model)->FindSignature("add"))->Run({{"by", Tensor::Scalar(-1.0f)}});
  EXPECT_EQ(result.status().code(), Code::kInvalidArgument);
  EXPECT_THAT(result.status().message(), ::testing::HasSubstr("by must be positive"));
}

}  // namespace
}  // namespace slipway::model
