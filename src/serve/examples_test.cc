// SPDX-License-Identifier: Apache-2.0
//
// Classify, Regress and MultiInference, with signatures that tell how long an Example's bytes are:
// {"x": 2.0} is 16 bytes, an empty Example 2 (over REST) or none (over gRPC).
#include "gmock/gmock.h"
#include "serve/test_models.h"
#include "wire/coding.h"

namespace slipway::serve {
namespace {

using ::testing::HasSubstr;

formats::ModelExport LengthModel() {
  formats::ModelExport model;
  ir::Function& body = model.call_inference.body;
  body.name = "call";
  ir::GraphBuilder builder(&body.graph);
  const ir::Output in = *body.AddArg("inputs", DType::kString, PartialShape({-1}));
  const ir::Output length = builder.Op("Cast", {builder.Op("StringLength", {in})},
                                       {{"SrcT", DType::kInt32}, {"DstT", DType::kFloat}});
  const ir::Output axis = builder.Const(Tensor::Scalar<int32_t>(1));
  body.returns.push_back({"outputs", length});
  body.returns.push_back({"scores", builder.Op("ExpandDims", {length, axis})});
  body.returns.push_back({"classes", builder.Op("ExpandDims", {in, axis})});
  EXPECT_TRUE(builder.ok()) << builder.status().ToString();
  model.signatures = {{"serving_default", {"inputs"}, {"outputs", "scores", "classes"}}};
  return model;
}

class ExamplesTest : public ServeTestBase {
 protected:
  void SetUp() override {
    WriteModel(1, LengthModel());
    StartServer();
  }
  std::string Post(std::string_view verb, std::string_view body) {
    const auto answer = Rest()->Request("POST", StrCat("/v1/models/m:", verb), body);
    return answer.ok() ? StrCat(answer->status, " ", answer->body) : answer.status().ToString();
  }
  std::string Call(std::string_view method, std::string_view request) {
    const auto answer =
        Grpc()->Call(StrCat("/tensorflow.serving.PredictionService/", method), request);
    return answer.ok() ? *answer : answer.status().ToString();
  }
};

std::string Spec(std::string_view name, std::string_view signature = "") {
  return EncodeModelSpec({name, std::nullopt, "", signature});
}

std::string Message(std::initializer_list<std::pair<uint32_t, std::string>> fields) {
  std::string out;
  for (const auto& [field, value] : fields) ProtoWriter(&out).Bytes(field, value);
  return out;
}

// An Input with one empty Example.
std::string OneExample() { return Message({{1, Message({{1, ""}})}}); }

TEST_F(ExamplesTest, OverRest) {
  EXPECT_THAT(Post("regress", R"({"examples": [{"x": 2.0}, {}]})"),
              HasSubstr("\"results\": [16.0, 2.0]"));
  EXPECT_THAT(Post("classify", R"({"examples": [{}]})"), HasSubstr(R"("results": [[[")"));
  EXPECT_THAT(Post("classify", R"({"examples": [{}]})"), HasSubstr(", 2.0]]]"));
  EXPECT_THAT(Post("regress", R"({"signature_name": "nope", "examples": [{}]})"),
              HasSubstr("No signature was found with the name: nope"));
  EXPECT_THAT(Post("regress", R"({"examples": []})"), HasSubstr("400 "));
  const auto metrics = Rest()->Request("GET", "/metrics");
  ASSERT_TRUE(metrics.ok());
  EXPECT_THAT(metrics->body,
              HasSubstr(":tensorflow:serving:request_example_count_total{model=\"m\"} 5"));
  EXPECT_THAT(metrics->body, HasSubstr(":tensorflow:serving:request_latency_count{model_name=\"m\","
                                       "API=\"Classify\",entrypoint=\"REST\"} 2"));
}

TEST_F(ExamplesTest, OverGrpc) {
  const std::string echoed = EncodeModelSpec({"m", 1, "", "serving_default"});
  // Regressions, each of which has its default value, 0.
  EXPECT_EQ(Call("Regress", Message({{1, Spec("m")}, {2, OneExample()}})),
            Message({{1, Message({{1, ""}})}, {2, echoed}}));
  EXPECT_EQ(Call("Classify", Message({{1, Spec("m")}, {2, OneExample()}})),
            Message({{1, Message({{1, Message({{1, ""}})}})}, {2, echoed}}));
  EXPECT_EQ(Call("Classify", Message({{2, OneExample()}})), "INVALID_ARGUMENT: Missing ModelSpec");
  EXPECT_EQ(Call("Classify", Message({{1, Spec("m")}})), "INVALID_ARGUMENT: Input is empty.");
  EXPECT_EQ(Call("Regress", Message({{1, Spec("nope")}, {2, OneExample()}})),
            "NOT_FOUND: Servable not found for request: Latest(nope)");
}

TEST_F(ExamplesTest, SeveralSignaturesAtOnce) {
  const auto task = [](std::string_view model, std::string_view method,
                       std::string_view signature) {
    return Message({{1, Spec(model, signature)}, {2, std::string(method)}});
  };
  const std::string regress = "tensorflow/serving/regress";
  const std::string echoed = EncodeModelSpec({"m", 1, "", "serving_default"});
  EXPECT_EQ(Call("MultiInference", Message({{1, task("m", regress, "")}, {2, OneExample()}})),
            Message({{1, Message({{1, echoed}, {3, Message({{1, ""}})}})}}));
  EXPECT_THAT(Call("MultiInference", Message({{1, task("m", regress, "")},
                                              {1, task("n", regress, "other")},
                                              {2, OneExample()}})),
              HasSubstr("must access the same model name"));
  EXPECT_THAT(Call("MultiInference", Message({{1, task("m", regress, "")},
                                              {1, task("m", regress, "serving_default")},
                                              {2, OneExample()}})),
              HasSubstr("Duplicate evaluation of signature: serving_default"));
  EXPECT_THAT(Call("MultiInference",
                   Message({{1, task("m", "tensorflow/serving/predict", "")}, {2, OneExample()}})),
              HasSubstr("UNIMPLEMENTED: Unsupported signature method_name"));
  EXPECT_THAT(Call("MultiInference", Message({{1, task("m", regress, "x")}, {2, OneExample()}})),
              HasSubstr("Requested signature not found in model graph: x"));
  EXPECT_EQ(Call("MultiInference", ""), "INVALID_ARGUMENT: Missing ModelSpec");
}

}  // namespace
}  // namespace slipway::serve
