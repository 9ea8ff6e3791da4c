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
    if (rounded < size) return nullptr;
    void* memory = std::aligned_alloc(Tensor::kAlignment, rounded);
    if (memory == nullptr) return nullptr;
    allocations_.fetch_add(1, std::memory_order_relaxed);
    const int64_t now =
        in_use_.fetch_add(static_cast<int64_t>(rounded)) + static_cast<int64_t>(rounded);
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
    return {.allocations = allocations_, .bytes_in_use = in_use_, .peak_bytes_in_use = peak_};
  }

 private:
  // aligned_alloc wants a multiple of the alignment; an empty tensor gets one unit.
  static size_t Rounded(size_t size) {
    return size == 0 ? Tensor::kAlignment
                     : (size + Tensor::kAlignment - 1) / Tensor::kAlignment * Tensor::kAlignment;
  }

  std::atomic<int64_t> allocations_{0};
  std::atomic<int64_t> in_use_{0};
  std::atomic<int64_t> peak_{0};
};

}  // namespace

Allocator* CpuAllocator() {
  static auto* allocator = new SystemAllocator;  // tensors in statics may outlive any destructor
  return allocator;
}

}  // namespace slipway
