// SPDX-License-Identifier: Apache-2.0
//
// Counters, gauges and histograms, and the registry that prints them in Prometheus's text format
// (version 0.0.4). A caller looks its cell up once and keeps the pointer: counting is then one
// atomic addition.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slipway {

// Thread safety of the three cells: all methods from any thread, no lock.
class Counter {
 public:
  void Increment(int64_t by = 1) { value_.fetch_add(by, std::memory_order_relaxed); }
  int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_{0};
};

class Gauge {
 public:
  void Set(double value) { value_.store(value, std::memory_order_relaxed); }
  void Add(double by) { value_.fetch_add(by, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

class Histogram {
 public:
  // `bounds` are the upper ends (included) of the buckets, ascending; one without end follows.
  explicit Histogram(std::span<const double> bounds);
  // NaN is not recorded.
  void Record(double value);

  const std::vector<double>& bounds() const { return bounds_; }
  // What each bucket holds itself, bounds().size() + 1 of them.
  std::vector<int64_t> Counts() const;
  double sum() const { return sum_.load(std::memory_order_relaxed); }

 private:
  const std::vector<double> bounds_;
  const std::unique_ptr<std::atomic<int64_t>[]> counts_;
  std::atomic<double> sum_{0};
};

// first, first * growth, first * growth^2 ...: `count` bounds.
std::vector<double> ExponentialBounds(double first, double growth, int count);
// TensorFlow Serving's for latencies in microseconds: 10 * 1.8^i, 33 of them.
std::span<const double> LatencyBounds();

// All cells of one metric, told apart by the values of its labels.
// Thread safety: all methods from any thread.
template <typename Cell>
class MetricFamily {
 public:
  MetricFamily(std::vector<std::string> labels, std::vector<double> bounds)
      : labels_(std::move(labels)), bounds_(std::move(bounds)) {}

  // The cell of these label values, in the order of the labels' names; made when first asked for,
  // valid as long as the registry. REQUIRES: as many values as labels.
  Cell* Get(std::span<const std::string_view> values);
  Cell* Get(std::initializer_list<std::string_view> values) {
    return Get(std::span(values.begin(), values.size()));
  }
  // Of a metric without labels.
  Cell* Get() { return Get(std::span<const std::string_view>()); }

 private:
  friend class MetricsRegistry;
  const std::vector<std::string> labels_;
  const std::vector<double> bounds_;  // of histograms
  mutable std::mutex mutex_;
  std::map<std::vector<std::string>, std::unique_ptr<Cell>> cells_;  // guarded by mutex_
};
using CounterFamily = MetricFamily<Counter>;
using GaugeFamily = MetricFamily<Gauge>;
using HistogramFamily = MetricFamily<Histogram>;

// Thread safety: all methods from any thread.
class MetricsRegistry {
 public:
  MetricsRegistry();
  ~MetricsRegistry();
  // The process's registry; lives as long as the program.
  static MetricsRegistry* Default();

  // Declares a metric. Names are [a-zA-Z_:][a-zA-Z0-9_:]*, labels the same without ':'. Declaring
  // a name again gives the same family. REQUIRES: with the same kind and labels.
  CounterFamily* AddCounter(std::string_view name, std::string_view help,
                            std::vector<std::string> labels = {});
  GaugeFamily* AddGauge(std::string_view name, std::string_view help,
                        std::vector<std::string> labels = {});
  HistogramFamily* AddHistogram(std::string_view name, std::string_view help,
                                std::vector<std::string> labels = {},
                                std::span<const double> bounds = LatencyBounds());

  // Everything, sorted by name, as "text/plain; version=0.0.4". A family without cells shows only
  // its HELP and TYPE lines.
  std::string PrometheusText() const;

 private:
  struct Metric;
  template <typename Cell>
  MetricFamily<Cell>* Add(std::string_view name, std::string_view help,
                          std::vector<std::string> labels, std::span<const double> bounds);

  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Metric>, std::less<>> metrics_;  // guarded by mutex_
};

}  // namespace slipway
