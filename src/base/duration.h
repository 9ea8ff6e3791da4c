// SPDX-License-Identifier: Apache-2.0
//
// Lengths of time as users type them.
#pragma once

#include <cstdint>

namespace slipway {

// What a length of time is cut to, some 30 years: a point in time moved by it stays one.
inline constexpr int64_t kForeverNanos = 1'000'000'000'000'000'000;

// `count` units of `unit_ns` nanoseconds, for numbers that users type: within kForeverNanos either
// way; 0 for NaN.
int64_t NanosFrom(double count, int64_t unit_ns);

}  // namespace slipway
