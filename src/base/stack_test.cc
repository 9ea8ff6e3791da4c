// SPDX-License-Identifier: Apache-2.0
#include "base/stack.h"

#include <gtest/gtest.h>

#include <thread>

namespace slipway {
namespace {

[[gnu::noinline]] size_t LeftBelow(int levels) {
  volatile char room[16384];
  room[0] = static_cast<char>(levels);
  const size_t left = levels == 0 ? StackLeft() : LeftBelow(levels - 1);
  return left + static_cast<size_t>(room[0]) * 0;
}

TEST(StackLeft, ShrinksByWhatCallsTake) {
  std::thread([] {
    const size_t before = StackLeft(), below = LeftBelow(10);
    EXPECT_GT(before, 1u << 20);
    EXPECT_LT(below, before - 10 * 16384);
    EXPECT_GT(below, before - 40 * 16384);
  }).join();
}

}  // namespace
}  // namespace slipway
