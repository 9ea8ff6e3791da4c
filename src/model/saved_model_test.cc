// SPDX-License-Identifier: Apache-2.0
//
// Models and results are TensorFlow's (tools/make_saved_model_goldens.py).
#include "model/saved_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/strings.h"
#include "formats/saved_model_writer.h"
#include "ir/builder.h"
#include "model/describe.h"
#include "wire/tensor_json.h"

namespace slipway::model {
namespace {

using ::testing::HasSubstr;

std::string Golden(const std::string& name) { return "tests/golden/saved_models/" + name; }

std::unique_ptr<SavedModel> LoadGolden(const std::string& name, LoadOptions options = {}) {
  auto model = SavedModel::Load(Env::Default(), Golden(name) + "/saved_model", options);
  EXPECT_TRUE(model.ok()) << model.status().ToString();
  return model.ok() ? *std::move(model) : nullptr;
}

TensorMap Named(std::initializer_list<std::pair<const char*, Tensor>> tensors) {
  TensorMap map;
  for (const auto& [name, tensor] : tensors) map.emplace(name, tensor);
  return map;
}

void ExpectNear(const Tensor& got, const Tensor& want, const std::string& what) {
  ASSERT_EQ(got.dtype(), want.dtype()) << what;
  ASSERT_EQ(got.shape(), want.shape()) << what;
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    const auto at = static_cast<size_t>(i);
    EXPECT_NEAR(got.flat<float>()[at], want.flat<float>()[at], 1e-5) << what << " " << i;
  }
}

class GoldenModel : public ::testing::TestWithParam<const char*> {};

TEST_P(GoldenModel, GivesWhatTensorFlowGives) {
  Env* env = Env::Default();
  auto model = LoadGolden(GetParam());
  ASSERT_NE(model, nullptr);
  model->Warmup();
  const std::string path = Golden(GetParam()) + "/case.json";
  auto request = ReadTensorJsonRequest(env, path);
  ASSERT_TRUE(request.ok()) << request.status().ToString();
  for (size_t step = 0; step < request->calls.size(); ++step) {
    const auto& call = request->calls[step];
    auto signature = model->FindSignature(call.signature);
    ASSERT_TRUE(signature.ok()) << signature.status().ToString();
    auto outputs = (*signature)->Run(TensorMap(call.inputs.begin(), call.inputs.end()));
    ASSERT_TRUE(outputs.ok()) << outputs.status().ToString();
    auto wanted =
        ReadTensorJsonMap(env, Golden(GetParam()) + "/expected.json", StrCat("step", step));
    ASSERT_TRUE(wanted.ok()) << wanted.status().ToString();
    ASSERT_EQ(outputs->size(), wanted->size());
    for (const auto& [name, want] : *wanted) ExpectNear(outputs->at(name), want, name);
  }
}

TEST_P(GoldenModel, IsDescribedAsSavedModelCliDoes) {
  auto file = formats::ReadSavedModel(Env::Default(), Golden(GetParam()) + "/saved_model");
  ASSERT_TRUE(file.ok());
  auto shown = ReadFile(Env::Default(), Golden(GetParam()) + "/show.txt");
  ASSERT_TRUE(shown.ok());
  EXPECT_EQ(*DescribeText(*file, {.all = true}), *shown);
}

INSTANTIATE_TEST_SUITE_P(All, GoldenModel,
                         ::testing::Values("affine", "counter", "branches", "text", "tags"),
                         [](const auto& info) { return std::string(info.param); });

TEST(SavedModel, ChoosesByTags) {
  EXPECT_NE(LoadGolden("tags", {.tags = {"int8", "serve"}}), nullptr);
  const Status status =
      SavedModel::Load(Env::Default(), Golden("tags") + "/saved_model", {.tags = {"gpu"}}).status();
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("{serve, int8}"));
}

bool HasNode(const Signature& signature, const std::string& op) {
  for (const ir::Node* node : signature.executable().function().graph.nodes()) {
    if (node->op() == op) return true;
  }
  return false;
}

TEST(SavedModel, FreezesOnlyWhatNothingWrites) {
  auto affine = LoadGolden("affine");
  ASSERT_NE(affine, nullptr);
  EXPECT_FALSE(HasNode(**affine->FindSignature("serving_default"), "ReadVariableOp"));
  auto counter = LoadGolden("counter");
  ASSERT_NE(counter, nullptr);
  // `get` only reads, but `add` writes the same variable.
  EXPECT_TRUE(HasNode(**counter->FindSignature("get"), "ReadVariableOp"));
  EXPECT_EQ(counter->variable_bytes(), 8u);
}

TEST(SavedModel, WarmupLeavesNoTrace) {
  auto counter = LoadGolden("counter");
  ASSERT_NE(counter, nullptr);
  counter->Warmup();
  EXPECT_EQ(counter->Variables().at("count").scalar<float>(), 0.0f);
}

TEST(SavedModel, TwoLoadsShareNothing) {
  auto one = LoadGolden("counter"), other = LoadGolden("counter");
  ASSERT_TRUE(one && other);
  ASSERT_TRUE((*one->FindSignature("add"))->Run(Named({{"times", Tensor::Scalar(1.0f)}})).ok());
  EXPECT_EQ((*one->FindSignature("get"))->Run(TensorMap())->at("count").scalar<float>(), 10.0f);
  EXPECT_EQ((*other->FindSignature("get"))->Run(TensorMap())->at("count").scalar<float>(), 0.0f);
}

TEST(Signature, RunsSomeOfItsOutputs) {
  auto model = LoadGolden("branches");
  ASSERT_NE(model, nullptr);
  const Signature& signature = **model->FindSignature("serving_default");
  const TensorMap inputs =
      Named({{"x", Tensor::Vector<float>({1, 2})}, {"flag", Tensor::Scalar(true)}});
  const std::string sum[] = {"sum"};
  auto outputs = signature.Run(inputs, sum);
  ASSERT_TRUE(outputs.ok()) << outputs.status().ToString();
  ASSERT_EQ(outputs->size(), 1u);
  EXPECT_EQ(outputs->at("sum").scalar<float>(), 6.0f);
  const std::string twice[] = {"sum", "sum"};
  EXPECT_THAT(signature.Run(inputs, twice).status().message(),
              HasSubstr("duplicate output tensor alias: sum"));
  const std::string unknown[] = {"blah"};
  EXPECT_THAT(signature.Run(inputs, unknown).status().message(),
              HasSubstr("output tensor alias not found in signature: blah"));
}

TEST(Signature, GivesOutputsInTheOrderAskedFor) {
  auto model = LoadGolden("branches");
  ASSERT_NE(model, nullptr);
  const Signature& signature = **model->FindSignature("serving_default");
  std::vector<Tensor> inputs(signature.inputs().size());
  inputs[static_cast<size_t>(signature.FindInput("x"))] = Tensor::Vector<float>({1, 2});
  inputs[static_cast<size_t>(signature.FindInput("flag"))] = Tensor::Scalar(true);
  std::vector<Tensor> all(signature.outputs().size());
  ASSERT_TRUE(signature.Run(inputs, all).ok());
  const int last = static_cast<int>(all.size()) - 1;
  ASSERT_GE(last, 1);
  for (const std::vector<int>& fetched : {std::vector{last, 0}, {0, last}, {last, 0, last}}) {
    std::vector<Tensor> some(fetched.size());
    ASSERT_TRUE(signature.RunSubset(inputs, fetched, some).ok());
    for (size_t i = 0; i < fetched.size(); ++i) {
      EXPECT_EQ(some[i].ToString(), all[static_cast<size_t>(fetched[i])].ToString()) << i;
    }
  }
  std::vector<Tensor> too_few(1);
  const int both[] = {0, last};
  EXPECT_EQ(signature.RunSubset(inputs, both, too_few).code(), Code::kInvalidArgument);
}

TEST(Signature, SaysWhichInputsAreWrong) {
  auto model = LoadGolden("affine");
  ASSERT_NE(model, nullptr);
  const Signature& signature = **model->FindSignature("serving_default");
  const Tensor x = Tensor::Vector<float>({1});
  Status status = signature.Run(Named({{"blah", x}})).status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("input size does not match signature"));
  EXPECT_THAT(status.message(), HasSubstr("Sent extra: {blah}. Missing but required: {x}."));
  status = signature.Run(Named({{"x", x}, {"z", x}})).status();
  EXPECT_THAT(status.message(), HasSubstr("Sent extra: {z}. Missing but required: {}."));
  EXPECT_THAT(signature.Run(Named({{"x", Tensor::Scalar("a")}})).status().message(),
              HasSubstr("Expects arg[0] to be float but string is provided"));
  status = model->FindSignature("nope").status();
  EXPECT_EQ(status.code(), Code::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("Serving signature key \"nope\" not found."));
}

TEST(Signature, RunsFromManyThreads) {
  auto model = LoadGolden("affine");
  ASSERT_NE(model, nullptr);
  const Signature& signature = **model->FindSignature("serving_default");
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const auto size = static_cast<int64_t>(1 + (i + t) % 5);
        Tensor x(DType::kFloat, Shape({size}));
        for (float& v : x.flat<float>()) v = static_cast<float>(i);
        std::vector<Tensor> out(1);
        const bool ok = signature.Run(std::span(&x, 1), out).ok() &&
                        out[0].num_elements() == size &&
                        out[0].flat<float>()[0] == 0.5f * static_cast<float>(i) + 2.0f;
        if (!ok) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

// ---- broken models --------------------------------------------------------------------------

// The golden model in memory, to be broken.
std::unique_ptr<Env> Copy(const std::string& name) {
  auto env = NewMemoryEnv();
  EXPECT_TRUE(env->CreateDirectories("/m/variables").ok());
  for (const char* file :
       {"saved_model.pb", "variables/variables.index", "variables/variables.data-00000-of-00001"}) {
    auto bytes = ReadFile(Env::Default(), Golden(name) + "/saved_model/" + file);
    EXPECT_TRUE(bytes.ok());
    EXPECT_TRUE(WriteFile(env.get(), JoinPath("/m", file), *bytes).ok());
  }
  return env;
}

TEST(BrokenModel, MissingFiles) {
  for (const char* file :
       {"saved_model.pb", "variables/variables.index", "variables/variables.data-00000-of-00001"}) {
    auto env = Copy("affine");
    ASSERT_TRUE(env->RemoveFile(JoinPath("/m", file)).ok());
    const Status status = SavedModel::Load(env.get(), "/m").status();
    EXPECT_EQ(status.code(), Code::kNotFound) << file << ": " << status.ToString();
  }
}

TEST(BrokenModel, FlippedBit) {
  auto env = Copy("affine");
  const std::string path = "/m/variables/variables.data-00000-of-00001";
  std::string bytes = *ReadFile(env.get(), path);
  bytes[0] = static_cast<char>(bytes[0] ^ 1);
  ASSERT_TRUE(WriteFile(env.get(), path, bytes).ok());
  EXPECT_EQ(SavedModel::Load(env.get(), "/m").status().code(), Code::kDataLoss);
}

// The counter, with an op of its file under a name of the same length that nobody knows.
std::unique_ptr<Env> WithUnknownOp(std::string_view op, std::string_view unknown) {
  auto env = Copy("counter");
  std::string bytes = *ReadFile(env.get(), "/m/saved_model.pb");
  for (size_t at = 0; (at = bytes.find(op, at)) != std::string::npos; ++at) {
    // Names of nodes change with their ops, in the same way everywhere.
    bytes.replace(at, op.size(), unknown);
  }
  EXPECT_TRUE(WriteFile(env.get(), "/m/saved_model.pb", bytes).ok());
  return env;
}

// One model, two signatures that reach ops nobody has: one error that names both.
TEST(BrokenModel, UnknownOpsAreListedTogether) {
  auto env = WithUnknownOp("ReadVariableOp", "FrobnicateOpV7");
  const Status status = SavedModel::Load(env.get(), "/m").status();
  EXPECT_EQ(status.code(), Code::kUnimplemented) << status.ToString();
  EXPECT_THAT(status.message(), HasSubstr("FrobnicateOpV7"));
  EXPECT_THAT(status.message(), HasSubstr("'get'"));
  EXPECT_THAT(status.message(), HasSubstr("'add'"));
  EXPECT_THAT(status.message(), HasSubstr("See docs/unsupported-ops.md"));
}

TEST(UnsupportedSignature, LeavesTheOthersToWork) {
  auto env = WithUnknownOp("AssignAddVariableOp", "FrobnicateOpVersion");
  auto model = SavedModel::Load(env.get(), "/m");
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  EXPECT_TRUE((*(*model)->FindSignature("get"))->Run(TensorMap()).ok());
  const Status status = (*model)->FindSignature("add").status();
  EXPECT_EQ(status.code(), Code::kUnimplemented);
  EXPECT_THAT(status.message(), HasSubstr("Signature 'add' cannot be run: "));
  EXPECT_THAT(status.message(), HasSubstr("FrobnicateOpVersion"));
  ASSERT_EQ((*model)->unsupported().size(), 1u);
  EXPECT_EQ((*model)->unsupported().begin()->first, "add");
}

TEST(UnsupportedSignature, ThatTheModelIsLoadedForRefusesTheModel) {
  auto env = WithUnknownOp("AssignAddVariableOp", "FrobnicateOpVersion");
  const Status status = SavedModel::Load(env.get(), "/m", {.required_signature = "add"}).status();
  EXPECT_EQ(status.code(), Code::kUnimplemented);
  EXPECT_THAT(status.message(), HasSubstr("FrobnicateOpVersion"));
}

// What our writer makes, our loader runs.
TEST(SavedModel, LoadsWhatTheWriterWrites) {
  formats::ModelExport model;
  model.variables = {{"scale", Tensor::Scalar(4.0f), true, {}}};
  ir::Function& body = model.call_inference.body;
  body.name = "call";
  ir::GraphBuilder b(&body.graph);
  const ir::Output x = *body.AddArg("inputs", DType::kFloat, PartialShape({-1}));
  const ir::Output handle = *body.AddArg("scale", DType::kResource, Shape());
  const ir::Output scale = b.Op("ReadVariableOp", {handle}, {{"dtype", DType::kFloat}});
  body.returns.push_back({"y", b.Op("Mul", {x, scale})});
  body.returns.push_back({"x", x});
  ASSERT_TRUE(b.ok()) << b.status().ToString();
  model.call_inference.captures = {0};
  model.signatures = {{"serving_default", {"x"}, {"scaled", "given"}}};
  auto env = NewMemoryEnv();
  ASSERT_TRUE(formats::WriteSavedModel(env.get(), "/m/1", model).ok());
  auto loaded = SavedModel::Load(env.get(), "/m/1");
  ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
  auto outputs = (*(*loaded)->FindSignature("serving_default"))
                     ->Run(Named({{"x", Tensor::Vector<float>({1, -2})}}));
  ASSERT_TRUE(outputs.ok()) << outputs.status().ToString();
  EXPECT_EQ(outputs->at("scaled").flat<float>()[1], -8.0f);
  EXPECT_EQ(outputs->at("given").flat<float>()[1], -2.0f);
}

}  // namespace
}  // namespace slipway::model
