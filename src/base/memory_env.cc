// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <map>
#include <mutex>

#include "base/clock.h"
#include "base/env.h"
#include "base/strings.h"

namespace slipway {
namespace {

struct Contents {
  std::mutex mutex;
  std::string bytes;        // guarded by mutex
  int64_t modified_ns = 0;  // guarded by mutex
};
using ContentsPtr = std::shared_ptr<Contents>;

class MemoryReader : public RandomAccessFile {
 public:
  MemoryReader(std::string path, ContentsPtr contents, uint64_t size)
      : path_(std::move(path)), contents_(std::move(contents)), size_(size) {}

  Status Read(uint64_t offset, size_t n, void* out) const override {
    std::lock_guard lock(contents_->mutex);
    const std::string& bytes = contents_->bytes;
    if (n > bytes.size() || offset > bytes.size() - n) {
      return OutOfRangeError(StrCat("'", path_, "' ends before byte ", offset, " + ", n));
    }
    if (n > 0) std::memcpy(out, bytes.data() + offset, n);
    return OkStatus();
  }
  uint64_t size() const override { return size_; }

 private:
  const std::string path_;
  const ContentsPtr contents_;
  const uint64_t size_;
};

class MemoryWriter : public WritableFile {
 public:
  explicit MemoryWriter(ContentsPtr contents) : contents_(std::move(contents)) {}

  Status Append(std::string_view bytes) override {
    std::lock_guard lock(contents_->mutex);
    contents_->bytes.append(bytes);
    contents_->modified_ns = Clock::Default()->WallNanos();
    return OkStatus();
  }
  Status Flush() override { return OkStatus(); }
  Status Sync() override { return OkStatus(); }
  Status Close() override { return OkStatus(); }

 private:
  const ContentsPtr contents_;
};

// Without '.' and double slashes, from "/" ("" itself): what the map is keyed by.
std::string Normalised(std::string_view path) {
  std::string out;
  for (std::string_view piece : StrSplit(path, '/')) {
    if (!piece.empty() && piece != ".") StrAppend(&out, "/", piece);
  }
  return out;
}

std::string Parent(const std::string& normalised) {
  const size_t slash = normalised.rfind('/');
  return slash == std::string::npos ? "" : normalised.substr(0, slash);
}

class MemoryLock : public DirectoryLock {
 public:
  explicit MemoryLock(std::shared_ptr<std::mutex> mutex)
      : mutex_(std::move(mutex)), held_(*mutex_) {}

 private:
  std::shared_ptr<std::mutex> mutex_;
  std::lock_guard<std::mutex> held_;
};

class MemoryEnv : public Env {
 public:
  StatusOr<std::unique_ptr<RandomAccessFile>> OpenForReading(const std::string& path) override {
    std::lock_guard lock(mutex_);
    ASSIGN_OR_RETURN(const Node* node, Find(path));
    if (node->contents == nullptr) return IsDirectory(path);
    std::lock_guard contents_lock(node->contents->mutex);
    return std::make_unique<MemoryReader>(path, node->contents, node->contents->bytes.size());
  }
  StatusOr<std::unique_ptr<WritableFile>> OpenForWriting(const std::string& path) override {
    return OpenWriter(path, /*truncate=*/true);
  }
  StatusOr<std::unique_ptr<WritableFile>> OpenForAppending(const std::string& path) override {
    return OpenWriter(path, /*truncate=*/false);
  }

  StatusOr<FileInfo> Stat(const std::string& path) override {
    std::lock_guard lock(mutex_);
    ASSIGN_OR_RETURN(const Node* node, Find(path));
    if (node->contents == nullptr) {
      return FileInfo{.is_directory = true, .modified_ns = node->modified_ns};
    }
    std::lock_guard contents_lock(node->contents->mutex);
    return FileInfo{.size = node->contents->bytes.size(),
                    .modified_ns = node->contents->modified_ns};
  }

  StatusOr<std::vector<std::string>> ListDirectory(const std::string& path) override {
    std::lock_guard lock(mutex_);
    ASSIGN_OR_RETURN(const Node* node, Find(path));
    if (node->contents != nullptr) return IsFile(path);
    const std::string prefix = Normalised(path) + "/";
    std::vector<std::string> names;
    for (auto it = nodes_.lower_bound(prefix); it != nodes_.end(); ++it) {
      if (!it->first.starts_with(prefix)) break;
      std::string name = it->first.substr(prefix.size());
      if (name.find('/') == std::string::npos) names.push_back(std::move(name));
    }
    return names;
  }

  Status CreateDirectories(const std::string& path) override {
    std::lock_guard lock(mutex_);
    const std::string whole = Normalised(path);
    for (size_t end = 0; end != std::string::npos;) {
      end = whole.find('/', end + 1);
      const std::string part = whole.substr(0, end);
      auto [it, added] = nodes_.try_emplace(part, Directory());
      if (!added && it->second.contents != nullptr) return IsFile(part);
    }
    return OkStatus();
  }

  Status RemoveFile(const std::string& path) override {
    std::lock_guard lock(mutex_);
    ASSIGN_OR_RETURN(const Node* node, Find(path));
    if (node->contents == nullptr) return IsDirectory(path);
    nodes_.erase(Normalised(path));
    Touch(Parent(Normalised(path)));
    return OkStatus();
  }

  Status RemoveTree(const std::string& path) override {
    std::lock_guard lock(mutex_);
    const std::string root = Normalised(path);
    std::erase_if(nodes_, [&](const auto& item) {
      return (item.first == root && !root.empty()) || item.first.starts_with(root + "/");
    });
    Touch(Parent(root));
    return OkStatus();
  }

  Status Rename(const std::string& from, const std::string& to) override {
    std::lock_guard lock(mutex_);
    const std::string source = Normalised(from);
    const std::string target = Normalised(to);
    ASSIGN_OR_RETURN(const Node* moved, Find(from));
    RETURN_IF_ERROR(CheckParent(to));
    if (source == target) return OkStatus();
    if (target.starts_with(source + "/")) {
      return InvalidArgumentError(StrCat("Cannot rename '", from, "' to '", to, "', below itself"));
    }
    if (const auto old = nodes_.find(target); old != nodes_.end()) {
      const bool old_is_file = old->second.contents != nullptr;
      if (old_is_file && moved->contents == nullptr) return IsFile(to);
      if (!old_is_file && moved->contents != nullptr) return IsDirectory(to);
      const auto below = nodes_.lower_bound(target + "/");
      if (below != nodes_.end() && below->first.starts_with(target + "/")) {
        return AlreadyExistsError(StrCat("Cannot rename '", from, "' to '", to, "': not empty"));
      }
    }
    Move(source, target);
    return OkStatus();
  }

  Status Exchange(const std::string& a, const std::string& b) override {
    std::lock_guard lock(mutex_);
    RETURN_IF_ERROR(Find(a).status());
    RETURN_IF_ERROR(Find(b).status());
    const std::string first = Normalised(a);
    const std::string second = Normalised(b);
    if (first == second) return OkStatus();
    if (first.starts_with(second + "/") || second.starts_with(first + "/")) {
      return InvalidArgumentError(StrCat("Cannot exchange '", a, "' and '", b, "', one is below"));
    }
    const std::string aside = second + "\n";  // no other name: nobody sees the map meanwhile
    Move(second, aside);
    Move(first, second);
    Move(aside, first);
    return OkStatus();
  }

  StatusOr<std::unique_ptr<DirectoryLock>> LockDirectory(const std::string& path) override {
    std::shared_ptr<std::mutex> held;
    {
      std::lock_guard lock(mutex_);
      RETURN_IF_ERROR(Find(path).status());
      std::shared_ptr<std::mutex>& known = locks_[Normalised(path)];
      if (known == nullptr) known = std::make_shared<std::mutex>();
      held = known;
    }
    return std::make_unique<MemoryLock>(std::move(held));
  }

  Status SyncDirectory(const std::string& path) override {
    std::lock_guard lock(mutex_);
    ASSIGN_OR_RETURN(const Node* node, Find(path));
    return node->contents == nullptr ? OkStatus() : IsFile(path);
  }

 private:
  struct Node {
    ContentsPtr contents;     // null for a directory
    int64_t modified_ns = 0;  // of a directory
  };

  static Node Directory() { return Node{nullptr, Clock::Default()->WallNanos()}; }
  static Status IsDirectory(const std::string& path) {
    return InvalidArgumentError(StrCat("'", path, "' is a directory; a file is wanted"));
  }
  static Status IsFile(const std::string& path) {
    return InvalidArgumentError(StrCat("'", path, "' is a file; a directory is wanted"));
  }

  StatusOr<const Node*> Find(const std::string& path) const {
    const std::string whole = Normalised(path);
    if (const auto it = nodes_.find(whole); it != nodes_.end()) return &it->second;
    for (std::string up = Parent(whole); !up.empty(); up = Parent(up)) {
      const auto it = nodes_.find(up);
      if (it != nodes_.end() && it->second.contents != nullptr) return IsFile(up);
    }
    return NotFoundError(StrCat("Cannot find '", path, "': No such file or directory"));
  }

  Status CheckParent(const std::string& path) const {
    ASSIGN_OR_RETURN(const Node* parent, Find(Parent(Normalised(path))));
    return parent->contents == nullptr ? OkStatus() : IsFile(path);
  }

  void Touch(const std::string& normalised) {
    if (const auto it = nodes_.find(normalised); it != nodes_.end()) {
      it->second.modified_ns = Clock::Default()->WallNanos();
    }
  }

  void Move(const std::string& source, const std::string& target) {
    nodes_.erase(target);
    std::vector<std::pair<std::string, Node>> moved;
    for (auto it = nodes_.lower_bound(source);
         it != nodes_.end() && it->first.starts_with(source);) {
      const std::string rest = it->first.substr(source.size());
      if (rest.empty() || rest.front() == '/') {
        moved.emplace_back(target + rest, std::move(it->second));
        it = nodes_.erase(it);
      } else {
        ++it;
      }
    }
    for (auto& [path, node] : moved) nodes_.insert_or_assign(path, std::move(node));
    Touch(Parent(source));
    Touch(Parent(target));
  }

  StatusOr<std::unique_ptr<WritableFile>> OpenWriter(const std::string& path, bool truncate) {
    std::lock_guard lock(mutex_);
    RETURN_IF_ERROR(CheckParent(path));
    const std::string whole = Normalised(path);
    auto [it, added] = nodes_.try_emplace(whole);
    if (added) {
      it->second.contents = std::make_shared<Contents>();
      Touch(Parent(whole));
    }
    const ContentsPtr& contents = it->second.contents;
    if (contents == nullptr) return IsDirectory(path);
    std::lock_guard contents_lock(contents->mutex);
    if (truncate) contents->bytes.clear();
    contents->modified_ns = Clock::Default()->WallNanos();
    return std::make_unique<MemoryWriter>(contents);
  }

  std::mutex mutex_;
  std::map<std::string, Node> nodes_{{"", Directory()}};      // guarded by mutex_; "" is the root
  std::map<std::string, std::shared_ptr<std::mutex>> locks_;  // guarded by mutex_
};

}  // namespace

std::unique_ptr<Env> NewMemoryEnv() { return std::make_unique<MemoryEnv>(); }

}  // namespace slipway
