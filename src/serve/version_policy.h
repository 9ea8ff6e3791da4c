// SPDX-License-Identifier: Apache-2.0
//
// What to do next so that the versions served come to be the versions wanted, with a version in
// service all the way: the new one is loaded beside the old one, and only when it answers is the
// old one let go. A pure function: no threads, no files, no clock. The order of things is that of
// TensorFlow Serving's availability-preserving policy.
#pragma once

#include <cstdint>
#include <span>

namespace slipway::serve {

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

// The version that should be in service: the highest one that is present and not blocked. 0 and
// false if there is none. Versions in any order.
struct WantedVersion {
  bool any = false;
  int64_t version = 0;
};
WantedVersion LatestUsable(std::span<const VersionView> versions);

// The next step, or kNone when all is as it should be or a load is under way. Call again after
// every change. Rules, first match wins:
//  - No version is present: what is available is unloaded, highest first.
//  - The wanted version is available: what else is available is unloaded, lowest first.
//  - The wanted version is idle and nothing is loading: it is loaded.
//  - Otherwise nothing; what is available stays, wanted or not.
VersionAction NextVersionAction(std::span<const VersionView> versions);

}  // namespace slipway::serve
