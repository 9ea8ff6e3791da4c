// SPDX-License-Identifier: Apache-2.0
//
// The server as a whole: start, swaps under load, slow copies, broken versions, drain.
#include "serve/server.h"

#include <atomic>
#include <mutex>
#include <thread>

#include "checkpoint/bundle.h"
#include "gmock/gmock.h"
#include "serve/test_models.h"

namespace slipway::serve {
namespace {

using ::testing::HasSubstr;

// Clients that ask without pause over REST and gRPC, with x = 0: the answer is the version.
class Load {
 public:
  Load(int rest_port, int grpc_port) : rest_port_(rest_port), grpc_port_(grpc_port) {
    for (int i = 0; i < 2; ++i) {
      threads_.emplace_back([this] { Rest(); });
      threads_.emplace_back([this] { Grpc(); });
    }
  }
  ~Load() { Stop(); }
  void Stop() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  // Until so many more answers came, whatever they were.
  void WaitForAnswers(int64_t n) const {
    for (const int64_t end = answers_ + n; answers_ < end;) std::this_thread::yield();
  }
  int64_t answers() const { return answers_; }
  std::string failures() const {
    std::lock_guard lock(mutex_);
    return failures_;
  }
  int64_t last_version() const { return last_version_; }

 private:
  void Note(bool ok, int64_t version, const std::string& what) {
    if (ok) {
      last_version_ = version;
    } else {
      std::lock_guard lock(mutex_);
      StrAppend(&failures_, what, "\n");
    }
    ++answers_;
  }
  void Rest() {
    auto client = net::HttpClient::Lazy("127.0.0.1", rest_port_);
    while (!stop_) {
      const auto answer =
          client->Request("POST", "/v1/models/m:predict", R"({"instances": [0.0]})");
      const bool ok = answer.ok() && answer->status == 200;
      int64_t version = 0;
      if (ok)
        version = std::strtoll(answer->body.c_str() + answer->body.find('[') + 1, nullptr, 10);
      Note(ok, version, answer.ok() ? answer->body : answer.status().ToString());
    }
  }
  void Grpc() {
    auto channel = net::GrpcChannel::Lazy("127.0.0.1", grpc_port_);
    ModelSpecView spec;
    spec.name = "m";
    while (!stop_) {
      const auto answer = CallPredict(channel.get(), spec, {{"x", Tensor::Vector<float>({0})}});
      int64_t version = 0;
      if (answer.ok()) {
        version = static_cast<int64_t>((*answer)->view.outputs[0].tensor.flat<float>()[0]);
        EXPECT_EQ((*answer)->view.model_spec.version, version);
      }
      Note(answer.ok(), version, answer.status().ToString());
    }
  }

  const int rest_port_, grpc_port_;
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> answers_{0}, last_version_{0};
  mutable std::mutex mutex_;
  std::string failures_;
  std::vector<std::thread> threads_;
};

class ServerTest : public ServeTestBase {
 protected:
  // Serves version 1 and keeps asking; `change` then changes the base path.
  void UnderLoad(const std::function<void(Load*)>& change) {
    WriteVersion(1);
    StartServer();
    Load load(server_->rest_port(), server_->grpc_port());
    load.WaitForAnswers(20);
    change(&load);
    load.WaitForAnswers(20);
    load.Stop();
    EXPECT_EQ(load.failures(), "");
  }
  void WaitForAnswersOf(const Load& load, int64_t version) {
    while (load.last_version() != version) std::this_thread::yield();
  }
};

TEST_F(ServerTest, SwapsAndRollsBackWithoutAFailedRequest) {
  UnderLoad([this](Load* load) {
    for (int64_t version = 2; version <= 4; ++version) {
      WriteVersion(version);
      EXPECT_TRUE(WaitForState(version, "AVAILABLE"));
      EXPECT_TRUE(WaitForState(version - 1, "END"));
      WaitForAnswersOf(*load, version);
    }
    RemoveVersion(4);
    EXPECT_TRUE(WaitForState(3, "AVAILABLE"));
    WaitForAnswersOf(*load, 3);
    EXPECT_TRUE(WaitForState(4, "END"));
  });
}

TEST_F(ServerTest, AVersionCopiedSlowlyIsLoadedWhenItIsWhole) {
  UnderLoad([this](Load* load) {
    const std::string staged = JoinPath(root_, "staged");
    ASSERT_TRUE(formats::WriteSavedModel(Env::Default(), staged, AffineModel(1, 2)).ok());
    const std::string target = JoinPath(base_, "2");
    std::filesystem::create_directories(JoinPath(target, "variables"));
    const auto copy = [&](const std::string& name, double part) {
      const auto bytes = ReadFile(Env::Default(), JoinPath(staged, name));
      ASSERT_TRUE(bytes.ok());
      const auto size = static_cast<size_t>(part * static_cast<double>(bytes->size()));
      ASSERT_TRUE(WriteFile(Env::Default(), JoinPath(target, name), bytes->substr(0, size)).ok());
    };
    const std::string index = "variables/variables.index";
    const std::string shard = BundleDataName("variables/variables", 0, 1);
    copy("saved_model.pb", 1);
    EXPECT_TRUE(WaitForState(2, "START"));
    copy(index, 1);
    EXPECT_TRUE(WaitForState(2, "START"));
    copy(shard, 0.5);
    load->WaitForAnswers(200);
    EXPECT_TRUE(WaitForState(2, "START"));
    EXPECT_EQ(load->last_version(), 1);
    copy(shard, 1);
    EXPECT_TRUE(WaitForState(2, "AVAILABLE"));
    WaitForAnswersOf(*load, 2);
  });
}

TEST_F(ServerTest, ACorruptVersionLeavesTheOldOne) {
  UnderLoad([this](Load* load) {
    const std::string staged = JoinPath(root_, "staged");
    ASSERT_TRUE(formats::WriteSavedModel(Env::Default(), staged, AffineModel(1, 2)).ok());
    const std::string shard = JoinPath(staged, BundleDataName("variables/variables", 0, 1));
    auto bytes = ReadFile(Env::Default(), shard);
    ASSERT_TRUE(bytes.ok());
    (*bytes)[1] = static_cast<char>((*bytes)[1] ^ 0x10);
    ASSERT_TRUE(WriteFile(Env::Default(), shard, *bytes).ok());
    ASSERT_TRUE(Env::Default()->Rename(staged, JoinPath(base_, "2")).ok());
    EXPECT_TRUE(WaitForState(2, "END"));
    const auto status = Rest()->Request("GET", "/v1/models/m/versions/2");
    ASSERT_TRUE(status.ok());
    EXPECT_THAT(status->body, HasSubstr("DATA_LOSS"));
    EXPECT_EQ(load->last_version(), 1);
    WriteVersion(3);
    EXPECT_TRUE(WaitForState(3, "AVAILABLE"));
  });
}

TEST_F(ServerTest, RemovingTheOnlyVersionEndsIt) {
  WriteVersion(1);
  StartServer();
  RemoveVersion(1);
  EXPECT_TRUE(WaitForState(1, "END"));
  const auto answer = Rest()->Request("POST", "/v1/models/m:predict", R"({"instances": [0.0]})");
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->status, 404);
  EXPECT_EQ(Rest()->Request("GET", "/readyz")->status, 503);
}

TEST_F(ServerTest, WaitsForTheFirstVersion) {
  auto server = Server::Create(Options());
  ASSERT_TRUE(server.ok());
  server_ = *std::move(server);
  Status started;
  std::thread starter([&] { started = server_->Start(); });
  EXPECT_EQ(server_->rest_port(), 0);
  WriteVersion(1);
  starter.join();
  ASSERT_TRUE(started.ok()) << started.ToString();
  EXPECT_EQ(Rest()->Request("GET", "/readyz")->status, 200);
}

TEST_F(ServerTest, DrainEndsTheWaitForAVersion) {
  auto server = Server::Create(Options());
  ASSERT_TRUE(server.ok());
  Status started;
  std::thread starter([&] { started = (*server)->Start(); });
  (*server)->Drain();
  starter.join();
  EXPECT_EQ(started.code(), Code::kCancelled);
  EXPECT_TRUE((*server)->WaitForTermination().ok());
}

TEST_F(ServerTest, StartErrors) {
  ServerOptions options = Options();
  options.model_base_path = "";
  EXPECT_THAT(Server::Create(options).status().ToString(), HasSubstr("model_base_path"));
  options = Options();
  options.port = 0;
  EXPECT_THAT(Server::Create(options).status().ToString(), HasSubstr("--grpc_socket_path"));
  options.port = options.rest_api_port = 8500;
  EXPECT_EQ(Server::Create(options).status().code(), Code::kInvalidArgument);
  options = Options();
  options.worker_threads = 1'000'000;
  EXPECT_THAT(Server::Create(options).status().ToString(),
              HasSubstr("--worker_threads is 1000000"));

  options = Options();
  options.model_base_path = JoinPath(root_, "nowhere");
  auto server = Server::Create(options);
  ASSERT_TRUE(server.ok());
  const Status missing = (*server)->Start();
  EXPECT_EQ(missing.code(), Code::kNotFound);
  EXPECT_THAT(std::string(missing.message()), HasSubstr("nowhere"));

  WriteVersion(1);
  StartServer();
  options = Options();
  options.port = server_->grpc_port();
  server = Server::Create(options);
  ASSERT_TRUE(server.ok());
  const Status busy = (*server)->Start();
  EXPECT_EQ(busy.code(), Code::kUnavailable);
  EXPECT_THAT(std::string(busy.message()), HasSubstr(StrCat(server_->grpc_port())));
}

TEST_F(ServerTest, AFirstVersionThatCannotBeLoadedIsAStartError) {
  const std::string directory = JoinPath(base_, "00000123");
  std::filesystem::create_directories(directory);
  // One MetaGraph that is no message: complete as a file, wrong as a model.
  ASSERT_TRUE(WriteFile(Env::Default(), JoinPath(directory, "saved_model.pb"),
                        std::string("\x08\x01\x12\x00", 4))
                  .ok());
  auto server = Server::Create(Options());
  ASSERT_TRUE(server.ok());
  const Status started = (*server)->Start();
  EXPECT_THAT(started.ToString(), HasSubstr("1 servable(s) did not become available"));
  EXPECT_THAT(started.ToString(), HasSubstr("version 123"));
}

TEST_F(ServerTest, PollZeroLooksOnce) {
  WriteVersion(1);
  ServerOptions options = Options();
  options.file_system_poll_wait_seconds = 0;
  StartServer(options);
  WriteVersion(2);
  // Nothing can be waited for here but answers; the policy that 2 would be loaded by now is tested
  // above.
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(Rest()->Request("GET", "/v1/models/m/versions/2")->status, 404);
  }
}

TEST_F(ServerTest, DrainFinishesWhatRuns) {
  WriteModel(1, PowerModel());
  ServerOptions options = Options();
  options.drain_timeout_seconds = 240;  // a sanitizer on a busy machine is slow
  StartServer(options);
  ModelSpecView spec;
  spec.name = "m";
  Tensor x(DType::kFloat, Shape({400, 400}));
  for (float& value : x.flat<float>()) value = 0.001f;
  StatusOr<std::unique_ptr<GrpcAnswer>> answer = UnknownError("not asked");
  std::thread client([&] { answer = CallPredict(Grpc().get(), spec, {{"x", x}}); });
  auto rest = Rest();
  const std::string running = ":slipway:serving:pending_predictions 1";
  for (;;) {
    const auto page = rest->Request("GET", "/metrics");
    ASSERT_TRUE(page.ok());
    if (page->body.find(running) != std::string::npos) break;
    // It may have been too quick for us to see.
    if (page->body.find("status=\"OK\"} 1") != std::string::npos) break;
  }
  const int port = server_->rest_port();
  server_->Drain();
  EXPECT_TRUE(server_->WaitForTermination().ok());
  client.join();
  EXPECT_TRUE(answer.ok()) << answer.status().ToString();
  auto late = net::HttpClient::Lazy("127.0.0.1", port);
  EXPECT_FALSE(late->Request("GET", "/healthz").ok());
  EXPECT_EQ(late->last_failure(), net::TransportFailure::kRefused);
}

// A run on an event loop is waited for when the loops stop: it must be told before.
TEST_F(ServerTest, StoppingEndsWhatRunsOnALoop) {
  formats::ModelExport model;
  ir::Function& body = model.call_inference.body;
  body.name = "call";
  ir::GraphBuilder builder(&body.graph);
  ir::Output product = *body.AddArg("x", DType::kFloat, PartialShape({-1, 250}));
  Tensor zeros(DType::kFloat, Shape({250, 250}));
  std::fill_n(zeros.flat<float>().data(), zeros.num_elements(), 0.0f);
  const ir::Output weights = builder.Const(zeros);
  for (int i = 0; i < 500; ++i) product = builder.Op("MatMul", {product, weights});
  ASSERT_TRUE(builder.ok()) << builder.status().ToString();
  body.returns.push_back({"product", product});
  model.signatures = {{"serving_default", {"x"}, {"product"}}};
  WriteModel(1, model);
  ServerOptions options = Options();
  options.inline_limit_us = int64_t{1} << 40;
  options.drain_timeout_seconds = 0;
  StartServer(options);
  ModelSpecView spec;
  spec.name = "m";
  std::atomic<bool> failed{false};
  std::thread client([&] { failed = !CallPredict(Grpc().get(), spec, {{"x", zeros}}).ok(); });
  server_->Drain();
  EXPECT_TRUE(server_->WaitForTermination().ok());
  client.join();
  EXPECT_TRUE(failed);
}

TEST_F(ServerTest, ADeadlineEndsALongRun) {
  WriteModel(1, PowerModel());
  ServerOptions options = Options();
  options.rest_api_timeout_in_ms = 1;
  StartServer(options);
  std::string body = "{\"inputs\": [";
  for (int i = 0; i < 500; ++i) {
    body += i == 0 ? "[" : ",[";
    for (int j = 0; j < 500; ++j) body += j == 0 ? "1" : ",1";
    body += "]";
  }
  const auto answer = Rest()->Request("POST", "/v1/models/m:predict", body + "]}");
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->status, 504) << answer->body.substr(0, 200);
}

TEST_F(ServerTest, OverloadIsSaidAtOnce) {
  WriteModel(1, PowerModel());
  ServerOptions options = Options();
  options.max_pending = 0;
  StartServer(options);
  const auto answer =
      Rest()->Request("POST", "/v1/models/m:predict", R"({"inputs": [[1.0, 2.0], [3.0, 4.0]]})");
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->status, 503);
  EXPECT_THAT(answer->body, HasSubstr("overloaded"));
}

TEST_F(ServerTest, AUnixSocketBesideThePort) {
  WriteVersion(1);
  ServerOptions options = Options();
  options.grpc_socket_path = JoinPath(root_, "socket");
  StartServer(options);
  EXPECT_TRUE(std::filesystem::is_socket(options.grpc_socket_path));
  // A second server does not take it from the first.
  ServerOptions second = options;
  auto other = Server::Create(second);
  ASSERT_TRUE(other.ok());
  EXPECT_THAT((*other)->Start().ToString(), HasSubstr("is in use by another process"));
  server_.reset();
  EXPECT_FALSE(std::filesystem::exists(options.grpc_socket_path));
}

TEST_F(ServerTest, TheMonitoringConfigSaysWhereTheMetricsAre) {
  WriteVersion(1);
  ServerOptions options = Options();
  options.monitoring_config_file = JoinPath(root_, "monitoring.txt");
  const auto write = [&](std::string_view text) {
    ASSERT_TRUE(WriteFile(Env::Default(), options.monitoring_config_file, text).ok());
  };
  write("prometheus_config {\n  enable: yes, please\n}");
  EXPECT_THAT(Server::Create(options).status().ToString(),
              HasSubstr("Error parsing text-format tensorflow.serving.MonitoringConfig: 2:"));
  write("prometheus_config { enable: true path: \"/my/metrics\" }");
  StartServer(options);
  EXPECT_EQ(Rest()->Request("GET", "/my/metrics")->status, 200);
  EXPECT_EQ(Rest()->Request("GET", "/metrics")->status, 200);
  EXPECT_EQ(Rest()->Request("GET", "/monitoring/prometheus/metrics")->status, 404);
}

TEST_F(ServerTest, ACheckLoadsAndOpensNoPort) {
  WriteVersion(1);
  ServerOptions options = Options();
  options.check_only = true;
  const auto check = [](const ServerOptions& checked) {
    auto server = Server::Create(checked);
    if (!server.ok()) return server.status().ToString();
    const Status status = (*server)->Start();
    EXPECT_EQ((*server)->grpc_port(), 0);
    return status.ToString();
  };
  EXPECT_EQ(check(options), "OK");
  std::filesystem::remove_all(JoinPath(base_, "1"));
  EXPECT_EQ(check(options),
            "UNKNOWN: 1 model(s) did not become available: {{name: m has no available version}}");
  options.model_base_path = JoinPath(root_, "nowhere");
  EXPECT_THAT(check(options), HasSubstr("NOT_FOUND: The base path"));
}

}  // namespace
}  // namespace slipway::serve
