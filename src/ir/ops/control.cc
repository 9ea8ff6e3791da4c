// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/families.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

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
     " func, output_shapes: list(shape) = []", kPure, nullptr},
    {"StatelessCase", "branch_index: int32, input: Tin", "output: Tout",
     "Tin: list(type) >= 0, Tout: list(type) >= 0, branches: list(func) >= 1, output_shapes:"
     " list(shape) = []", kPure, nullptr},
    {"If", "cond: Tcond, input: Tin", "output: Tout",
     "Tcond: type, Tin: list(type) >= 0, Tout: list(type) >= 0, then_branch: func, else_branch:"
     " func, output_shapes: list(shape) = []", kStateful, nullptr},
    {"Case", "branch_index: int32, input: Tin", "output: Tout",
     "Tin: list(type) >= 0, Tout: list(type) >= 0, branches: list(func) >= 1, output_shapes:"
     " list(shape) = []", kStateful, nullptr},
    {"StatelessWhile", "input: T", "output: T",
     "T: list(type) >= 0, cond: func, body: func, output_shapes: list(shape) = [],"
     " parallel_iterations: int = 10", kPure, nullptr},
    {"While", "input: T", "output: T",
     "T: list(type) >= 0, cond: func, body: func, output_shapes: list(shape) = [],"
     " parallel_iterations: int = 10", kStateful, nullptr},
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
