// SPDX-License-Identifier: Apache-2.0
//
// Tells when something in a directory was created, written, renamed or removed, without polling
// where the system can (inotify).
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace slipway {

// Not thread safe: one thread owns it.
class DirectoryWatch {
 public:
  DirectoryWatch();
  DirectoryWatch(const DirectoryWatch&) = delete;
  DirectoryWatch& operator=(const DirectoryWatch&) = delete;
  ~DirectoryWatch();

  // Watches the children of the directory, not what lies below them. A directory that does not
  // exist yet, or that cannot be watched, is kept and tried again by Drain().
  void Add(const std::string& directory);
  void Remove(const std::string& directory);

  // Some directory changes without our being told: it is missing, on a network file system, behind
  // a URL scheme, or the system's limits on watches are reached. Look at it in intervals.
  bool PollingNeeded() const { return !unwatched_.empty(); }

  // Readable when Drain() has something to say, for poll and epoll; -1 without inotify.
  int fd() const { return fd_; }
  // The directories that changed since the last call, sorted; never blocks. One that was removed,
  // or could be watched only now, counts as changed. When the system lost events: all of them.
  std::vector<std::string> Drain();

 private:
  bool TryWatch(const std::string& directory);
  void Forget(int descriptor, std::set<std::string>* changed);
  void TakeEvents(std::string_view bytes, std::set<std::string>* changed);

  int fd_ = -1;
  std::map<int, std::set<std::string>> by_descriptor_;  // one directory may have several names
  std::set<std::string> unwatched_;
};

}  // namespace slipway
