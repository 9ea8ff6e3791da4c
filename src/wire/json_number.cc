// SPDX-License-Identifier: Apache-2.0
#include "wire/json_number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

#include "wire/coding.h"

namespace slipway {
namespace {

constexpr int kMaxExactPower = 27;  // 10^27 = 2^27 * 5^27, and 5^27 fits 63 bits
constexpr bool kWideLongDouble = std::numeric_limits<long double>::digits == 64;

template <typename T, size_t N>
constexpr std::array<T, N> PowersOfTen() {
  std::array<T, N> powers{};
  T power = 1;
  for (T& p : powers) {
    p = power;
    power *= 10;
  }
  return powers;
}
constexpr auto kDoublePowers = PowersOfTen<double, 23>();
constexpr auto kWidePowers = PowersOfTen<long double, kMaxExactPower + 1>();
constexpr auto kIntPowers = PowersOfTen<uint64_t, 20>();

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The decimal digits of a text: value * 10^exponent, up to 19 of them.
struct Digits {
  uint64_t value = 0;
  int count = 0;  // without most leading zeros: at least what `value` really has
};

// Up to eight digits at `at`, where eight bytes can be read: appended to *value, without a branch
// on how many they are. Returns their number.
inline int TakeEight(const char* at, uint64_t* value) {
  uint64_t word = LoadFixed64(at) ^ 0x3030303030303030u;
  // The first byte that is not 0..9 has a bit in its upper half; bytes behind it do not matter.
  const uint64_t other = (word | (word + 0x0606060606060606u)) & 0xf0f0f0f0f0f0f0f0u;
  const int n = other == 0 ? 8 : __builtin_ctzll(other) / 8;
  if (n == 0) return 0;
  word <<= 64 - 8 * n;  // as if zeros stood in front
  word = (word * 10 + (word >> 8)) & 0x00ff00ff00ff00ffu;
  word = (word * 100 + (word >> 16)) & 0x0000ffff0000ffffu;
  word = (word * 10000 + (word >> 32)) & 0xffffffffu;
  *value = *value * kIntPowers[static_cast<size_t>(n)] + word;
  return n;
}

// Appends a run of digits to `digits` and returns its end.
const char* TakeDigits(const char* at, const char* end, Digits* digits) {
  while (end - at >= 8) {
    const bool zero_so_far = digits->count == 0;
    const int n = TakeEight(at, &digits->value);
    if (!zero_so_far || digits->value != 0) digits->count += n;
    at += n;
    if (n < 8) return at;
  }
  for (; at != end && IsDigit(*at); ++at) {
    digits->value = digits->value * 10 + static_cast<uint64_t>(*at - '0');
    if (digits->count > 0 || *at != '0') ++digits->count;
  }
  return at;
}

// digits * 10^exponent to the nearest double, if that can be had by one exact operation.
// False else. REQUIRES: the digits fit (count <= 19).
inline bool FastDouble(uint64_t digits, int64_t exponent, double* out) {
  if (digits <= (uint64_t{1} << 53) && exponent >= -22 && exponent <= 22) {
    const auto value = static_cast<double>(digits);
    *out = exponent < 0 ? value / kDoublePowers[static_cast<size_t>(-exponent)]
                        : value * kDoublePowers[static_cast<size_t>(exponent)];
    return true;
  }
  if constexpr (kWideLongDouble) {
    if (exponent < -kMaxExactPower || exponent > kMaxExactPower) return false;
    const auto value = static_cast<long double>(digits);
    const long double wide = exponent < 0 ? value / kWidePowers[static_cast<size_t>(-exponent)]
                                          : value * kWidePowers[static_cast<size_t>(exponent)];
    // Rounded to 64 bits. Rounding on to 53 gives the nearest double unless the 64 bits lie
    // exactly half way, where the first rounding may have hidden which side is right.
    uint64_t mantissa;
    std::memcpy(&mantissa, &wide, sizeof(mantissa));
    if ((mantissa & 0x7ff) == 0x400) return false;
    *out = static_cast<double>(wide);
    return true;
  }
  return false;
}

struct Parsed {
  const char* end;
  uint64_t digits = 0;
  bool negative = false;
  bool is_integer = false;
  JsonNumber::Kind kind = JsonNumber::Kind::kFloat;
  double value = 0;
};

// The exponent after 'e'; false if there is no digit. Huge ones saturate.
bool TakeExponent(const char** at, const char* end, int64_t* exponent) {
  const char* p = *at;
  bool negative = false;
  if (p != end && (*p == '+' || *p == '-')) negative = *p++ == '-';
  if (p == end || !IsDigit(*p)) {
    *at = p;
    return false;
  }
  int64_t value = 0;
  for (; p != end && IsDigit(*p); ++p) value = std::min<int64_t>(value * 10 + (*p - '0'), 1 << 20);
  *exponent = negative ? -value : value;
  *at = p;
  return true;
}

Parsed Invalid(const char* at) {
  Parsed parsed{at};
  parsed.kind = JsonNumber::Kind::kInvalid;
  return parsed;
}

// What the fast way cannot do exactly: many digits, large exponents.
void SlowDouble(const char* begin, int64_t total_exponent, Parsed* parsed) {
  double value = 0;
  const auto [stop, error] = std::from_chars(begin, parsed->end, value);
  if (error == std::errc::result_out_of_range) {
    if (total_exponent > 0) parsed->kind = JsonNumber::Kind::kTooLarge;
    value = total_exponent > 0 ? std::numeric_limits<double>::infinity() : 0;
  }
  parsed->value = value;
}

inline Parsed ParsePlain(const char* at, const char* end) {
  const char* p = at;
  Parsed parsed{at};
  if (p != end && *p == '-') {
    parsed.negative = true;
    ++p;
  }
  const char* first = p;
  if (p == end || !IsDigit(*p)) return Invalid(p);
  Digits digits;
  if (*p == '0') {
    ++p;
  } else {
    p = TakeDigits(p, end, &digits);
  }
  const char* integer_end = p;
  int64_t exponent = 0;
  if (p != end && *p == '.') {
    const char* fraction = ++p;
    p = TakeDigits(p, end, &digits);
    if (p == fraction) return Invalid(p);
    exponent = fraction - p;
  }
  if (p != end && (*p | 0x20) == 'e') {
    int64_t more = 0;
    const char* exponent_at = ++p;
    if (!TakeExponent(&exponent_at, end, &more)) return Invalid(exponent_at);
    p = exponent_at;
    exponent += more;
  }
  parsed.end = p;
  parsed.digits = digits.value;
  parsed.is_integer = p == integer_end;
  if (digits.count > 19 || !FastDouble(digits.value, exponent, &parsed.value)) {
    // Where the first digit that counts stands says which side of a double's range it is on.
    const int64_t magnitude = exponent + digits.count;
    if (digits.value == 0 && digits.count == 0) {
      parsed.value = 0;
    } else {
      SlowDouble(first, magnitude, &parsed);
    }
    if (digits.count > 19) {
      // Twenty digits may still fit 64 bits.
      const auto [stop, error] = std::from_chars(first, p, parsed.digits);
      parsed.is_integer = parsed.is_integer && error == std::errc() && stop == p;
    }
  }
  if (parsed.negative) parsed.value = -parsed.value;
  return parsed;
}

// The common shape of a number, "-12.3456" with at most 7 digits before the point and 24 behind:
// null for all others, and near the end of the text.
inline const char* ReadShortDecimal(const char* at, const char* end, float* out) {
  if (end - at < 40) return nullptr;
  const bool negative = *at == '-';
  at += negative;
  uint64_t digits = 0;
  const char first = *at;
  const int whole = TakeEight(at, &digits);
  if (whole == 0 || whole == 8 || (first == '0' && whole > 1)) return nullptr;
  at += whole;
  int fraction = 0;
  if (*at == '.') {
    ++at;
    int n = TakeEight(at, &digits);
    if (n == 0) return nullptr;
    fraction = n;
    for (at += n; n == 8 && fraction < 24; at += n, fraction += n) n = TakeEight(at, &digits);
    // A zero before the point takes no room of the 19 digits that fit.
    if (fraction + (first == '0' ? 0 : whole) > 19) return nullptr;
  }
  if ((*at | 0x20) == 'e' || IsDigit(*at)) return nullptr;
  double value = 0;
  if (!FastDouble(digits, -fraction, &value)) return nullptr;
  *out = static_cast<float>(negative ? -value : value);
  return at;
}

bool StartsWith(const char* at, const char* end, std::string_view word) {
  return std::string_view(at, static_cast<size_t>(end - at)).starts_with(word);
}

}  // namespace

const char* ReadJsonNumber(const char* at, const char* end, JsonNumber* number) {
  *number = JsonNumber();
  const bool minus = at != end && *at == '-';
  if (StartsWith(at + minus, end, "Infinity")) {
    number->kind = JsonNumber::Kind::kFloat;
    number->negative = minus;
    number->value =
        minus ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    return at + minus + 8;
  }
  if (StartsWith(at, end, "NaN")) {
    number->kind = JsonNumber::Kind::kFloat;
    number->value = std::numeric_limits<double>::quiet_NaN();
    return at + 3;
  }
  const Parsed parsed = ParsePlain(at, end);
  number->kind = parsed.kind;
  number->negative = parsed.negative;
  number->value = parsed.value;
  if (parsed.kind == JsonNumber::Kind::kFloat && parsed.is_integer &&
      (!parsed.negative || parsed.digits <= (uint64_t{1} << 63))) {
    number->kind = JsonNumber::Kind::kInt;
    number->magnitude = parsed.digits;
  }
  return parsed.end;
}

const char* ReadJsonFloats(const char* at, const char* end, float* out, int64_t limit,
                           int64_t* count) {
  int64_t n = 0;
  const char* stop = at;
  while (n < limit) {
    const char* after = ReadShortDecimal(at, end, out + n);
    if (after == nullptr) {
      const Parsed parsed = ParsePlain(at, end);
      if (parsed.kind != JsonNumber::Kind::kFloat) break;
      out[n] = static_cast<float>(parsed.value);
      after = parsed.end;
    }
    ++n;
    at = stop = after;
    while (at != end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r')) ++at;
    if (at == end || *at != ',') break;
    ++at;
    while (at != end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r')) ++at;
  }
  *count = n;
  return stop;
}

// ---- Writing ----

namespace {

char* WriteWord(std::string_view word, char* to) {
  std::memcpy(to, word.data(), word.size());
  return to + word.size();
}

// NaN and infinities; null for others.
char* WriteSpecial(double value, char* to) {
  if (std::isnan(value)) return WriteWord("NaN", to);
  if (std::isinf(value)) return WriteWord(value < 0 ? "-Infinity" : "Infinity", to);
  return nullptr;
}

// ".0" behind what would else read as an integer.
char* FinishNumber(const char* begin, char* end) {
  const std::string_view text(begin, static_cast<size_t>(end - begin));
  if (text.find_first_of(".e") != std::string_view::npos) return end;
  return WriteWord(".0", end);
}

template <typename T>
char* WriteByPrecision(T value, char* to) {
  constexpr int kShort = 6;
  constexpr int kFull = std::numeric_limits<T>::max_digits10;
  char* end =
      std::to_chars(to, to + kMaxJsonNumberBytes, value, std::chars_format::general, kShort).ptr;
  T back = 0;
  std::from_chars(to, end, back);
  if (back != value) {
    end = std::to_chars(to, to + kMaxJsonNumberBytes, value, std::chars_format::general, kFull).ptr;
  }
  return FinishNumber(to, end);
}

constexpr std::array<char, 200> MakePairs() {
  std::array<char, 200> pairs{};
  for (size_t i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}
constexpr std::array<char, 200> kPairs = MakePairs();

// The nine digits of a number and how many of them are left without the zeros at the end.
struct NineText {
  explicit NineText(uint32_t nine) {
    const uint32_t high = nine / 10000;
    const uint32_t low = nine % 10000;
    text[0] = static_cast<char>('0' + high / 10000);
    const uint32_t middle = high % 10000;
    std::memcpy(text + 1, &kPairs[middle / 100 * 2], 2);
    std::memcpy(text + 3, &kPairs[middle % 100 * 2], 2);
    std::memcpy(text + 5, &kPairs[low / 100 * 2], 2);
    std::memcpy(text + 7, &kPairs[low % 100 * 2], 2);
    const uint64_t not_zero = LoadFixed64(text + 1) ^ 0x3030303030303030u;
    count = not_zero == 0 ? 1 : 9 - __builtin_clzll(not_zero) / 8;
  }
  char text[16] = {};  // whole words are copied
  int count;
};

// Digits of which the first has the given exponent, as printf's %g lays them out between 1e-4 and
// its precision. Writes up to 16 bytes behind the end.
char* WriteGeneral(const NineText& nine, int exponent, char* to) {
  if (exponent < 0) {
    std::memcpy(to, "0.0000", 6);
    to += 1 - exponent;
    std::memcpy(to, nine.text, 16);
    return to + nine.count;
  }
  const int whole = exponent + 1;
  if (whole >= nine.count) {  // the zeros between are in the text
    std::memcpy(to, nine.text, 16);
    return WriteWord(".0", to + whole);
  }
  std::memcpy(to, nine.text, 9);
  std::memcpy(to + whole + 1, nine.text + whole, 9);
  to[whole] = '.';
  return to + nine.count + 1;
}

char* WriteExponent(const NineText& nine, int exponent, char* to) {
  *to++ = nine.text[0];
  if (nine.count > 1) {
    *to++ = '.';
    std::memcpy(to, nine.text + 1, 8);
    to += nine.count - 1;
  }
  *to++ = 'e';
  *to++ = exponent < 0 ? '-' : '+';
  std::memcpy(to, &kPairs[static_cast<size_t>(2 * std::abs(exponent))], 2);
  return to + 2;
}

// The nine significant digits of a float and the exponent of the first, correctly rounded. False
// where that cannot be told quickly: far exponents, ties.
bool NineDigits(float value, uint64_t* digits, int* exponent) {
  // 10^exponent <= value, or one too many: log10(2) = 1233 / 4096.
  int binary = 0;
  std::frexp(value, &binary);
  int decimal = (binary - 1) * 1233 >> 12;
  for (int tries = 0; tries < 2; ++tries) {
    const int power = 8 - decimal;
    if (power < -kMaxExactPower || power > kMaxExactPower) return false;
    // The float has 24 bits and the power is exact, so the only error is the last of 64 bits.
    const long double scaled =
        power < 0 ? static_cast<long double>(value) / kWidePowers[static_cast<size_t>(-power)]
                  : static_cast<long double>(value) * kWidePowers[static_cast<size_t>(power)];
    const auto whole = static_cast<int64_t>(scaled);
    const auto rest = static_cast<double>(scaled - static_cast<long double>(whole));
    if (std::abs(rest - 0.5) < 1e-6) return false;
    const int64_t rounded = whole + (rest > 0.5);
    if (rounded >= 1'000'000'000) {
      ++decimal;
      continue;
    }
    if (rounded < 100'000'000) return false;
    *digits = static_cast<uint64_t>(rounded);
    *exponent = decimal;
    return true;
  }
  return false;
}

// Six digits that read back as `value`, given its nine.
bool SixDigits(float value, uint64_t nine, int exponent, uint64_t* six) {
  // Half the distance between floats is at most 60 in the ninth digit, so most are told at once.
  const uint64_t rest = nine % 1000;
  if (rest > 64 && rest < 936) return false;
  *six = (nine + 500) / 1000;
  double back = 0;
  if (!FastDouble(*six, exponent - 5, &back)) return false;
  return static_cast<float>(back) == value;
}

}  // namespace

char* WriteJsonFloat(float value, char* to) {
  if (char* end = WriteSpecial(value, to)) return end;
  if (value == 0) return WriteWord(std::signbit(value) ? "-0.0" : "0.0", to);
  uint64_t nine = 0;
  int exponent = 0;
  const float size = std::abs(value);
  // The bounds keep subnormal floats, which have fewer digits, and both powers in their tables.
  if (!kWideLongDouble || size < 1e-15f || size > 1e20f || !NineDigits(size, &nine, &exponent)) {
    return WriteByPrecision(value, to);
  }
  if (value < 0) *to++ = '-';
  uint64_t six = 0;
  int precision = 9;
  if (SixDigits(size, nine, exponent, &six)) {
    precision = 6;
    exponent += six == 1'000'000;
    nine = six == 1'000'000 ? 100'000'000 : six * 1000;
  }
  const NineText text(static_cast<uint32_t>(nine));
  return exponent < -4 || exponent >= precision ? WriteExponent(text, exponent, to)
                                                : WriteGeneral(text, exponent, to);
}

char* WriteJsonDouble(double value, char* to) {
  if (char* end = WriteSpecial(value, to)) return end;
  return WriteByPrecision(value, to);
}

}  // namespace slipway
