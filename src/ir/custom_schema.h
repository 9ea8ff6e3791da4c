// SPDX-License-Identifier: Apache-2.0
//
// Schemas that come while the program runs, from libraries of custom ops.
#pragma once

#include "ir/op_schema.h"

namespace slipway::ir {

// FindOpSchema knows the op from now on, for the rest of the process. ALREADY_EXISTS if it knew one
// of that name. Thread safe.
Status AddOpSchema(OpSchema schema);

}  // namespace slipway::ir
