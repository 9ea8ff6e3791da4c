// SPDX-License-Identifier: Apache-2.0
//
// Runtime ops that run functions: calls that were not inlined (recursion) and branches.
#pragma once

#include <span>

#include "exec/runtime_op.h"

namespace slipway::exec {

std::span<const RuntimeOpDef> FunctionalOps();

}  // namespace slipway::exec
