// SPDX-License-Identifier: Apache-2.0
#include "exec/memory_plan.h"

#include <algorithm>
#include <numeric>

namespace slipway::exec {
namespace {

// Every use of a is over before b is first written.
bool Precedes(const MemoryBlock& a, const MemoryBlock& b, const StepOrder& order) {
  auto all_before = [&](const std::vector<int>& steps) {
    return std::all_of(steps.begin(), steps.end(), [&](int step) {
      return std::all_of(b.writers.begin(), b.writers.end(),
                         [&](int writer) { return order.Before(step, writer); });
    });
  };
  return all_before(a.writers) && all_before(a.readers);
}

}  // namespace

StepOrder StepOrder::Concurrent(const std::vector<std::vector<int>>& dependencies) {
  StepOrder order;
  const size_t n = dependencies.size();
  const size_t words = (n + 63) / 64;
  order.ancestors_.assign(n, std::vector<uint64_t>(std::max<size_t>(words, 1), 0));
  for (size_t i = 0; i < n; ++i) {
    for (int d : dependencies[i]) {
      const auto from = static_cast<size_t>(d);
      for (size_t w = 0; w < words; ++w) order.ancestors_[i][w] |= order.ancestors_[from][w];
      order.ancestors_[i][from / 64] |= uint64_t{1} << (from % 64);
    }
  }
  return order;
}

void StepOrder::AddDependency(int before, int after) {
  const auto from = static_cast<size_t>(before);
  for (size_t x = 0; x < ancestors_.size(); ++x) {
    if (static_cast<int>(x) != after && !Before(after, static_cast<int>(x))) continue;
    for (size_t w = 0; w < ancestors_[x].size(); ++w) ancestors_[x][w] |= ancestors_[from][w];
    ancestors_[x][from / 64] |= uint64_t{1} << (from % 64);
  }
}

MemoryLayout PlanMemory(const std::vector<MemoryBlock>& blocks, const StepOrder& order,
                        size_t alignment) {
  MemoryLayout layout;
  layout.offsets.assign(blocks.size(), 0);
  std::vector<size_t> by_size(blocks.size());
  std::iota(by_size.begin(), by_size.end(), size_t{0});
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](size_t a, size_t b) { return blocks[a].bytes > blocks[b].bytes; });

  struct Placed {
    size_t offset;
    size_t end;
    size_t block;
  };
  std::vector<Placed> placed;  // by offset
  for (size_t block : by_size) {
    const size_t bytes = (blocks[block].bytes + alignment - 1) / alignment * alignment;
    size_t offset = 0;
    for (const Placed& p : placed) {
      const bool apart = p.offset >= offset + bytes || p.end <= offset;
      if (apart || Precedes(blocks[p.block], blocks[block], order) ||
          Precedes(blocks[block], blocks[p.block], order)) {
        continue;
      }
      offset = p.end;
    }
    layout.offsets[block] = offset;
    layout.arena_bytes = std::max(layout.arena_bytes, offset + bytes);
    const Placed entry{offset, offset + bytes, block};
    placed.insert(
        std::upper_bound(placed.begin(), placed.end(), entry,
                         [](const Placed& a, const Placed& b) { return a.offset < b.offset; }),
        entry);
  }
  return layout;
}

}  // namespace slipway::exec
