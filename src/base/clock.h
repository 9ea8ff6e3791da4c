// SPDX-License-Identifier: Apache-2.0
//
// The seam to time. Code that waits or stamps takes a Clock*, so that tests move time by hand.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace slipway {

// Thread safety: all methods from any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  // The machine's clock; lives as long as the program.
  static Clock* Default();

  virtual int64_t NowNanos() = 0;   // monotonic, from an arbitrary start
  virtual int64_t WallNanos() = 0;  // since the epoch
  virtual void SleepFor(std::chrono::nanoseconds duration) = 0;
};

// Stands still until told to move. SleepFor moves it.
class FakeClock : public Clock {
 public:
  int64_t NowNanos() override { return now_; }
  int64_t WallNanos() override { return kWallStart + now_; }
  void SleepFor(std::chrono::nanoseconds duration) override { now_ += duration.count(); }
  void Advance(std::chrono::nanoseconds duration) { now_ += duration.count(); }

 private:
  static constexpr int64_t kWallStart = 1'700'000'000'000'000'000;
  std::atomic<int64_t> now_{0};
};

}  // namespace slipway
