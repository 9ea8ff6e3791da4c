// SPDX-License-Identifier: Apache-2.0
//
// For tests that build a function and run it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "exec/executable.h"
#include "ir/builder.h"

namespace slipway::exec {

// A function under construction: arguments, ops through the builder, results.
class FunctionMaker {
 public:
  explicit FunctionMaker(std::string name = "test") : builder_(&function_.graph) {
    function_.name = std::move(name);
  }

  ir::GraphBuilder& b() { return builder_; }
  ir::Output Arg(const std::string& name, DType dtype, PartialShape shape = {}) {
    auto arg = function_.AddArg(name, dtype, std::move(shape));
    EXPECT_TRUE(arg.ok()) << arg.status().ToString();
    return arg.ok() ? *arg : ir::Output();
  }
  void Return(const std::string& name, ir::Output value) {
    function_.returns.push_back({name, value});
  }
  void Target(ir::Node* node) { function_.control_returns.emplace_back(node->name(), node); }
  ir::Output Variable(const std::string& name, DType dtype, const Shape& shape) {
    return builder_.Op("VarHandleOp", {},
                       {{"dtype", dtype}, {"shape", PartialShape(shape)}, {"shared_name", name}},
                       name);
  }

  ir::Function Take() {
    EXPECT_TRUE(builder_.ok()) << builder_.status().ToString();
    return std::move(function_);
  }
  std::unique_ptr<Executable> Compile(CompileOptions options = {}) {
    auto made = Executable::Compile(Take(), std::move(options));
    EXPECT_TRUE(made.ok()) << made.status().ToString();
    return made.ok() ? *std::move(made) : nullptr;
  }

 private:
  ir::Function function_;
  ir::GraphBuilder builder_;
};

// One run with outputs in new memory.
inline StatusOr<std::vector<Tensor>> RunOnce(const Executable& executable,
                                             const std::vector<Tensor>& inputs,
                                             const RunOptions& options = {}) {
  std::vector<Tensor> outputs(executable.outputs().size());
  RETURN_IF_ERROR(executable.Run(inputs, outputs, options));
  return outputs;
}

}  // namespace slipway::exec
