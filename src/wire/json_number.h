// SPDX-License-Identifier: Apache-2.0
//
// Numbers of JSON in one pass, the inner loop of the REST server. No locale, no allocation.
#pragma once

#include <cstdint>

namespace slipway {

struct JsonNumber {
  enum class Kind : uint8_t {
    kInt,       // digits only, and it fits: see `negative` and `magnitude`
    kFloat,     // a fraction, an exponent, or more digits than fit a uint64
    kTooLarge,  // a finite text that is beyond a double
    kInvalid,   // not a number at this place
  };
  Kind kind = Kind::kInvalid;
  bool negative = false;
  uint64_t magnitude = 0;  // of kInt; a negative one is at most 2^63
  double value = 0;        // the nearest double, of kInt too
};

// Reads the longest number (JSON's grammar, and the tokens NaN, Infinity, -Infinity) at the front
// of [at, end). Returns the byte after it; on kInvalid the byte that did not fit.
const char* ReadJsonNumber(const char* at, const char* end, JsonNumber* number);

// Reads a run "1.5, 2, 3 , …" of numbers into `out` while they are plain (no tokens) and at most
// `limit`. Stops before the first value it does not read. Returns where it stopped, with *count
// numbers read; the comma after the last read number is not taken.
const char* ReadJsonFloats(const char* at, const char* end, float* out, int64_t limit,
                           int64_t* count);

// Room to give to the writers, which may write all of it.
inline constexpr int kMaxJsonNumberBytes = 32;
// The shortest text of 6 significant digits if that reads back as the same number, else the one
// of max_digits10 (9, 17); whole values get ".0" unless in exponent form: 0.5, 999999.0, 9e+06,
// NaN, -Infinity. As TensorFlow Serving prints them. Returns the end; no terminating zero.
char* WriteJsonFloat(float value, char* to);
char* WriteJsonDouble(double value, char* to);

}  // namespace slipway
