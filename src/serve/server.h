// SPDX-License-Identifier: Apache-2.0
//
// The model server: loads a model's versions, serves them over REST and gRPC, and follows what
// happens in the base path.
//
//   ServerOptions options;
//   ASSIGN_OR_RETURN(auto server, Server::Create(options));
//   RETURN_IF_ERROR(server->Start());              // ports are open, the model answers
//   RETURN_IF_ERROR(server->WaitForTermination()); // until another thread calls Drain()
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/env.h"
#include "model/load_flags.h"
#include "serve/container_routes.h"
#include "serve/model_config.h"
#include "slipway/status.h"

namespace slipway::serve {

struct ServerOptions {
  static constexpr int32_t kAnyPort = -1;  // a free one, see grpc_port() and rest_port()

  // An IP address, or "" for all of the machine.
  std::string address;
  int32_t port = 8500;           // gRPC; 0: none
  std::string grpc_socket_path;  // a Unix socket for gRPC; empty: none
  int32_t rest_api_port = 0;     // REST; 0: none
  std::string model_name = "default";
  std::string model_base_path;
  // A file with the models, served instead of the model above; it wins over both.
  std::string model_config_file;
  double model_config_file_poll_wait_seconds = 0;  // 0: read once
  bool allow_version_labels_for_unavailable_models = false;
  // Served instead of the model above if not empty.
  std::vector<ModelConfig> models;

  // Where changes cannot be watched, the base path is looked at so often. 0: looked at once, at
  // the start; negative: never.
  double file_system_poll_wait_seconds = 1;
  std::string saved_model_tags = "serve";  // comma-separated
  model::LoadFlags load;
  // Recorded requests that lie beside a model are replayed before it serves, each so many times.
  bool enable_model_warmup = true;
  int32_t num_request_iterations_for_warmup = 0;  // 0: once
  int32_t num_load_threads = 0;                   // 0: one
  int64_t max_num_load_retries = -1;              // -1: for ever
  int64_t load_retry_interval_micros = 60'000'000;

  // The certificates of the gRPC port, and of the REST port with rest_api_ssl.
  std::string ssl_config_file;
  bool rest_api_ssl = false;
  // Says under which path the metrics are; without it, under tensorflow_model_server's default.
  std::string monitoring_config_file;
  int32_t rest_api_timeout_in_ms = 30'000;
  bool rest_api_enable_cors_support = false;
  bool enable_grpc_healthcheck_service = false;
  bool enable_signature_method_name_check = false;
  bool enable_serialization_as_tensor_content = false;

  // Models whose signatures read or write files, or reach other machines, are served too.
  bool allow_file_ops = false;

  int32_t loops = 0;               // event loops; 0: one a processor
  int32_t worker_threads = 0;      // for large models and bodies; 0: four a processor
  int64_t max_pending = 1000;      // predictions waiting for or running on a worker
  int64_t inline_limit_us = 1000;  // a model that takes longer runs on a worker
  double drain_timeout_seconds = 30;

  // Of platforms that run containers; their predictions are the first model's.
  std::vector<ContainerRoute> routes;

  // Start loads the models and opens no port.
  bool check_only = false;

  Env* env = nullptr;  // Env::Default() if null
};

// Thread safety: Drain, ports from any thread; Start and WaitForTermination from one.
class Server {
 public:
  // INVALID_ARGUMENT: no base path, no name, no gRPC port or socket, two equal ports, and as
  // ParseModelConfigFile. NOT_FOUND: no such config file.
  static StatusOr<std::unique_ptr<Server>> Create(ServerOptions options);
  // Drain and WaitForTermination.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Under check_only: OK when every model has loaded; UNKNOWN "N model(s) did not become available:
  // {…}" and AssignLabels' errors otherwise. The base paths must exist, as below.
  // Else loads, waits until the model has an available version, then opens the ports. A base path
  // without versions is waited for.
  // NOT_FOUND: the base path does not exist. UNAVAILABLE: a port is in use (found before anything
  // is loaded). FAILED_PRECONDITION "1 servable(s) did not become available: {…}": a version is
  // there that cannot be loaded. CANCELLED: Drain was called meanwhile.
  Status Start();
  // From any thread; 0 if there is none or before Start.
  int grpc_port() const;
  int rest_port() const;

  // Begins to stop and returns at once: not ready any more, no new connections, requests under way
  // are finished. May be called from any thread (not a signal handler), also during Start.
  void Drain();
  // Blocks until Drain was called and all requests were answered, or drain_timeout_seconds have
  // passed since (what still runs is then cut off, with a log line). All threads and models are
  // gone when it returns.
  Status WaitForTermination();

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace slipway::serve
