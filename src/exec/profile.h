// SPDX-License-Identifier: Apache-2.0
//
// What happened in a step, kernel by kernel, and the file that Perfetto and chrome://tracing show.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "base/env.h"

namespace slipway::exec {

struct ProfileEvent {
  std::string node;
  std::string op;
  std::string device;
  int64_t start_ns = 0;  // Clock::Default()->NowNanos()
  int64_t end_ns = 0;
  int64_t ready_ns = 0;  // when the last input was there (the queue's wait is start - ready)
  int thread = 0;        // small numbers, in the order of appearance
  double flops = 0;      // see exec/op_cost.h
  double bytes = 0;
};

// Thread safety: Add from any thread; the rest when the steps are done.
class StepProfile {
 public:
  void Add(ProfileEvent event);
  const std::vector<ProfileEvent>& events() const { return events_; }

 private:
  std::mutex mutex_;
  std::vector<ProfileEvent> events_;
};

// Trace Event JSON; one track a thread, one slice a kernel.
Status WritePerfettoTrace(Env* env, const std::string& path, const StepProfile& profile);

}  // namespace slipway::exec
