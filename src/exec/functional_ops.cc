// SPDX-License-Identifier: Apache-2.0
#include "exec/functional_ops.h"

#include <vector>

#include "base/strings.h"
#include "exec/executable.h"

namespace slipway::exec {
namespace {

// Nested calls beyond this are taken for a recursion without end; each takes a stack frame.
constexpr int kMaxCallDepth = 128;

Status RunFunction(const Executable& callee, std::span<const Tensor* const> inputs,
                   RuntimeCall& call) {
  thread_local int depth = 0;
  if (depth >= kMaxCallDepth) {
    return InvalidArgumentError(StrCat("Function calls are nested more than ", kMaxCallDepth,
                                       " deep: '", callee.function().name, "' may never end"));
  }
  std::vector<Tensor> arguments;
  arguments.reserve(inputs.size());
  for (const Tensor* input : inputs) arguments.push_back(*input);
  ++depth;
  Status status = callee.Run(arguments, call.outputs, call.options);
  --depth;
  return status;
}

// The truth of a condition as If takes it: numbers are true unless zero, strings unless empty,
// other shapes unless they have no elements.
StatusOr<bool> IsTrue(const Tensor& t) {
  if (t.rank() != 0) return t.num_elements() > 0;
  switch (t.dtype()) {
    case DType::kBool:
      return t.scalar<bool>();
    case DType::kInt32:
      return t.scalar<int32_t>() != 0;
    case DType::kInt64:
      return t.scalar<int64_t>() != 0;
    case DType::kFloat:
      return t.scalar<float>() != 0;
    case DType::kDouble:
      return t.scalar<double>() != 0;
    case DType::kString:
      return !t.scalar<std::string>().empty();
    default:
      return InvalidArgumentError(
          StrCat("A condition of type ", DTypeName(t.dtype()), " has no truth value"));
  }
}

StatusOr<RuntimeOp> BindCall(const ir::Node& node, FunctionCompiler& functions) {
  ASSIGN_OR_RETURN(const ir::FunctionRef callee, node.Attr<ir::FunctionRef>("f"));
  // Compiled when first run: a function that calls itself would never be done otherwise.
  return RuntimeOp([&functions, name = callee.name](RuntimeCall& call, RuntimeDone done) {
    StatusOr<const Executable*> compiled = functions.Get(name);
    done(compiled.ok() ? RunFunction(**compiled, call.inputs, call) : compiled.status());
  });
}

StatusOr<RuntimeOp> BindIf(const ir::Node& node, FunctionCompiler& functions) {
  ASSIGN_OR_RETURN(const ir::FunctionRef then_branch, node.Attr<ir::FunctionRef>("then_branch"));
  ASSIGN_OR_RETURN(const ir::FunctionRef else_branch, node.Attr<ir::FunctionRef>("else_branch"));
  return RuntimeOp([&functions, then_name = then_branch.name, else_name = else_branch.name](
                       RuntimeCall& call, RuntimeDone done) {
    StatusOr<bool> condition = IsTrue(*call.inputs[0]);
    if (!condition.ok()) return done(condition.status());
    StatusOr<const Executable*> branch = functions.Get(*condition ? then_name : else_name);
    done(branch.ok() ? RunFunction(**branch, call.inputs.subspan(1), call) : branch.status());
  });
}

constexpr RuntimeOpDef kOps[] = {
    {"PartitionedCall", BindCall},
    {"StatefulPartitionedCall", BindCall},
    {"If", BindIf},
    {"StatelessIf", BindIf},
};

}  // namespace

std::span<const RuntimeOpDef> FunctionalOps() { return kOps; }

}  // namespace slipway::exec
