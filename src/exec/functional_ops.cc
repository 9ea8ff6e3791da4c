// SPDX-License-Identifier: Apache-2.0
#include "exec/functional_ops.h"

#include <algorithm>
#include <vector>

#include "base/stack.h"
#include "base/strings.h"
#include "exec/executable.h"
#include "exec/frame.h"

namespace slipway::exec {
namespace {

// What a call leaves free for the kernels that it runs.
constexpr size_t kStackReserve = 256 << 10;

// The options for what a call runs in turn.
StatusOr<RunOptions> Nested(const RunOptions& outer, const Executable& callee) {
  if (outer.call_depth >= outer.max_call_depth) {
    return InvalidArgumentError(StrCat("Function calls are nested more than ", outer.max_call_depth,
                                       " deep: '", callee.function().name, "' may never end"));
  }
  RunOptions inner = outer;
  if (StackLeft() < kStackReserve) {
    return ResourceExhaustedError(StrCat("Function calls are nested ", outer.call_depth,
                                         " deep, and the thread's stack has no room for more"));
  }
  ++inner.call_depth;
  return inner;
}

Status RunFunction(const Executable& callee, std::span<const Tensor* const> inputs,
                   RuntimeCall& call) {
  ASSIGN_OR_RETURN(const RunOptions options, Nested(call.options, callee));
  std::vector<Tensor> arguments;
  arguments.reserve(inputs.size());
  for (const Tensor* input : inputs) arguments.push_back(*input);
  return callee.Run(arguments, call.outputs, options);
}

// The truth of a condition as If takes it: numbers are true unless zero, strings unless empty,
// other shapes unless they have no elements.
StatusOr<bool> IsTrue(const Tensor& t) {
  if (t.rank() != 0) return t.num_elements() > 0;
  switch (t.dtype()) {
    case DType::kBool:
      return t.scalar<bool>();
    case DType::kInt8:
      return t.scalar<int8_t>() != 0;
    case DType::kUInt8:
      return t.scalar<uint8_t>() != 0;
    case DType::kInt16:
      return t.scalar<int16_t>() != 0;
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

// Shapes that a node declares for its outputs are taken for granted by what follows.
Status CheckDeclaredShapes(const std::vector<PartialShape>& declared,
                           std::span<const Tensor> outputs) {
  for (size_t i = 0; i < declared.size(); ++i) {
    if (declared[i].Admits(outputs[i].shape())) continue;
    return InvalidArgumentError(StrCat("Output ", i, " has shape ", outputs[i].shape().ToString(),
                                       ", but the node declares ", declared[i].ToString()));
  }
  return OkStatus();
}

std::vector<PartialShape> DeclaredShapes(const ir::Node& node) {
  std::vector<PartialShape> shapes;
  for (int i = 0; i < node.num_outputs(); ++i) shapes.push_back(node.shape(i));
  return shapes;
}

StatusOr<RuntimeOp> BindCall(const ir::Node& node, FunctionCompiler& functions) {
  ASSIGN_OR_RETURN(const ir::FunctionRef callee, node.Attr<ir::FunctionRef>("f"));
  // Compiled when first run: a function that calls itself would never be done otherwise.
  return RuntimeOp([&functions, name = callee.name](RuntimeCall& call, RuntimeDone done) {
    StatusOr<const Executable*> compiled = functions.Get(name);
    done(compiled.ok() ? RunFunction(**compiled, call.inputs, call) : compiled.status());
  });
}

// The branch of an If or a Case, on what follows the input that decided.
Status RunBranch(FunctionCompiler& functions, const std::string& name,
                 const std::vector<PartialShape>& declared, RuntimeCall& call) {
  ASSIGN_OR_RETURN(const Executable* branch, functions.Get(name));
  RETURN_IF_ERROR(RunFunction(*branch, call.inputs.subspan(1), call));
  return CheckDeclaredShapes(declared, call.outputs);
}

StatusOr<RuntimeOp> BindIf(const ir::Node& node, FunctionCompiler& functions) {
  ASSIGN_OR_RETURN(const ir::FunctionRef then_branch, node.Attr<ir::FunctionRef>("then_branch"));
  ASSIGN_OR_RETURN(const ir::FunctionRef else_branch, node.Attr<ir::FunctionRef>("else_branch"));
  return RuntimeOp([&functions, then_name = then_branch.name, else_name = else_branch.name,
                    declared = DeclaredShapes(node)](RuntimeCall& call, RuntimeDone done) {
    StatusOr<bool> condition = IsTrue(*call.inputs[0]);
    if (!condition.ok()) return done(condition.status());
    done(RunBranch(functions, *condition ? then_name : else_name, declared, call));
  });
}

StatusOr<RuntimeOp> BindCase(const ir::Node& node, FunctionCompiler& functions) {
  ASSIGN_OR_RETURN(const auto branches, node.Attr<std::vector<ir::FunctionRef>>("branches"));
  return RuntimeOp(
      [&functions, branches, declared = DeclaredShapes(node)](RuntimeCall& call, RuntimeDone done) {
        const Tensor& index = *call.inputs[0];
        if (index.num_elements() != 1) {
          return done(InvalidArgumentError(
              StrCat("branch_index must be a scalar, but has shape ", index.shape().ToString())));
        }
        const int32_t wanted = index.scalar<int32_t>();
        const auto count = static_cast<int32_t>(branches.size());
        const int32_t taken = wanted < 0 || wanted >= count ? count - 1 : wanted;
        done(RunBranch(functions, branches[static_cast<size_t>(taken)].name, declared, call));
      });
}

// One run of a loop. The variables lie in two sets that change places, so that a steady state
// allocates nothing: the body writes into the memory of those it read one iteration before.
class Loop {
 public:
  Loop(const Executable& cond, const Executable& body, RuntimeCall& call)
      : cond_(cond), body_(body), call_(call) {}

  Status Run() {
    const size_t n = call_.inputs.size();
    if (cond_.outputs().size() != 1 || body_.outputs().size() != n) {
      return InvalidArgumentError(StrCat("A loop of ", n, " variables has a condition '",
                                         cond_.function().name, "' of ", cond_.outputs().size(),
                                         " results (1 is wanted) and a body '",
                                         body_.function().name, "' of ", body_.outputs().size()));
    }
    ASSIGN_OR_RETURN(options_, Nested(call_.options, body_));
    for (const Tensor* input : call_.inputs) current_.push_back(*input);
    next_.resize(n);
    for (int64_t iteration = 0;; ++iteration) {
      RETURN_IF_ERROR(CheckInterrupted(options_));
      ASSIGN_OR_RETURN(const bool go_on, Condition());
      if (!go_on) break;
      if (options_.max_loop_iterations > 0 && iteration >= options_.max_loop_iterations) {
        return ResourceExhaustedError(StrCat("The loop with body '", body_.function().name,
                                             "' goes on after ", iteration,
                                             " iterations, the most that is allowed"));
      }
      RETURN_IF_ERROR(body_.Run(current_, next_, options_));
      current_.swap(next_);
      // What the caller gave is not the loop's to write over.
      if (iteration == 0) std::fill(next_.begin(), next_.end(), Tensor());
    }
    for (size_t i = 0; i < n; ++i) call_.outputs[i] = current_[i].Owned();
    return OkStatus();
  }

 private:
  StatusOr<bool> Condition() {
    RETURN_IF_ERROR(cond_.Run(current_, std::span(&condition_, 1), options_));
    return IsTrue(condition_);
  }

  const Executable& cond_;
  const Executable& body_;
  RuntimeCall& call_;
  RunOptions options_;
  std::vector<Tensor> current_;
  std::vector<Tensor> next_;
  Tensor condition_;
};

Status RunLoop(FunctionCompiler& functions, const std::string& cond, const std::string& body,
               const std::vector<PartialShape>& declared, RuntimeCall& call) {
  ASSIGN_OR_RETURN(const Executable* condition, functions.Get(cond));
  ASSIGN_OR_RETURN(const Executable* each, functions.Get(body));
  RETURN_IF_ERROR(Loop(*condition, *each, call).Run());
  return CheckDeclaredShapes(declared, call.outputs);
}

StatusOr<RuntimeOp> BindWhile(const ir::Node& node, FunctionCompiler& functions) {
  ASSIGN_OR_RETURN(const ir::FunctionRef cond, node.Attr<ir::FunctionRef>("cond"));
  ASSIGN_OR_RETURN(const ir::FunctionRef body, node.Attr<ir::FunctionRef>("body"));
  return RuntimeOp([&functions, cond_name = cond.name, body_name = body.name,
                    declared = DeclaredShapes(node)](RuntimeCall& call, RuntimeDone done) {
    done(RunLoop(functions, cond_name, body_name, declared, call));
  });
}

constexpr RuntimeOpDef kOps[] = {
    {"PartitionedCall", BindCall},
    {"StatefulPartitionedCall", BindCall},
    {"If", BindIf},
    {"StatelessIf", BindIf},
    {"Case", BindCase},
    {"StatelessCase", BindCase},
    {"While", BindWhile},
    {"StatelessWhile", BindWhile},
};

}  // namespace

std::span<const RuntimeOpDef> FunctionalOps() { return kOps; }

}  // namespace slipway::exec
