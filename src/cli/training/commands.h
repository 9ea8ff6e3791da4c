// SPDX-License-Identifier: Apache-2.0
//
// The commands that only a build with training has.
#pragma once

#include "cli/command.h"

namespace slipway::cli {

int RunTrain(Args args);

}  // namespace slipway::cli
