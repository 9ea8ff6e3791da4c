// SPDX-License-Identifier: Apache-2.0
#include "serve/server.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <span>
#include <thread>

#include "base/duration.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/thread_pool.h"
#include "net/server.h"
#include "net/socket.h"
#include "proto/monitoring_config.pb.h"
#include "proto/ssl_config.pb.h"
#include "serve/grpc_api.h"
#include "serve/model_config_file.h"
#include "serve/rest_api.h"
#include "serve/text_format.h"
#include "serve/version_watcher.h"
#include "serve/warmup.h"

namespace slipway::serve {
namespace {

// The models of the options, with those of the config file read into options->models.
Status ReadModels(ServerOptions* options, std::string* config_text) {
  if (!options->model_config_file.empty()) {
    Env* env = options->env != nullptr ? options->env : Env::Default();
    ASSIGN_OR_RETURN(*config_text, ReadFile(env, options->model_config_file));
    ASSIGN_OR_RETURN(ModelList models, ParseModelConfigFile(*config_text));
    options->models = models ? *std::move(models) : std::vector<ModelConfig>();
    return OkStatus();
  }
  if (!options->models.empty()) return OkStatus();
  if (options->model_base_path.empty()) {
    return InvalidArgumentError(
        "There is no model to serve; set --model_base_path or --model_config_file");
  }
  options->models = {{options->model_name, options->model_base_path, {}, {}}};
  return OkStatus();
}

constexpr int32_t kMaxThreads = 1024;

Status CheckOptions(const ServerOptions& options) {
  if (options.port == 0 && options.grpc_socket_path.empty()) {
    return InvalidArgumentError(
        "At least one of --port (grpc_port) and --grpc_socket_path must be set");
  }
  for (const auto& [flag, port] :
       {std::pair{"--port", options.port}, std::pair{"--rest_api_port", options.rest_api_port}}) {
    if (port < ServerOptions::kAnyPort || port > 65535)
      return InvalidArgumentError(StrCat(flag, " is ", port, "; a TCP port is 1 to 65535"));
  }
  if (options.port == options.rest_api_port && options.port > 0) {
    return InvalidArgumentError(
        StrCat("--port and --rest_api_port are both ", options.port, "; give them different ones"));
  }
  for (const auto& [flag, threads] :
       {std::pair{"--loops", options.loops}, std::pair{"--worker_threads", options.worker_threads},
        std::pair{"--num_load_threads", options.num_load_threads}}) {
    if (threads < 0 || threads > kMaxThreads)
      return InvalidArgumentError(StrCat(flag, " is ", threads, "; wanted 0 to ", kMaxThreads));
  }
  return OkStatus();
}

// Where Prometheus finds the metrics; empty: nowhere.
StatusOr<std::string> MetricsPath(const ServerOptions& options) {
  constexpr std::string_view kDefault = "/monitoring/prometheus/metrics";
  if (options.monitoring_config_file.empty()) return std::string(kDefault);
  Env* env = options.env != nullptr ? options.env : Env::Default();
  ASSIGN_OR_RETURN(const std::string text, ReadFile(env, options.monitoring_config_file));
  tensorflow::serving::MonitoringConfig config;
  RETURN_IF_ERROR(ParseTextFormat(text, &config));
  if (!config.prometheus_config().enable()) return std::string();
  const std::string& path = config.prometheus_config().path();
  return path.empty() ? std::string(kDefault) : path;
}

// Null: no TLS.
StatusOr<std::shared_ptr<const net::TlsContext>> TlsFrom(const ServerOptions& options) {
  std::shared_ptr<const net::TlsContext> none;
  if (options.ssl_config_file.empty()) {
    if (options.rest_api_ssl)
      return InvalidArgumentError("--rest_api_ssl wants the certificates of an --ssl_config_file");
    return none;
  }
  Env* env = options.env != nullptr ? options.env : Env::Default();
  ASSIGN_OR_RETURN(const std::string text, ReadFile(env, options.ssl_config_file));
  tensorflow::serving::SSLConfig config;
  RETURN_IF_ERROR(ParseTextFormat(text, &config));
  auto context = net::TlsContext::Create(
      {config.server_cert(), config.server_key(), config.custom_ca(), config.client_verify()});
  if (!context.ok()) return context.status().WithContext(options.ssl_config_file);
  return context;
}

LifecycleOptions LifecycleFrom(const ServerOptions& options) {
  LifecycleOptions lifecycle;
  lifecycle.max_retries = options.max_num_load_retries;
  const int64_t micros =
      std::clamp<int64_t>(options.load_retry_interval_micros, 1'000, int64_t{1} << 40);
  lifecycle.max_retry_ns = micros * 1000;
  lifecycle.first_retry_ns = std::min(lifecycle.first_retry_ns, lifecycle.max_retry_ns);
  return lifecycle;
}

StatusOr<model::LoadOptions> LoadOptionsFrom(const ServerOptions& options) {
  model::LoadOptions load;
  RETURN_IF_ERROR(options.load.Apply(&load));
  load.tags.clear();
  // Off, because a model comes from anywhere, and clients name the files.
  load.allow_file_ops = options.allow_file_ops;
  for (const std::string_view tag : StrSplit(options.saved_model_tags, ','))
    if (!tag.empty()) load.tags.emplace_back(tag);
  return load;
}

}  // namespace

struct Server::State {
  explicit State(ServerOptions o)
      : options(std::move(o)), families(&metrics), watcher(options.file_system_poll_wait_seconds) {}

  Status Prepare();
  Status ProbePorts() const;
  Status WaitUntilReady();
  Status SettleVersions();
  Status Check();
  Status OpenPorts();
  StatusOr<std::unique_ptr<net::Server>> Listen(int32_t port, net::HttpHandler http,
                                                net::GrpcMethods grpc);
  void DrainServers(std::span<net::Server* const> servers);
  void Close();

  ServerOptions options;
  std::string config_text;
  std::shared_ptr<const net::TlsContext> tls;
  MetricsRegistry metrics;
  ServeMetrics families;
  std::unique_ptr<Workers> workers;
  VersionWatcher watcher;
  std::unique_ptr<ModelManager> manager;
  std::unique_ptr<ConfigReload> reload;
  std::unique_ptr<RestApi> rest;
  std::unique_ptr<GrpcApi> grpc;
  std::shared_ptr<net::EventLoopGroup> loops;
  std::unique_ptr<net::Server> grpc_server;
  std::unique_ptr<net::Server> socket_server;
  std::unique_ptr<net::Server> rest_server;
  std::atomic<int> grpc_port{0};  // may be asked for while ports open and close
  std::atomic<int> rest_port{0};
  std::atomic<bool> accepting{false};
  std::atomic<bool> cancelled{false};
  std::atomic<bool> stopping{false};

  std::mutex mutex;
  std::condition_variable changed;
  bool draining = false;  // mutex
  bool closed = false;
};

StatusOr<std::unique_ptr<Server>> Server::Create(ServerOptions options) {
  RETURN_IF_ERROR(CheckOptions(options));
  auto state = std::make_unique<State>(std::move(options));
  RETURN_IF_ERROR(state->Prepare());
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}

Server::~Server() {
  Drain();
  WaitForTermination().IgnoreError();  // there is nobody to tell
}

Status Server::State::Prepare() {
  RETURN_IF_ERROR(ReadModels(&options, &config_text));
  ASSIGN_OR_RETURN(const std::string metrics_path, MetricsPath(options));
  ASSIGN_OR_RETURN(tls, TlsFrom(options));
  const int threads = options.worker_threads > 0 ? options.worker_threads : 4 * AvailableCpus();
  workers = std::make_unique<Workers>(threads, options.max_pending, families.pending());
  Env* env = options.env != nullptr ? options.env : Env::Default();
  ModelManagerOptions manager_options;
  manager_options.env = env;
  manager_options.lifecycle = LifecycleFrom(options);
  manager_options.metrics = &families;
  manager_options.load_threads = std::max(1, options.num_load_threads);
  ASSIGN_OR_RETURN(const model::LoadOptions load, LoadOptionsFrom(options));
  const WarmupOptions warmup{options.enable_model_warmup,
                             options.num_request_iterations_for_warmup};
  manager_options.load = [env, load, warmup, this](
                             const ModelConfig& model, int64_t version,
                             const std::string& directory) -> StatusOr<std::unique_ptr<Servable>> {
    ASSIGN_OR_RETURN(auto servable, LoadServable(env, version, directory, load));
    const int64_t start = Clock::Default()->NowNanos();
    const StatusOr<int64_t> records = ReplayWarmup(env, directory, warmup, servable.get());
    families.CountWarmup(model.base_path, records.status().code(), records.ok() ? *records : 0,
                         Clock::Default()->NowNanos() - start);
    RETURN_IF_ERROR(records.status());
    return servable;
  };
  manager_options.wake = [this] { watcher.Wake(); };
  ASSIGN_OR_RETURN(manager, ModelManager::Create(options.models, std::move(manager_options)));
  reload = std::make_unique<ConfigReload>(
      manager.get(), ConfigReloadOptions{env, options.model_config_file, config_text,
                                         options.model_config_file_poll_wait_seconds,
                                         options.allow_version_labels_for_unavailable_models});
  FrontEnd front;
  front.manager = manager.get();
  front.reload = reload.get();
  front.workers = workers.get();
  front.metrics = &metrics;
  front.metrics_path = metrics_path;
  front.accepting = &accepting;
  front.cancelled = &cancelled;
  front.inline_limit_ns = NanosFrom(static_cast<double>(options.inline_limit_us), 1'000);
  front.rest_timeout_ns = int64_t{options.rest_api_timeout_in_ms} * 1'000'000;
  front.routes = options.routes;
  if (!options.models.empty()) front.default_model = options.models[0].name;
  front.cors = options.rest_api_enable_cors_support;
  front.check_method_names = options.enable_signature_method_name_check;
  front.content_encoding = options.enable_serialization_as_tensor_content;
  rest = std::make_unique<RestApi>(front);
  grpc = std::make_unique<GrpcApi>(front);
  return OkStatus();
}

StatusOr<std::unique_ptr<net::Server>> Server::State::Listen(int32_t port, net::HttpHandler http,
                                                             net::GrpcMethods grpc_methods) {
  net::ServerOptions listen;
  listen.address = options.address;
  listen.port = port == ServerOptions::kAnyPort ? 0 : port;
  if (!grpc_methods.empty() || options.rest_api_ssl) listen.tls = tls;
  return net::Server::Start(loops, listen, std::move(http), std::move(grpc_methods));
}

// A busy port is better known before minutes of loading. Nothing may be able to connect yet: that
// is what says that the models are available.
Status Server::State::ProbePorts() const {
  for (const int32_t port : {options.port, options.rest_api_port}) {
    if (port <= 0) continue;
    RETURN_IF_ERROR(net::ProbeTcp(options.address, port));
  }
  return OkStatus();
}

Status Server::State::WaitUntilReady() {
  Status ready = UnavailableError("");
  watcher.Start(manager.get(), [this, &ready] {
    std::lock_guard lock(mutex);
    if (closed) return;
    ready = manager->Ready();
    changed.notify_all();
  });
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return draining || ready.code() != Code::kUnavailable; });
  closed = true;  // `ready` is not written any more
  if (draining) return CancelledError("The server was stopped before its model was available");
  return ready;
}

// One version of each model is there; who asked for several, or for labels, waits for them, but
// not for ever: a version may be half copied.
Status Server::State::SettleVersions() {
  constexpr std::chrono::seconds kLimit(30);
  const bool one_each = std::ranges::all_of(options.models, [](const ModelConfig& model) {
    return model.labels.empty() && model.policy.Limit() == 1;
  });
  if (one_each) return OkStatus();
  const Status settled = manager->WaitUntilSettled(kLimit, stopping);
  if (settled.code() == Code::kCancelled) return settled;
  if (!settled.ok()) LOG_WARNING(settled.message());
  return manager->AssignLabels(options.allow_version_labels_for_unavailable_models);
}

Status Server::State::Check() {
  manager->Tick(/*scan=*/true);
  watcher.Start(manager.get(), [] {});
  RETURN_IF_ERROR(manager->WaitUntilSettled(std::chrono::hours(1), stopping));
  return manager->AssignLabels(options.allow_version_labels_for_unavailable_models);
}

Status Server::State::OpenPorts() {
  if (options.port != 0) {
    ASSIGN_OR_RETURN(grpc_server, Listen(options.port, {},
                                         grpc->Methods(options.enable_grpc_healthcheck_service)));
    grpc_port = grpc_server->port();
    LOG_INFO("gRPC on port ", grpc_server->port());
  }
  if (!options.grpc_socket_path.empty()) {
    net::ServerOptions listen;
    listen.unix_path = options.grpc_socket_path;
    ASSIGN_OR_RETURN(socket_server,
                     net::Server::Start(loops, listen, {},
                                        grpc->Methods(options.enable_grpc_healthcheck_service)));
    LOG_INFO("gRPC on the Unix socket ", options.grpc_socket_path);
  }
  if (options.rest_api_port != 0) {
    const auto handler = [api = rest.get()](net::HttpRequest& request,
                                            net::HttpResponder responder) {
      api->Handle(request, std::move(responder));
    };
    ASSIGN_OR_RETURN(rest_server, Listen(options.rest_api_port, handler, {}));
    rest_port = rest_server->port();
    LOG_INFO("REST on port ", rest_server->port());
  }
  std::lock_guard lock(mutex);
  if (draining) return CancelledError("The server was stopped before its ports were open");
  accepting = true;
  return OkStatus();
}

Status Server::Start() {
  State& s = *state_;
  Env* env = s.options.env != nullptr ? s.options.env : Env::Default();
  for (const ModelConfig& model : s.options.models) {
    const auto base = env->Stat(model.base_path);
    if (base.ok() && base->is_directory) continue;
    return NotFoundError(StrCat(
        "The base path ", model.base_path, " of model ", model.name, " is no directory (",
        base.ok() ? "it is a file" : base.status().message(), "); create it, or correct the path"));
  }
  if (s.options.check_only) return s.Check();
  ASSIGN_OR_RETURN(s.loops, net::EventLoopGroup::Start(s.options.loops));
  RETURN_IF_ERROR(s.ProbePorts());
  RETURN_IF_ERROR(s.WaitUntilReady());
  RETURN_IF_ERROR(s.SettleVersions());
  return s.OpenPorts();
}

int Server::grpc_port() const { return state_->grpc_port; }

int Server::rest_port() const { return state_->rest_port; }

void Server::Drain() {
  std::lock_guard lock(state_->mutex);
  state_->accepting = false;
  state_->stopping = true;
  state_->draining = true;
  state_->changed.notify_all();
}

Status Server::WaitForTermination() {
  State& s = *state_;
  {
    std::unique_lock lock(s.mutex);
    s.changed.wait(lock, [&] { return s.draining; });
  }
  s.Close();
  return OkStatus();
}

// Waits for what runs; what is not done in time is cancelled. By a thread of its own, for a loop
// that runs a request lets nobody else start to drain it.
void Server::State::DrainServers(std::span<net::Server* const> servers) {
  const int64_t timeout = NanosFrom(options.drain_timeout_seconds, 1'000'000'000);
  const int64_t end = Clock::Default()->NowNanos() + timeout;
  std::promise<void> drained;
  std::thread limit([this, timeout, done = drained.get_future()] {
    done.wait_for(std::chrono::nanoseconds(timeout));
    cancelled = true;
  });
  for (net::Server* server : servers) {
    if (server != nullptr) server->StartDraining();
  }
  for (net::Server* server : servers) {
    if (server == nullptr) continue;
    const int64_t left = std::max<int64_t>(0, end - Clock::Default()->NowNanos());
    const Status answered = server->WaitDrained(std::chrono::milliseconds(left / 1'000'000));
    if (!answered.ok()) LOG_WARNING("Not everything was answered in time: ", answered.message());
  }
  drained.set_value();
  limit.join();
}

void Server::State::Close() {
  if (manager == nullptr) return;
  net::Server* servers[] = {grpc_server.get(), socket_server.get(), rest_server.get()};
  DrainServers(servers);
  reload->Stop();
  for (net::Server* server : servers)
    if (server != nullptr) server->Stop();
  watcher.Stop();
  workers.reset();  // runs what waits: leases come back
  manager->Stop();
  manager.reset();
  grpc_port = rest_port = 0;
  grpc_server.reset();
  socket_server.reset();
  rest_server.reset();
  loops.reset();
  LOG_INFO("The server has stopped");
}

}  // namespace slipway::serve
