// SPDX-License-Identifier: Apache-2.0
#include "wire/base64.h"

#include <array>
#include <cstdint>

namespace slipway {
namespace {

constexpr std::string_view kStandard =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kWebSafe =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

using Values = std::array<int8_t, 256>;
constexpr Values MakeValues(std::string_view characters) {
  Values values{};
  for (auto& v : values) v = -1;
  for (size_t i = 0; i < characters.size(); ++i) {
    values[static_cast<uint8_t>(characters[i])] = static_cast<int8_t>(i);
  }
  return values;
}
constexpr Values kStandardValues = MakeValues(kStandard), kWebSafeValues = MakeValues(kWebSafe);

}  // namespace

void AppendBase64(std::string_view bytes, std::string* out, Base64Alphabet alphabet) {
  const std::string_view characters = alphabet == Base64Alphabet::kStandard ? kStandard : kWebSafe;
  const size_t start = out->size();
  out->resize(start + (bytes.size() + 2) / 3 * 4, '=');
  char* to = out->data() + start;
  size_t i = 0;
  const auto at = [&](size_t k) { return uint32_t{static_cast<uint8_t>(bytes[k])}; };
  for (; i + 3 <= bytes.size(); i += 3, to += 4) {
    const uint32_t word = at(i) << 16 | at(i + 1) << 8 | at(i + 2);
    to[0] = characters[word >> 18];
    to[1] = characters[word >> 12 & 63];
    to[2] = characters[word >> 6 & 63];
    to[3] = characters[word & 63];
  }
  const size_t left = bytes.size() - i;
  if (left == 0) return;
  const uint32_t word = at(i) << 16 | (left == 2 ? at(i + 1) << 8 : 0);
  to[0] = characters[word >> 18];
  to[1] = characters[word >> 12 & 63];
  if (left == 2) to[2] = characters[word >> 6 & 63];
}

std::optional<std::string> DecodeBase64(std::string_view text, Base64Alphabet alphabet) {
  const Values& values = alphabet == Base64Alphabet::kStandard ? kStandardValues : kWebSafeValues;
  if (text.size() % 4 == 0) {
    for (int i = 0; i < 2 && !text.empty() && text.back() == '='; ++i) text.remove_suffix(1);
  }
  if (text.size() % 4 == 1) return std::nullopt;
  std::string out(text.size() / 4 * 3 + (text.size() % 4 == 0 ? 0 : text.size() % 4 - 1), '\0');
  char* to = out.data();
  uint32_t word = 0;
  int bits = 0;
  for (char c : text) {
    const int value = values[static_cast<uint8_t>(c)];
    if (value < 0) return std::nullopt;
    word = word << 6 | static_cast<uint32_t>(value);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      *to++ = static_cast<char>(word >> bits);
    }
  }
  return out;
}

}  // namespace slipway
