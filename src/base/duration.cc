// SPDX-License-Identifier: Apache-2.0
#include "base/duration.h"

#include <algorithm>

namespace slipway {

int64_t NanosFrom(double count, int64_t unit_ns) {
  const double nanos = count * static_cast<double>(unit_ns);
  if (nanos != nanos) return 0;
  constexpr auto kForever = static_cast<double>(kForeverNanos);
  return static_cast<int64_t>(std::clamp(nanos, -kForever, kForever));
}

}  // namespace slipway
