// SPDX-License-Identifier: Apache-2.0
#include "base/temporary.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/strings.h"

namespace slipway {
namespace {

constexpr std::string_view kMark = ".partial-";
constexpr size_t kMaxBase = 100;  // of the path's own name: file systems end at 255 bytes
constexpr int64_t kOldNanos = int64_t{24} * 3600 * 1'000'000'000;

std::string Hex(uint32_t value) {
  char text[8];
  const auto [end, error] = std::to_chars(text, text + sizeof(text), value, 16);
  return std::string(text, end);
}

uint32_t Hash(std::string_view text) {
  uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

// The same process number may be in use on another host, and in another container of this one.
const std::string& Host() {
  static const std::string host = [] {
    char name[256] = "";
    gethostname(name, sizeof(name) - 1);
    char space[64] = "";
    const ssize_t n = readlink("/proc/self/ns/pid", space, sizeof(space));
    return Hex(
        Hash(StrCat(name, "/", std::string_view(space, n > 0 ? static_cast<size_t>(n) : 0))));
  }();
  return host;
}

const std::string& Start() {
  static const std::string start = Hex(static_cast<uint32_t>(RandomSeed()));
  return start;
}

struct Owner {
  std::string_view host;
  int64_t process = 0;
  std::string_view start;
};

std::optional<Owner> OwnerOf(std::string_view name) {
  const size_t mark = name.rfind(kMark);
  if (mark == std::string_view::npos || !name.starts_with('.')) return std::nullopt;
  const auto pieces = StrSplit(name.substr(mark + kMark.size()), '-');
  if (pieces.size() != 4 || !ParseInt64(pieces[3])) return std::nullopt;
  const auto process = ParseInt64(pieces[1]);
  if (!process || *process < 1 || *process > INT32_MAX) return std::nullopt;
  return Owner{pieces[0], *process, pieces[2]};
}

bool IsGone(const Owner& owner) {
  if (owner.host != Host()) return false;
  // A process of before that had the number of this one.
  if (owner.process == getpid()) return owner.start != Start();
  return kill(static_cast<pid_t>(owner.process), 0) != 0 && errno == ESRCH;
}

bool IsOld(Env* env, const std::string& path) {
  const StatusOr<FileInfo> info = env->Stat(path);
  return info.ok() && Clock::Default()->WallNanos() - info->modified_ns > kOldNanos;
}

}  // namespace

std::string TemporaryName(std::string_view path) {
  static std::atomic<int64_t> count{0};
  return JoinPath(Dirname(path), StrCat(".", Basename(path).substr(0, kMaxBase), kMark, Host(), "-",
                                        getpid(), "-", Start(), "-", count.fetch_add(1)));
}

void RemoveAbandoned(Env* env, const std::string& directory) {
  const StatusOr<std::vector<std::string>> names = env->ListDirectory(directory);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    const std::optional<Owner> owner = OwnerOf(name);
    if (!owner) continue;
    const std::string path = JoinPath(directory, name);
    if (IsGone(*owner) || IsOld(env, path)) env->RemoveTree(path).IgnoreError();
  }
}

}  // namespace slipway
