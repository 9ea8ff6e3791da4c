// SPDX-License-Identifier: Apache-2.0
#include "wire/tensor_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "base/strings.h"
#include "wire/npy.h"

namespace slipway {
namespace {

StatusOr<Tensor> Parse(const std::string& tensor) {
  const auto env = NewMemoryEnv();
  ASSIGN_OR_RETURN(
      auto request,
      ParseTensorJsonRequest(StrCat("{\"inputs\": {\"x\": ", tensor, "}}"), env.get(), "."));
  return request.calls.at(0).inputs.at(0).second;
}

TEST(TensorJson, EveryDTypeReadsBackFromItsOwnText) {
  const std::vector<Tensor> tensors = {
      Tensor::Vector<float>({0.1f, -0.0f, INFINITY, -INFINITY, 1e-45f, 3.4028235e38f}),
      Tensor::Vector<double>({0.1, 1e300, 5e-324}),
      Tensor::Vector<Half>({Half(1.5f), Half(65504.0f)}),
      Tensor::Vector<BFloat16>({BFloat16(3.140625f)}),
      Tensor::Vector<int8_t>({-128, 127}),
      Tensor::Vector<uint8_t>({0, 255}),
      Tensor::Vector<int16_t>({-32768}),
      Tensor::Vector<uint16_t>({65535}),
      Tensor::Vector<int32_t>({INT32_MIN, INT32_MAX}),
      Tensor::Vector<uint32_t>({UINT32_MAX}),
      Tensor::Vector<int64_t>({INT64_MIN, INT64_MAX}),
      Tensor::Vector<uint64_t>({UINT64_MAX}),
      Tensor::Vector<bool>({true, false}),
      Tensor::Vector<std::complex<float>>({{1.5f, -2}, {0, INFINITY}}),
      Tensor::Vector<std::complex<double>>({{0.1, 0.2}}),
      Tensor::Vector<std::string>({"plain \"q\" \n", "\xc3\xa9", std::string("\0\xff", 2), ""}),
      Tensor(DType::kFloat, Shape({0, 3})),
      Tensor::Scalar(2.5f)};
  for (const Tensor& t : tensors) {
    const std::string text = TensorToJson(t);
    const auto back = Parse(text);
    ASSERT_TRUE(back.ok()) << text << back.status().ToString();
    EXPECT_EQ(back->dtype(), t.dtype());
    EXPECT_EQ(back->shape(), t.shape());
    if (t.dtype() == DType::kString) {
      EXPECT_TRUE(std::ranges::equal(back->flat<std::string>(), t.flat<std::string>())) << text;
    } else {
      EXPECT_EQ(std::memcmp(back->raw_data(), t.raw_data(), t.byte_size()), 0) << text;
    }
  }
}

TEST(TensorJson, TextsOfCases) {
  EXPECT_TRUE(std::isnan(
      Parse(R"({"dtype": "DT_FLOAT", "shape": [], "values": ["NaN"]})")->flat<float>()[0]));
  const auto bare = Parse(R"({"dtype": "DT_FLOAT", "shape": [2], "values": [-Infinity, NaN]})");
  ASSERT_TRUE(bare.ok()) << bare.status().ToString();
  EXPECT_EQ(bare->flat<float>()[0], -INFINITY);
  const auto c = Parse(
      R"({"dtype": "DT_COMPLEX64", "shape": [4], "values": ["1.5-2j", [1, "Infinity"], 3, "-2e-3j"]})");
  ASSERT_TRUE(c.ok()) << c.status().ToString();
  EXPECT_EQ(c->flat<std::complex<float>>()[0], std::complex<float>(1.5f, -2));
  EXPECT_EQ(c->flat<std::complex<float>>()[3], std::complex<float>(0, -2e-3f));
  const auto s = Parse(R"({"dtype": "DT_STRING", "shape": [2], "values": ["a", {"b64": "AP8="}]})");
  EXPECT_EQ(s->flat<std::string>()[1], std::string("\0\xff", 2));
  EXPECT_EQ(Parse(R"({"dtype": "DT_QINT8", "shape": [1], "values": [-3]})")->dtype(),
            DType::kQInt8);
}

TEST(TensorJson, ErrorsNameInputAndValue) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"dtype": "DT_INT8", "shape": [1], "values": [200]})", "200"},
      {R"({"dtype": "DT_INT32", "shape": [1], "values": [1.5]})", "1.5"},
      {R"({"dtype": "DT_UINT8", "shape": [1], "values": [-1]})", "-1"},
      {R"({"dtype": "DT_FLOAT", "shape": [1], "values": ["x"]})", "DT_FLOAT"},
      {R"({"dtype": "DT_FLOAT", "shape": [2], "values": [1]})", "2 elements"},
      {R"({"dtype": "DT_FLOAT", "shape": [-1], "values": [1]})", "negative"},
      {R"({"dtype": "DT_WHAT", "shape": [], "values": [1]})", "DT_WHAT"},
      {R"({"dtype": "DT_FLOAT", "values": [1]})", "\"shape\""},
      {R"({"dtype": "DT_STRING", "shape": [1], "values": [{"b64": "!"}]})", "b64"},
      {R"({"npy": "missing.npy"})", "missing.npy"},
      {R"([1])", "object"}};
  for (const auto& [text, words] : cases) {
    const Status status = Parse(text).status();
    EXPECT_FALSE(status.ok()) << text;
    EXPECT_NE(status.message().find(words), std::string::npos) << status.ToString();
    EXPECT_NE(status.message().find("\"x\""), std::string::npos) << status.ToString();
  }
  const auto env = NewMemoryEnv();
  EXPECT_FALSE(ParseTensorJsonRequest("{", env.get(), ".").ok());
  EXPECT_FALSE(ParseTensorJsonRequest("[]", env.get(), ".").ok());
  EXPECT_FALSE(ParseTensorJsonRequest(std::string(200000, '['), env.get(), ".").ok());
}

TEST(TensorJson, ResponsesPutLargeTensorsBeside) {
  const auto env = NewMemoryEnv();
  Tensor large(DType::kFloat, Shape({1001}));
  std::ranges::fill(large.flat<float>(), 0.5f);
  TensorJsonResult result;
  result.outputs = {{"y/z", large}, {"y_z", large}, {"n", Tensor::Scalar<int32_t>(3)}};
  ASSERT_TRUE(WriteTensorJsonResponse(env.get(), "dir.out/r.json", false, {&result, 1}).code() !=
              Code::kOk);
  ASSERT_TRUE(env->CreateDirectories("out").ok());
  ASSERT_TRUE(WriteTensorJsonResponse(env.get(), "out/r.json", false, {&result, 1}).ok());
  EXPECT_EQ(*env->ListDirectory("out"),
            (std::vector<std::string>{"r.json", "r.y_z.npy", "r.y_z_2.npy"}));
  const auto back = ReadTensorJsonMap(env.get(), "out/r.json", "outputs");
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ((*back)[0].first, "y/z");
  EXPECT_EQ((*back)[0].second.flat<float>()[1000], 0.5f);
  EXPECT_EQ((*back)[2].second.scalar<int32_t>(), 3);
}

TEST(TensorJson, StepsKeepErrorsInTheirPlace) {
  const auto env = NewMemoryEnv();
  ASSERT_TRUE(WriteNpy(env.get(), "x.npy", Tensor::Vector<int32_t>({1, 2})).ok());
  ASSERT_TRUE(WriteFile(env.get(), "in.json",
                        R"({"steps": [{"signature": "a", "inputs": {"x": {"npy": "x.npy"}}}, {}]})")
                  .ok());
  const auto request = ReadTensorJsonRequest(env.get(), "in.json");
  ASSERT_TRUE(request.ok()) << request.status().ToString();
  EXPECT_TRUE(request->has_steps);
  ASSERT_EQ(request->calls.size(), 2u);
  EXPECT_EQ(request->calls[0].signature, "a");
  EXPECT_EQ(request->calls[0].inputs[0].second.flat<int32_t>()[1], 2);
  std::vector<TensorJsonResult> results(2);
  results[0].status = InvalidArgumentError("bad \"thing\"");
  results[1].outputs = {{"y", Tensor::Scalar(1.0f)}};
  ASSERT_TRUE(WriteTensorJsonResponse(env.get(), "out.json", true, results).ok());
  const std::string text = *ReadFile(env.get(), "out.json");
  EXPECT_NE(text.find(R"("error": {"code": "INVALID_ARGUMENT", "message": "bad \"thing\""})"),
            std::string::npos)
      << text;
}

// Every case of a folder of models (SLIPWAY_SHARED, ../shared if not set).
TEST(TensorJson, ReadsTheCasesOfModels) {
  const char* shared = std::getenv("SLIPWAY_SHARED");
  const std::string models = JoinPath(shared != nullptr ? shared : "../shared", "models");
  Env* env = Env::Default();
  const auto names = env->ListDirectory(models);
  if (!names.ok()) GTEST_SKIP() << "no models at " << models;
  int read = 0;
  for (const std::string& name : *names) {
    const std::string folder = JoinPath(models, StrCat(name, "/cases"));
    const auto files = env->ListDirectory(folder);
    if (!files.ok()) continue;
    for (const std::string& file : *files) {
      if (!file.ends_with(".json")) continue;
      const std::string path = JoinPath(folder, file);
      const auto request = ReadTensorJsonRequest(env, path);
      EXPECT_TRUE(request.ok()) << request.status().ToString();
      if (request.ok() && !request->has_steps) {
        const auto outputs = ReadTensorJsonMap(env, path, "outputs");
        EXPECT_TRUE(outputs.ok() ||
                    outputs.status().message().find("has no key") != std::string::npos)
            << outputs.status().ToString();
      }
      ++read;
    }
  }
  EXPECT_GT(read, 500);
}

}  // namespace
}  // namespace slipway
