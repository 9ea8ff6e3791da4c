// SPDX-License-Identifier: Apache-2.0
//
// The book of one model's versions: what was seen on disk, what state each is in, what failed and
// when to try again. It decides with NextVersionAction and is told how things went; it touches no
// file, thread or clock itself, so that tests replay whole histories.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "serve/version_policy.h"
#include "slipway/status.h"

namespace slipway::serve {

// States as clients see them; numbers are those of tensorflow.serving.ModelVersionStatus.State.
enum class VersionState : int {
  kStart = 10,
  kLoading = 20,
  kAvailable = 30,
  kUnloading = 40,
  kEnd = 50,
};

// "AVAILABLE".
std::string_view VersionStateName(VersionState state);

struct VersionStatus {
  int64_t version = 0;
  VersionState state = VersionState::kStart;
  Status status;       // why it is not loaded, if that failed
  std::string notice;  // of one that is (Servable::Notice)
};

struct LifecycleOptions {
  // A directory that changed is looked at once it has been quiet for so long.
  int64_t quiet_ns = 100'000'000;
  // An incomplete version that has not changed for so long counts as failed (END with the error);
  // until then it shows as START. It is still looked at again when it changes.
  int64_t settle_ns = 5'000'000'000;
  // A failed load is tried again after first_retry, then after twice that, ... at most max_retry.
  int64_t first_retry_ns = 1'000'000'000;
  int64_t max_retry_ns = 60'000'000'000;
  // After so many retries only when its files change; -1: for ever.
  int64_t max_retries = -1;
  // Rows of versions that are gone (END, no directory) kept for the status.
  size_t history = 16;
};

// Not thread safe.
class ModelLifecycle {
 public:
  // A version directory as seen now. An empty fingerprint means "not looked at" (allowed where
  // WantsFingerprint says no).
  struct Seen {
    int64_t version = 0;
    std::string fingerprint;
  };

  explicit ModelLifecycle(LifecycleOptions options, VersionPolicy policy = {})
      : options_(options), policy_(std::move(policy)) {}

  void SetPolicy(VersionPolicy policy) { policy_ = std::move(policy); }

  // Whether the files of the version matter now: the policy admits it, and it is not loaded nor
  // below as many as are wanted and loaded.
  bool WantsFingerprint(int64_t version) const;
  // All version directories there are. Not to be called when they could not be listed.
  void Observe(const std::vector<Seen>& seen, int64_t now_ns);

  // The next step, already entered in the book (LOADING or UNLOADING); kNone if there is none.
  VersionAction Next(int64_t now_ns);
  // How a load went. True: the version may be published. False: it failed, or its directory is
  // gone meanwhile and something else answers; the caller drops what it loaded.
  bool LoadDone(int64_t version, const Status& status, int64_t now_ns);
  // The last request has left an unloading version and its memory is free.
  void UnloadDone(int64_t version, int64_t now_ns);
  // Unloads whatever is available, for the end of the server. In the order of versions.
  std::vector<int64_t> UnloadAll();

  // When Next may have something new to say without any event; INT64_MAX if never.
  int64_t NextWakeup(int64_t now_ns) const;
  // Highest version first.
  std::vector<VersionStatus> Statuses(int64_t now_ns) const;
  bool AnyAvailable() const;
  // Of versions that the policy admits.
  bool AnyPresent() const;
  // Every version that is wanted is available or has failed; nothing is under way.
  bool Settled(int64_t now_ns) const;
  // Set when nothing is available, nothing is going on and nothing will be tried without a change
  // from outside (or, with unlimited retries, once every version has failed): the highest
  // version's error with its number.
  Status GivenUp(int64_t now_ns) const;

 private:
  struct Record {
    VersionState state = VersionState::kStart;
    Status error;
    bool present = false;
    bool incomplete = false;        // the last look found it so
    std::string fingerprint;        // as last observed
    std::string tried_fingerprint;  // when the last load was begun
    bool tried = false;
    int64_t changed_ns = INT64_MIN / 2;  // not set for what was there at the start
    int64_t appeared_ns = 0;
    int64_t retry_ns = 0;
    int64_t failures = 0;
    uint64_t ended = 0;  // order of ending
  };

  VersionStage StageOf(const Record& record, int64_t now_ns) const;
  // The earliest time from which it may be loaded; INT64_MAX: not without a change.
  int64_t LoadableFrom(const Record& record) const;
  int64_t SettledFrom(const Record& record) const;
  int64_t RetryDelay(int64_t failures) const;
  // It failed, and nothing will be tried before long.
  bool Failed(const Record& record, int64_t now_ns) const;
  void End(Record* record);
  void TrimHistory();

  LifecycleOptions options_;
  VersionPolicy policy_;
  std::map<int64_t, Record> records_;
  bool observed_ = false;
  uint64_t ended_ = 0;
};

}  // namespace slipway::serve
