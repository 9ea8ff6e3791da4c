// SPDX-License-Identifier: Apache-2.0
//
// The gradient of a function as a function, for the ops that call one.
#pragma once

#include <string>
#include <vector>

#include "ir/function.h"
#include "ir/gradient.h"

namespace slipway::ir::grad {

// Takes the function's arguments and dL/dy of the results `dys`; gives dL/dx of the arguments
// `dxs`, zeros where there is no dependence. It computes what it needs of the function's values
// again.
struct FunctionGradient {
  std::vector<int> dys, dxs;
};

// The function called `name`. FAILED_PRECONDITION without a library.
StatusOr<const Function*> Callee(const GradientContext& c, const std::string& name);
// The name of a new function in the library. UNIMPLEMENTED if what it would compute again has an
// effect or is random.
StatusOr<std::string> AddFunctionGradient(FunctionLibrary* library, const Function& function,
                                          const FunctionGradient& spec);

// A name that the library has not yet.
std::string FreeName(const FunctionLibrary& library, const std::string& base);

}  // namespace slipway::ir::grad
