// SPDX-License-Identifier: Apache-2.0
//
// Base64 with the standard alphabet (RFC 4648).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace slipway {

// With padding.
void AppendBase64(std::string_view bytes, std::string* out);
// Nothing if the text has a wrong length or another character; padding may be missing.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace slipway
