// SPDX-License-Identifier: Apache-2.0
//
// One call of one op as a line of JSON (tools/op_cases/framework.py writes them):
//   {"name", "op", "attrs": {NAME: value}, "inputs": {"0": TENSOR, …}, "variables": {INPUT:
//   TENSOR},
//    "outputs": {"0": TENSOR, …}, "after": {INPUT: TENSOR}, "error": {"code", "contains"}}
// with TENSOR as in wire/tensor_json.h. Inputs that are variables are in "variables", with what
// they hold before; "after" is what they hold when the op has run.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "kernels/resources.h"
#include "slipway/status.h"
#include "slipway/tensor.h"
#include "wire/tensor_json.h"

namespace slipway::kernels {

struct ParsedOpCase {
  nlohmann::json json;
  std::vector<Tensor> inputs;  // handles of the variables among them
  std::vector<Tensor> outputs;
  TensorMap after;                                        // by input
  std::map<size_t, std::shared_ptr<Variable>> variables;  // by input
};

// INVALID_ARGUMENT if it is not such a line. Values of other JSON types than theirs throw
// nlohmann::json::exception, here and below.
StatusOr<ParsedOpCase> ParseOpCase(std::string_view line);

// A node of the op over placeholders; with shapes, it is told those of the inputs.
StatusOr<ir::Node*> BuildOpCaseNode(ir::Graph* graph, const ParsedOpCase& parsed, bool with_shapes);

}  // namespace slipway::kernels
