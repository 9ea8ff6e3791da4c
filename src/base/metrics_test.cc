// SPDX-License-Identifier: Apache-2.0
#include "base/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <thread>

namespace slipway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(MetricsTest, PrintsCountersAndGauges) {
  MetricsRegistry registry;
  auto* requests = registry.AddCounter(":tensorflow:serving:request_count", "Requests.",
                                       {"model_name", "status"});
  requests->Get({"half", "OK"})->Increment();
  requests->Get({"half", "OK"})->Increment(2);
  requests->Get({"a \"b\\\n", ""})->Increment();
  registry.AddGauge("memory", "Bytes \"in use\",\nof \\ all.")->Get()->Set(1.5);
  registry.AddGauge("limits", "x", {"which"})
      ->Get({"high"})
      ->Set(std::numeric_limits<double>::infinity());
  EXPECT_EQ(registry.PrometheusText(),
            "# HELP :tensorflow:serving:request_count Requests.\n"
            "# TYPE :tensorflow:serving:request_count counter\n"
            ":tensorflow:serving:request_count{model_name=\"a \\\"b\\\\\\n\",status=\"\"} 1\n"
            ":tensorflow:serving:request_count{model_name=\"half\",status=\"OK\"} 3\n"
            "# HELP limits x\n"
            "# TYPE limits gauge\n"
            "limits{which=\"high\"} +Inf\n"
            "# HELP memory Bytes \"in use\",\\nof \\\\ all.\n"
            "# TYPE memory gauge\n"
            "memory 1.5\n");
}

TEST(MetricsTest, PrintsHistogramsCumulatively) {
  MetricsRegistry registry;
  const double bounds[] = {1, 2.5, 10};
  Histogram* cell = registry.AddHistogram("size", "Sizes.", {"kind"}, bounds)->Get({"x"});
  for (double value : {0.5, 1.0, 2.0, 11.0}) cell->Record(value);
  cell->Record(std::numeric_limits<double>::quiet_NaN());
  EXPECT_THAT(cell->Counts(), ElementsAre(2, 1, 0, 1));
  EXPECT_EQ(registry.PrometheusText(),
            "# HELP size Sizes.\n"
            "# TYPE size histogram\n"
            "size_bucket{kind=\"x\",le=\"1\"} 2\n"
            "size_bucket{kind=\"x\",le=\"2.5\"} 3\n"
            "size_bucket{kind=\"x\",le=\"10\"} 3\n"
            "size_bucket{kind=\"x\",le=\"+Inf\"} 4\n"
            "size_sum{kind=\"x\"} 14.5\n"
            "size_count{kind=\"x\"} 4\n");
}

TEST(MetricsTest, LatencyBoundsAreTensorFlowServings) {
  const auto bounds = LatencyBounds();
  ASSERT_EQ(bounds.size(), 33u);
  EXPECT_EQ(bounds[0], 10);
  EXPECT_DOUBLE_EQ(bounds[4], 104.976);
  EXPECT_NEAR(bounds[32], 1474755971.296, 1e-2);  // 10 * 1.8^32
  MetricsRegistry registry;
  registry.AddHistogram("latency", "us")->Get()->Record(100);
  EXPECT_THAT(registry.PrometheusText(), HasSubstr("latency_bucket{le=\"58.32\"} 0\n"
                                                   "latency_bucket{le=\"104.976\"} 1\n"
                                                   "latency_bucket{le=\"188.957\"} 1\n"));
}

TEST(MetricsTest, CellsAreStableAndShared) {
  MetricsRegistry registry;
  CounterFamily* family = registry.AddCounter("c", "x", {"label"});
  Counter* first = family->Get({"0"});
  for (int i = 1; i < 1000; ++i) family->Get({std::to_string(i)});
  EXPECT_EQ(registry.AddCounter("c", "x", {"label"})->Get({"0"}), first);
  EXPECT_EQ(MetricsRegistry::Default(), MetricsRegistry::Default());
}

TEST(MetricsTest, CountsFromManyThreadsWhileBeingPrinted) {
  MetricsRegistry registry;
  CounterFamily* counters = registry.AddCounter("c", "x", {"thread"});
  Histogram* histogram = registry.AddHistogram("h", "x")->Get();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Counter* own = counters->Get({std::to_string(t % 2)});
      for (int i = 0; i < 10'000; ++i) {
        own->Increment();
        histogram->Record(1);
      }
    });
  }
  for (int i = 0; i < 50; ++i) EXPECT_THAT(registry.PrometheusText(), HasSubstr("h_count"));
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counters->Get({"0"})->value(), 20'000);
  EXPECT_EQ(histogram->sum(), 40'000);
  EXPECT_EQ(histogram->Counts()[0], 40'000);
}

}  // namespace
}  // namespace slipway
