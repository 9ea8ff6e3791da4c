// SPDX-License-Identifier: Apache-2.0
//
// The seam to files. Code that reads or writes files takes an Env*, so that tests give it one
// that lives in memory, fills up or fails; programs pass Env::Default(), the local file system.
//
// Paths are plain strings; "scheme://…" reaches the file system registered for that scheme.
// Errors: NOT_FOUND (no such file), PERMISSION_DENIED, ALREADY_EXISTS, RESOURCE_EXHAUSTED (disk
// full, too many open files), INVALID_ARGUMENT (a directory where a file is wanted and the
// reverse), UNAVAILABLE (other I/O errors). Every message holds the path.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "slipway/status.h"

namespace slipway {

// Reads at any offset. Thread safety: Read may be called from several threads.
class RandomAccessFile {
 public:
  virtual ~RandomAccessFile() = default;
  // Exactly n bytes from `offset` into `out`; OUT_OF_RANGE when the file is shorter.
  virtual Status Read(uint64_t offset, size_t n, void* out) const = 0;
  virtual uint64_t size() const = 0;
};

// Appends to a new file. Not thread safe. A file that was not closed may lack its end.
class WritableFile {
 public:
  virtual ~WritableFile() = default;
  virtual Status Append(std::string_view bytes) = 0;
  virtual Status Flush() = 0;  // hands all bytes to the operating system
  virtual Status Sync() = 0;   // Flush, then waits until they are on the disk
  virtual Status Close() = 0;  // Flush; the object is of no further use
};

// A directory that is held; let go on destruction, and when the process ends however it ends.
class DirectoryLock {
 public:
  virtual ~DirectoryLock() = default;
};

struct FileInfo {
  uint64_t size = 0;
  bool is_directory = false;
  bool is_special = false;  // a device, a pipe, a socket: neither file nor directory
  int64_t modified_ns = 0;  // since the epoch
};

// Thread safety: all methods from any thread.
class Env {
 public:
  virtual ~Env() = default;

  // The local file system ("file://…" too) and the registered schemes; lives as long as the
  // program. A scheme nobody registered is UNIMPLEMENTED.
  static Env* Default();
  // Lets Default() reach `env` with paths that begin with "SCHEME://", which `env` is given whole.
  // ALREADY_EXISTS if the scheme is taken.
  static Status Register(std::string scheme, std::unique_ptr<Env> env);

  virtual StatusOr<std::unique_ptr<RandomAccessFile>> OpenForReading(const std::string& path) = 0;
  // Truncates an existing file. The directory must exist.
  virtual StatusOr<std::unique_ptr<WritableFile>> OpenForWriting(const std::string& path) = 0;
  virtual StatusOr<std::unique_ptr<WritableFile>> OpenForAppending(const std::string& path) = 0;

  virtual StatusOr<FileInfo> Stat(const std::string& path) = 0;
  // Names (not paths) of the children, sorted.
  virtual StatusOr<std::vector<std::string>> ListDirectory(const std::string& path) = 0;
  // Parents too; fine if it exists.
  virtual Status CreateDirectories(const std::string& path) = 0;
  virtual Status RemoveFile(const std::string& path) = 0;
  // The directory and all below it; fine if it does not exist.
  virtual Status RemoveTree(const std::string& path) = 0;
  // Atomically; replaces a file at `to`. INVALID_ARGUMENT between two schemes.
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  // Swaps what two names stand for, atomically: there is no moment in which one of them is missing.
  // Both must exist, each may be a file or a directory. UNIMPLEMENTED where the file system cannot.
  virtual Status Exchange(const std::string& a, const std::string& b);
  // Waits until nobody else, of this process or another, holds the directory. For short sequences
  // of changes that belong together. Null where the file system has no locks: nobody is kept out.
  virtual StatusOr<std::unique_ptr<DirectoryLock>> LockDirectory(const std::string& path);
  // Makes names created, renamed or removed in the directory durable.
  virtual Status SyncDirectory(const std::string& path) = 0;

  bool Exists(const std::string& path) { return Stat(path).ok(); }
};

// An empty file system in memory, for tests and for building files before they are written.
std::unique_ptr<Env> NewMemoryEnv();

// The whole file; RESOURCE_EXHAUSTED when it is larger than `limit` bytes.
StatusOr<std::string> ReadFile(Env* env, const std::string& path,
                               uint64_t limit = uint64_t{2} << 30);
Status WriteFile(Env* env, const std::string& path, std::string_view bytes);
// Writes beside, syncs and renames: after a crash the old or the new file is there, whole. What
// is_special (/dev/stdout) is written into, not replaced.
Status WriteFileAtomically(Env* env, const std::string& path, std::string_view bytes);

// OK if a file or directory could be made at `path`: the nearest of its parents that is there is a
// directory that takes new entries (tried with one, which is removed again).
Status CheckCreatable(Env* env, const std::string& path);

// With one '/' between them, whatever they end or begin with; an empty one adds nothing.
std::string JoinPath(std::string_view a, std::string_view b);
std::string_view Basename(std::string_view path);
std::string_view Dirname(std::string_view path);  // "." for a bare name

}  // namespace slipway
