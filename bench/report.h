// SPDX-License-Identifier: Apache-2.0
//
// What the benchmarks share: wall and CPU time of blocks, and the line of JSON that the peers'
// programs print too, so that one table holds both.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

namespace slipway::bench {

inline double ClockSeconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Seconds a call, one number a block. Many short blocks: the best of them fell between two
// interruptions of a shared machine.
struct Blocks {
  std::vector<double> wall;
  std::vector<double> cpu;  // of all threads of the process

  void Begin() {
    wall_start_ = ClockSeconds(CLOCK_MONOTONIC);
    cpu_start_ = ClockSeconds(CLOCK_PROCESS_CPUTIME_ID);
  }
  void End(int64_t calls) {
    const auto n = static_cast<double>(calls);
    wall.push_back((ClockSeconds(CLOCK_MONOTONIC) - wall_start_) / n);
    cpu.push_back((ClockSeconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_start_) / n);
  }

 private:
  double wall_start_ = 0, cpu_start_ = 0;
};

struct Line {
  std::string workload, engine, metric;
  int threads = 1;
  int64_t batch = 1;
  const char* unit = "ms";
  double scale = 1e3;  // from seconds to the unit
  std::string more;    // further fields, each with a comma in front: `, "data": "random"`
};

inline void Print(const Line& line, const Blocks& blocks) {
  std::vector<double> wall = blocks.wall;
  std::sort(wall.begin(), wall.end());
  if (wall.empty()) return;
  const double median = wall[wall.size() / 2] * line.scale;
  std::printf(
      "{\"workload\": \"%s\", \"engine\": \"%s\", \"version\": \"0.1.0\", \"threads\": %d, "
      "\"batch\": %lld, \"metric\": \"%s\", \"value\": %.5g, \"unit\": \"%s\", \"min\": %.5g, "
      "\"median\": %.5g, \"max\": %.5g, \"better\": \"low\", \"cpu_us\": %.5g%s}\n",
      line.workload.c_str(), line.engine.c_str(), line.threads, static_cast<long long>(line.batch),
      line.metric.c_str(), median, line.unit, wall.front() * line.scale, median,
      wall.back() * line.scale, *std::min_element(blocks.cpu.begin(), blocks.cpu.end()) * 1e6,
      line.more.c_str());
  std::fflush(stdout);
}

}  // namespace slipway::bench
