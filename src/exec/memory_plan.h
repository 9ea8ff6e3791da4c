// SPDX-License-Identifier: Apache-2.0
//
// Where the values of a plan lie in its arena: values whose lifetimes do not overlap share memory.
// Pure arithmetic over positions; knows nothing of tensors or kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace slipway::exec {

// A piece of memory that one or several values occupy (an in-place chain is one block).
struct MemoryBlock {
  size_t bytes = 0;
  std::vector<int> writers;  // steps that write it
  std::vector<int> readers;  // steps that read it
};

// Which steps are known to be over before another begins.
class StepOrder {
 public:
  // Steps run one after the other, 0 first.
  static StepOrder Sequential() { return StepOrder(); }
  // Steps run when the steps they depend on are over, in any order that this allows.
  // `dependencies[i]` are smaller than i.
  static StepOrder Concurrent(const std::vector<std::vector<int>>& dependencies);

  // From now on `before` is over when `after` begins. REQUIRES: made by Concurrent, no cycle.
  void AddDependency(int before, int after);

  bool Before(int a, int b) const {
    if (ancestors_.empty()) return a < b;
    return (ancestors_[static_cast<size_t>(b)][static_cast<size_t>(a) / 64] >>
            (static_cast<size_t>(a) % 64)) &
           1;
  }

 private:
  std::vector<std::vector<uint64_t>> ancestors_;  // bit a of row b; empty if sequential
};

struct MemoryLayout {
  std::vector<size_t> offsets;  // of each block
  size_t arena_bytes = 0;
};

// Largest blocks first, each at the lowest offset where it meets nothing that may live at the same
// time. Offsets are multiples of `alignment`.
MemoryLayout PlanMemory(const std::vector<MemoryBlock>& blocks, const StepOrder& order,
                        size_t alignment);

}  // namespace slipway::exec
