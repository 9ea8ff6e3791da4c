// SPDX-License-Identifier: Apache-2.0
#include "base/fault_env.h"

#include <algorithm>

#include "base/strings.h"

namespace slipway {

class FaultWriter : public WritableFile {
 public:
  FaultWriter(FaultEnv* env, std::string path, std::unique_ptr<WritableFile> base)
      : env_(env), path_(std::move(path)), base_(std::move(base)) {}

  Status Append(std::string_view bytes) override {
    RETURN_IF_ERROR(env_->CountWrite(path_));
    const size_t fits = env_->TakeBytes(bytes.size());
    RETURN_IF_ERROR(base_->Append(bytes.substr(0, fits)));
    if (fits == bytes.size()) return OkStatus();
    return ResourceExhaustedError(StrCat("Cannot write to '", path_, "': No space left on device"));
  }
  Status Flush() override { return base_->Flush(); }
  Status Sync() override {
    RETURN_IF_ERROR(env_->CountWrite(path_));
    return base_->Sync();
  }
  Status Close() override { return base_->Close(); }

 private:
  FaultEnv* const env_;
  const std::string path_;
  const std::unique_ptr<WritableFile> base_;
};

void FaultEnv::FailWrite(int64_t n, Status error) {
  std::lock_guard lock(mutex_);
  fail_at_ = writes_ + n;
  fail_after_ = false;
  error_ = std::move(error);
}

void FaultEnv::CrashAtWrite(int64_t n) {
  FailWrite(n, UnavailableError("injected crash"));
  std::lock_guard lock(mutex_);
  fail_after_ = true;
}

void FaultEnv::LimitBytes(uint64_t bytes) {
  std::lock_guard lock(mutex_);
  bytes_left_ = bytes;
}

void FaultEnv::Heal() {
  std::lock_guard lock(mutex_);
  fail_at_ = -1;
  fail_after_ = false;
  bytes_left_.reset();
}

int64_t FaultEnv::writes() const {
  std::lock_guard lock(mutex_);
  return writes_;
}

Status FaultEnv::CountWrite(const std::string& path) {
  std::lock_guard lock(mutex_);
  const int64_t index = writes_++;
  if (fail_at_ < 0 || index < fail_at_ || (index > fail_at_ && !fail_after_)) return OkStatus();
  return error_.WithContext(path);
}

size_t FaultEnv::TakeBytes(size_t n) {
  std::lock_guard lock(mutex_);
  if (!bytes_left_) return n;
  const auto fits = static_cast<size_t>(std::min<uint64_t>(n, *bytes_left_));
  *bytes_left_ -= fits;
  return fits;
}

StatusOr<std::unique_ptr<RandomAccessFile>> FaultEnv::OpenForReading(const std::string& path) {
  return base_->OpenForReading(path);
}

StatusOr<std::unique_ptr<WritableFile>> FaultEnv::OpenForWriting(const std::string& path) {
  RETURN_IF_ERROR(CountWrite(path));
  ASSIGN_OR_RETURN(auto file, base_->OpenForWriting(path));
  return std::make_unique<FaultWriter>(this, path, std::move(file));
}

StatusOr<std::unique_ptr<WritableFile>> FaultEnv::OpenForAppending(const std::string& path) {
  RETURN_IF_ERROR(CountWrite(path));
  ASSIGN_OR_RETURN(auto file, base_->OpenForAppending(path));
  return std::make_unique<FaultWriter>(this, path, std::move(file));
}

StatusOr<FileInfo> FaultEnv::Stat(const std::string& path) { return base_->Stat(path); }

StatusOr<std::vector<std::string>> FaultEnv::ListDirectory(const std::string& path) {
  return base_->ListDirectory(path);
}

Status FaultEnv::CreateDirectories(const std::string& path) {
  RETURN_IF_ERROR(CountWrite(path));
  return base_->CreateDirectories(path);
}

Status FaultEnv::RemoveFile(const std::string& path) {
  RETURN_IF_ERROR(CountWrite(path));
  return base_->RemoveFile(path);
}

Status FaultEnv::RemoveTree(const std::string& path) {
  RETURN_IF_ERROR(CountWrite(path));
  return base_->RemoveTree(path);
}

Status FaultEnv::Rename(const std::string& from, const std::string& to) {
  RETURN_IF_ERROR(CountWrite(from));
  return base_->Rename(from, to);
}

Status FaultEnv::Exchange(const std::string& a, const std::string& b) {
  RETURN_IF_ERROR(CountWrite(a));
  return base_->Exchange(a, b);
}

StatusOr<std::unique_ptr<DirectoryLock>> FaultEnv::LockDirectory(const std::string& path) {
  return base_->LockDirectory(path);
}

Status FaultEnv::SyncDirectory(const std::string& path) {
  RETURN_IF_ERROR(CountWrite(path));
  return base_->SyncDirectory(path);
}

}  // namespace slipway
