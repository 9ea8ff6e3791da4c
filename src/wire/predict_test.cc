// SPDX-License-Identifier: Apache-2.0
#include "wire/predict.h"

#include <gtest/gtest.h>

#include "wire/base64.h"
#include "wire/coding.h"

namespace slipway {
namespace {

// tensorflow_serving.apis.predict_pb2.PredictRequest with model_spec {name: "m", version: 7,
// signature_name: "s"}, inputs {"x": float32[2] (1.5, -2)}, output_filter ["y"], serialised by
// Python's protobuf.
constexpr char kRequest[] = "CgoKAW0SAggHGgFzEhcKAXgSEggBEgQSAggCKggAAMA/AAAAwBoBeQ==";

TEST(Predict, ReadsARequest) {
  const std::string bytes = *DecodeBase64(kRequest);
  const auto request = DecodePredictRequest(bytes);
  ASSERT_TRUE(request.ok()) << request.status().ToString();
  EXPECT_TRUE(request->has_model_spec);
  EXPECT_EQ(request->model_spec.name, "m");
  EXPECT_EQ(request->model_spec.version, 7);
  EXPECT_EQ(request->model_spec.signature_name, "s");
  ASSERT_EQ(request->inputs.size(), 1u);
  EXPECT_EQ(request->inputs[0].name, "x");
  EXPECT_EQ(request->inputs[0].tensor.shape(), Shape({2}));
  EXPECT_EQ(request->inputs[0].tensor.flat<float>()[1], -2.0f);
  EXPECT_EQ(request->output_filter, std::vector<std::string_view>{"y"});
}

TEST(Predict, RequestsReadBack) {
  ModelSpecView spec;
  spec.name = "m";
  spec.version_label = "canary";
  const std::vector<NamedTensor> inputs = {{"x", Tensor::Vector<float>({1, 2})},
                                           {"text", Tensor::Vector<std::string>({"a", "bc"})}};
  const std::string_view filter[] = {"y", "z"};
  std::string bytes = "before";
  ASSERT_TRUE(AppendPredictRequest(spec, inputs, filter, TensorEncoding::kContent, &bytes).ok());
  const auto request = DecodePredictRequest(std::string_view(bytes).substr(6));
  ASSERT_TRUE(request.ok()) << request.status().ToString();
  EXPECT_EQ(request->model_spec.version_label, "canary");
  EXPECT_FALSE(request->model_spec.version.has_value());
  EXPECT_EQ(request->inputs[1].tensor.flat<std::string>()[1], "bc");
  EXPECT_EQ(request->output_filter.size(), 2u);
}

TEST(Predict, ResponsesReadBack) {
  ModelSpecView spec;
  spec.name = "m";
  spec.version = 0;
  spec.signature_name = "serving_default";
  Tensor large(DType::kFloat, Shape({100, 100}));
  for (size_t i = 0; i < 10000; ++i) large.flat<float>()[i] = static_cast<float>(i);
  const std::vector<NamedTensor> outputs = {{"y", large}, {"n", Tensor::Scalar<int64_t>(-1)}};
  std::string bytes;
  ASSERT_TRUE(AppendPredictResponse(spec, outputs, TensorEncoding::kTyped, &bytes).ok());
  const auto response = DecodePredictResponse(bytes);
  ASSERT_TRUE(response.ok()) << response.status().ToString();
  EXPECT_EQ(response->model_spec.version, 0);
  EXPECT_EQ(response->outputs[0].tensor.flat<float>()[9999], 9999.0f);
  EXPECT_EQ(response->outputs[1].tensor.scalar<int64_t>(), -1);
}

TEST(Predict, TheLastOfEqualNamesWins) {
  std::string one;
  std::string two;
  const std::vector<NamedTensor> a = {{"x", Tensor::Scalar(1.0f)}, {"y", Tensor::Scalar(2.0f)}};
  const std::vector<NamedTensor> b = {{"x", Tensor::Scalar(3.0f)}};
  ASSERT_TRUE(AppendPredictRequest({}, a, {}, TensorEncoding::kTyped, &one).ok());
  ASSERT_TRUE(AppendPredictRequest({}, b, {}, TensorEncoding::kTyped, &two).ok());
  const std::string bytes = one + two;
  const auto request = DecodePredictRequest(bytes);
  ASSERT_TRUE(request.ok());
  ASSERT_EQ(request->inputs.size(), 2u);
  EXPECT_EQ(request->inputs[0].tensor.scalar<float>(), 3.0f);
}

TEST(Predict, ErrorsNameTheInput) {
  std::string bytes;
  ProtoWriter writer(&bytes);
  const size_t entry = writer.BeginMessage(2);
  writer.Bytes(1, "pixels");
  writer.Bytes(2, "\x08\x01\x12\x02\x12\x00\x2a\x01x");  // a packed run of one byte
  writer.EndMessage(entry);
  const Status status = DecodePredictRequest(bytes).status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("pixels"), std::string::npos) << status.ToString();
  EXPECT_EQ(DecodePredictRequest("\x0a\xff").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(DecodePredictRequest("\x0a\x03\x0a\x01\xff").status().code(), Code::kInvalidArgument);
}

TEST(Predict, TheLimitCountsAllInputsTogether) {
  const std::vector<NamedTensor> inputs = {{"a", Tensor(DType::kInt8, Shape({600}))},
                                           {"b", Tensor(DType::kInt8, Shape({600}))}};
  for (const NamedTensor& t : inputs) std::memset(t.tensor.raw_data(), 1, 600);
  std::string bytes;
  ASSERT_TRUE(AppendPredictRequest({}, inputs, {}, TensorEncoding::kTyped, &bytes).ok());
  TensorDecodeOptions options;
  options.max_bytes = 1000;
  EXPECT_EQ(DecodePredictRequest(bytes, options).status().code(), Code::kResourceExhausted);
}

// A float32 tensor of n elements, all `value`, in a few bytes.
std::string Splat(std::string_view name, int64_t n, float value) {
  std::string bytes;
  ProtoWriter writer(&bytes);
  const size_t entry = writer.BeginMessage(2);
  writer.Bytes(1, name);
  const size_t tensor = writer.BeginMessage(2);
  writer.Varint(1, 1);
  const size_t shape = writer.BeginMessage(2);
  const size_t dim = writer.BeginMessage(2);
  writer.Int64(1, n);
  writer.EndMessage(dim);
  writer.EndMessage(shape);
  writer.Bytes(5, {reinterpret_cast<const char*>(&value), sizeof(value)});
  writer.EndMessage(tensor);
  writer.EndMessage(entry);
  return bytes;
}

TEST(Predict, AFewBytesMayNotDeclareAHugeTensor) {
  TensorDecodeOptions options;
  options.max_splat_bytes = 1'000'000;
  const auto small = DecodePredictRequest(Splat("x", 200'000, 2.5f), options);
  ASSERT_TRUE(small.ok()) << small.status().ToString();
  EXPECT_EQ(small->inputs[0].tensor.flat<float>()[199'999], 2.5f);
  const Status huge = DecodePredictRequest(Splat("x", 300'000'000, 2.5f), options).status();
  EXPECT_EQ(huge.code(), Code::kResourceExhausted);
  EXPECT_NE(huge.message().find("1000000 bytes may be repeated"), std::string::npos)
      << huge.ToString();
  // Many small ones are no way around it.
  const std::string two = Splat("x", 200'000, 1.0f) + Splat("y", 200'000, 1.0f);
  EXPECT_EQ(DecodePredictRequest(two, options).status().code(), Code::kResourceExhausted);
}

TEST(Predict, ValuesThatAreSentAreNoSplat) {
  std::vector<NamedTensor> inputs = {{"n", Tensor(DType::kInt64, Shape({10'000}))},
                                     {"s", Tensor(DType::kString, Shape({10'000}))}};
  std::memset(inputs[0].tensor.raw_data(), 0, inputs[0].tensor.byte_size());
  std::string bytes;
  ASSERT_TRUE(AppendPredictRequest({}, inputs, {}, TensorEncoding::kTyped, &bytes).ok());
  TensorDecodeOptions options;
  options.max_splat_bytes = 0;
  const auto request = DecodePredictRequest(bytes, options);
  EXPECT_TRUE(request.ok()) << request.status().ToString();
}

}  // namespace
}  // namespace slipway
