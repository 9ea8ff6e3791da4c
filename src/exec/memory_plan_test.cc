// SPDX-License-Identifier: Apache-2.0
#include "exec/memory_plan.h"

#include <gtest/gtest.h>

#include <random>

namespace slipway::exec {
namespace {

bool MayMeet(const MemoryBlock& a, const MemoryBlock& b, const StepOrder& order) {
  auto precedes = [&](const MemoryBlock& x, const MemoryBlock& y) {
    std::vector<int> uses = x.writers;
    uses.insert(uses.end(), x.readers.begin(), x.readers.end());
    for (int use : uses) {
      for (int writer : y.writers) {
        if (!order.Before(use, writer)) return false;
      }
    }
    return true;
  };
  return !precedes(a, b) && !precedes(b, a);
}

TEST(PlanMemoryTest, ChainOfStepsNeedsTwoBlocks) {
  std::vector<MemoryBlock> blocks;
  for (int step = 0; step < 10; ++step) {
    blocks.push_back({.bytes = 100, .writers = {step}, .readers = {step + 1}});
  }
  const MemoryLayout layout = PlanMemory(blocks, StepOrder::Sequential(), 64);
  EXPECT_EQ(layout.arena_bytes, 256u);
}

TEST(PlanMemoryTest, StepsThatMayRunTogetherShareNothing) {
  // 0 and 1 both feed 2.
  const StepOrder order = StepOrder::Concurrent({{}, {}, {0, 1}});
  EXPECT_FALSE(order.Before(0, 1));
  EXPECT_TRUE(order.Before(0, 2));
  const std::vector<MemoryBlock> blocks = {{.bytes = 64, .writers = {0}, .readers = {0}},
                                           {.bytes = 64, .writers = {1}, .readers = {2}}};
  EXPECT_EQ(PlanMemory(blocks, order, 64).arena_bytes, 128u);
  EXPECT_EQ(PlanMemory(blocks, StepOrder::Sequential(), 64).arena_bytes, 64u);
}

TEST(StepOrderTest, AddedDependencyReachesDescendantsOnly) {
  StepOrder order = StepOrder::Concurrent({{}, {}, {1}, {}});
  order.AddDependency(0, 1);
  EXPECT_TRUE(order.Before(0, 1));
  EXPECT_TRUE(order.Before(0, 2));
  EXPECT_FALSE(order.Before(0, 3));
}

// Blocks that may be alive at the same time never overlap, whatever the graph.
TEST(PlanMemoryTest, RandomGraphs) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const int steps = 2 + static_cast<int>(random() % 30);
    std::vector<std::vector<int>> dependencies(static_cast<size_t>(steps));
    std::vector<MemoryBlock> blocks(static_cast<size_t>(steps));
    for (int s = 0; s < steps; ++s) {
      auto& block = blocks[static_cast<size_t>(s)];
      block.bytes = random() % 1000;
      block.writers = {s};
      for (int d = 0; d < s; ++d) {
        if (random() % 4 != 0) continue;
        dependencies[static_cast<size_t>(s)].push_back(d);
        blocks[static_cast<size_t>(d)].readers.push_back(s);
      }
    }
    for (const StepOrder& order : {StepOrder::Sequential(), StepOrder::Concurrent(dependencies)}) {
      const MemoryLayout layout = PlanMemory(blocks, order, 64);
      for (size_t a = 0; a < blocks.size(); ++a) {
        EXPECT_LE(layout.offsets[a] + blocks[a].bytes, layout.arena_bytes);
        for (size_t b = a + 1; b < blocks.size(); ++b) {
          if (blocks[a].bytes == 0 || blocks[b].bytes == 0) continue;
          if (!MayMeet(blocks[a], blocks[b], order)) continue;
          EXPECT_TRUE(layout.offsets[a] + blocks[a].bytes <= layout.offsets[b] ||
                      layout.offsets[b] + blocks[b].bytes <= layout.offsets[a]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace slipway::exec
