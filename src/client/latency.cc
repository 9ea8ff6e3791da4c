// SPDX-License-Identifier: Apache-2.0
#include "client/latency.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace slipway::client {

int LatencyHistogram::BucketOf(int64_t nanos) {
  const auto value = static_cast<uint64_t>(nanos);
  if (value < (uint64_t{1} << kSubBits)) return static_cast<int>(value);
  const int shift = static_cast<int>(std::bit_width(value)) - kSubBits - 1;
  const auto sub = static_cast<int>(value >> shift) - (1 << kSubBits);
  return ((shift + 1) << kSubBits) + sub;
}

int64_t LatencyHistogram::EndOf(int bucket) {
  const int shift = (bucket >> kSubBits) - 1;
  if (shift < 0) return bucket;
  // Unsigned: the last bucket ends at the largest int64_t.
  const uint64_t first =
      (uint64_t{1} << kSubBits) + static_cast<uint64_t>(bucket & ((1 << kSubBits) - 1));
  return static_cast<int64_t>(((first + 1) << shift) - 1);
}

void LatencyHistogram::Add(int64_t nanos) {
  nanos = std::max<int64_t>(nanos, 0);
  ++buckets_[static_cast<size_t>(std::min(BucketOf(nanos), kBuckets - 1))];
  ++count_;
  max_ = std::max(max_, nanos);
  sum_ += static_cast<double>(nanos);
}

void LatencyHistogram::Merge(const LatencyHistogram& other) {
  for (size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
}

int64_t LatencyHistogram::Quantile(double share) const {
  const auto wanted =
      std::max<int64_t>(1, static_cast<int64_t>(std::ceil(share * static_cast<double>(count_))));
  int64_t seen = 0;
  for (size_t i = 0; i < buckets_.size(); ++i) {
    seen += buckets_[i];
    if (buckets_[i] > 0 && seen >= wanted) return std::min(EndOf(static_cast<int>(i)), max_);
  }
  return max_;
}

}  // namespace slipway::client
