// SPDX-License-Identifier: Apache-2.0
#include "serve/model_lifecycle.h"

#include <algorithm>
#include <set>

#include "base/strings.h"

namespace slipway::serve {

std::string_view VersionStateName(VersionState state) {
  switch (state) {
    case VersionState::kStart:
      return "START";
    case VersionState::kLoading:
      return "LOADING";
    case VersionState::kAvailable:
      return "AVAILABLE";
    case VersionState::kUnloading:
      return "UNLOADING";
    case VersionState::kEnd:
      return "END";
  }
  return "?";
}

bool ModelLifecycle::WantsFingerprint(int64_t version) const {
  if (!policy_.Admits(version)) return false;
  size_t loaded = 0;
  for (const auto& [number, record] : records_) {
    if (record.state != VersionState::kAvailable || !record.present || number < version) continue;
    if (number == version || ++loaded >= policy_.Limit()) return false;
  }
  return true;
}

void ModelLifecycle::Observe(const std::vector<Seen>& seen, int64_t now_ns) {
  std::set<int64_t> numbers;
  for (const Seen& one : seen) {
    numbers.insert(one.version);
    Record& record = records_[one.version];
    const bool appeared = !record.present;
    if (appeared && record.state == VersionState::kEnd) {
      // It came back: a fresh start, whatever became of its predecessor.
      record = Record();
    }
    if (appeared) record.appeared_ns = now_ns;
    record.present = true;
    if (one.fingerprint.empty() || (one.fingerprint == record.fingerprint && !appeared)) continue;
    record.fingerprint = one.fingerprint;
    // What lies there when the server starts is not waited for.
    if (observed_) record.changed_ns = now_ns;
  }
  for (auto& [number, record] : records_) {
    if (numbers.contains(number) || !record.present) continue;
    record.present = false;
    if (record.state == VersionState::kStart) End(&record);
  }
  observed_ = true;
  TrimHistory();
}

int64_t ModelLifecycle::RetryDelay(int64_t failures) const {
  const int doublings = static_cast<int>(std::min<int64_t>(failures - 1, 30));
  const int64_t limit = options_.max_retry_ns;
  return options_.first_retry_ns > (limit >> doublings) ? limit
                                                        : options_.first_retry_ns << doublings;
}

int64_t ModelLifecycle::LoadableFrom(const Record& record) const {
  const int64_t quiet = record.changed_ns + options_.quiet_ns;
  if (!record.tried || record.fingerprint != record.tried_fingerprint) return quiet;
  if (options_.max_retries >= 0 && record.failures > options_.max_retries) return INT64_MAX;
  return std::max(quiet, record.retry_ns);
}

int64_t ModelLifecycle::SettledFrom(const Record& record) const {
  return std::max(record.changed_ns, record.appeared_ns) + options_.settle_ns;
}

VersionStage ModelLifecycle::StageOf(const Record& record, int64_t now_ns) const {
  switch (record.state) {
    case VersionState::kLoading:
      return VersionStage::kLoading;
    case VersionState::kAvailable:
      return VersionStage::kAvailable;
    case VersionState::kUnloading:
      return VersionStage::kUnloading;
    case VersionState::kStart:
    case VersionState::kEnd:
      break;
  }
  return LoadableFrom(record) <= now_ns ? VersionStage::kIdle : VersionStage::kBlocked;
}

VersionAction ModelLifecycle::Next(int64_t now_ns) {
  std::vector<VersionView> views;
  views.reserve(records_.size());
  for (const auto& [number, record] : records_) {
    views.push_back({number, StageOf(record, now_ns), record.present});
  }
  const VersionAction action = NextVersionAction(policy_, views);
  if (action.kind == VersionAction::Kind::kNone) return action;
  Record& record = records_[action.version];
  if (action.kind == VersionAction::Kind::kLoad) {
    record.state = VersionState::kLoading;
    record.tried = true;
    record.tried_fingerprint = record.fingerprint;
  } else {
    record.state = VersionState::kUnloading;
  }
  return action;
}

bool ModelLifecycle::LoadDone(int64_t version, const Status& status, int64_t now_ns) {
  Record& record = records_[version];
  if (status.ok()) {
    record.error = OkStatus();
    record.incomplete = false;
    record.failures = 0;
    record.retry_ns = 0;
    if (record.present || !AnyAvailable()) {
      record.state = VersionState::kAvailable;
      return true;
    }
    End(&record);
    return false;
  }
  record.error = status;
  // What is missing or cut short may still be on its way.
  record.incomplete = status.code() == Code::kNotFound || status.code() == Code::kDataLoss;
  ++record.failures;
  record.retry_ns = now_ns + RetryDelay(record.failures);
  if (record.incomplete && record.present) {
    record.state = VersionState::kStart;
  } else {
    End(&record);
  }
  return false;
}

void ModelLifecycle::UnloadDone(int64_t version, int64_t now_ns) {
  Record& record = records_[version];
  End(&record);
  // Loaded anew if it is wanted again, with no wait.
  record.tried = false;
  record.changed_ns = now_ns - options_.quiet_ns;
  TrimHistory();
}

std::vector<int64_t> ModelLifecycle::UnloadAll() {
  std::vector<int64_t> versions;
  for (auto& [number, record] : records_) {
    record.present = false;
    if (record.state != VersionState::kAvailable) continue;
    record.state = VersionState::kUnloading;
    versions.push_back(number);
  }
  return versions;
}

int64_t ModelLifecycle::NextWakeup(int64_t now_ns) const {
  int64_t when = INT64_MAX;
  for (const auto& [number, record] : records_) {
    if (!record.present ||
        (record.state != VersionState::kStart && record.state != VersionState::kEnd)) {
      continue;
    }
    if (!WantsFingerprint(number)) continue;
    const int64_t loadable = LoadableFrom(record);
    if (loadable > now_ns) when = std::min(when, loadable);
    if (record.incomplete && SettledFrom(record) > now_ns)
      when = std::min(when, SettledFrom(record));
  }
  return when;
}

std::vector<VersionStatus> ModelLifecycle::Statuses(int64_t now_ns) const {
  std::vector<VersionStatus> rows;
  for (auto it = records_.rbegin(); it != records_.rend(); ++it) {
    const auto& [number, record] = *it;
    const bool waits = record.state == VersionState::kStart || record.state == VersionState::kEnd;
    // Of directories that were never tried (older versions) there is nothing to say.
    if (waits && !record.tried && record.ended == 0 && record.present &&
        !WantsFingerprint(number)) {
      continue;
    }
    VersionStatus row{number, record.state, record.error, ""};
    if (record.state == VersionState::kStart && record.incomplete && SettledFrom(record) <= now_ns)
      row.state = VersionState::kEnd;
    rows.push_back(std::move(row));
  }
  return rows;
}

bool ModelLifecycle::AnyAvailable() const {
  return std::any_of(records_.begin(), records_.end(), [](const auto& entry) {
    return entry.second.state == VersionState::kAvailable;
  });
}

bool ModelLifecycle::AnyPresent() const {
  return std::any_of(records_.begin(), records_.end(), [this](const auto& entry) {
    return entry.second.present && policy_.Admits(entry.first);
  });
}

bool ModelLifecycle::Failed(const Record& record, int64_t now_ns) const {
  if (record.state == VersionState::kLoading || record.failures == 0) return false;
  if (record.fingerprint != record.tried_fingerprint) return false;
  return !record.incomplete || SettledFrom(record) <= now_ns;
}

bool ModelLifecycle::Settled(int64_t now_ns) const {
  return std::all_of(records_.begin(), records_.end(), [&](const auto& entry) {
    const auto& [number, record] = entry;
    if (record.state == VersionState::kLoading) return false;
    return !record.present || !WantsFingerprint(number) || Failed(record, now_ns);
  });
}

Status ModelLifecycle::GivenUp(int64_t now_ns) const {
  if (AnyAvailable() || !AnyPresent()) return OkStatus();
  Status error;
  for (const auto& [number, record] : records_) {
    if (!record.present || !policy_.Admits(number)) continue;
    if (!Failed(record, now_ns)) return OkStatus();
    if (options_.max_retries >= 0 && record.failures <= options_.max_retries) return OkStatus();
    error = record.error.WithContext(StrCat("version ", number));
  }
  return error;
}

void ModelLifecycle::End(Record* record) {
  record->state = VersionState::kEnd;
  record->ended = ++ended_;
}

void ModelLifecycle::TrimHistory() {
  for (;;) {
    size_t gone = 0;
    auto oldest = records_.end();
    for (auto it = records_.begin(); it != records_.end(); ++it) {
      if (it->second.present || it->second.state != VersionState::kEnd) continue;
      ++gone;
      if (oldest == records_.end() || it->second.ended < oldest->second.ended) oldest = it;
    }
    if (gone <= options_.history) return;
    records_.erase(oldest);
  }
}

}  // namespace slipway::serve
