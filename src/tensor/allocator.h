// SPDX-License-Identifier: Apache-2.0
//
// Where tensors' memory comes from. Every device has an allocator with its own statistics.
#pragma once

#include <cstddef>
#include <cstdint>

namespace slipway {

struct AllocatorStats {
  int64_t allocations = 0;  // since the start or the last reset
  int64_t bytes_in_use = 0;
  int64_t peak_bytes_in_use = 0;
  int64_t bytes_limit = 0;  // 0: none
};

// Thread safety: all methods from any thread.
class Allocator {
 public:
  virtual ~Allocator() = default;
  // At least `size` bytes aligned to Tensor::kAlignment; null if they cannot be had.
  virtual void* Allocate(size_t size) = 0;
  // `size` as it was asked for.
  virtual void Deallocate(void* memory, size_t size) = 0;
  virtual AllocatorStats Stats() const = 0;
};

// The process's memory, counted; lives as long as the program.
Allocator* CpuAllocator();
// From now on it gives no more than so many bytes at a time; 0: no limit. What is too much is
// RESOURCE_EXHAUSTED where a tensor is wanted.
void SetCpuMemoryLimit(int64_t bytes);

}  // namespace slipway
