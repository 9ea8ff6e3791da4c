// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include "base/log.h"
#include "base/strings.h"
#include "cli/command.h"
#include "serve/flags.h"
#include "serve/server.h"

namespace slipway::cli {
namespace {

// Waits for SIGINT or SIGTERM on a thread of its own, where any code may run, and drains.
class SignalDrain {
 public:
  // Before any other thread is started: they inherit the blocked signals.
  SignalDrain() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    sigaddset(&signals_, kWakeUp);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }
  void Watch(serve::Server* server) {
    thread_ = std::thread([this, server] {
      int signal = 0;
      sigwait(&signals_, &signal);
      if (signal == kWakeUp) return;
      LOG_INFO("Signal ", signal, ": draining");
      server->Drain();
    });
  }
  ~SignalDrain() {
    if (!thread_.joinable()) return;
    pthread_kill(thread_.native_handle(), kWakeUp);
    thread_.join();
  }

 private:
  static constexpr int kWakeUp = SIGUSR1;
  sigset_t signals_;
  std::thread thread_;
};

Status Serve(const serve::ServerOptions& options) {
  std::unique_ptr<serve::Server> server;
  SignalDrain drain;  // ends its thread before the server goes
  ASSIGN_OR_RETURN(server, serve::Server::Create(options));
  drain.Watch(server.get());
  const Status started = server->Start();
  // Asked to stop before it was up: that is a clean end.
  if (started.code() == Code::kCancelled) return OkStatus();
  RETURN_IF_ERROR(started);
  if (options.check_only) {
    std::puts("The flags, the config files and the models are good");
    return OkStatus();
  }
  return server->WaitForTermination();
}

// Any free port is for tests: whom would a user tell which one it is?
Status CheckPorts(const serve::ServerOptions& options) {
  for (const auto& [flag, port] :
       {std::pair{"--port", options.port}, std::pair{"--rest_api_port", options.rest_api_port}}) {
    if (port >= 0 && port <= 65535) continue;
    return InvalidArgumentError(
        StrCat(flag, " is ", port, "; wanted a TCP port, 1 to 65535, or 0 for none"));
  }
  return OkStatus();
}

// The two variables of TensorFlow Serving's container image, where no flag says what to serve.
void TakeModelFromEnvironment(serve::ServerOptions* options) {
  const char* base = std::getenv("MODEL_BASE_PATH");
  if (base == nullptr || !options->model_base_path.empty() || !options->model_config_file.empty())
    return;
  const char* name = std::getenv("MODEL_NAME");
  options->model_name = name != nullptr ? name : "model";
  options->model_base_path = JoinPath(base, options->model_name);
  LOG_INFO("Serving ", options->model_base_path, ", as MODEL_BASE_PATH and MODEL_NAME say");
}

}  // namespace

int RunServe(Args args) {
  serve::ServerOptions options;
  bool version = false;
  std::vector<serve::UnusedFlag> unused = serve::UnusedFlags();
  std::vector<Flag> table = serve::ServeFlags(&options, &unused);
  table.push_back({"version", &version, "Print the version and exit"});
  bool vertex = false, sagemaker = false;
  table.push_back({"vertex", &vertex,
                   "Serve on the port and paths that Vertex AI names in AIP_HTTP_PORT, "
                   "AIP_HEALTH_ROUTE and AIP_PREDICT_ROUTE"});
  table.push_back({"sagemaker", &sagemaker,
                   "Serve SageMaker's /ping and /invocations, on port 8080 if no other is set"});
  FlagSet flags("slipway serve --model_base_path DIR [flags]",
                "Serves the versions of models (folders with a number for a name below a base "
                "path) over REST and gRPC, as TensorFlow Serving does.",
                std::move(table));
  if (const Parsed parsed = ParseFlags(&flags, "serve", args, 0); parsed.exit) return *parsed.exit;
  if (version) return PrintVersion(), kDone;
  Status status;
  if (vertex) status = serve::UseVertexRoutes(std::getenv, &options);
  if (sagemaker) serve::UseSageMakerRoutes(&options);
  if (status.ok()) status = CheckPorts(options);
  if (status.ok()) status = serve::CheckFlags(unused);
  if (status.ok()) {
    for (const std::string& notice : serve::UnusedFlagNotices(unused)) LOG_WARNING(notice);
    TakeModelFromEnvironment(&options);
    status = Serve(options);
  }
  if (status.code() == Code::kInvalidArgument) return FailUsage("serve", status);
  return status.ok() ? kDone : Fail(status);
}

}  // namespace slipway::cli
