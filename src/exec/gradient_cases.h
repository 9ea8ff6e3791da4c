// SPDX-License-Identifier: Apache-2.0
//
// What gradient_test.cc checks: ops with inputs at which they are smooth. A new gradient is a new
// line in gradient_cases_test.cc.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ir/builder.h"
#include "ir/function.h"

namespace slipway::exec {

struct GradientCase {
  std::string name;  // of the test: the op and what is special
  std::string op;
  std::vector<Tensor> inputs;
  // The op's outputs; those of a floating type are differentiated.
  std::function<std::vector<ir::Output>(ir::GraphBuilder&, const std::vector<ir::Output>&)> make;
  double tolerance = 2e-3;
  // Inputs left out though they are floating: the op has no gradient by them.
  std::vector<size_t> constant = {};
  // Adds the functions that the op calls.
  std::function<void(ir::FunctionLibrary&)> functions = nullptr;

  bool differentiates(size_t input) const {
    for (size_t i : constant) {
      if (i == input) return false;
    }
    return IsFloating(inputs[input].dtype());
  }
};

const std::vector<GradientCase>& AllGradientCases();

}  // namespace slipway::exec
