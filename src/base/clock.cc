// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <thread>

namespace slipway {
namespace {

class SystemClock : public Clock {
 public:
  int64_t NowNanos() override {
    return std::chrono::steady_clock::now().time_since_epoch().count();
  }
  int64_t WallNanos() override {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
  void SleepFor(std::chrono::nanoseconds duration) override {
    std::this_thread::sleep_for(duration);
  }
};

}  // namespace

Clock* Clock::Default() {
  static SystemClock clock;
  return &clock;
}

}  // namespace slipway
