// SPDX-License-Identifier: Apache-2.0
//
// How much processor time a container leaves to this process.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace slipway {

// The whole content of a small file, or nothing.
using FileReader = std::function<std::optional<std::string>(const std::string& path)>;

// The CPU quota of this process's cgroup in processors (2.5 means two and a half), the smallest
// one up to the root of the hierarchy; nothing without a quota. Understands cgroup v1 (the cpu
// controller's cfs_quota_us and cfs_period_us) and v2 (cpu.max). `read` is given
// /proc/self/cgroup, /proc/self/mountinfo and the files found through them.
std::optional<double> CgroupCpuQuota(const FileReader& read);

// From the real files.
std::optional<double> CgroupCpuQuota();

}  // namespace slipway
