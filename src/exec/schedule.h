// SPDX-License-Identifier: Apache-2.0
//
// Which nodes of a function become steps, in which order they run inline, and which steps each
// one waits for.
#pragma once

#include <vector>

#include "ir/function.h"

namespace slipway::exec {

struct Schedule {
  std::vector<ir::Node*> steps;                // an order that is always right
  std::vector<std::vector<int>> dependencies;  // of each step: earlier steps, without duplicates
};

// Nodes that results or control returns need. Arguments and constants are no steps. Where nothing
// forbids it, an update of a variable waits for those who still read the old value, so that it can
// be done in place; and a step runs soon after its last input was made, while that is in the cache.
// INVALID_ARGUMENT if there is a cycle.
StatusOr<Schedule> MakeSchedule(const ir::Function& function);

}  // namespace slipway::exec
