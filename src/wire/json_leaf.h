// SPDX-License-Identifier: Apache-2.0
//
// Single values of JSON as elements of tensors: the leaves of the lists of a predict request.
#pragma once

#include "slipway/status.h"
#include "slipway/tensor.h"
#include "wire/json_cursor.h"

namespace slipway {

// Reads one value into the element at `slot`; the cursor stands on its first character.
// INVALID_ARGUMENT names the value and the type wanted, or the place of broken JSON.
using JsonLeafReader = Status (*)(JsonCursor* cursor, DType dtype, void* slot);

// Null if JSON has no form for the type.
JsonLeafReader JsonLeafReaderFor(DType dtype);

}  // namespace slipway
