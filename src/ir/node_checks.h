// SPDX-License-Identifier: Apache-2.0
//
// What Graph::AddNode checks of a node against its schema, in this order. Errors are
// INVALID_ARGUMENT without the node's name, which the caller puts in front.
#pragma once

#include <span>

#include "ir/op_schema.h"

namespace slipway::ir {

// Sets type, number and type-list attributes that are missing and follow from the inputs' dtypes.
// kInvalid inputs (of opaque nodes) say nothing.
void InferAttrs(const OpSchema& schema, std::span<const DType> inputs, AttrMap* attrs);

// Every attribute of the schema is there or has a default, has its type and an allowed value;
// attributes that the schema does not know begin with "_".
Status CheckAttrs(const OpSchema& schema, const AttrMap& attrs);

// As many inputs as the schema wants, each of its dtype.
Status CheckInputs(const OpSchema& schema, const Dtypes& wanted, std::span<const DType> inputs);

}  // namespace slipway::ir
