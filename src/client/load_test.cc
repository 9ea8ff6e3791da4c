// SPDX-License-Identifier: Apache-2.0
#include "client/load.h"

#include <mutex>
#include <set>

#include "base/strings.h"
#include "gtest/gtest.h"
#include "net/server.h"

namespace slipway::client {
namespace {

TEST(LatencyHistogram, QuantilesAreWithinTwoPercent) {
  LatencyHistogram histogram;
  EXPECT_EQ(histogram.Quantile(0.5), 0);
  for (int64_t i = 1; i <= 1'000'000; ++i) histogram.Add(i);
  for (const double share : {0.001, 0.5, 0.9, 0.99, 0.999}) {
    const auto exact = static_cast<double>(share * 1'000'000);
    EXPECT_GE(static_cast<double>(histogram.Quantile(share)), exact);
    EXPECT_LE(static_cast<double>(histogram.Quantile(share)), exact * 1.02);
  }
  EXPECT_EQ(histogram.Quantile(1), 1'000'000);
  EXPECT_EQ(histogram.max_ns(), 1'000'000);
  EXPECT_DOUBLE_EQ(histogram.mean_ns(), 500'000.5);
  LatencyHistogram other;
  other.Add(INT64_MAX);
  other.Add(-1);
  other.Merge(histogram);
  EXPECT_EQ(other.count(), 1'000'002);
  EXPECT_EQ(other.Quantile(1), INT64_MAX);
}

struct Echo {
  Echo() {
    auto group = net::EventLoopGroup::Start(2);
    EXPECT_TRUE(group.ok());
    loops = *group;
    net::ServerOptions options;
    options.address = "127.0.0.1";
    auto started = net::Server::Start(
        loops, options,
        [](net::HttpRequest& request, net::HttpResponder responder) {
          const bool bad = request.body == "bad";
          responder.Send({.status = bad ? 503 : 200, .body = std::string(request.body)});
        },
        {{"/t.S/Call", [](net::GrpcCall call) {
            if (call.request() == "bad") return call.Finish(UnavailableError("busy"));
            std::string copy(call.request());
            call.Finish(OkStatus(), std::move(copy));
          }}});
    EXPECT_TRUE(started.ok()) << started.status().ToString();
    server = *std::move(started);
  }
  std::shared_ptr<net::EventLoopGroup> loops;
  std::unique_ptr<net::Server> server;
};

TEST(Load, CountsRequestsAndFailuresByKind) {
  Echo echo;
  for (const LoadProtocol protocol : {LoadProtocol::kHttp, LoadProtocol::kGrpc}) {
    std::mutex mutex;
    std::multiset<std::string> seen;
    LoadOptions options;
    options.protocol = protocol;
    options.host = "127.0.0.1";
    options.port = echo.server->port();
    options.target = protocol == LoadProtocol::kHttp ? "/" : "/t.S/Call";
    options.bodies = {"one", "bad", "two"};
    options.connections = 3;
    options.requests = 90;
    options.pause_after_failure = {};
    options.on_sample = [&](const LoadSample& sample) {
      std::lock_guard lock(mutex);
      EXPECT_LT(sample.begin_ns, sample.end_ns);
      seen.insert(std::string(sample.failure.empty() ? sample.response : sample.failure));
    };
    const auto report = RunLoad(options);
    ASSERT_TRUE(report.ok()) << report.status().ToString();
    EXPECT_EQ(report->requests, 90);
    EXPECT_EQ(seen.size(), 90u);
    const char* kind = protocol == LoadProtocol::kHttp ? "HTTP 503" : "gRPC UNAVAILABLE";
    EXPECT_GT(report->failures, 0);
    EXPECT_EQ(report->failures, static_cast<int64_t>(seen.count(kind)));
    EXPECT_EQ(report->failures_by_kind.at(kind), report->failures);
    EXPECT_EQ(report->latency.count(), 90 - report->failures);
    EXPECT_GT(seen.count("one"), 0u);
    EXPECT_NE(report->ToText().find(StrCat("failed: ", report->failures, " x ", kind)),
              std::string::npos);
  }
}

TEST(Load, CountsRefusedConnections) {
  LoadOptions options;
  options.host = "127.0.0.1";
  options.port = 1;
  options.target = "/";
  options.requests = 5;
  options.pause_after_failure = {};
  for (const LoadProtocol protocol : {LoadProtocol::kHttp, LoadProtocol::kGrpc}) {
    options.protocol = protocol;
    const auto report = RunLoad(options);
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(report->failures_by_kind.at("refused"), 5) << report->ToText();
  }
}

TEST(Load, EndsWhenToldTo) {
  Echo echo;
  std::atomic<bool> stop{false};
  LoadOptions options;
  options.host = "127.0.0.1";
  options.port = echo.server->port();
  options.target = "/";
  options.connections = 2;
  EXPECT_EQ(RunLoad(options).status().code(), Code::kInvalidArgument);
  options.stop = &stop;
  options.on_sample = [&](const LoadSample& sample) {
    if (sample.sequence >= 50) stop = true;
  };
  const auto report = RunLoad(options);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->failures, 0) << report->ToText();
  EXPECT_GE(report->requests, 51);
}

}  // namespace
}  // namespace slipway::client
