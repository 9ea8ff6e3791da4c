// SPDX-License-Identifier: Apache-2.0
//
// What is behind the public Graph of a custom loop.
#pragma once

#include <memory>
#include <unordered_map>

#include "ir/function.h"
#include "nn/context.h"
#include "slipway/ops.h"
#include "train/variables.h"

namespace slipway {

struct Graph::State {
  State();
  // The variable behind the description will be found under its key when the function runs.
  void Register(const Variable& variable);

  ir::Function function;
  ir::GraphBuilder builder;
  // By description. Two variables may have one path (of two models): the key has a number.
  struct Entry {
    std::string key;
    std::shared_ptr<Variable::State> variable;
  };
  std::unordered_map<const nn::Variable*, Entry> variables;
  nn::CallContext context;
};

}  // namespace slipway
