// SPDX-License-Identifier: Apache-2.0
#include "serve/flags.h"

#include <algorithm>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway::serve {
namespace {

// The flags of tensorflow_model_server 2.20.
constexpr const char* kStock[] = {
    "port",
    "grpc_socket_path",
    "rest_api_port",
    "rest_api_num_threads",
    "rest_api_timeout_in_ms",
    "rest_api_enable_cors_support",
    "grpc_max_threads",
    "grpc_channel_arguments",
    "enable_grpc_healthcheck_service",
    "model_name",
    "model_base_path",
    "model_config_file",
    "model_config_file_poll_wait_seconds",
    "allow_version_labels_for_unavailable_models",
    "file_system_poll_wait_seconds",
    "num_load_threads",
    "num_unload_threads",
    "max_num_load_retries",
    "load_retry_interval_micros",
    "flush_filesystem_caches",
    "saved_model_tags",
    "remove_unused_fields_from_bundle_metagraph",
    "enable_signature_method_name_check",
    "enable_batching",
    "batching_parameters_file",
    "enable_per_model_batching_parameters",
    "tensorflow_session_parallelism",
    "tensorflow_intra_op_parallelism",
    "tensorflow_inter_op_parallelism",
    "tensorflow_session_config_file",
    "per_process_gpu_memory_fraction",
    "platform_config_file",
    "xla_cpu_compilation_enabled",
    "xla_gpu_compilation_enabled",
    "mixed_precision",
    "thread_pool_factory_config_file",
    "skip_initialize_tpu",
    "enable_serialization_as_tensor_content",
    "prefer_tflite_model",
    "num_tflite_pools",
    "num_tflite_interpreters_per_pool",
    "enable_model_warmup",
    "num_request_iterations_for_warmup",
    "monitoring_config_file",
    "ssl_config_file",
    "use_alts_credentials",
    "enable_profiler",
};

TEST(ServeFlags, EveryFlagOfTensorFlowServingIsTaken) {
  ServerOptions options;
  std::vector<UnusedFlag> unused = UnusedFlags();
  const std::vector<Flag> table = ServeFlags(&options, &unused);
  for (const char* name : kStock)
    EXPECT_NE(std::ranges::find(table, name, &Flag::name), table.end()) << name;
}

TEST(ServeFlags, WhatHasNoEffectIsSaidIfItIsGiven) {
  ServerOptions options;
  std::vector<UnusedFlag> unused = UnusedFlags();
  FlagSet flags("serve", "", ServeFlags(&options, &unused));
  ASSERT_TRUE(flags
                  .Parse(std::vector<std::string>{"--enable_profiler", "--grpc_max_threads=8",
                                                  "--flush_filesystem_caches=false"})
                  .ok());
  EXPECT_THAT(
      UnusedFlagNotices(unused),
      testing::ElementsAre(testing::StartsWith("--grpc_max_threads has no effect: "),
                           testing::StartsWith("--flush_filesystem_caches has no effect: ")));
  EXPECT_TRUE(CheckFlags(unused).ok());
}

}  // namespace
}  // namespace slipway::serve
