// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "model/saved_model.h"

namespace slipway::model {

// INVALID_ARGUMENT for inputs that are not those of the signature, in TensorFlow Serving's words:
// "input size does not match signature: 1!=1 len({a}) != len({x}). Sent extra: {a}. Missing but
// required: {x}." `sent`: the names of the inputs that were given.
Status WrongInputs(const Signature& signature, std::span<const std::string_view> sent);

}  // namespace slipway::model
