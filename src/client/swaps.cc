// SPDX-License-Identifier: Apache-2.0
#include "client/swaps.h"

#include <algorithm>

#include "base/strings.h"

namespace slipway::client {
namespace {

std::vector<Answer> InTime(std::vector<Answer> answers) {
  std::stable_sort(answers.begin(), answers.end(),
                   [](const Answer& a, const Answer& b) { return a.time_ns < b.time_ns; });
  return answers;
}

// After a swap, answers of the old version that come this late are a swap back.
constexpr int64_t kOverlapNs = 100'000'000;

}  // namespace

void VersionTimeline::Add(Answer answer) {
  std::lock_guard lock(mutex_);
  answers_.push_back(answer);
}

std::vector<Swap> VersionTimeline::Swaps(int64_t window_ns) const {
  const std::vector<Answer> answers = InTime(answers_);
  std::vector<Swap> swaps;
  int64_t current = -1;
  for (const Answer& a : answers) {
    if (a.version < 0 || a.version == current) continue;
    const bool late_answer = !swaps.empty() && swaps.back().from == a.version &&
                             a.time_ns - swaps.back().time_ns < kOverlapNs;
    if (late_answer) continue;
    if (current >= 0) swaps.push_back({.from = current, .to = a.version, .time_ns = a.time_ns});
    current = a.version;
  }
  for (Swap& swap : swaps) {
    for (const Answer& a : answers) {
      const int64_t distance = a.time_ns - swap.time_ns;
      if (distance < -window_ns || distance > window_ns) continue;
      if (a.version < 0) {
        ++swap.failures;
      } else {
        ++(distance < 0 ? swap.before : swap.after);
      }
    }
  }
  return swaps;
}

std::string VersionTimeline::Versions() const {
  std::vector<std::string> versions;
  const std::vector<Swap> swaps = Swaps(0);
  if (swaps.empty()) {
    for (const Answer& a : answers_) {
      if (a.version >= 0) return StrCat(a.version);
    }
    return "";
  }
  versions.push_back(StrCat(swaps.front().from));
  for (const Swap& swap : swaps) versions.push_back(StrCat(swap.to));
  return StrJoin(versions, ",");
}

}  // namespace slipway::client
