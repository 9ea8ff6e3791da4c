// SPDX-License-Identifier: Apache-2.0
#include "serve/metrics.h"

namespace slipway::serve {

void ModelMetrics::CountRequest(Method method, Entrypoint entrypoint, Code code, int64_t nanos) {
  if (code != Code::kOk) {
    // Errors may take the family's lock: they are rare, and most of the codes never occur.
    request_count_->Get({name_, CodeName(code)})->Increment();
    return;
  }
  ok_->Increment();
  latency_[static_cast<size_t>(method)][static_cast<size_t>(entrypoint)]->Record(
      static_cast<double>(nanos) / 1000.0);
}

void ModelMetrics::CountRun(Method method, int64_t nanos) {
  runtime_[static_cast<size_t>(method)]->Record(static_cast<double>(nanos) / 1000.0);
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
      pending_(registry->AddGauge(":slipway:serving:pending_predictions",
                                  "Predictions that wait for or run on a worker thread.")) {}

std::unique_ptr<ModelMetrics> ServeMetrics::ForModel(const std::string& name) {
  auto metrics = std::make_unique<ModelMetrics>();
  metrics->name_ = name;
  metrics->request_count_ = request_count_;
  metrics->ok_ = request_count_->Get({name, CodeName(Code::kOk)});
  constexpr const char* kApis[kMethods] = {"Predict", "Classify", "Regress"};
  for (size_t i = 0; i < kMethods; ++i) {
    metrics->latency_[i][static_cast<size_t>(Entrypoint::kGrpc)] =
        request_latency_->Get({name, kApis[i], "GRPC"});
    metrics->latency_[i][static_cast<size_t>(Entrypoint::kRest)] =
        request_latency_->Get({name, kApis[i], "REST"});
    metrics->runtime_[i] = runtime_latency_->Get({name, kApis[i], "Slipway"});
  }
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

}  // namespace slipway::serve
