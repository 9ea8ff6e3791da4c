// SPDX-License-Identifier: Apache-2.0
//
// What a kernel sees of the step that runs it. Internal to exec.
#pragma once

#include <vector>

#include "exec/executable.h"
#include "exec/frame.h"

namespace slipway::exec {

// For one run of one kernel, on the thread that made it. All arguments outlive it.
class StepContext : public kernels::KernelContext {
 public:
  StepContext(const PlanStep& step, Frame* frame, Device* device, const RunOptions& options);

  StatusOr<Tensor*> AllocateOutput(int i, const Shape& shape) override;
  void SetOutput(int i, Tensor value) override;
  // The thread's own memory the first time, for it costs nothing; other memory after that.
  void* Scratch(size_t bytes) override;
  bool cancelled() const override;

 private:
  const PlanStep& step_;
  Frame* frame_;
  Device* device_;
  const RunOptions& options_;
  bool scratch_taken_ = false;
  std::vector<Tensor> more_scratch_;
};

// Memory for Scratch; invalid if there is none.
Tensor AllocateScratch(size_t bytes, Allocator* allocator);

}  // namespace slipway::exec
