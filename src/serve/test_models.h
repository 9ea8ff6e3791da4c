// SPDX-License-Identifier: Apache-2.0
//
// Small SavedModels for the tests of serve, and clients for a server in this process.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "formats/saved_model_writer.h"
#include "gtest/gtest.h"
#include "ir/builder.h"
#include "net/client.h"
#include "serve/server.h"
#include "wire/predict.h"

namespace slipway::serve {

// y = slope * x + offset, x any vector.
inline formats::ModelExport AffineModel(float slope, float offset) {
  formats::ModelExport model;
  model.variables = {{"slope", Tensor::Scalar(slope), true, {}},
                     {"offset", Tensor::Scalar(offset), true, {}}};
  ir::Function& body = model.call_inference.body;
  body.name = "call";
  ir::GraphBuilder builder(&body.graph);
  const ir::Output x = *body.AddArg("x", DType::kFloat, PartialShape({-1}));
  std::vector<ir::Output> reads;
  for (int i = 0; i < 2; ++i) {
    const ir::Output handle = *body.AddArg(StrCat("handle_", i), DType::kResource, Shape());
    model.call_inference.captures.push_back(i);
    reads.push_back(builder.Op("ReadVariableOp", {handle}, {{"dtype", DType::kFloat}}));
  }
  const ir::Output y = builder.Op("AddV2", {builder.Op("Mul", {x, reads[0]}), reads[1]});
  EXPECT_TRUE(builder.ok()) << builder.status().ToString();
  body.returns.push_back({"y", y});
  model.signatures = {{"serving_default", {"x"}, {"y"}}};
  return model;
}

// product = x times itself a few times, a matrix; the sum and the difference of a and b.
inline formats::ModelExport PowerModel() {
  formats::ModelExport model;
  ir::Function& body = model.call_inference.body;
  body.name = "call";
  ir::GraphBuilder builder(&body.graph);
  const ir::Output x = *body.AddArg("x", DType::kFloat, PartialShape({-1, -1}));
  ir::Output product = x;
  for (int i = 0; i < 8; ++i) product = builder.Op("MatMul", {product, x});
  EXPECT_TRUE(builder.ok()) << builder.status().ToString();
  body.returns.push_back({"product", product});
  model.signatures = {{"serving_default", {"x"}, {"product"}}};
  return model;
}

inline formats::ModelExport SumModel() {
  formats::ModelExport model;
  ir::Function& body = model.call_inference.body;
  body.name = "call";
  ir::GraphBuilder builder(&body.graph);
  const ir::Output a = *body.AddArg("a", DType::kFloat, PartialShape({-1}));
  const ir::Output b = *body.AddArg("b", DType::kFloat, PartialShape({-1}));
  body.returns.push_back({"sum", builder.Op("AddV2", {a, b})});
  body.returns.push_back({"diff", builder.Op("Sub", {a, b})});
  EXPECT_TRUE(builder.ok()) << builder.status().ToString();
  model.signatures = {{"serving_default", {"a", "b"}, {"sum", "diff"}}};
  return model;
}

// A directory of its own for each test, removed afterwards.
class ServeTestBase : public ::testing::Test {
 protected:
  ServeTestBase() {
    std::string pattern = (std::filesystem::temp_directory_path() / "serve_XXXXXX").string();
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    base_ = JoinPath(root_, "m");
    EXPECT_TRUE(Env::Default()->CreateDirectories(base_).ok());
  }
  ~ServeTestBase() override {
    server_.reset();
    std::filesystem::remove_all(root_);
  }

  // Version `version` answers slope * x + version.
  void WriteVersion(int64_t version, float slope = 0.5f) {
    WriteModel(version, AffineModel(slope, static_cast<float>(version)));
  }
  void WriteModel(int64_t version, const formats::ModelExport& model) {
    const Status written =
        formats::WriteSavedModel(Env::Default(), JoinPath(base_, StrCat(version)), model);
    ASSERT_TRUE(written.ok()) << written.ToString();
  }
  // As `mv`, then deleted.
  void RemoveVersion(int64_t version) {
    const std::string gone = StrCat(root_, "/gone-", version);
    ASSERT_TRUE(Env::Default()->Rename(JoinPath(base_, StrCat(version)), gone).ok());
    std::filesystem::remove_all(gone);
  }

  ServerOptions Options() const {
    ServerOptions options;
    options.address = "127.0.0.1";
    options.port = ServerOptions::kAnyPort;
    options.rest_api_port = ServerOptions::kAnyPort;
    options.model_name = "m";
    options.model_base_path = base_;
    options.loops = 2;
    options.worker_threads = 2;
    return options;
  }
  void StartServer(ServerOptions options) {
    auto server = Server::Create(std::move(options));
    ASSERT_TRUE(server.ok()) << server.status().ToString();
    server_ = *std::move(server);
    const Status started = server_->Start();
    ASSERT_TRUE(started.ok()) << started.ToString();
  }
  void StartServer() { StartServer(Options()); }

  std::unique_ptr<net::HttpClient> Rest() const {
    return net::HttpClient::Lazy("127.0.0.1", server_->rest_port());
  }
  std::unique_ptr<net::GrpcChannel> Grpc() const {
    return net::GrpcChannel::Lazy("127.0.0.1", server_->grpc_port());
  }

  // Until the status of the model says so, e.g. "\"2\"…AVAILABLE"; false after a long time.
  bool WaitForState(int64_t version, std::string_view state) const {
    auto client = Rest();
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    const std::string target = StrCat("/v1/models/m/versions/", version);
    const std::string wanted = StrCat("\"state\": \"", state, "\"");
    while (std::chrono::steady_clock::now() < end) {
      auto answer = client->Request("GET", target);
      if (answer.ok() && answer->body.find(wanted) != std::string::npos) return true;
      std::this_thread::yield();
    }
    return false;
  }

  std::string root_;
  std::string base_;
  std::unique_ptr<Server> server_;
};

struct GrpcAnswer {
  std::string bytes;
  PredictResponseView view;
};

inline StatusOr<std::unique_ptr<GrpcAnswer>> CallPredict(
    net::GrpcChannel* channel, const ModelSpecView& spec, std::vector<NamedTensor> inputs,
    std::vector<std::string_view> filter = {}) {
  std::string request;
  RETURN_IF_ERROR(AppendPredictRequest(spec, inputs, filter, TensorEncoding::kTyped, &request));
  auto answer = std::make_unique<GrpcAnswer>();
  ASSIGN_OR_RETURN(answer->bytes,
                   channel->Call("/tensorflow.serving.PredictionService/Predict", request));
  ASSIGN_OR_RETURN(answer->view, DecodePredictResponse(answer->bytes));
  return answer;
}

}  // namespace slipway::serve
