// SPDX-License-Identifier: Apache-2.0
//
// The local file system without schemes: what Env::Default() uses for plain paths.
#pragma once

#include <memory>

#include "base/env.h"

namespace slipway {

std::unique_ptr<Env> NewPosixEnv();

}  // namespace slipway
