// SPDX-License-Identifier: Apache-2.0
#include "exec/step_context.h"

#include <cstdint>
#include <utility>

namespace slipway::exec {
namespace {

// Scratch memory of one thread. It grows to the largest need and stays: a kernel runs at a time, so
// a thread needs one.
class ScratchMemory {
 public:
  void* Get(size_t bytes, Allocator* allocator) {
    if (memory_.valid() && memory_.byte_size() >= bytes) return memory_.raw_data();
    memory_ = Tensor();  // both at once may be more than there is
    memory_ = AllocateScratch(bytes, allocator);
    return memory_.valid() ? memory_.raw_data() : nullptr;
  }

 private:
  Tensor memory_;
};

}  // namespace

Tensor AllocateScratch(size_t bytes, Allocator* allocator) {
  if (bytes > static_cast<size_t>(INT64_MAX)) return Tensor();
  auto memory = Tensor::Allocate(DType::kUInt8, Shape({static_cast<int64_t>(bytes)}), allocator);
  return memory.ok() ? *std::move(memory) : Tensor();
}

StepContext::StepContext(const PlanStep& step, Frame* frame, Device* device,
                         const RunOptions& options)
    : step_(step), frame_(frame), device_(device), options_(options) {
  inputs_ = frame->StepInputs(step);
  intra_op_ = &device->intra_op();
}

StatusOr<Tensor*> StepContext::AllocateOutput(int i, const Shape& shape) {
  return frame_->AllocateOutput(step_, i, shape);
}

void StepContext::SetOutput(int i, Tensor value) { frame_->SetOutput(step_, i, std::move(value)); }

void* StepContext::Scratch(size_t bytes) {
  // The thread's own memory is for the first need of a kernel; what else it asks for in the same
  // run must lie elsewhere.
  thread_local ScratchMemory scratch;
  if (!std::exchange(scratch_taken_, true)) return scratch.Get(bytes, device_->allocator());
  Tensor memory = AllocateScratch(bytes, device_->allocator());
  if (!memory.valid()) return nullptr;
  more_scratch_.push_back(std::move(memory));
  return more_scratch_.back().raw_data();
}

bool StepContext::cancelled() const {
  return options_.cancelled != nullptr && options_.cancelled->load(std::memory_order_relaxed);
}

}  // namespace slipway::exec
