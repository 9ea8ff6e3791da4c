// SPDX-License-Identifier: Apache-2.0
#include "client/load.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/strings.h"
#include "net/client.h"

namespace slipway::client {
namespace {

constexpr size_t kExamples = 3;

struct Outcome {
  std::string failure, detail, response;
};

// One connection, whichever protocol it speaks.
class Caller {
 public:
  virtual ~Caller() = default;
  virtual Outcome Call(std::string_view body) = 0;
};

class HttpCaller final : public Caller {
 public:
  explicit HttpCaller(const LoadOptions& options)
      : options_(options),
        client_(net::HttpClient::Lazy(
            options.host, options.port,
            {.connect_timeout = options.timeout, .timeout = options.timeout})) {}
  Outcome Call(std::string_view body) override {
    StatusOr<net::ClientResponse> response =
        client_->Request(options_.http_method, options_.target, body, options_.headers);
    if (!response.ok())
      return {std::string(net::TransportFailureName(client_->last_failure())),
              response.status().ToString(), ""};
    if (response->status >= 400)
      return {StrCat("HTTP ", response->status), std::move(response->body), ""};
    return {"", "", std::move(response->body)};
  }

 private:
  const LoadOptions& options_;
  std::unique_ptr<net::HttpClient> client_;
};

class GrpcCaller final : public Caller {
 public:
  explicit GrpcCaller(const LoadOptions& options)
      : options_(options),
        channel_(net::GrpcChannel::Lazy(
            options.host, options.port,
            {.connect_timeout = options.timeout, .timeout = options.timeout})) {}
  Outcome Call(std::string_view body) override {
    StatusOr<std::string> response = channel_->Call(options_.target, body, options_.timeout);
    if (response.ok()) return {"", "", *std::move(response)};
    const net::TransportFailure failure = channel_->last_failure();
    std::string kind = failure == net::TransportFailure::kNone
                           ? StrCat("gRPC ", CodeName(response.status().code()))
                           : std::string(net::TransportFailureName(failure));
    return {std::move(kind), response.status().ToString(), ""};
  }

 private:
  const LoadOptions& options_;
  std::unique_ptr<net::GrpcChannel> channel_;
};

// What the connections share.
struct Load {
  explicit Load(const LoadOptions& o) : options(o) {}

  const LoadOptions& options;
  int64_t end_ns = 0;  // 0: none
  std::atomic<int64_t> started{0};
  std::mutex mutex;
  LoadReport report;  // under mutex

  bool MayStart() {
    if (options.stop != nullptr && options.stop->load(std::memory_order_relaxed)) return false;
    if (end_ns != 0 && Clock::Default()->NowNanos() >= end_ns) return false;
    return options.requests == 0 || started.fetch_add(1) < options.requests;
  }
};

void Count(LoadReport* report, const Outcome& outcome, int64_t nanos) {
  ++report->requests;
  if (outcome.failure.empty()) return report->latency.Add(nanos);
  ++report->failures;
  ++report->failures_by_kind[outcome.failure];
  std::vector<std::string>& examples = report->examples[outcome.failure];
  if (examples.size() < kExamples) examples.push_back(outcome.detail.substr(0, 300));
}

void Merge(const LoadReport& from, LoadReport* to) {
  to->requests += from.requests;
  to->failures += from.failures;
  to->latency.Merge(from.latency);
  for (const auto& [kind, count] : from.failures_by_kind) to->failures_by_kind[kind] += count;
  for (const auto& [kind, texts] : from.examples)
    for (const std::string& text : texts)
      if (auto& all = to->examples[kind]; all.size() < kExamples) all.push_back(text);
}

void RunConnection(Load* load, int connection) {
  const LoadOptions& options = load->options;
  std::unique_ptr<Caller> caller;
  if (options.protocol == LoadProtocol::kHttp)
    caller = std::make_unique<HttpCaller>(options);
  else
    caller = std::make_unique<GrpcCaller>(options);
  auto report = std::make_unique<LoadReport>();
  const size_t bodies = std::max<size_t>(options.bodies.size(), 1);
  for (int64_t i = 0; load->MayStart(); ++i) {
    const size_t body = static_cast<size_t>(i + connection) % bodies;
    const int64_t begin = Clock::Default()->NowNanos();
    const Outcome outcome =
        caller->Call(options.bodies.empty() ? std::string_view() : options.bodies[body]);
    const int64_t end = Clock::Default()->NowNanos();
    Count(report.get(), outcome, end - begin);
    if (options.on_sample)
      options.on_sample(
          {connection, i, body, begin, end, outcome.failure, outcome.detail, outcome.response});
    if (!outcome.failure.empty()) Clock::Default()->SleepFor(options.pause_after_failure);
    if (options.pause.count() > 0) Clock::Default()->SleepFor(options.pause);
  }
  std::lock_guard lock(load->mutex);
  Merge(*report, &load->report);
}

Status Check(const LoadOptions& options) {
  if (options.connections < 1 || options.connections > 10'000)
    return InvalidArgumentError(
        StrCat("connections is ", options.connections, "; 1 to 10000 is possible"));
  if (options.requests < 0 || options.duration.count() < 0)
    return InvalidArgumentError("requests and duration must not be negative");
  if (options.requests == 0 && options.duration.count() == 0 && options.stop == nullptr)
    return InvalidArgumentError("the load never ends: set requests or duration");
  return OkStatus();
}

std::string Micros(int64_t nanos) { return StrCat((nanos + 500) / 1000, " us"); }

}  // namespace

std::string LoadReport::ToText() const {
  std::string out =
      StrCat(requests, " requests in ", int64_t(seconds * 1000), " ms, ",
             int64_t(RequestsPerSecond()), " requests/s, ", failures, " failed\n", "latency: p50 ",
             Micros(latency.Quantile(0.5)), ", p90 ", Micros(latency.Quantile(0.9)), ", p99 ",
             Micros(latency.Quantile(0.99)), ", max ", Micros(latency.max_ns()), "\n");
  for (const auto& [kind, count] : failures_by_kind) {
    StrAppend(&out, "failed: ", count, " x ", kind);
    if (const auto found = examples.find(kind); found != examples.end())
      StrAppend(&out, ", such as: ", found->second.front());
    out += "\n";
  }
  return out;
}

StatusOr<LoadReport> RunLoad(const LoadOptions& options) {
  RETURN_IF_ERROR(Check(options));
  Load load(options);
  const int64_t begin = Clock::Default()->NowNanos();
  if (options.duration.count() > 0)
    load.end_ns = begin + std::chrono::nanoseconds(options.duration).count();
  std::vector<std::thread> threads;
  for (int i = 0; i < options.connections; ++i) threads.emplace_back(RunConnection, &load, i);
  for (std::thread& thread : threads) thread.join();
  load.report.seconds = static_cast<double>(Clock::Default()->NowNanos() - begin) / 1e9;
  return std::move(load.report);
}

}  // namespace slipway::client
