// SPDX-License-Identifier: Apache-2.0
#include "serve/metrics.h"

namespace slipway::serve {

namespace {

constexpr const char* kApis[kMethods] = {"Predict", "Classify", "Regress"};

}  // namespace

// Two threads that find none get the same one from the family.
Histogram* ModelMetrics::Latency(Method method, Entrypoint entrypoint) {
  const auto api = static_cast<size_t>(method);
  std::atomic<Histogram*>& cell = latency_[api][static_cast<size_t>(entrypoint)];
  Histogram* found = cell.load(std::memory_order_acquire);
  if (found != nullptr) return found;
  found =
      latency_family_->Get({name_, kApis[api], entrypoint == Entrypoint::kGrpc ? "GRPC" : "REST"});
  cell.store(found, std::memory_order_release);
  return found;
}

Histogram* ModelMetrics::Runtime(Method method) {
  const auto api = static_cast<size_t>(method);
  Histogram* found = runtime_[api].load(std::memory_order_acquire);
  if (found != nullptr) return found;
  found = runtime_family_->Get({name_, kApis[api], "Slipway"});
  runtime_[api].store(found, std::memory_order_release);
  return found;
}

void ModelMetrics::CountRequest(Method method, Entrypoint entrypoint, Code code, int64_t nanos) {
  if (code != Code::kOk) {
    // Errors may take the family's lock: they are rare, and most of the codes never occur.
    request_count_->Get({name_, CodeName(code)})->Increment();
    return;
  }
  ok_->Increment();
  Latency(method, entrypoint)->Record(static_cast<double>(nanos) / 1000.0);
}

void ModelMetrics::CountRun(Method method, int64_t nanos) {
  Runtime(method)->Record(static_cast<double>(nanos) / 1000.0);
}

void ModelMetrics::CountExamples(int64_t examples) {
  examples_->Record(static_cast<double>(examples));
  examples_total_->Increment(examples);
}

ServeMetrics::ServeMetrics(MetricsRegistry* registry)
    : request_count_(registry->AddCounter(":tensorflow:serving:request_count",
                                          "Requests by model and outcome.",
                                          {"model_name", "status"})),
      request_latency_(registry->AddHistogram(
          ":tensorflow:serving:request_latency",
          "Microseconds from the whole request to the whole answer, of successful requests.",
          {"model_name", "API", "entrypoint"})),
      runtime_latency_(registry->AddHistogram(":tensorflow:serving:runtime_latency",
                                              "Microseconds that the model itself ran.",
                                              {"model_name", "API", "runtime"})),
      example_counts_(registry->AddHistogram(":tensorflow:serving:request_example_counts",
                                             "Examples in a request.", {"model"})),
      example_count_total_(registry->AddCounter(":tensorflow:serving:request_example_count_total",
                                                "Examples in all requests.", {"model"})),
      load_attempts_(registry->AddCounter(":tensorflow:cc:saved_model:load_attempt_count",
                                          "Loads of versions by outcome.",
                                          {"model_name", "status"})),
      load_latency_(registry->AddHistogram(":tensorflow:cc:saved_model:load_latency",
                                           "Microseconds that loads took, warm-up included.",
                                           {"model_name"})),
      warmup_latency_(registry->AddHistogram(":tensorflow:serving:model_warmup_latency",
                                             "Microseconds that replays of recorded requests took.",
                                             {"model_path", "status"})),
      warmup_records_(registry->AddCounter(":tensorflow:serving:model_warmup_records_read",
                                           "Recorded requests that were replayed.",
                                           {"model_path"})),
      pending_(registry->AddGauge(":slipway:serving:pending_predictions",
                                  "Predictions that wait for or run on a worker thread.")) {}

std::unique_ptr<ModelMetrics> ServeMetrics::ForModel(const std::string& name) {
  auto metrics = std::make_unique<ModelMetrics>();
  metrics->name_ = name;
  metrics->request_count_ = request_count_;
  metrics->ok_ = request_count_->Get({name, CodeName(Code::kOk)});
  metrics->latency_family_ = request_latency_;
  metrics->runtime_family_ = runtime_latency_;
  metrics->examples_ = example_counts_->Get({name});
  metrics->examples_total_ = example_count_total_->Get({name});
  return metrics;
}

Counter* ServeMetrics::load_attempts(const std::string& model, bool success) {
  return load_attempts_->Get({model, success ? "success" : "fail"});
}

Histogram* ServeMetrics::load_latency(const std::string& model) {
  return load_latency_->Get({model});
}

void ServeMetrics::CountWarmup(const std::string& base_path, Code code, int64_t records,
                               int64_t nanos) {
  if (code == Code::kOk && records == 0) return;
  warmup_latency_->Get({base_path, CodeName(code)})->Record(static_cast<double>(nanos) / 1000.0);
  warmup_records_->Get({base_path})->Increment(records);
}

}  // namespace slipway::serve
