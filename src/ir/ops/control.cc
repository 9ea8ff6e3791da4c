// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"
#include "ir/op_schema.h"
#include "ir/ops/shape_helpers.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

// Whether the attribute tells the outputs' shapes.
StatusOr<bool> UseOutputShapes(ShapeContext& c) {
  const auto& shapes = AttrOf<std::vector<PartialShape>>(c, "output_shapes");
  const int n = c.node().num_outputs();
  if (shapes.empty()) return false;
  if (static_cast<int>(shapes.size()) != n) {
    return c.Error(StrCat("`output_shapes` must be the same length as num outputs (", shapes.size(),
                          " vs. ", n, ")"));
  }
  for (int i = 0; i < n; ++i) c.set_output(i, shapes[static_cast<size_t>(i)]);
  return true;
}

Status BranchShape(ShapeContext& c) { return UseOutputShapes(c).status(); }

// Without the attribute a loop keeps the shapes of its variables.
Status WhileShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(const bool told, UseOutputShapes(c));
  if (told) return OkStatus();
  for (int i = 0; i < c.num_inputs(); ++i) c.set_output(i, c.input(i));
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
     " func, output_shapes: list(shape) = []", kPure, BranchShape},
    {"StatelessCase", "branch_index: int32, input: Tin", "output: Tout",
     "Tin: list(type) >= 0, Tout: list(type) >= 0, branches: list(func) >= 1, output_shapes:"
     " list(shape) = []", kPure, BranchShape},
    {"If", "cond: Tcond, input: Tin", "output: Tout",
     "Tcond: type, Tin: list(type) >= 0, Tout: list(type) >= 0, then_branch: func, else_branch:"
     " func, output_shapes: list(shape) = []", kStateful, BranchShape},
    {"Case", "branch_index: int32, input: Tin", "output: Tout",
     "Tin: list(type) >= 0, Tout: list(type) >= 0, branches: list(func) >= 1, output_shapes:"
     " list(shape) = []", kStateful, BranchShape},
    {"StatelessWhile", "input: T", "output: T",
     "T: list(type) >= 0, cond: func, body: func, output_shapes: list(shape) = [],"
     " parallel_iterations: int = 10", kPure, WhileShape},
    {"While", "input: T", "output: T",
     "T: list(type) >= 0, cond: func, body: func, output_shapes: list(shape) = [],"
     " parallel_iterations: int = 10", kStateful, WhileShape},
    {"Assert", "condition: bool, data: T", "",
     "T: list(type) >= 1, summarize: int = 3", kStateful, NoOutputs},
    {"PrintV2", "input: string", "",
     "output_stream: string = 'stderr', end: string = '\\n'", kStateful, NoOutputs},
    {"Print", "input: T, data: U", "output: T",
     "T: type, U: list(type) >= 0, message: string = '', first_n: int = -1, summarize: int = 3",
     kStateful, UnchangedShape},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> ControlOps() { return kOps; }

}  // namespace slipway::ir
