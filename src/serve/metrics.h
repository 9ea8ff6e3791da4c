// SPDX-License-Identifier: Apache-2.0
//
// What the server counts, under TensorFlow Serving's names. Label values are names of models that
// are configured, never what a request says. Latencies are in microseconds.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/metrics.h"
#include "slipway/status.h"

namespace slipway::serve {

enum class Entrypoint : uint8_t { kGrpc, kRest };
enum class Method : uint8_t { kPredict, kClassify, kRegress };
inline constexpr size_t kMethods = 3;

class ServeMetrics;

// One model's cells. Thread safety: all methods from any thread.
class ModelMetrics {
 public:
  // One request: its code and, if it succeeded, how long it took. Lock-free for OK.
  void CountRequest(Method method, Entrypoint entrypoint, Code code, int64_t nanos);
  // The model's own part of a successful request.
  void CountRun(Method method, int64_t nanos);
  // The tf.Examples of one request.
  void CountExamples(int64_t examples);

 private:
  friend class ServeMetrics;
  std::string name_;
  CounterFamily* request_count_ = nullptr;
  Counter* ok_ = nullptr;
  // Made when the method is first called: a series that stands at 0 for ever says nothing.
  Histogram* Latency(Method method, Entrypoint entrypoint);
  Histogram* Runtime(Method method);

  HistogramFamily* latency_family_ = nullptr;
  HistogramFamily* runtime_family_ = nullptr;
  std::atomic<Histogram*> latency_[kMethods][2] = {};
  std::atomic<Histogram*> runtime_[kMethods] = {};
  Histogram* examples_ = nullptr;
  Counter* examples_total_ = nullptr;
};

// The families, declared in `registry`.
class ServeMetrics {
 public:
  explicit ServeMetrics(MetricsRegistry* registry);
  std::unique_ptr<ModelMetrics> ForModel(const std::string& name);

  Counter* load_attempts(const std::string& model, bool success);
  Histogram* load_latency(const std::string& model);
  // A replay of recorded requests; counted if there were any or it failed.
  void CountWarmup(const std::string& base_path, Code code, int64_t records, int64_t nanos);
  // Predictions that wait for or run on a worker thread.
  Gauge* pending() { return pending_->Get(); }

 private:
  CounterFamily* request_count_;
  HistogramFamily* request_latency_;
  HistogramFamily* runtime_latency_;
  HistogramFamily* example_counts_;
  CounterFamily* example_count_total_;
  CounterFamily* load_attempts_;
  HistogramFamily* load_latency_;
  HistogramFamily* warmup_latency_;
  CounterFamily* warmup_records_;
  GaugeFamily* pending_;
};

}  // namespace slipway::serve
