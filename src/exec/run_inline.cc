// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/strings.h"
#include "exec/frame.h"

namespace slipway::exec {
namespace {

// Scratch memory of one thread. It grows to the largest need and stays: a kernel runs at a time, so
// a thread needs one.
class ScratchMemory {
 public:
  void* Get(size_t bytes, Allocator* allocator) {
    if (memory_.valid() && memory_.byte_size() >= bytes) return memory_.raw_data();
    memory_ = Tensor(DType::kUInt8, Shape({static_cast<int64_t>(bytes)}), allocator);
    return memory_.raw_data();
  }

 private:
  Tensor memory_;
};

class StepContext : public kernels::KernelContext {
 public:
  StepContext(const PlanStep& step, Frame* frame, Device* device, const RunOptions& options)
      : step_(step), frame_(frame), device_(device), options_(options) {
    inputs_ = frame->StepInputs(step);
    intra_op_ = &device->intra_op();
  }

  StatusOr<Tensor*> AllocateOutput(int i, const Shape& shape) override {
    return frame_->AllocateOutput(step_, i, shape);
  }
  void SetOutput(int i, Tensor value) override { frame_->SetOutput(step_, i, std::move(value)); }
  void* Scratch(size_t bytes) override {
    // The thread's own memory is for the first need of a kernel; what else it asks for in the same
    // run must lie elsewhere.
    thread_local ScratchMemory scratch;
    if (!std::exchange(scratch_taken_, true)) return scratch.Get(bytes, device_->allocator());
    more_scratch_.emplace_back(DType::kUInt8, Shape({static_cast<int64_t>(bytes)}),
                               device_->allocator());
    return more_scratch_.back().raw_data();
  }
  bool cancelled() const override {
    return options_.cancelled != nullptr && options_.cancelled->load(std::memory_order_relaxed);
  }

 private:
  const PlanStep& step_;
  Frame* frame_;
  Device* device_;
  const RunOptions& options_;
  bool scratch_taken_ = false;
  std::vector<Tensor> more_scratch_;
};

int ThreadNumber() {
  static std::atomic<int> next{0};
  thread_local const int number = next.fetch_add(1);
  return number;
}

Status RunRuntimeOp(const PlanStep& step, Frame* frame, const RunOptions& options) {
  RuntimeCall call{frame->StepInputs(step), frame->StepOutputs(step), options};
  Status result;
  step.runtime(call, [&result](Status status) { result = std::move(status); });
  return result;
}

Status RunUnprofiled(const PlanStep& step, Frame* frame, Device* device,
                     const RunOptions& options) {
  if (!step.kernel) return RunRuntimeOp(step, frame, options);
  StepContext context(step, frame, device, options);
  return step.kernel(context);
}

}  // namespace

Status CheckInterrupted(const RunOptions& options) {
  if (options.cancelled != nullptr && options.cancelled->load(std::memory_order_relaxed)) {
    return CancelledError("The step was cancelled");
  }
  if (options.deadline_ns != 0 && Clock::Default()->NowNanos() > options.deadline_ns) {
    return DeadlineExceededError("The deadline passed while the model was running");
  }
  return OkStatus();
}

Status RunStep(const Plan& plan, int index, Frame* frame, Device* device, const RunOptions& options,
               int64_t ready_ns) {
  const PlanStep& step = plan.steps[static_cast<size_t>(index)];
  Status status;
  if (options.profile == nullptr) {
    status = RunUnprofiled(step, frame, device, options);
  } else {
    const int64_t start = Clock::Default()->NowNanos();
    status = RunUnprofiled(step, frame, device, options);
    options.profile->Add({.node = step.name,
                          .op = step.op,
                          .device = device->name(),
                          .start_ns = start,
                          .end_ns = Clock::Default()->NowNanos(),
                          .ready_ns = ready_ns == 0 ? start : ready_ns,
                          .thread = ThreadNumber()});
  }
  if (status.ok()) [[likely]]
    return status;
  return status.WithContext(StrCat("node '", step.name, "' (", step.op, ")"));
}

Status RunInline(const Plan& plan, Frame* frame, Device* device, const RunOptions& options) {
  const bool interruptible = options.cancelled != nullptr || options.deadline_ns != 0;
  for (int s = 0; s < static_cast<int>(plan.steps.size()); ++s) {
    if (interruptible) RETURN_IF_ERROR(CheckInterrupted(options));
    RETURN_IF_ERROR(RunStep(plan, s, frame, device, options, 0));
    for (int value : plan.steps[static_cast<size_t>(s)].release) frame->Release(value);
  }
  return OkStatus();
}

}  // namespace slipway::exec
