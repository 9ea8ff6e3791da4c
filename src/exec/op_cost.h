// SPDX-License-Identifier: Apache-2.0
//
// What an op must do at least: floating-point operations and bytes, from the shapes it ran on. With
// what the machine can do (kernels/machine_probe.h) this gives the time below which it cannot be.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "slipway/tensor.h"

namespace slipway::exec {

struct OpCost {
  double flops = 0;  // a multiply-add counts two; of other ops one for each element
  double bytes = 0;  // inputs read and outputs written, each once; nothing for views
};

// `node` (may be null) is looked at for the equation of an Einsum. Inputs are what stood before the
// op ran.
OpCost CostOf(std::string_view op, const ir::Node* node, std::span<const Tensor> inputs,
              std::span<const Tensor> outputs);

}  // namespace slipway::exec
