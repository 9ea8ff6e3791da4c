// SPDX-License-Identifier: Apache-2.0
//
// The validator of passes, for tests: runs a function before and after each pass on random inputs
// and compares results and variables. A pass that changes them is reported with the smallest
// function found on which it does.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "exec/executable.h"
#include "ir/pass.h"
#include "kernels/resources.h"

namespace slipway::exec {

struct ValidatorOptions {
  int runs = 2;  // each with other inputs
  uint64_t seed = 1;
  int64_t unknown_size = 3;  // what sizes that are not known are in the runs
  // Difference allowed, relative to the largest magnitude in the tensor (at least 1).
  double tolerance = 1e-5;
  // Values for arguments that random numbers do not suit (indices, names), by name.
  std::map<std::string, Tensor> inputs;
  // Makes the variables and tables in the state that every run starts from. Empty: none.
  std::function<std::unique_ptr<kernels::ResourceContainer>()> resources;
};

struct PassFailure {
  std::string pass;
  std::string difference;  // what differs, or the error
  int nodes = 0;           // of the reduced function
  std::string function;    // ir::DebugText of it, as it is before the pass
};

// Runs `passes` one after the other on a copy of `function`. Nothing: no pass changed anything that
// can be seen. An error: the function cannot be run as it is.
StatusOr<std::optional<PassFailure>> ValidatePasses(const ir::Function& function,
                                                    const ir::PassContext& context,
                                                    std::span<const ir::Pass> passes,
                                                    const ValidatorOptions& options = {});

}  // namespace slipway::exec
