// SPDX-License-Identifier: Apache-2.0
//
// Executable: a function compiled for a device. Plan: what an executable needs for one set of input
// shapes. Tensors in, tensors out; it knows nothing of who calls it, of files or HTTP.
//
//   Executable::Compile   passes, kernels looked up, constants pinned, dependency counts
//   Plan (inside)         kernels bound to shapes, buffer offsets by liveness, in-place decisions
//   Run                   one step; what differs per step lives in the step
//
// An executable is immutable and may be run from any number of threads at once. Plans live in a
// bounded least-recently-used set that is read without a lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exec/device.h"
#include "exec/missing_ops.h"
#include "exec/profile.h"
#include "ir/function.h"
#include "ir/pass.h"
#include "kernels/kernel.h"

namespace slipway::exec {

struct CompileOptions {
  // Owns variables and tables; outlives the executable. Null: the executable has its own.
  kernels::ResourceContainer* resources = nullptr;
  // For calls that stay calls. Outlives the executable.
  const ir::FunctionLibrary* library = nullptr;
  // See ir::PassContext; empty if variables may change.
  std::function<std::optional<Tensor>(const ir::Node&)> frozen_value;
  // The CPU device of the process if null.
  Device* device = nullptr;
  Env* env = nullptr;  // Env::Default() if null
  bool run_passes = true;
  bool deterministic = false;
  int max_plans = 32;
  // What frames at rest may hold; beyond it those of other shapes than the last are let go.
  size_t max_idle_bytes = size_t{1} << 30;
};

struct RunOptions {
  StepProfile* profile = nullptr;  // filled if set
  // Nanoseconds of Clock::Default()->NowNanos(); 0: none. DEADLINE_EXCEEDED between two kernels.
  int64_t deadline_ns = 0;
  const std::atomic<bool>* cancelled = nullptr;  // CANCELLED between two kernels
  // RESOURCE_EXHAUSTED when a While goes on after so many; 0: no limit (the deadline still counts).
  int64_t max_loop_iterations = 0;
  // INVALID_ARGUMENT when functions that are not inlined call each other deeper; each level takes
  // stack.
  int max_call_depth = 128;
  int call_depth = 0;  // of this run; set by the ops that call
};

class Executable {
 public:
  // UNIMPLEMENTED lists every op without a kernel, with node names and counts; `missing`, if given,
  // takes them in as well.
  static StatusOr<std::unique_ptr<Executable>> Compile(ir::Function function,
                                                       CompileOptions options,
                                                       MissingOps* missing = nullptr);
  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  // What it takes and gives, in order.
  const std::vector<TensorSpec>& inputs() const;
  const std::vector<TensorSpec>& outputs() const;

  // Runs one step. `inputs` and `outputs` have the sizes of inputs() and outputs().
  // An output that comes in valid, with the right dtype and shape and no other holder (or borrowed
  // memory), is written in place; with such outputs and a plan that exists, a call of a graph
  // without strings or resources allocates nothing and takes no lock. Others get new memory.
  // INVALID_ARGUMENT: a dtype or shape does not fit (named); or what a kernel reports, with the
  // node's name and op in front.
  Status Run(std::span<const Tensor> inputs, std::span<Tensor> outputs,
             const RunOptions& options = {}) const;

  // What the passes did, in order.
  const std::vector<ir::PassReport>& pass_reports() const;
  // After the passes.
  const ir::Function& function() const;
  // Bytes of packed weights, counted once however many plans there are.
  size_t packed_weight_bytes() const;
  int num_plans() const;
  // Held by frames that no run uses, for the next runs.
  size_t idle_bytes() const;

 private:
  struct Impl;
  explicit Executable(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace slipway::exec
