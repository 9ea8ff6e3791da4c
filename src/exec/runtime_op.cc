// SPDX-License-Identifier: Apache-2.0
#include "exec/runtime_op.h"

#include "exec/functional_ops.h"

namespace slipway::exec {

const RuntimeOpDef* FindRuntimeOp(std::string_view op) {
  for (const RuntimeOpDef& def : FunctionalOps()) {
    if (op == def.op) return &def;
  }
  return nullptr;
}

}  // namespace slipway::exec
