// SPDX-License-Identifier: Apache-2.0
//
// An Env for tests that breaks when told to: a write that fails, a process that dies in the
// middle of saving, a disk that fills up. Everything else goes to the Env it wraps.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/env.h"

namespace slipway {

// What counts as a write: every call that changes files or makes a change durable (opening for
// writing, Append, Sync, CreateDirectories, RemoveFile, RemoveTree, Rename, Exchange,
// SyncDirectory).
// Run once, read writes(), then run again with each n below it to try every point of failure.
// Thread safety: all methods from any thread.
class FaultEnv : public Env {
 public:
  // `base` is borrowed and holds what was written before the fault.
  explicit FaultEnv(Env* base) : base_(base) {}

  // The n-th write from now (0 is the next) fails with `error`; the ones after it work again.
  void FailWrite(int64_t n, Status error = UnavailableError("injected fault"));
  // The n-th write from now and all after it fail: on `base` lies what a crash there leaves.
  void CrashAtWrite(int64_t n);
  // The disk takes `bytes` more: the Append that goes over it writes what fits and fails, like all
  // after it, with RESOURCE_EXHAUSTED.
  void LimitBytes(uint64_t bytes);
  // Works again.
  void Heal();
  // Writes begun since the start.
  int64_t writes() const;

  StatusOr<std::unique_ptr<RandomAccessFile>> OpenForReading(const std::string& path) override;
  StatusOr<std::unique_ptr<WritableFile>> OpenForWriting(const std::string& path) override;
  StatusOr<std::unique_ptr<WritableFile>> OpenForAppending(const std::string& path) override;
  StatusOr<FileInfo> Stat(const std::string& path) override;
  StatusOr<std::vector<std::string>> ListDirectory(const std::string& path) override;
  Status CreateDirectories(const std::string& path) override;
  Status RemoveFile(const std::string& path) override;
  Status RemoveTree(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Exchange(const std::string& a, const std::string& b) override;
  StatusOr<std::unique_ptr<DirectoryLock>> LockDirectory(const std::string& path) override;
  Status SyncDirectory(const std::string& path) override;

 private:
  friend class FaultWriter;
  Status CountWrite(const std::string& path);
  // How many of `n` bytes still fit, which are then taken.
  size_t TakeBytes(size_t n);

  Env* const base_;
  mutable std::mutex mutex_;  // guards what follows
  int64_t writes_ = 0;
  int64_t fail_at_ = -1;
  bool fail_after_ = false;  // those behind fail_at_ too
  Status error_;
  std::optional<uint64_t> bytes_left_;
};

}  // namespace slipway
