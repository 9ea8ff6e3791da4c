// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace slipway {

// Bytes of the calling thread's stack that are still free. What recurses as deep as its input says
// asks before it goes on.
size_t StackLeft();

}  // namespace slipway
