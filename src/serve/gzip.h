// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "slipway/status.h"

namespace slipway::serve {

// The content of a gzip stream (RFC 1952), of all members of it. INVALID_ARGUMENT if it is none or
// ends early; RESOURCE_EXHAUSTED when it inflates to more than `limit` bytes.
StatusOr<std::string> Gunzip(std::string_view bytes, size_t limit);

}  // namespace slipway::serve
