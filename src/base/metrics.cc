// SPDX-License-Identifier: Apache-2.0
#include "base/metrics.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>
#include <type_traits>
#include <variant>

#include "base/strings.h"

namespace slipway {
namespace {

[[maybe_unused]] bool IsMetricName(std::string_view name, bool colons) {
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool letter =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (colons && c == ':');
    if (!letter && !(i > 0 && c >= '0' && c <= '9')) return false;
  }
  return !name.empty();
}

void AppendEscaped(std::string* out, std::string_view text, bool quotes) {
  for (char c : text) {
    if (c == '\\') {
      *out += "\\\\";
    } else if (c == '\n') {
      *out += "\\n";
    } else if (c == '"' && quotes) {
      *out += "\\\"";
    } else {
      *out += c;
    }
  }
}

void AppendValue(std::string* out, double value) {
  if (std::isnan(value)) {
    *out += "NaN";
  } else if (std::isinf(value)) {
    *out += value > 0 ? "+Inf" : "-Inf";
  } else {
    StrAppend(out, value);
  }
}

// Six digits, as TensorFlow Serving prints the bounds: 10 * 1.8^i has no short decimal form.
std::string BoundText(double bound) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), bound, std::chars_format::general, 6);
  return std::string(text, end.ptr);
}

// `name{label="value",le="bound"} `, the braces only if there is something to put in.
void AppendSeries(std::string* out, std::string_view name, const std::vector<std::string>& labels,
                  const std::vector<std::string>& values, std::string_view bound = "") {
  StrAppend(out, name);
  char separator = '{';
  for (size_t i = 0; i < labels.size(); ++i) {
    StrAppend(out, separator, labels[i], "=\"");
    AppendEscaped(out, values[i], /*quotes=*/true);
    *out += '"';
    separator = ',';
  }
  if (!bound.empty()) {
    StrAppend(out, separator, "le=\"", bound, "\"");
    separator = ',';
  }
  *out += separator == ',' ? "} " : " ";
}

using Labels = std::vector<std::string>;

void AppendCell(std::string* out, const std::string& name, const Labels& labels,
                const Labels& values, const Counter& cell) {
  AppendSeries(out, name, labels, values);
  StrAppend(out, cell.value(), "\n");
}

void AppendCell(std::string* out, const std::string& name, const Labels& labels,
                const Labels& values, const Gauge& cell) {
  AppendSeries(out, name, labels, values);
  AppendValue(out, cell.value());
  *out += '\n';
}

void AppendCell(std::string* out, const std::string& name, const Labels& labels,
                const Labels& values, const Histogram& cell) {
  const std::vector<int64_t> counts = cell.Counts();
  const std::string bucket = name + "_bucket";
  int64_t total = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    total += counts[i];
    const bool last = i == cell.bounds().size();
    AppendSeries(out, bucket, labels, values, last ? "+Inf" : BoundText(cell.bounds()[i]));
    StrAppend(out, total, "\n");
  }
  AppendSeries(out, name + "_sum", labels, values);
  AppendValue(out, cell.sum());
  *out += '\n';
  AppendSeries(out, name + "_count", labels, values);
  StrAppend(out, total, "\n");
}

template <typename Cell>
constexpr std::string_view TypeName() {
  if constexpr (std::is_same_v<Cell, Counter>) return "counter";
  if constexpr (std::is_same_v<Cell, Gauge>) return "gauge";
  return "histogram";
}

}  // namespace

Histogram::Histogram(std::span<const double> bounds)
    : bounds_(bounds.begin(), bounds.end()),
      counts_(std::make_unique<std::atomic<int64_t>[]>(bounds.size() + 1)) {
  assert(std::is_sorted(bounds_.begin(), bounds_.end()));
}

void Histogram::Record(double value) {
  if (std::isnan(value)) return;
  const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
  counts_[static_cast<size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

std::vector<int64_t> Histogram::Counts() const {
  std::vector<int64_t> counts(bounds_.size() + 1);
  for (size_t i = 0; i < counts.size(); ++i) counts[i] = counts_[i].load(std::memory_order_relaxed);
  return counts;
}

std::vector<double> ExponentialBounds(double first, double growth, int count) {
  std::vector<double> bounds;
  double bound = first;
  for (int i = 0; i < count; ++i) {
    bounds.push_back(bound);
    bound *= growth;
  }
  return bounds;
}

std::span<const double> LatencyBounds() {
  static const auto* bounds = new std::vector<double>(ExponentialBounds(10, 1.8, 33));
  return *bounds;
}

template <typename Cell>
Cell* MetricFamily<Cell>::Get(std::span<const std::string_view> values) {
  assert(values.size() == labels_.size());
  std::vector<std::string> key(values.begin(), values.end());
  key.resize(labels_.size());
  std::lock_guard lock(mutex_);
  std::unique_ptr<Cell>& cell = cells_[std::move(key)];
  if (cell == nullptr) {
    if constexpr (std::is_same_v<Cell, Histogram>) {
      cell = std::make_unique<Cell>(bounds_);
    } else {
      cell = std::make_unique<Cell>();
    }
  }
  return cell.get();
}
template class MetricFamily<Counter>;
template class MetricFamily<Gauge>;
template class MetricFamily<Histogram>;

struct MetricsRegistry::Metric {
  std::string help;
  std::variant<std::unique_ptr<CounterFamily>, std::unique_ptr<GaugeFamily>,
               std::unique_ptr<HistogramFamily>>
      family;
};

MetricsRegistry::MetricsRegistry() = default;
MetricsRegistry::~MetricsRegistry() = default;

MetricsRegistry* MetricsRegistry::Default() {
  static auto* registry = new MetricsRegistry;  // cells may be used by destructors of statics
  return registry;
}

template <typename Cell>
MetricFamily<Cell>* MetricsRegistry::Add(std::string_view name, std::string_view help,
                                         std::vector<std::string> labels,
                                         std::span<const double> bounds) {
  assert(IsMetricName(name, /*colons=*/true));
  assert(std::all_of(labels.begin(), labels.end(), [](const std::string& label) {
    return IsMetricName(label, /*colons=*/false);
  }));
  std::lock_guard lock(mutex_);
  auto it = metrics_.find(name);
  if (it == metrics_.end()) {
    auto metric = std::make_unique<Metric>();
    metric->help = help;
    metric->family = std::make_unique<MetricFamily<Cell>>(
        std::move(labels), std::vector<double>(bounds.begin(), bounds.end()));
    it = metrics_.emplace(name, std::move(metric)).first;
  } else {
    assert(std::get<std::unique_ptr<MetricFamily<Cell>>>(it->second->family)->labels_ == labels);
  }
  return std::get<std::unique_ptr<MetricFamily<Cell>>>(it->second->family).get();
}

CounterFamily* MetricsRegistry::AddCounter(std::string_view name, std::string_view help,
                                           std::vector<std::string> labels) {
  return Add<Counter>(name, help, std::move(labels), {});
}

GaugeFamily* MetricsRegistry::AddGauge(std::string_view name, std::string_view help,
                                       std::vector<std::string> labels) {
  return Add<Gauge>(name, help, std::move(labels), {});
}

HistogramFamily* MetricsRegistry::AddHistogram(std::string_view name, std::string_view help,
                                               std::vector<std::string> labels,
                                               std::span<const double> bounds) {
  return Add<Histogram>(name, help, std::move(labels), bounds);
}

std::string MetricsRegistry::PrometheusText() const {
  std::string out;
  std::lock_guard lock(mutex_);
  for (const auto& [name, metric] : metrics_) {
    StrAppend(&out, "# HELP ", name, " ");
    AppendEscaped(&out, metric->help, /*quotes=*/false);
    std::visit(
        [&, &name = name]<typename Cell>(const std::unique_ptr<MetricFamily<Cell>>& family) {
          StrAppend(&out, "\n# TYPE ", name, " ", TypeName<Cell>(), "\n");
          std::lock_guard family_lock(family->mutex_);
          for (const auto& [values, cell] : family->cells_) {
            AppendCell(&out, name, family->labels_, values, *cell);
          }
        },
        metric->family);
  }
  return out;
}

}  // namespace slipway
