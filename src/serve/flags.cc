// SPDX-License-Identifier: Apache-2.0
#include "serve/flags.h"

#include <algorithm>
#include <iterator>

#include "base/strings.h"

namespace slipway::serve {
namespace {

constexpr const char* kLoops =
    "requests run on event loops (--loops) and workers (--worker_threads)";
constexpr const char* kPool = "one pool of threads, one a processor, is shared by all models";
constexpr const char* kNoXla = "graphs are compiled by this program's own passes";
constexpr const char* kNoBatching = "each request runs for itself";
constexpr const char* kNoTflite = "TFLite models are not supported; the SavedModel is served";

struct Row {
  const char* name;
  const char* why;
};
constexpr Row kTexts[] = {
    {"rest_api_num_threads", kLoops},
    {"grpc_max_threads", kLoops},
    {"grpc_channel_arguments", "connections have limits of their own"},
    {"num_unload_threads", "versions are freed on the threads that load"},
    {"tensorflow_session_parallelism", kPool},
    {"tensorflow_intra_op_parallelism", kPool},
    {"tensorflow_inter_op_parallelism", kPool},
    {"tensorflow_session_config_file", kPool},
    {"thread_pool_factory_config_file", kPool},
    {"platform_config_file", "there is one platform, \"tensorflow\""},
    {"per_process_gpu_memory_fraction", "models run on the CPU"},
    {"mixed_precision", "graphs run in the types that they are written in"},
    {"batching_parameters_file", kNoBatching},
    {"num_tflite_pools", kNoTflite},
    {"num_tflite_interpreters_per_pool", kNoTflite},
};
struct BoolRow {
  const char* name;
  const char* why;
  bool on_by_default;
};
constexpr BoolRow kBools[] = {
    {"enable_batching", kNoBatching, false},
    {"enable_per_model_batching_parameters", kNoBatching, false},
    {"enable_profiler", "there is no profiler service", true},
    {"flush_filesystem_caches", "files are read once and not kept", true},
    {"remove_unused_fields_from_bundle_metagraph", "what a graph does not need is not kept", true},
    {"prefer_tflite_model", kNoTflite, false},
    {"skip_initialize_tpu", "models run on the CPU", false},
    {"use_alts_credentials", "", false},
    {"xla_cpu_compilation_enabled", kNoXla, false},
    {"xla_gpu_compilation_enabled", kNoXla, false},
};

const UnusedFlag& Find(const std::vector<UnusedFlag>& unused, std::string_view name) {
  return *std::ranges::find(unused, name, &UnusedFlag::name);
}

bool Given(const UnusedFlag& flag) {
  return flag.is_bool ? flag.on != flag.on_by_default : !flag.text.empty();
}

}  // namespace

std::vector<UnusedFlag> UnusedFlags() {
  std::vector<UnusedFlag> flags;
  for (const Row& row : kTexts) flags.push_back({row.name, row.why});
  for (const BoolRow& row : kBools)
    flags.push_back({row.name, row.why, true, row.on_by_default, "", row.on_by_default});
  return flags;
}

std::vector<Flag> ServeFlags(ServerOptions* o, std::vector<UnusedFlag>* unused) {
  std::vector<Flag> table = {
      {"port", &o->port, "TCP port of gRPC; 0 is none"},
      {"grpc_socket_path", &o->grpc_socket_path, "Unix socket of gRPC; empty is none"},
      {"rest_api_port", &o->rest_api_port, "TCP port of the REST API; 0 is none"},
      {"model_name", &o->model_name, "Name under which clients ask for the model"},
      {"model_base_path", &o->model_base_path,
       "Directory that holds one directory a version, such as 1 and 2"},
      {"model_config_file", &o->model_config_file,
       "Protobuf text file of the models to serve (ModelServerConfig), with version policies and "
       "labels; wins over --model_base_path"},
      {"model_config_file_poll_wait_seconds", &o->model_config_file_poll_wait_seconds,
       "How often to look whether the config file has changed; 0 is never"},
      {"allow_version_labels_for_unavailable_models",
       &o->allow_version_labels_for_unavailable_models,
       "Let a new label name a version that is not available"},
      {"file_system_poll_wait_seconds", &o->file_system_poll_wait_seconds,
       "How often to look for versions where changes cannot be watched; 0 looks once, at the "
       "start, a negative number never"},
      {"saved_model_tags", &o->saved_model_tags, "Comma-separated tags of the MetaGraph to load"},
      {"max_num_load_retries", &o->max_num_load_retries,
       "Retries of a failed load, after which only a change of its files helps; -1 is for ever"},
      {"load_retry_interval_micros", &o->load_retry_interval_micros,
       "Longest wait between two retries, in microseconds; the first waits are shorter"},
      {"enable_model_warmup", &o->enable_model_warmup,
       "Replay the recorded requests of a version before it serves"},
      {"num_request_iterations_for_warmup", &o->num_request_iterations_for_warmup,
       "How often each of them is replayed; 0 is once"},
      {"num_load_threads", &o->num_load_threads, "Versions loaded at a time; 0 is one"},
      {"ssl_config_file", &o->ssl_config_file,
       "Protobuf text file with the certificates of the gRPC port (SSLConfig); with it the port "
       "speaks TLS only"},
      {"rest_api_ssl", &o->rest_api_ssl,
       "The REST port speaks TLS too, with the same certificates"},
      {"monitoring_config_file", &o->monitoring_config_file,
       "Protobuf text file that says where Prometheus finds the metrics (MonitoringConfig)"},
      {"rest_api_timeout_in_ms", &o->rest_api_timeout_in_ms,
       "Milliseconds after which a REST request is answered 504; 0 is never"},
      {"rest_api_enable_cors_support", &o->rest_api_enable_cors_support,
       "Let web pages of any origin call the REST API"},
      {"enable_grpc_healthcheck_service", &o->enable_grpc_healthcheck_service,
       "Answer grpc.health.v1.Health/Check"},
      {"enable_signature_method_name_check", &o->enable_signature_method_name_check,
       "Refuse Classify and Regress for signatures of another method"},
      {"enable_serialization_as_tensor_content", &o->enable_serialization_as_tensor_content,
       "Answer gRPC with tensor_content instead of typed values"},
      {"allow_file_ops", &o->allow_file_ops,
       "Serve models whose signatures read or write files: for models and callers that you trust"},
      {"address", &o->address, "IP address to listen at; empty is all of the machine"},
      {"loops", &o->loops, "Event loops; 0 is one a processor"},
      {"worker_threads", &o->worker_threads,
       "Threads for models and bodies too large for an event loop; 0 is four a processor"},
      {"max_pending", &o->max_pending,
       "Predictions waiting for or running on a worker thread; more are answered UNAVAILABLE"},
      {"inline_limit_us", &o->inline_limit_us,
       "Predictions expected to take longer, in microseconds, run on a worker thread"},
      {"check", &o->check_only,
       "Check flags, config files and models, which are loaded, and exit: 0 if all is well"},
      {"drain_timeout_seconds", &o->drain_timeout_seconds,
       "How long running requests may take after the signal to stop"},
  };
  std::vector<Flag> of_load = o->load.Table();
  std::move(of_load.begin(), of_load.end(), std::back_inserter(table));
  for (UnusedFlag& flag : *unused) {
    const std::string help = StrCat("Accepted without effect: ", flag.why);
    if (flag.is_bool)
      table.push_back({flag.name, &flag.on, help});
    else
      table.push_back({flag.name, &flag.text, help});
  }
  return table;
}

std::vector<std::string> UnusedFlagNotices(const std::vector<UnusedFlag>& unused) {
  std::vector<std::string> notices;
  for (const UnusedFlag& flag : unused) {
    if (Given(flag)) notices.push_back(StrCat("--", flag.name, " has no effect: ", flag.why));
  }
  return notices;
}

Status CheckFlags(const std::vector<UnusedFlag>& unused) {
  const auto given = [&](std::string_view name) { return Given(Find(unused, name)); };
  if (given("use_alts_credentials")) {
    return InvalidArgumentError(
        "--use_alts_credentials is not supported: the port would be less safe than asked for");
  }
  if (given("tensorflow_session_parallelism") &&
      (given("tensorflow_intra_op_parallelism") || given("tensorflow_inter_op_parallelism"))) {
    return InvalidArgumentError(
        "--tensorflow_session_parallelism and --tensorflow_intra_op_parallelism or "
        "--tensorflow_inter_op_parallelism exclude each other; give one or the others");
  }
  if (given("batching_parameters_file") && !given("enable_batching")) {
    return InvalidArgumentError("--batching_parameters_file is given without --enable_batching");
  }
  return OkStatus();
}

}  // namespace slipway::serve
