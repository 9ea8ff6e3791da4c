// SPDX-License-Identifier: Apache-2.0
#include "base/directory_watch.h"

#include <linux/magic.h>
#include <sys/inotify.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace slipway {
namespace {

constexpr uint32_t kEvents = IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE |
                             IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

// inotify sees only what this kernel does: changes that another machine makes to a network file
// system come without an event.
bool ChangesElsewhere(const std::string& directory) {
  constexpr uint32_t kRemote[] = {NFS_SUPER_MAGIC,  SMB_SUPER_MAGIC,  CIFS_SUPER_MAGIC,
                                  SMB2_SUPER_MAGIC, AFS_SUPER_MAGIC,  CODA_SUPER_MAGIC,
                                  V9FS_MAGIC,       FUSE_SUPER_MAGIC, CEPH_SUPER_MAGIC};
  struct statfs info;
  if (statfs(directory.c_str(), &info) != 0) return true;
  const auto type = static_cast<uint32_t>(info.f_type);
  return std::find(std::begin(kRemote), std::end(kRemote), type) != std::end(kRemote);
}

}  // namespace

DirectoryWatch::DirectoryWatch() : fd_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {}

DirectoryWatch::~DirectoryWatch() {
  if (fd_ >= 0) close(fd_);
}

bool DirectoryWatch::TryWatch(const std::string& directory) {
  if (fd_ < 0 || ChangesElsewhere(directory)) return false;
  const int descriptor = inotify_add_watch(fd_, directory.c_str(), kEvents);
  if (descriptor < 0) return false;
  by_descriptor_[descriptor].insert(directory);
  return true;
}

void DirectoryWatch::Add(const std::string& directory) {
  for (const auto& [descriptor, names] : by_descriptor_) {
    if (names.contains(directory)) return;
  }
  if (TryWatch(directory)) {
    unwatched_.erase(directory);
  } else {
    unwatched_.insert(directory);
  }
}

void DirectoryWatch::Remove(const std::string& directory) {
  unwatched_.erase(directory);
  for (auto it = by_descriptor_.begin(); it != by_descriptor_.end(); ++it) {
    if (it->second.erase(directory) == 0) continue;
    if (it->second.empty()) {
      inotify_rm_watch(fd_, it->first);
      by_descriptor_.erase(it);
    }
    return;
  }
}

// The watched directory is gone from its place; its name may come back with another behind it.
void DirectoryWatch::Forget(int descriptor, std::set<std::string>* changed) {
  const auto it = by_descriptor_.find(descriptor);
  if (it == by_descriptor_.end()) return;
  changed->insert(it->second.begin(), it->second.end());
  unwatched_.merge(it->second);
  by_descriptor_.erase(it);
}

void DirectoryWatch::TakeEvents(std::string_view bytes, std::set<std::string>* changed) {
  while (bytes.size() >= sizeof(inotify_event)) {
    inotify_event event;
    std::memcpy(&event, bytes.data(), sizeof(event));
    bytes.remove_prefix(std::min(bytes.size(), sizeof(event) + event.len));
    if ((event.mask & IN_Q_OVERFLOW) != 0) {
      for (const auto& [descriptor, names] : by_descriptor_) {
        changed->insert(names.begin(), names.end());
      }
    } else if ((event.mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT)) != 0) {
      if ((event.mask & IN_MOVE_SELF) != 0) inotify_rm_watch(fd_, event.wd);
      Forget(event.wd, changed);
    } else if (const auto it = by_descriptor_.find(event.wd); it != by_descriptor_.end()) {
      changed->insert(it->second.begin(), it->second.end());
    }
  }
}

std::vector<std::string> DirectoryWatch::Drain() {
  std::set<std::string> changed;
  char buffer[16 << 10];
  ssize_t got = 0;
  while (fd_ >= 0 && (got = read(fd_, buffer, sizeof(buffer))) > 0) {
    TakeEvents(std::string_view(buffer, static_cast<size_t>(got)), &changed);
  }
  for (auto it = unwatched_.begin(); it != unwatched_.end();) {
    if (TryWatch(*it)) {
      changed.insert(*it);
      it = unwatched_.erase(it);
    } else {
      ++it;
    }
  }
  return {changed.begin(), changed.end()};
}

}  // namespace slipway
