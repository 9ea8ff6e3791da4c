// SPDX-License-Identifier: Apache-2.0
//
// Text: joining, splitting and strict number parsing. No locale anywhere.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slipway {

namespace strings_internal {
template <typename T>
void AppendPiece(std::string* out, const T& piece) {
  if constexpr (std::same_as<T, char>) {
    out->push_back(piece);
  } else if constexpr (std::same_as<T, bool>) {
    out->append(piece ? "true" : "false");
  } else if constexpr (std::integral<T> || std::floating_point<T>) {
    char text[64];
    auto [end, error] = std::to_chars(text, text + sizeof(text), piece);
    out->append(text, end);
  } else {
    out->append(std::string_view(piece));
  }
}
}  // namespace strings_internal

// The pieces (strings, characters, numbers, booleans) one after the other.
template <typename... Pieces>
std::string StrCat(const Pieces&... pieces) {
  std::string out;
  (strings_internal::AppendPiece(&out, pieces), ...);
  return out;
}

template <typename... Pieces>
void StrAppend(std::string* out, const Pieces&... pieces) {
  (strings_internal::AppendPiece(out, pieces), ...);
}

// The elements with `separator` between them; elements are what StrCat takes.
template <typename Range>
std::string StrJoin(const Range& range, std::string_view separator) {
  std::string out;
  bool first = true;
  for (const auto& element : range) {
    if (!first) out.append(separator);
    first = false;
    strings_internal::AppendPiece(&out, element);
  }
  return out;
}

// The pieces between separators, empty ones included: "a,,b" gives "a", "", "b"; "" gives "".
std::vector<std::string_view> StrSplit(std::string_view text, char separator);

std::string_view StripWhitespace(std::string_view text);
std::string AsciiLower(std::string_view text);

// The whole text as a number, or nothing (blanks, trailing characters and overflow included).
std::optional<int64_t> ParseInt64(std::string_view text);
std::optional<double> ParseDouble(std::string_view text);

// Bytes as they may be shown in a message: at most `limit` of them, quoted, control and
// non-UTF-8 bytes escaped, with "..." where something was cut.
std::string Quoted(std::string_view bytes, size_t limit = 80);

// The candidate nearest to `word` by edit distance, if near enough to be worth suggesting.
std::optional<std::string> NearestWord(std::string_view word,
                                       std::span<const std::string> candidates);

}  // namespace slipway
