// SPDX-License-Identifier: Apache-2.0
//
// What a load generator sees of a change of versions: which version answered when.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace slipway::client {

struct Answer {
  int64_t time_ns = 0;
  int64_t version = 0;  // -1: the request failed
};

struct Swap {
  int64_t from = 0;
  int64_t to = 0;
  int64_t time_ns = 0;   // the first answer of the new version
  int64_t before = 0;    // answers of any version within the window before it
  int64_t after = 0;     // and within the window behind it
  int64_t failures = 0;  // failed requests within both
};

// Thread safety: Add from any thread; the rest when the load is over.
class VersionTimeline {
 public:
  void Add(Answer answer);
  // Changes of the version that answers, in time. Answers of both versions around a change belong
  // to one swap: requests that began before it may end behind it.
  std::vector<Swap> Swaps(int64_t window_ns) const;
  // "1,2,1".
  std::string Versions() const;

 private:
  std::mutex mutex_;
  std::vector<Answer> answers_;
};

}  // namespace slipway::client
