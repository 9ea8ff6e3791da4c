// SPDX-License-Identifier: Apache-2.0
//
// Base64 (RFC 4648).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace slipway {

enum class Base64Alphabet {
  kStandard,  // the last two characters are + and /
  kWebSafe,   // they are - and _
};

// With padding.
void AppendBase64(std::string_view bytes, std::string* out,
                  Base64Alphabet alphabet = Base64Alphabet::kStandard);
// Nothing if the text has a wrong length or another character; padding may be missing.
std::optional<std::string> DecodeBase64(std::string_view text,
                                        Base64Alphabet alphabet = Base64Alphabet::kStandard);

}  // namespace slipway
