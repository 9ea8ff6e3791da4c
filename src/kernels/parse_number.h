// SPDX-License-Identifier: Apache-2.0
//
// Numbers in text by TensorFlow's rules.
#pragma once

#include <charconv>
#include <clocale>
#include <cstdlib>
#include <string>
#include <string_view>
#include <type_traits>

namespace slipway::kernels {

inline constexpr std::string_view kBlanks = " \t\n\v\f\r";

// The whole text but for blanks around it. Reals: decimal, hexadecimal, inf and nan; too large is
// infinite and too small is 0, as strtod has them, in the C locale whatever the process's is.
template <typename T>
bool ParseNumber(std::string_view text, T* value) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return false;
  text = text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
  if constexpr (std::is_floating_point_v<T>) {
    static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", nullptr);
    const std::string copy(text);
    char* end = nullptr;
    if constexpr (std::is_same_v<T, float>) {
      *value = strtof_l(copy.c_str(), &end, c_locale);
    } else {
      *value = strtod_l(copy.c_str(), &end, c_locale);
    }
    return end == copy.c_str() + copy.size();
  } else {
    if (text.front() == '+') {
      text.remove_prefix(1);
      if (text.starts_with('-')) return false;
    }
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
    return error == std::errc() && end == text.data() + text.size();
  }
}

}  // namespace slipway::kernels
