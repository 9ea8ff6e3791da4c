// SPDX-License-Identifier: Apache-2.0
#include "base/posix_env.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "base/strings.h"

namespace slipway {
namespace {

Code CodeOfErrno(int error) {
  switch (error) {
    case ENOENT:
      return Code::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::kPermissionDenied;
    case EEXIST:
    case ENOTEMPTY:
      return Code::kAlreadyExists;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return Code::kResourceExhausted;
    case EISDIR:
    case ENOTDIR:
    case EINVAL:
    case ELOOP:
    case ENAMETOOLONG:
      return Code::kInvalidArgument;
    default:
      return Code::kUnavailable;
  }
}

Status ErrnoStatus(std::string_view action, const std::string& path, int error) {
  return Status(CodeOfErrno(error), StrCat("Cannot ", action, " '", path,
                                           "': ", std::generic_category().message(error)));
}

Status WriteAll(int fd, const std::string& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus("write to", path, errno);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return OkStatus();
}

class PosixReader : public RandomAccessFile {
 public:
  PosixReader(std::string path, int fd, uint64_t size)
      : path_(std::move(path)), fd_(fd), size_(size) {}
  ~PosixReader() override { ::close(fd_); }

  Status Read(uint64_t offset, size_t n, void* out) const override {
    auto* to = static_cast<char*>(out);
    size_t done = 0;
    while (done < n) {
      const ssize_t got = offset > INT64_MAX - done ? 0
                                                    : ::pread(fd_, to + done, n - done,
                                                              static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return ErrnoStatus("read", path_, errno);
      if (got == 0) {
        return OutOfRangeError(StrCat("'", path_, "' ends before byte ", offset, " + ", n));
      }
      done += static_cast<size_t>(got);
    }
    return OkStatus();
  }
  uint64_t size() const override { return size_; }

 private:
  const std::string path_;
  const int fd_;
  const uint64_t size_;
};

class PosixWriter : public WritableFile {
 public:
  PosixWriter(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  ~PosixWriter() override {
    if (fd_ >= 0) ::close(fd_);
  }

  Status Append(std::string_view bytes) override {
    if (buffer_.size() + bytes.size() <= kBufferSize) {
      buffer_.append(bytes);
      return OkStatus();
    }
    RETURN_IF_ERROR(Flush());
    if (bytes.size() >= kBufferSize) return WriteAll(fd_, path_, bytes);
    buffer_.append(bytes);
    return OkStatus();
  }
  Status Flush() override {
    const Status status = WriteAll(fd_, path_, buffer_);
    buffer_.clear();
    return status;
  }
  Status Sync() override {
    RETURN_IF_ERROR(Flush());
    if (::fsync(fd_) != 0) return ErrnoStatus("sync", path_, errno);
    return OkStatus();
  }
  Status Close() override {
    if (fd_ < 0) return OkStatus();
    Status status = Flush();
    if (::close(std::exchange(fd_, -1)) != 0 && status.ok()) {
      status = ErrnoStatus("close", path_, errno);
    }
    return status;
  }

 private:
  static constexpr size_t kBufferSize = 64 << 10;
  const std::string path_;
  int fd_;
  std::string buffer_;
};

class PosixLock : public DirectoryLock {
 public:
  explicit PosixLock(int fd) : fd_(fd) {}
  ~PosixLock() override { ::close(fd_); }

 private:
  const int fd_;
};

class PosixEnv : public Env {
 public:
  StatusOr<std::unique_ptr<RandomAccessFile>> OpenForReading(const std::string& path) override {
    // O_NONBLOCK: a FIFO must give an error and not wait for its writer.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return ErrnoStatus("open", path, errno);
    struct stat info;
    const int error = ::fstat(fd, &info) != 0 ? errno : 0;
    if (error != 0 || !S_ISREG(info.st_mode)) {
      ::close(fd);
      if (error != 0) return ErrnoStatus("open", path, error);
      return InvalidArgumentError(StrCat("'", path, "' is ",
                                         S_ISDIR(info.st_mode) ? "a directory" : "no regular file",
                                         "; a file is wanted"));
    }
    return std::make_unique<PosixReader>(path, fd, static_cast<uint64_t>(info.st_size));
  }

  StatusOr<std::unique_ptr<WritableFile>> OpenForWriting(const std::string& path) override {
    return OpenWriter(path, O_TRUNC);
  }
  StatusOr<std::unique_ptr<WritableFile>> OpenForAppending(const std::string& path) override {
    return OpenWriter(path, O_APPEND);
  }

  StatusOr<FileInfo> Stat(const std::string& path) override {
    struct stat info;
    if (::stat(path.c_str(), &info) != 0) return ErrnoStatus("look up", path, errno);
    // Unsigned: some file systems have dates beyond the year 2262, and what counts is a difference.
    const uint64_t modified = static_cast<uint64_t>(info.st_mtim.tv_sec) * 1'000'000'000u +
                              static_cast<uint64_t>(info.st_mtim.tv_nsec);
    return FileInfo{.size = static_cast<uint64_t>(info.st_size),
                    .is_directory = S_ISDIR(info.st_mode),
                    .is_special = !S_ISDIR(info.st_mode) && !S_ISREG(info.st_mode),
                    .modified_ns = static_cast<int64_t>(modified)};
  }

  StatusOr<std::vector<std::string>> ListDirectory(const std::string& path) override {
    std::error_code error;
    std::filesystem::directory_iterator it(path, error);
    std::vector<std::string> names;
    while (!error && it != std::filesystem::directory_iterator()) {
      names.push_back(it->path().filename().string());
      it.increment(error);
    }
    if (error) return ErrnoStatus("list", path, error.value());
    std::sort(names.begin(), names.end());
    return names;
  }

  Status CreateDirectories(const std::string& path) override {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error) return ErrnoStatus("create directory", path, error.value());
    return OkStatus();
  }

  Status RemoveFile(const std::string& path) override {
    if (::unlink(path.c_str()) == 0) return OkStatus();
    return ErrnoStatus("remove", path, errno);
  }

  Status RemoveTree(const std::string& path) override {
    std::error_code error;
    std::filesystem::remove_all(path, error);
    if (error) return ErrnoStatus("remove", path, error.value());
    return OkStatus();
  }

  Status Rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) == 0) return OkStatus();
    return ErrnoStatus(StrCat("rename to '", to, "'"), from, errno);
  }

  Status Exchange(const std::string& a, const std::string& b) override {
    if (::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0) {
      return OkStatus();
    }
    // EINVAL is what file systems say that do not know the flag.
    if (errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP) return Env::Exchange(a, b);
    return ErrnoStatus(StrCat("exchange with '", b, "'"), a, errno);
  }

  StatusOr<std::unique_ptr<DirectoryLock>> LockDirectory(const std::string& path) override {
    const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return ErrnoStatus("lock", path, errno);
    auto lock = std::make_unique<PosixLock>(fd);
    while (::flock(fd, LOCK_EX) != 0) {
      if (errno == EINTR) continue;
      // Network file systems refuse to lock directories.
      return std::unique_ptr<DirectoryLock>();
    }
    return lock;
  }

  Status SyncDirectory(const std::string& path) override {
    const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return ErrnoStatus("sync", path, errno);
    const int error = ::fsync(fd) != 0 ? errno : 0;
    ::close(fd);
    // Some network file systems cannot sync a directory and need not.
    if (error != 0 && error != EINVAL) return ErrnoStatus("sync", path, error);
    return OkStatus();
  }

 private:
  StatusOr<std::unique_ptr<WritableFile>> OpenWriter(const std::string& path, int how) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | how, 0666);
    if (fd < 0) return ErrnoStatus("open for writing", path, errno);
    return std::make_unique<PosixWriter>(path, fd);
  }
};

}  // namespace

std::unique_ptr<Env> NewPosixEnv() { return std::make_unique<PosixEnv>(); }

}  // namespace slipway
