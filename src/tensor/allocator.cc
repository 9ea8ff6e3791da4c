// SPDX-License-Identifier: Apache-2.0
#include "tensor/allocator.h"

#include <atomic>
#include <cstdlib>

#include "slipway/tensor.h"

namespace slipway {
namespace {

class SystemAllocator : public Allocator {
 public:
  void* Allocate(size_t size) override {
    const size_t rounded = Rounded(size);
    if (rounded < size || rounded > static_cast<size_t>(kNoLimit)) return nullptr;
    const auto bytes = static_cast<int64_t>(rounded);
    const int64_t limit = limit_.load(std::memory_order_relaxed);
    const int64_t now = in_use_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    void* memory = now > limit ? nullptr : std::aligned_alloc(Tensor::kAlignment, rounded);
    if (memory == nullptr) {
      in_use_.fetch_sub(bytes, std::memory_order_relaxed);
      return nullptr;
    }
    allocations_.fetch_add(1, std::memory_order_relaxed);
    int64_t peak = peak_.load(std::memory_order_relaxed);
    while (now > peak && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
    }
    return memory;
  }

  void Deallocate(void* memory, size_t size) override {
    in_use_.fetch_sub(static_cast<int64_t>(Rounded(size)), std::memory_order_relaxed);
    std::free(memory);
  }

  AllocatorStats Stats() const override {
    const int64_t limit = limit_;
    return {.allocations = allocations_,
            .bytes_in_use = in_use_,
            .peak_bytes_in_use = peak_,
            .bytes_limit = limit == kNoLimit ? 0 : limit};
  }

  void SetLimit(int64_t bytes) { limit_ = bytes == 0 ? kNoLimit : bytes; }

 private:
  // Far from overflow when sizes are added to what is in use.
  static constexpr int64_t kNoLimit = int64_t{1} << 62;

  // aligned_alloc wants a multiple of the alignment; an empty tensor gets one unit.
  static size_t Rounded(size_t size) {
    return size == 0 ? Tensor::kAlignment
                     : (size + Tensor::kAlignment - 1) / Tensor::kAlignment * Tensor::kAlignment;
  }

  std::atomic<int64_t> allocations_{0};
  std::atomic<int64_t> in_use_{0};
  std::atomic<int64_t> peak_{0};
  std::atomic<int64_t> limit_{kNoLimit};
};

SystemAllocator* System() {
  static auto* allocator = new SystemAllocator;  // tensors in statics may outlive any destructor
  return allocator;
}

}  // namespace

Allocator* CpuAllocator() { return System(); }

void SetCpuMemoryLimit(int64_t bytes) { System()->SetLimit(bytes); }

}  // namespace slipway
