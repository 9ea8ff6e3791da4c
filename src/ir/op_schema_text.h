// SPDX-License-Identifier: Apache-2.0
//
// The text form of op schemas (op_schema.h describes it) as OpSchema.
#pragma once

#include <span>

#include "ir/op_schema.h"

namespace slipway::ir {

// INVALID_ARGUMENT names the op, what was wanted and the text from there on.
StatusOr<OpSchema> ParseOpSchema(const OpSchemaText& text);

// The members of a named set of types ("numeric"); empty if there is no such set.
std::span<const DType> TypeSet(std::string_view name);

}  // namespace slipway::ir
