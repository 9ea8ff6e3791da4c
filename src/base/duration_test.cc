// SPDX-License-Identifier: Apache-2.0
#include "base/duration.h"

#include <gtest/gtest.h>

#include <limits>

namespace slipway {
namespace {

TEST(DurationTest, NanosFromTakesAnyNumberThatAUserTypes) {
  constexpr int64_t kSecond = 1'000'000'000;
  EXPECT_EQ(NanosFrom(1.5, kSecond), 1'500'000'000);
  EXPECT_EQ(NanosFrom(0.25, 1'000'000), 250'000);
  EXPECT_EQ(NanosFrom(-2, kSecond), -2 * kSecond);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double much : {1e10, 1e300, kInfinity}) {
    EXPECT_EQ(NanosFrom(much, kSecond), kForeverNanos);
    EXPECT_EQ(NanosFrom(-much, kSecond), -kForeverNanos);
  }
  EXPECT_EQ(NanosFrom(std::numeric_limits<double>::quiet_NaN(), kSecond), 0);
}

}  // namespace
}  // namespace slipway
