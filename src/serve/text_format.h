// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "slipway/status.h"

namespace google::protobuf {
class Message;
}

namespace slipway::serve {

// Reads protobuf's text format. INVALID_ARGUMENT "Error parsing text-format PACKAGE.Message:
// LINE:COLUMN: …" with the first thing wrong; lines and columns count from 1.
Status ParseTextFormat(std::string_view text, google::protobuf::Message* message);

}  // namespace slipway::serve
