// SPDX-License-Identifier: Apache-2.0
//
// Whether the kernels agree with an op case (op_case.h).
#pragma once

#include <string_view>

#include "op_case.h"

namespace slipway::kernels {

// Runs the case and compares: values within the case's tolerance or that of the dtype, errors by
// code and text. OK where they agree; else INTERNAL, or INVALID_ARGUMENT if the line is no case.
Status CheckOpCaseResult(std::string_view line);

// What shape inference says of the node, told the inputs' shapes, must admit what TensorFlow gave.
Status CheckOpCaseShapes(std::string_view line);

}  // namespace slipway::kernels
