// SPDX-License-Identifier: Apache-2.0
#include "base/env.h"

#include <map>
#include <mutex>
#include <shared_mutex>

#include "base/posix_env.h"
#include "base/strings.h"
#include "base/temporary.h"

namespace slipway {
namespace {

constexpr std::string_view kSchemeEnd = "://";

// "gs" of "gs://bucket/x", "" for a plain path.
std::string_view SchemeOf(std::string_view path) {
  const size_t end = path.find(kSchemeEnd);
  if (end == std::string_view::npos || end == 0) return "";
  for (char c : path.substr(0, end)) {
    const bool allowed = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                         (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
    if (!allowed) return "";
  }
  return path.substr(0, end);
}

// Sends every call to the file system that the path's scheme names.
class SchemeEnv : public Env {
 public:
  Status Add(std::string scheme, std::unique_ptr<Env> env) {
    std::unique_lock lock(mutex_);
    auto [it, added] = by_scheme_.try_emplace(AsciiLower(scheme), std::move(env));
    if (!added) {
      return AlreadyExistsError(
          StrCat("A file system for '", scheme, "://' is registered already"));
    }
    return OkStatus();
  }

  StatusOr<std::unique_ptr<RandomAccessFile>> OpenForReading(const std::string& path) override {
    ASSIGN_OR_RETURN(const Target target, Resolve(path));
    return target.env->OpenForReading(target.path);
  }
  StatusOr<std::unique_ptr<WritableFile>> OpenForWriting(const std::string& path) override {
    ASSIGN_OR_RETURN(const Target target, Resolve(path));
    return target.env->OpenForWriting(target.path);
  }
  StatusOr<std::unique_ptr<WritableFile>> OpenForAppending(const std::string& path) override {
    ASSIGN_OR_RETURN(const Target target, Resolve(path));
    return target.env->OpenForAppending(target.path);
  }
  StatusOr<FileInfo> Stat(const std::string& path) override {
    ASSIGN_OR_RETURN(const Target target, Resolve(path));
    return target.env->Stat(target.path);
  }
  StatusOr<std::vector<std::string>> ListDirectory(const std::string& path) override {
    ASSIGN_OR_RETURN(const Target target, Resolve(path));
    return target.env->ListDirectory(target.path);
  }
  Status CreateDirectories(const std::string& path) override {
    ASSIGN_OR_RETURN(const Target target, Resolve(path));
    return target.env->CreateDirectories(target.path);
  }
  Status RemoveFile(const std::string& path) override {
    ASSIGN_OR_RETURN(const Target target, Resolve(path));
    return target.env->RemoveFile(target.path);
  }
  Status RemoveTree(const std::string& path) override {
    ASSIGN_OR_RETURN(const Target target, Resolve(path));
    return target.env->RemoveTree(target.path);
  }
  Status Rename(const std::string& from, const std::string& to) override {
    ASSIGN_OR_RETURN(const Target source, Resolve(from));
    ASSIGN_OR_RETURN(const Target target, Resolve(to));
    if (source.env != target.env) {
      return InvalidArgumentError(StrCat("Cannot rename '", from, "' to '", to,
                                         "': they are on two file systems; copy instead"));
    }
    return source.env->Rename(source.path, target.path);
  }
  Status Exchange(const std::string& a, const std::string& b) override {
    ASSIGN_OR_RETURN(const Target first, Resolve(a));
    ASSIGN_OR_RETURN(const Target second, Resolve(b));
    if (first.env != second.env) return Env::Exchange(a, b);
    return first.env->Exchange(first.path, second.path);
  }
  StatusOr<std::unique_ptr<DirectoryLock>> LockDirectory(const std::string& path) override {
    ASSIGN_OR_RETURN(const Target target, Resolve(path));
    return target.env->LockDirectory(target.path);
  }
  Status SyncDirectory(const std::string& path) override {
    ASSIGN_OR_RETURN(const Target target, Resolve(path));
    return target.env->SyncDirectory(target.path);
  }

 private:
  struct Target {
    Env* env;
    std::string path;
  };

  StatusOr<Target> Resolve(const std::string& path) {
    if (path.empty()) return InvalidArgumentError("An empty path where a file name is wanted");
    if (path.find('\0') != std::string::npos) {
      return InvalidArgumentError(StrCat("The path ", Quoted(path), " holds a NUL byte"));
    }
    const std::string scheme = AsciiLower(SchemeOf(path));
    if (scheme.empty()) return Target{local_.get(), path};
    if (scheme == "file") return Target{local_.get(), path.substr(scheme.size() + 3)};
    std::shared_lock lock(mutex_);
    const auto it = by_scheme_.find(scheme);
    if (it == by_scheme_.end()) {
      return UnimplementedError(
          StrCat("File system scheme '", scheme, "' not implemented (file: '", path, "')"));
    }
    return Target{it->second.get(), path};
  }

  std::unique_ptr<Env> local_ = NewPosixEnv();
  std::shared_mutex mutex_;
  std::map<std::string, std::unique_ptr<Env>, std::less<>> by_scheme_;  // guarded by mutex_
};

SchemeEnv* Schemes() {
  static auto* env = new SchemeEnv;  // files may be closed by destructors of statics
  return env;
}

Status WriteAndClose(WritableFile* file, std::string_view bytes, bool sync) {
  RETURN_IF_ERROR(file->Append(bytes));
  if (sync) RETURN_IF_ERROR(file->Sync());
  return file->Close();
}

}  // namespace

Env* Env::Default() { return Schemes(); }

Status Env::Register(std::string scheme, std::unique_ptr<Env> env) {
  return Schemes()->Add(std::move(scheme), std::move(env));
}

Status Env::Exchange(const std::string& a, const std::string& b) {
  return UnimplementedError(
      StrCat("The file system of '", a, "' cannot exchange it with '", b, "'"));
}

StatusOr<std::unique_ptr<DirectoryLock>> Env::LockDirectory(const std::string&) {
  return std::unique_ptr<DirectoryLock>();
}

StatusOr<std::string> ReadFile(Env* env, const std::string& path, uint64_t limit) {
  ASSIGN_OR_RETURN(const auto file, env->OpenForReading(path));
  if (file->size() > limit) {
    return ResourceExhaustedError(
        StrCat("'", path, "' has ", file->size(), " bytes; at most ", limit, " are allowed here"));
  }
  std::string bytes(file->size(), '\0');
  RETURN_IF_ERROR(file->Read(0, bytes.size(), bytes.data()));
  return bytes;
}

Status WriteFile(Env* env, const std::string& path, std::string_view bytes) {
  ASSIGN_OR_RETURN(const auto file, env->OpenForWriting(path));
  return WriteAndClose(file.get(), bytes, /*sync=*/false);
}

Status WriteFileAtomically(Env* env, const std::string& path, std::string_view bytes) {
  if (const auto there = env->Stat(path); there.ok() && there->is_special) {
    return WriteFile(env, path, bytes);
  }
  const std::string directory(Dirname(path));
  RemoveAbandoned(env, directory);
  const std::string temporary = TemporaryName(path);
  Status status = [&]() -> Status {
    ASSIGN_OR_RETURN(const auto file, env->OpenForWriting(temporary));
    return WriteAndClose(file.get(), bytes, /*sync=*/true);
  }();
  if (status.ok()) status = env->Rename(temporary, path);
  if (!status.ok()) {
    env->RemoveFile(temporary).IgnoreError();  // the first error is the one to tell
    return status;
  }
  return env->SyncDirectory(directory);
}

Status CheckCreatable(Env* env, const std::string& path) {
  std::string parent(Dirname(path));
  for (;;) {
    const StatusOr<FileInfo> info = env->Stat(parent);
    if (info.ok() && !info->is_directory) {
      return InvalidArgumentError(StrCat("Nothing can be made at '", path, "': '", parent,
                                         "' is a file, a directory is wanted"));
    }
    if (info.ok()) break;
    std::string above(Dirname(parent));
    if (above == parent) return info.status();
    parent = std::move(above);
  }
  const std::string probe = TemporaryName(JoinPath(parent, Basename(path)));
  const Status made = env->CreateDirectories(probe);
  if (!made.ok()) return made.WithContext(StrCat("Nothing can be made at '", path, "'"));
  return env->RemoveTree(probe);
}

std::string JoinPath(std::string_view a, std::string_view b) {
  if (a.empty()) return std::string(b);
  if (b.empty()) return std::string(a);
  if (a.back() == '/') a.remove_suffix(1);
  if (b.front() == '/') b.remove_prefix(1);
  return StrCat(a, "/", b);
}

std::string_view Basename(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string_view Dirname(std::string_view path) {
  const std::string_view scheme = SchemeOf(path);
  const size_t root = scheme.empty() ? 0 : scheme.size() + kSchemeEnd.size();
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  if (slash < root) return path.substr(0, root);
  if (slash == 0) return "/";
  return path.substr(0, slash);
}

}  // namespace slipway
