// SPDX-License-Identifier: Apache-2.0
//
// Runtime ops: ops that the executor runs itself because they need the step they run in (calls of
// functions, branches, loops), where a kernel only sees tensors.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "ir/graph.h"
#include "slipway/tensor.h"

namespace slipway::exec {

class Executable;
struct RunOptions;

struct RuntimeCall {
  std::span<const Tensor* const> inputs;
  std::span<Tensor> outputs;  // to be set before completion
  const RunOptions& options;
};
using RuntimeDone = std::function<void(Status)>;
// Calls `done` exactly once, before it returns.
using RuntimeOp = std::function<void(RuntimeCall& call, RuntimeDone done)>;

// Compiles functions of the library for runtime ops, each once for an executable and all it calls.
class FunctionCompiler {
 public:
  virtual ~FunctionCompiler() = default;
  // NOT_FOUND if the library has none of that name; else as Executable::Compile.
  // The pointer stays valid as long as the outermost executable.
  virtual StatusOr<const Executable*> Get(std::string_view function) = 0;
};

using RuntimeBindFn = StatusOr<RuntimeOp> (*)(const ir::Node& node, FunctionCompiler& functions);

struct RuntimeOpDef {
  const char* op;
  RuntimeBindFn bind;
};

// Null if the op is none.
const RuntimeOpDef* FindRuntimeOp(std::string_view op);

}  // namespace slipway::exec
