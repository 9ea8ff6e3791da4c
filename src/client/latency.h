// SPDX-License-Identifier: Apache-2.0
//
// A histogram of durations with a relative error below 2 %, in fixed memory.
#pragma once

#include <array>
#include <cstdint>

namespace slipway::client {

// Not thread safe: one a thread, merged at the end.
class LatencyHistogram {
 public:
  // Negative counts as 0.
  void Add(int64_t nanos);
  void Merge(const LatencyHistogram& other);

  int64_t count() const { return count_; }
  int64_t max_ns() const { return max_; }
  double mean_ns() const { return count_ > 0 ? sum_ / static_cast<double>(count_) : 0; }
  // The smallest duration that at least this share (0 to 1) of all does not exceed, rounded up
  // to its bucket's end and never above max; 0 when empty.
  int64_t Quantile(double share) const;

 private:
  // 64 buckets for each power of two.
  static constexpr int kSubBits = 6;
  static constexpr int kBuckets = (64 - kSubBits) << kSubBits;
  static int BucketOf(int64_t nanos);
  static int64_t EndOf(int bucket);

  std::array<int64_t, kBuckets> buckets_{};
  int64_t count_ = 0;
  int64_t max_ = 0;
  double sum_ = 0;
};

}  // namespace slipway::client
