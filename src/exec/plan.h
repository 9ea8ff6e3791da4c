// SPDX-License-Identifier: Apache-2.0
//
// Plan: a function bound to one set of input shapes. Internal to exec.
//
// Data of a plan, by number:
//   steps   nodes to run, with kernels bound to the shapes
//   values  every output of every step, every argument, every constant
//   blocks  memory that one or several values occupy: in the arena, or where a result goes
// A plan is immutable once built; what a run changes is in its Frame.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exec/device.h"
#include "exec/memory_plan.h"
#include "exec/runtime_op.h"
#include "exec/schedule.h"
#include "ir/function.h"
#include "kernels/kernel.h"

namespace slipway::exec {

// What every plan of an executable shares.
struct PlanEnvironment {
  Device* device = nullptr;
  kernels::ResourceContainer* resources = nullptr;
  kernels::WeightCache* weights = nullptr;
  Env* env = nullptr;
  FunctionCompiler* functions = nullptr;
  bool deterministic = false;
};

struct PlanValue {
  enum class Source : uint8_t { kArgument, kConstant, kStep };
  Source source = Source::kStep;
  DType dtype = DType::kInvalid;
  int argument = -1;
  Tensor constant;
  std::optional<Shape> shape;  // of a step's output, if the input shapes fix it
  int step = -1;
  std::vector<int> readers;   // steps
  int block = -1;             // of memory foreseen by the plan; -1: made when the step runs
  bool shares_input = false;  // the step sets it to the memory of its input (a view)
};

struct PlanStep {
  std::string name;
  std::string op;
  kernels::KernelFn kernel;  // or
  RuntimeOp runtime;
  bool expensive = false;
  int first_input = 0;  // into Plan::input_values
  int num_inputs = 0;
  int first_output = 0;  // into Plan::values: outputs follow each other
  int num_outputs = 0;
  std::vector<int> release;  // values made when their step ran, last read here (inline order)
  std::vector<int> next;     // steps that wait for this one
  int waits_for = 0;         // number of steps
};

struct PlanResult {
  int value = -1;
  int block = -1;  // the block that lies in the result's memory, else the value is handed over
};

struct Plan {
  ir::Function function;  // specialised; constants of values point into it
  std::vector<Shape> input_shapes;
  std::vector<PlanValue> values;
  std::vector<PlanStep> steps;
  std::vector<int> input_values;  // of all steps
  std::vector<PlanResult> results;
  std::vector<std::vector<int>> block_values;  // values with their own view of the block
  std::vector<size_t> block_offsets;           // in the arena; unused for blocks of results
  std::vector<bool> block_is_result;
  size_t arena_bytes = 0;
  bool concurrent = false;  // the layout allows steps to run at the same time
  int num_expensive = 0;
};

// Specialises a clone of `function`: shapes inferred from the inputs, shape arithmetic folded,
// kernels bound, memory laid out. INVALID_ARGUMENT if the shapes do not fit (node, op, shapes).
StatusOr<std::unique_ptr<Plan>> BuildPlan(const ir::Function& function,
                                          std::span<const Tensor> inputs,
                                          const PlanEnvironment& environment, bool concurrent);

}  // namespace slipway::exec
