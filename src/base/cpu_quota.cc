// SPDX-License-Identifier: Apache-2.0
#include "base/cpu_quota.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/strings.h"

namespace slipway {
namespace {

struct Cgroup {
  bool v2 = false;
  std::string path;  // in the hierarchy, as /proc/self/cgroup names it
};

bool HasWord(std::string_view list, std::string_view word) {
  const auto words = StrSplit(list, ',');
  return std::find(words.begin(), words.end(), word) != words.end();
}

// A v1 cpu controller wins: on a hybrid machine the v2 hierarchy has no controllers.
std::optional<Cgroup> ParseCgroup(std::string_view text) {
  std::optional<Cgroup> found;
  for (std::string_view line : StrSplit(text, '\n')) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first == line.npos ? first : first + 1);
    if (second == line.npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string path(line.substr(second + 1));
    if (HasWord(controllers, "cpu")) return Cgroup{false, path};
    if (controllers.empty()) found = Cgroup{true, path};
  }
  return found;
}

struct Mount {
  std::string root;   // what part of the hierarchy is mounted
  std::string point;  // where
};

// Lines of /proc/self/mountinfo: "36 35 0:31 ROOT POINT options... - TYPE SOURCE SUPEROPTIONS".
std::optional<Mount> FindMount(std::string_view mountinfo, bool v2) {
  for (std::string_view line : StrSplit(mountinfo, '\n')) {
    const size_t dash = line.find(" - ");
    if (dash == line.npos) continue;
    const auto left = StrSplit(line.substr(0, dash), ' ');
    const auto right = StrSplit(line.substr(dash + 3), ' ');
    if (left.size() < 5 || right.empty()) continue;
    const bool matches = v2 ? right[0] == "cgroup2"
                            : right[0] == "cgroup" && right.size() >= 3 && HasWord(right[2], "cpu");
    if (matches) return Mount{std::string(left[3]), std::string(left[4])};
  }
  return std::nullopt;
}

std::optional<double> ReadQuota(const FileReader& read, const std::string& dir, bool v2) {
  std::optional<std::string> quota_text;
  std::optional<std::string> period_text;
  if (v2) {
    const std::optional<std::string> text = read(dir + "/cpu.max");
    if (!text) return std::nullopt;
    const auto words = StrSplit(StripWhitespace(*text), ' ');
    if (words.size() != 2) return std::nullopt;
    quota_text = std::string(words[0]);
    period_text = std::string(words[1]);
  } else {
    quota_text = read(dir + "/cpu.cfs_quota_us");
    period_text = read(dir + "/cpu.cfs_period_us");
    if (!quota_text || !period_text) return std::nullopt;
  }
  const auto quota = ParseInt64(StripWhitespace(*quota_text));
  const auto period = ParseInt64(StripWhitespace(*period_text));
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;  // "max" and -1: none
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

}  // namespace

std::optional<double> CgroupCpuQuota(const FileReader& read) {
  const std::optional<std::string> cgroup_text = read("/proc/self/cgroup");
  const std::optional<std::string> mountinfo = read("/proc/self/mountinfo");
  if (!cgroup_text || !mountinfo) return std::nullopt;
  const std::optional<Cgroup> cgroup = ParseCgroup(*cgroup_text);
  if (!cgroup) return std::nullopt;
  const std::optional<Mount> mount = FindMount(*mountinfo, cgroup->v2);
  if (!mount) return std::nullopt;

  std::string below = cgroup->path;
  // A container often mounts only its own part of the hierarchy.
  if (mount->root != "/" && below.starts_with(mount->root)) below.erase(0, mount->root.size());
  while (!below.empty() && below.back() == '/') below.pop_back();

  std::optional<double> smallest;
  while (true) {
    const std::optional<double> quota = ReadQuota(read, mount->point + below, cgroup->v2);
    if (quota) smallest = smallest ? std::min(*smallest, *quota) : *quota;
    if (below.empty()) break;
    const size_t slash = below.rfind('/');
    below.resize(slash == std::string::npos ? 0 : slash);
  }
  return smallest;
}

std::optional<double> CgroupCpuQuota() {
  return CgroupCpuQuota([](const std::string& path) -> std::optional<std::string> {
    std::ifstream file(path);
    if (!file) return std::nullopt;
    std::ostringstream text;
    text << file.rdbuf();
    return std::move(text).str();
  });
}

}  // namespace slipway
