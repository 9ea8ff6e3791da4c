// SPDX-License-Identifier: Apache-2.0
//
// A load generator in a closed loop: each connection sends its next request when the last one
// was answered. Every failure is counted by kind, refused connections included.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/latency.h"
#include "slipway/status.h"

namespace slipway::client {

enum class LoadProtocol { kHttp, kGrpc };

// One request that is over.
struct LoadSample {
  int connection = 0;
  int64_t sequence = 0;  // of this connection, from 0
  size_t body = 0;       // which of LoadOptions::bodies was sent
  int64_t begin_ns = 0;  // Clock::NowNanos
  int64_t end_ns = 0;
  std::string_view failure;   // "" if it succeeded, else its kind (see LoadReport)
  std::string_view detail;    // of a failure: the message, or the body of the answer
  std::string_view response;  // of a success: body or message; valid during the call
};

struct LoadOptions {
  LoadProtocol protocol = LoadProtocol::kHttp;
  std::string host = "localhost";
  int port = 0;

  std::string http_method = "POST";
  // The HTTP target ("/v1/models/m:predict") or the gRPC method ("/package.Service/Method").
  std::string target;
  std::vector<std::pair<std::string, std::string>> headers;  // HTTP only
  // Sent in turn; empty is one empty body.
  std::vector<std::string> bodies;

  int connections = 1;  // each on a thread of its own
  // It ends when `requests` are done (0: no limit), when `duration` has passed (0: no limit),
  // or when *stop becomes true, whichever is first. Requests in flight are finished.
  int64_t requests = 0;
  std::chrono::milliseconds duration{0};
  const std::atomic<bool>* stop = nullptr;

  std::chrono::milliseconds timeout{30'000};  // of one request
  // Between an answer and the connection's next request; 0 is as fast as the server answers.
  std::chrono::microseconds pause{0};
  // After a failure the connection waits this long, so that a server that is away is not
  // flooded with attempts.
  std::chrono::milliseconds pause_after_failure{10};

  // Called on the connections' threads, several at once; must be quick.
  std::function<void(const LoadSample&)> on_sample;
};

struct LoadReport {
  int64_t requests = 0;  // failures included
  int64_t failures = 0;
  // "refused", "reset", "timeout", "protocol" (net::TransportFailureName); "HTTP 503" for a
  // status of 400 and above; "gRPC UNAVAILABLE" for what the server answered.
  std::map<std::string, int64_t> failures_by_kind;
  // The first few messages of each kind.
  std::map<std::string, std::vector<std::string>> examples;
  double seconds = 0;
  LatencyHistogram latency;  // of requests that succeeded

  double RequestsPerSecond() const { return seconds > 0 ? double(requests) / seconds : 0; }
  // A few lines for people: rate, p50, p90, p99, max, failures.
  std::string ToText() const;
};

// Blocks until the load is over. INVALID_ARGUMENT when no end is given or a field is out of
// range. Failed requests are in the report and no error here.
StatusOr<LoadReport> RunLoad(const LoadOptions& options);

}  // namespace slipway::client
