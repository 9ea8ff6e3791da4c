// SPDX-License-Identifier: Apache-2.0
//
// The functions of NumPy that expressions may call; inside `model` only.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/python_expr.h"

namespace slipway::model {

struct NumpyCall {
  std::vector<PythonValue> args;
  std::vector<std::pair<std::string, PythonValue>> keywords;
};

// np.NAME without brackets: pi, nan, inf, a type.
StatusOr<PythonValue> NumpyConstant(const std::string& name);
// np.NAME(…). INVALID_ARGUMENT names the function and what does not fit; RESOURCE_EXHAUSTED for
// more than `max_elements`.
StatusOr<PythonValue> CallNumpy(const std::string& name, const NumpyCall& call,
                                int64_t max_elements);
// value.NAME(…)
StatusOr<PythonValue> CallMethod(const PythonValue& value, const std::string& name,
                                 const NumpyCall& call);

}  // namespace slipway::model
