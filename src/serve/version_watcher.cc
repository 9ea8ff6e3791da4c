// SPDX-License-Identifier: Apache-2.0
#include "serve/version_watcher.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/duration.h"

namespace slipway::serve {

VersionWatcher::VersionWatcher(double poll_seconds)
    : poll_seconds_(poll_seconds), wake_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

VersionWatcher::~VersionWatcher() {
  Stop();
  if (wake_fd_ >= 0) close(wake_fd_);
}

void VersionWatcher::Start(ModelManager* manager, std::function<void()> ticked) {
  manager_ = manager;
  ticked_ = std::move(ticked);
  thread_ = std::thread([this] { Run(); });
}

void VersionWatcher::Wake() {
  const uint64_t one = 1;
  // Full means that a wake-up is pending already.
  [[maybe_unused]] const ssize_t written = write(wake_fd_, &one, sizeof one);
}

void VersionWatcher::Stop() {
  stop_ = true;
  Wake();
  if (thread_.joinable()) thread_.join();
}

bool VersionWatcher::Watch() {
  bool added = false;
  std::vector<std::string> wanted = manager_->WatchedDirectories();
  std::sort(wanted.begin(), wanted.end());
  for (const std::string& directory : watched_) {
    if (!std::binary_search(wanted.begin(), wanted.end(), directory)) watch_.Remove(directory);
  }
  for (const std::string& directory : wanted) {
    if (std::binary_search(watched_.begin(), watched_.end(), directory)) continue;
    watch_.Add(directory);
    added = true;
  }
  watched_ = std::move(wanted);
  return added;
}

int VersionWatcher::TimeoutMillis(int64_t wakeup_ns, int64_t next_poll_ns) const {
  const int64_t when = std::min(wakeup_ns, next_poll_ns);
  if (when == INT64_MAX) return -1;
  const int64_t left = when - Clock::Default()->NowNanos();
  if (left <= 0) return 0;
  return static_cast<int>(std::min<int64_t>(left / 1'000'000 + 1, 60'000));
}

void VersionWatcher::Run() {
  const bool repeats = poll_seconds_ > 0;
  const int64_t interval = NanosFrom(poll_seconds_, 1'000'000'000);
  bool scan = poll_seconds_ >= 0;
  while (!stop_) {
    const int64_t wakeup = manager_->Tick(scan);
    ticked_();
    // What changed between the look and the watch is seen by looking again.
    if (repeats && Watch()) {
      scan = true;
      continue;
    }
    const bool polls = repeats && (watch_.fd() < 0 || watch_.PollingNeeded());
    const int64_t next_poll = polls ? Clock::Default()->NowNanos() + interval : INT64_MAX;
    pollfd fds[2] = {{wake_fd_, POLLIN, 0}, {watch_.fd(), POLLIN, 0}};
    poll(fds, repeats && watch_.fd() >= 0 ? 2 : 1, TimeoutMillis(wakeup, next_poll));
    uint64_t ignored;
    [[maybe_unused]] const ssize_t taken = read(wake_fd_, &ignored, sizeof ignored);
    scan = false;
    if (repeats) {
      scan = !watch_.Drain().empty() || Clock::Default()->NowNanos() >= next_poll;
    }
  }
}

}  // namespace slipway::serve
