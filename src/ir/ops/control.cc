// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"
#include "ir/op_schema.h"
#include "ir/ops/shape_helpers.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

// Without the attribute nothing is known: a loop may change the shapes of its variables.
Status DeclaredShape(ShapeContext& c) {
  const auto& shapes = AttrOf<std::vector<PartialShape>>(c, "output_shapes");
  const int n = c.node().num_outputs();
  if (shapes.empty()) return OkStatus();
  if (static_cast<int>(shapes.size()) != n) {
    return c.Error(StrCat("`output_shapes` must be the same length as num outputs (", shapes.size(),
                          " vs. ", n, ")"));
  }
  for (int i = 0; i < n; ++i) c.set_output(i, shapes[static_cast<size_t>(i)]);
  return OkStatus();
}

Status SwitchShape(ShapeContext& c) {
  c.set_output(0, c.input(0));
  c.set_output(1, c.input(0));
  return OkStatus();
}

// Whichever comes; the way back of a loop may bring another shape than the way in.
Status MergeShape(ShapeContext& c) {
  c.set_output(1, PartialShape({}));
  return OkStatus();
}

// Only what is the same in each iteration keeps its shape.
Status EnterShape(ShapeContext& c) {
  if (AttrOf<bool>(c, "is_constant")) c.set_output(0, c.input(0));
  return OkStatus();
}

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"NoOp", "", "", "", kPure, NoOutputs},
    {"_Arg", "", "output: T", "T: type, index: int >= 0", kPure, nullptr},
    {"PartitionedCall", "args: Tin", "output: Tout",
     "Tin: list(type) >= 0, Tout: list(type) >= 0, f: func, config: string = '', config_proto:"
     " string = '', executor_type: string = ''", kPure, nullptr},
    {"StatefulPartitionedCall", "args: Tin", "output: Tout",
     "Tin: list(type) >= 0, Tout: list(type) >= 0, f: func, config: string = '', config_proto:"
     " string = '', executor_type: string = ''", kStateful, nullptr},
    {"StatelessIf", "cond: Tcond, input: Tin", "output: Tout",
     "Tcond: type, Tin: list(type) >= 0, Tout: list(type) >= 0, then_branch: func, else_branch:"
     " func, output_shapes: list(shape) = []", kPure, DeclaredShape},
    {"StatelessCase", "branch_index: int32, input: Tin", "output: Tout",
     "Tin: list(type) >= 0, Tout: list(type) >= 0, branches: list(func) >= 1, output_shapes:"
     " list(shape) = []", kPure, DeclaredShape},
    {"If", "cond: Tcond, input: Tin", "output: Tout",
     "Tcond: type, Tin: list(type) >= 0, Tout: list(type) >= 0, then_branch: func, else_branch:"
     " func, output_shapes: list(shape) = []", kStateful, DeclaredShape},
    {"Case", "branch_index: int32, input: Tin", "output: Tout",
     "Tin: list(type) >= 0, Tout: list(type) >= 0, branches: list(func) >= 1, output_shapes:"
     " list(shape) = []", kStateful, DeclaredShape},
    {"StatelessWhile", "input: T", "output: T",
     "T: list(type) >= 0, cond: func, body: func, output_shapes: list(shape) = [],"
     " parallel_iterations: int = 10", kPure, DeclaredShape},
    {"While", "input: T", "output: T",
     "T: list(type) >= 0, cond: func, body: func, output_shapes: list(shape) = [],"
     " parallel_iterations: int = 10", kStateful, DeclaredShape},
    {"Assert", "condition: bool, data: T", "",
     "T: list(type) >= 1, summarize: int = 3", kStateful, NoOutputs},
    {"PrintV2", "input: string", "",
     "output_stream: string = 'stderr', end: string = '\\n'", kStateful, NoOutputs},
    {"Print", "input: T, data: U", "output: T",
     "T: type, U: list(type) >= 0, message: string = '', first_n: int = -1, summarize: int = 3",
     kStateful, UnchangedShape},
    {"ControlTrigger", "", "", "", kPure, NoOutputs},
    {"Timestamp", "", "ts: double", "", kStateful, ScalarShape},
    {"LoopCond", "input: bool", "output: bool", "", kPure, UnchangedShape},
    {"Switch", "data: T, pred: bool", "output_false: T, output_true: T", "T: type", kPure, SwitchShape},
    {"Merge", "inputs: N * T", "output: T, value_index: int32",
     "T: type, N: int >= 1", kPure, MergeShape},
    {"Enter", "data: T", "output: T",
     "T: type, frame_name: string, is_constant: bool = false, parallel_iterations: int = 10",
     kPure, EnterShape},
    {"Exit", "data: T", "output: T", "T: type", kPure, UnchangedShape},
    {"NextIteration", "data: T", "output: T", "T: type", kPure, UnchangedShape},
    {"RefEnter", "data: T", "output: T",
     "T: type, frame_name: string, is_constant: bool = false, parallel_iterations: int = 10",
     kPure, EnterShape},
    {"RefExit", "data: T", "output: T", "T: type", kPure, UnchangedShape},
    {"RefSwitch", "data: T, pred: bool", "output_false: T, output_true: T",
     "T: type", kPure, SwitchShape},
    {"RefMerge", "inputs: N * T", "output: T, value_index: int32",
     "T: type, N: int >= 1", kPure, MergeShape},
    {"RefNextIteration", "data: T", "output: T", "T: type", kPure, UnchangedShape},
    {"RefIdentity", "input: T", "output: T", "T: type", kPure, UnchangedShape},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> ControlOps() { return kOps; }

}  // namespace slipway::ir
