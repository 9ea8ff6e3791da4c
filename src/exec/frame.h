// SPDX-License-Identifier: Apache-2.0
//
// Frame: what one run of a plan changes: the arena, the values, the counters. Frames are made when
// more runs are under way than there are frames, and kept for the next run, so that a steady state
// allocates nothing. Internal to exec.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "exec/executable.h"
#include "exec/plan.h"

namespace slipway::exec {

class Frame {
 public:
  Frame(const Plan& plan, Device* device);
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  // Lays arguments and the results' memory into place. Usable tensors in `outputs` are moved in.
  Status Begin(std::span<const Tensor> inputs, std::span<Tensor> outputs);
  // Moves results out (only the caller's memory, if the run failed) and lets go of all else.
  void End(std::span<const Tensor> inputs, std::span<Tensor> outputs, bool succeeded);

  std::span<const Tensor* const> StepInputs(const PlanStep& step) const {
    return {inputs_.data() + step.first_input, static_cast<size_t>(step.num_inputs)};
  }
  std::span<Tensor> StepOutputs(const PlanStep& step) {
    return {values_.data() + step.first_output, static_cast<size_t>(step.num_outputs)};
  }
  StatusOr<Tensor*> AllocateOutput(const PlanStep& step, int i, const Shape& shape);
  void SetOutput(const PlanStep& step, int i, Tensor value);
  void Release(int value) { values_[static_cast<size_t>(value)] = Tensor(); }
  // After inputs of `step` were read, when steps run in no fixed order.
  void CountReads(const PlanStep& step, int step_index);

  // Counters of the concurrent runner.
  std::vector<std::atomic<int>>& waiting() { return waiting_; }
  void ResetCounters();

 private:
  void LayOut();
  bool Planned(const PlanValue& value) const { return value.block >= 0 && !value.shares_input; }
  Status PlaceResult(int result, Tensor* output);
  void CopyResult(const PlanResult& result, std::span<const Tensor> inputs, Tensor* output) const;

  const Plan& plan_;
  Device* device_;
  Tensor arena_;
  Buffer* arena_buffer_ = nullptr;     // lends the arena to the values
  std::vector<Tensor> values_;         // one a value; those of arguments and constants unused
  std::vector<const Tensor*> inputs_;  // of all steps
  std::vector<std::pair<int, int>> argument_places_;  // (index into inputs_, argument)
  std::vector<std::atomic<int>> waiting_;             // per step
  std::vector<std::atomic<int>> reads_left_;          // per value; 0: not counted
  std::atomic<bool> moved_{false};                    // a value is not where the plan wants it

 public:
  ~Frame();
};

// Frames at rest. Thread safety: from any thread, without locks.
class FramePool {
 public:
  FramePool() = default;
  ~FramePool();
  std::unique_ptr<Frame> Take();            // null if none is at rest
  bool Give(std::unique_ptr<Frame> frame);  // deleted if the pool is full: false

 private:
  std::array<std::atomic<Frame*>, 32> frames_ = {};
};

// Runs all steps on the calling thread, in the plan's order.
Status RunInline(const Plan& plan, Frame* frame, Device* device, const RunOptions& options);

// Runs steps as they become ready: expensive ones go through an evaluation queue that the inter-op
// pool and the caller drain. REQUIRES: plan.concurrent.
Status RunConcurrently(const Plan& plan, Frame* frame, Device* device, const RunOptions& options);

// Shared by both runners: one step, on this thread.
Status RunStep(const Plan& plan, int step, Frame* frame, Device* device, const RunOptions& options,
               int64_t ready_ns);
// CANCELLED or DEADLINE_EXCEEDED if the run should stop.
Status CheckInterrupted(const RunOptions& options);

}  // namespace slipway::exec
