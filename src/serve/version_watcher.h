// SPDX-License-Identifier: Apache-2.0
//
// The thread that keeps a ModelManager going: it sleeps until a directory changes (inotify), a
// poll is due where changes cannot be watched, a load ended, or a retry is due.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

#include "base/directory_watch.h"
#include "serve/model_manager.h"

namespace slipway::serve {

class VersionWatcher {
 public:
  // `poll_seconds` as --file_system_poll_wait_seconds: 0 looks once, a negative number never.
  explicit VersionWatcher(double poll_seconds);
  ~VersionWatcher();
  VersionWatcher(const VersionWatcher&) = delete;
  VersionWatcher& operator=(const VersionWatcher&) = delete;

  // From then on `manager` is ticked; it must live until Stop. `ticked` is called after each tick,
  // on the watcher's thread.
  void Start(ModelManager* manager, std::function<void()> ticked);
  // Makes it tick soon. From any thread, before Start too.
  void Wake();
  // Joins. A second call does nothing.
  void Stop();

 private:
  void Run();
  bool Watch();  // true if there is something new to watch
  int TimeoutMillis(int64_t wakeup_ns, int64_t next_poll_ns) const;

  const double poll_seconds_;
  const int wake_fd_;
  ModelManager* manager_ = nullptr;
  std::function<void()> ticked_;
  DirectoryWatch watch_;              // of the thread
  std::vector<std::string> watched_;  // of the thread, sorted
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace slipway::serve
