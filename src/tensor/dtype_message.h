// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "slipway/dtype.h"

namespace slipway {

// The name of a type in TensorFlow's messages: "float", "double" and "half", the others as
// DTypeName says them.
std::string_view DTypeMessageName(DType dtype);

}  // namespace slipway
