// SPDX-License-Identifier: Apache-2.0
#include "serve/grpc_api.h"

#include "gmock/gmock.h"
#include "proto/serving.pb.h"
#include "serve/test_models.h"
#include "wire/coding.h"

namespace slipway::serve {
namespace {

using ::testing::HasSubstr;

class GrpcApiTest : public ServeTestBase {
 protected:
  // "CODE: message" of a Predict.
  std::string Predict(const ModelSpecView& spec, std::vector<NamedTensor> inputs,
                      std::vector<std::string_view> filter = {}) {
    return CallPredict(Grpc().get(), spec, std::move(inputs), std::move(filter))
        .status()
        .ToString();
  }
};

ModelSpecView Spec(std::string_view name, std::optional<int64_t> version = std::nullopt,
                   std::string_view signature = "") {
  ModelSpecView spec;
  spec.name = name;
  spec.version = version;
  spec.signature_name = signature;
  return spec;
}

TEST_F(GrpcApiTest, PredictEchoesWhatAnswered) {
  WriteModel(123, AffineModel(0.5f, 2.0f));
  StartServer();
  const auto answer = CallPredict(Grpc().get(), Spec("m"), {{"x", Tensor::Vector<float>({2, 4})}});
  ASSERT_TRUE(answer.ok()) << answer.status().ToString();
  const PredictResponseView& view = (*answer)->view;
  EXPECT_EQ(view.model_spec.name, "m");
  EXPECT_EQ(view.model_spec.version, 123);
  EXPECT_EQ(view.model_spec.signature_name, "serving_default");
  ASSERT_EQ(view.outputs.size(), 1u);
  EXPECT_EQ(view.outputs[0].name, "y");
  EXPECT_EQ(view.outputs[0].tensor.ToString(), Tensor::Vector<float>({3, 4}).ToString());
}

// Codes and key words of TensorFlow Serving.
TEST_F(GrpcApiTest, Errors) {
  WriteModel(123, AffineModel(0.5f, 2.0f));
  StartServer();
  const Tensor x = Tensor::Vector<float>({2});
  const std::string method = "/tensorflow.serving.PredictionService/Predict";
  EXPECT_EQ(Grpc()->Call(method, "").status().ToString(), "INVALID_ARGUMENT: Missing ModelSpec");
  EXPECT_EQ(Predict(Spec("", std::nullopt, "a"), {}),
            "INVALID_ARGUMENT: ModelSpec has no name specified.");
  EXPECT_EQ(Predict(Spec("nope"), {}), "NOT_FOUND: Servable not found for request: Latest(nope)");
  EXPECT_EQ(Predict(Spec("m", 99), {}),
            "NOT_FOUND: Servable not found for request: Specific(m, 99)");
  ModelSpecView labelled = Spec("m");
  labelled.version_label = "canary";
  EXPECT_EQ(Predict(labelled, {{"x", x}}),
            "INVALID_ARGUMENT: Unrecognized servable version label: canary");
  EXPECT_EQ(Predict(Spec("m", 123, "s"), {{"x", x}}),
            "FAILED_PRECONDITION: Serving signature key \"s\" not found.");
  EXPECT_THAT(Predict(Spec("m"), {}), HasSubstr("input size does not match signature: 0!=1"));
  EXPECT_THAT(Predict(Spec("m"), {{"k1", x}, {"k2", x}}),
              HasSubstr("Sent extra: {k1,k2}. Missing but required: {x}."));
  EXPECT_THAT(Predict(Spec("m"), {{"x", x}, {"k", x}}),
              HasSubstr("Sent extra: {k}. Missing but required: {}."));
  EXPECT_THAT(Predict(Spec("m"), {{"x", Tensor::Vector<bool>({true})}}),
              HasSubstr("INVALID_ARGUMENT: Expects arg[0] to be float but bool is provided"));
  EXPECT_THAT(Predict(Spec("m"), {{"x", Tensor::Scalar("2")}}),
              HasSubstr("to be float but string is provided"));
  EXPECT_THAT(Predict(Spec("m"), {{"x", x}}, {"blah"}),
              HasSubstr("INVALID_ARGUMENT: output tensor alias not found in signature: blah"));
  EXPECT_THAT(Predict(Spec("m"), {{"x", x}}, {"y", "y"}),
              HasSubstr("INVALID_ARGUMENT: duplicate output tensor alias: y"));
  EXPECT_EQ(Grpc()->Call(method, "\xff\xff\xff\xff").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(Grpc()->Call("/tensorflow.serving.PredictionService/Nope", "").status().code(),
            Code::kUnimplemented);
}

TEST_F(GrpcApiTest, TheFilterSelectsOutputs) {
  WriteModel(1, SumModel());
  StartServer();
  const std::vector<NamedTensor> inputs = {{"a", Tensor::Vector<float>({5})},
                                           {"b", Tensor::Vector<float>({2})}};
  auto channel = Grpc();
  const auto all = CallPredict(channel.get(), Spec("m"), inputs);
  ASSERT_TRUE(all.ok()) << all.status().ToString();
  EXPECT_EQ((*all)->view.outputs.size(), 2u);
  const auto one = CallPredict(channel.get(), Spec("m"), inputs, {"diff"});
  ASSERT_TRUE(one.ok()) << one.status().ToString();
  ASSERT_EQ((*one)->view.outputs.size(), 1u);
  EXPECT_EQ((*one)->view.outputs[0].name, "diff");
  EXPECT_EQ((*one)->view.outputs[0].tensor.flat<float>()[0], 3.0f);
}

TEST_F(GrpcApiTest, LargeMessages) {
  WriteVersion(1);
  StartServer();
  Tensor x(DType::kFloat, Shape({1'000'000}));
  for (size_t i = 0; i < 1'000'000; ++i) x.flat<float>()[i] = static_cast<float>(i);
  const auto answer = CallPredict(Grpc().get(), Spec("m"), {{"x", x}});
  ASSERT_TRUE(answer.ok()) << answer.status().ToString();
  EXPECT_EQ((*answer)->view.outputs[0].tensor.flat<float>()[999'998], 499'999.0f + 1.0f);
}

// A request of a few bytes with n elements of 0 for "x".
std::string SplatRequest(int64_t n) {
  ModelSpecView spec;
  spec.name = "m";
  std::string bytes;
  EXPECT_TRUE(AppendPredictRequest(spec, {}, {}, TensorEncoding::kTyped, &bytes).ok());
  ProtoWriter writer(&bytes);
  const size_t entry = writer.BeginMessage(2);
  writer.Bytes(1, "x");
  const size_t tensor = writer.BeginMessage(2);
  writer.Varint(1, 1);
  const size_t shape = writer.BeginMessage(2);
  const size_t dim = writer.BeginMessage(2);
  writer.Int64(1, n);
  for (const size_t message : {dim, shape, tensor, entry}) writer.EndMessage(message);
  return bytes;
}

TEST_F(GrpcApiTest, AFewBytesMayNotDeclareAHugeTensor) {
  WriteModel(1, AffineModel(0.5f, 2.0f));
  StartServer();
  const std::string method = "/tensorflow.serving.PredictionService/Predict";
  const auto huge = Grpc()->Call(method, SplatRequest(500'000'000));
  EXPECT_EQ(huge.status().code(), Code::kResourceExhausted) << huge.status().ToString();
  EXPECT_THAT(huge.status().message(), HasSubstr("Input \"x\""));
  // More than is filled on the loop, answered by a worker.
  const auto large = Grpc()->Call(method, SplatRequest(400'000));
  ASSERT_TRUE(large.ok()) << large.status().ToString();
  const auto response = DecodePredictResponse(*large);
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->outputs[0].tensor.flat<float>()[399'999], 2.0f);
}

TEST_F(GrpcApiTest, StatusAndMetadata) {
  WriteModel(123, AffineModel(0.5f, 2.0f));
  StartServer();
  auto channel = Grpc();
  namespace pb = tensorflow::serving;
  pb::GetModelStatusRequest status_request;
  status_request.mutable_model_spec()->set_name("m");
  const std::string get_status = "/tensorflow.serving.ModelService/GetModelStatus";
  auto bytes = channel->Call(get_status, status_request.SerializeAsString());
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  pb::GetModelStatusResponse status;
  ASSERT_TRUE(status.ParseFromString(*bytes));
  ASSERT_EQ(status.model_version_status_size(), 1);
  EXPECT_EQ(status.model_version_status(0).version(), 123);
  EXPECT_EQ(status.model_version_status(0).state(), pb::ModelVersionStatus::AVAILABLE);
  EXPECT_EQ(channel->Call(get_status, "").status().ToString(),
            "INVALID_ARGUMENT: Missing ModelSpec");
  status_request.mutable_model_spec()->mutable_version()->set_value(2);
  EXPECT_EQ(channel->Call(get_status, status_request.SerializeAsString()).status().ToString(),
            "NOT_FOUND: Could not find version 2 of model m");

  const std::string get_metadata = "/tensorflow.serving.PredictionService/GetModelMetadata";
  pb::GetModelMetadataRequest request;
  request.mutable_model_spec()->set_name("m");
  EXPECT_THAT(channel->Call(get_metadata, request.SerializeAsString()).status().ToString(),
              HasSubstr("INVALID_ARGUMENT: GetModelMetadataRequest must specify at least one "
                        "metadata_field"));
  request.add_metadata_field("signature_def");
  bytes = channel->Call(get_metadata, request.SerializeAsString());
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  pb::GetModelMetadataResponse metadata;
  ASSERT_TRUE(metadata.ParseFromString(*bytes));
  EXPECT_EQ(metadata.model_spec().version().value(), 123);
  pb::SignatureDefMap signatures;
  ASSERT_TRUE(metadata.metadata().at("signature_def").UnpackTo(&signatures));
  EXPECT_EQ(signatures.signature_def().at("serving_default").outputs().at("y").dtype(),
            tensorflow::DT_FLOAT);
  request.add_metadata_field("wrong");
  EXPECT_THAT(channel->Call(get_metadata, request.SerializeAsString()).status().ToString(),
              HasSubstr("Metadata field wrong is not supported"));
}

TEST_F(GrpcApiTest, Health) {
  WriteVersion(1);
  ServerOptions options = Options();
  StartServer(options);
  EXPECT_EQ(Grpc()->Call("/grpc.health.v1.Health/Check", "").status().code(), Code::kUnimplemented);
  server_.reset();
  options.enable_grpc_healthcheck_service = true;
  StartServer(options);
  for (const char* service : {"", "PredictionService", "tensorflow.serving.ModelService"}) {
    std::string request;
    ProtoWriter(&request).Bytes(1, service);
    const auto answer = Grpc()->Call("/grpc.health.v1.Health/Check", request);
    ASSERT_TRUE(answer.ok()) << answer.status().ToString();
    EXPECT_EQ(*answer, "\x08\x01");
  }
  EXPECT_EQ(Grpc()->Call("/grpc.health.v1.Health/Check", "\x0a\x04nope").status().code(),
            Code::kNotFound);
}

}  // namespace
}  // namespace slipway::serve
