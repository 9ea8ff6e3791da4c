// SPDX-License-Identifier: Apache-2.0
//
// What to do next so that the versions served come to be the versions wanted, with a version in
// service all the way: the new one is loaded beside the old one, and only when it answers is the
// old one let go. A pure function: no threads, no files, no clock. The order of things is that of
// TensorFlow Serving's availability-preserving policy.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace slipway::serve {

// Which of a model's versions are to be served.
struct VersionPolicy {
  enum class Kind : uint8_t { kLatest, kAll, kSpecific };
  Kind kind = Kind::kLatest;
  uint32_t latest = 1;            // kLatest: so many
  std::vector<int64_t> specific;  // kSpecific: these, sorted

  // Whether it may ever want the version: all but those that kSpecific does not name.
  bool Admits(int64_t version) const;
  // How many it wants at most.
  size_t Limit() const;
};

// A version as the policy sees it.
enum class VersionStage : uint8_t {
  kIdle,     // not loaded; may be loaded now
  kBlocked,  // not loaded, and not to be tried now: incomplete, or a failed load waits its time
  kLoading,
  kAvailable,  // answers requests
  kUnloading,  // takes no new requests, has not let go yet
};

struct VersionView {
  int64_t version = 0;
  VersionStage stage = VersionStage::kIdle;
  bool present = false;  // its directory exists
};

struct VersionAction {
  enum class Kind : uint8_t { kNone, kLoad, kUnload };
  Kind kind = Kind::kNone;
  int64_t version = 0;
  friend bool operator==(const VersionAction&, const VersionAction&) = default;
};

// The versions that should be in service, highest first: of those that the policy admits, that are
// present and not blocked, as many as it wants. Versions in any order.
std::vector<int64_t> WantedVersions(const VersionPolicy& policy,
                                    std::span<const VersionView> versions);

// The next step, or kNone when all is as it should be or a load is under way. Call again after
// every change. Rules, first match wins:
//  - No version that the policy admits is present: what is available is unloaded, highest first.
//  - All wanted versions are available: what else is available is unloaded, lowest first.
//  - Nothing is loading: the highest wanted version that is idle is loaded.
//  - Otherwise nothing; what is available stays, wanted or not.
VersionAction NextVersionAction(const VersionPolicy& policy, std::span<const VersionView> versions);

}  // namespace slipway::serve
