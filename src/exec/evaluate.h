// SPDX-License-Identifier: Apache-2.0
//
// Runs one node on tensors, outside of any plan: how passes fold constants and how handles of
// resources are made once, when a plan is built.
#pragma once

#include <span>
#include <vector>

#include "exec/device.h"
#include "kernels/kernel.h"

namespace slipway::exec {

// Binds the node's CPU kernel to the shapes of `inputs` and runs it on the calling thread.
// `bind` gives resources, env and the rest; its node and input fields are set here.
StatusOr<std::vector<Tensor>> EvaluateNode(const ir::Node& node, std::span<const Tensor> inputs,
                                           kernels::BindContext bind);

}  // namespace slipway::exec
