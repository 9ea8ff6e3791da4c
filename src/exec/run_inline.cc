// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/strings.h"
#include "exec/frame.h"
#include "exec/op_cost.h"
#include "exec/step_context.h"

namespace slipway::exec {
namespace {

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

// Views of inputs with their shapes, whatever becomes of them while the step runs. No reference is
// taken: a second holder would keep the kernel from writing in place.
std::vector<Tensor> BorrowInputs(const PlanStep& step, const Frame& frame) {
  std::vector<Tensor> inputs;
  for (const Tensor* t : frame.StepInputs(step)) {
    inputs.push_back(t->valid() ? Tensor::Borrow(t->dtype(), t->shape(), t->raw_data()) : Tensor());
  }
  return inputs;
}

Status RunProfiled(const Plan& plan, const PlanStep& step, Frame* frame, Device* device,
                   const RunOptions& options, int64_t ready_ns) {
  const std::vector<Tensor> inputs = BorrowInputs(step, *frame);
  const int64_t start = Clock::Default()->NowNanos();
  const Status status = RunUnprofiled(step, frame, device, options);
  const int64_t end = Clock::Default()->NowNanos();
  OpCost cost;
  if (status.ok() && step.kernel) {
    cost =
        CostOf(step.op, plan.function.graph.FindNode(step.name), inputs, frame->StepOutputs(step));
  }
  options.profile->Add({.node = step.name,
                        .op = step.op,
                        .device = device->name(),
                        .start_ns = start,
                        .end_ns = end,
                        .ready_ns = ready_ns == 0 ? start : ready_ns,
                        .thread = ThreadNumber(),
                        .flops = cost.flops,
                        .bytes = cost.bytes});
  return status;
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
    status = RunProfiled(plan, step, frame, device, options, ready_ns);
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
