// SPDX-License-Identifier: Apache-2.0
#include "exec/op_table.h"

#include <algorithm>
#include <map>

namespace slipway::exec {
namespace {

// Self times, in the order of `events`.
std::vector<int64_t> SelfTimes(const std::vector<ProfileEvent>& events) {
  std::vector<size_t> order(events.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, [&](size_t a, size_t b) {
    const ProfileEvent& x = events[a];
    const ProfileEvent& y = events[b];
    if (x.thread != y.thread) return x.thread < y.thread;
    if (x.start_ns != y.start_ns) return x.start_ns < y.start_ns;
    return x.end_ns > y.end_ns;  // the outer one first
  });
  std::vector<int64_t> self(events.size());
  std::vector<size_t> open;
  for (const size_t i : order) {
    self[i] = events[i].end_ns - events[i].start_ns;
    while (!open.empty() && (events[open.back()].thread != events[i].thread ||
                             events[open.back()].end_ns <= events[i].start_ns)) {
      open.pop_back();
    }
    if (!open.empty()) self[open.back()] -= self[i];
    open.push_back(i);
  }
  return self;
}

}  // namespace

std::vector<OpRow> OpTable(const StepProfile& profile, bool by_node) {
  const std::vector<ProfileEvent>& events = profile.events();
  const std::vector<int64_t> self = SelfTimes(events);
  std::map<std::string, OpRow> rows;
  for (size_t i = 0; i < events.size(); ++i) {
    OpRow& row = rows[by_node ? events[i].node : events[i].op];
    ++row.calls;
    row.self_ns += std::max<int64_t>(self[i], 0);
    row.flops += events[i].flops;
    row.bytes += events[i].bytes;
  }
  std::vector<OpRow> sorted;
  for (auto& [name, row] : rows) {
    row.name = name;
    sorted.push_back(std::move(row));
  }
  std::ranges::stable_sort(sorted, std::ranges::greater(), &OpRow::self_ns);
  return sorted;
}

int64_t FloorNanos(const OpRow& row, double gflops, double gb_per_second, double cache_bytes) {
  const double compute = gflops > 0 ? row.flops / gflops : 0;
  const double a_call = row.calls > 0 ? row.bytes / static_cast<double>(row.calls) : 0;
  const double memory = gb_per_second > 0 && a_call > cache_bytes ? row.bytes / gb_per_second : 0;
  return static_cast<int64_t>(std::max(compute, memory));
}

}  // namespace slipway::exec
