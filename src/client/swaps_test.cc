// SPDX-License-Identifier: Apache-2.0
#include "client/swaps.h"

#include <gtest/gtest.h>

namespace slipway::client {
namespace {

constexpr int64_t kMs = 1'000'000;

TEST(VersionTimelineTest, CountsAroundEachSwap) {
  VersionTimeline timeline;
  for (int64_t t = 0; t < 1000; t += 10) timeline.Add({t * kMs, 1});
  for (int64_t t = 1000; t < 2000; t += 10) timeline.Add({t * kMs, 2});
  timeline.Add({1005 * kMs, 1});  // began before the swap
  timeline.Add({1100 * kMs, -1});
  for (int64_t t = 2000; t < 2500; t += 10) timeline.Add({t * kMs, 1});
  const auto swaps = timeline.Swaps(200 * kMs);
  ASSERT_EQ(swaps.size(), 2u);
  EXPECT_EQ(swaps[0].from, 1);
  EXPECT_EQ(swaps[0].to, 2);
  EXPECT_EQ(swaps[0].time_ns, 1000 * kMs);
  EXPECT_EQ(swaps[0].before, 20);
  EXPECT_EQ(swaps[0].after, 22);
  EXPECT_EQ(swaps[0].failures, 1);
  EXPECT_EQ(swaps[1].failures, 0);
  EXPECT_EQ(timeline.Versions(), "1,2,1");
}

TEST(VersionTimelineTest, NoSwapNoAnswers) {
  VersionTimeline timeline;
  EXPECT_EQ(timeline.Versions(), "");
  timeline.Add({1, -1});
  timeline.Add({2, 7});
  EXPECT_EQ(timeline.Versions(), "7");
  EXPECT_TRUE(timeline.Swaps(kMs).empty());
}

}  // namespace
}  // namespace slipway::client
