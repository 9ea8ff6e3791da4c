// SPDX-License-Identifier: Apache-2.0
#include "wire/base64.h"

#include <array>
#include <cstdint>

namespace slipway {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<int8_t, 256> MakeValues() {
  std::array<int8_t, 256> values{};
  for (auto& v : values) v = -1;
  for (size_t i = 0; i < kAlphabet.size(); ++i) {
    values[static_cast<uint8_t>(kAlphabet[i])] = static_cast<int8_t>(i);
  }
  return values;
}
constexpr std::array<int8_t, 256> kValues = MakeValues();

}  // namespace

void AppendBase64(std::string_view bytes, std::string* out) {
  const size_t start = out->size();
  out->resize(start + (bytes.size() + 2) / 3 * 4, '=');
  char* to = out->data() + start;
  size_t i = 0;
  const auto at = [&](size_t k) { return uint32_t{static_cast<uint8_t>(bytes[k])}; };
  for (; i + 3 <= bytes.size(); i += 3, to += 4) {
    const uint32_t word = at(i) << 16 | at(i + 1) << 8 | at(i + 2);
    to[0] = kAlphabet[word >> 18];
    to[1] = kAlphabet[word >> 12 & 63];
    to[2] = kAlphabet[word >> 6 & 63];
    to[3] = kAlphabet[word & 63];
  }
  const size_t left = bytes.size() - i;
  if (left == 0) return;
  const uint32_t word = at(i) << 16 | (left == 2 ? at(i + 1) << 8 : 0);
  to[0] = kAlphabet[word >> 18];
  to[1] = kAlphabet[word >> 12 & 63];
  if (left == 2) to[2] = kAlphabet[word >> 6 & 63];
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  if (text.size() % 4 == 0) {
    for (int i = 0; i < 2 && !text.empty() && text.back() == '='; ++i) text.remove_suffix(1);
  }
  if (text.size() % 4 == 1) return std::nullopt;
  std::string out(text.size() / 4 * 3 + (text.size() % 4 == 0 ? 0 : text.size() % 4 - 1), '\0');
  char* to = out.data();
  uint32_t word = 0;
  int bits = 0;
  for (char c : text) {
    const int value = kValues[static_cast<uint8_t>(c)];
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
