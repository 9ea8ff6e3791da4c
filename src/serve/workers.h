// SPDX-License-Identifier: Apache-2.0
//
// The threads that run what must not run on an event loop's thread: large models, large bodies.
// The queue is bounded, so that overload is answered at once and not with memory.
#pragma once

#include <atomic>
#include <memory>

#include "base/metrics.h"
#include "base/thread_pool.h"
#include "slipway/status.h"

namespace slipway::serve {

// Thread safety: all methods from any thread.
class Workers {
 public:
  // `pending`, which outlives it, shows how many jobs wait or run.
  Workers(int threads, int64_t max_pending, Gauge* pending)
      : max_pending_(max_pending),
        gauge_(pending),
        pool_(threads, ThreadPool::Options{"predict", {}}) {}

  // False, and nothing is run, when max_pending jobs wait or run. `job` is a move-only callable.
  template <typename Job>
  [[nodiscard]] bool Submit(Job job) {
    if (pending_.fetch_add(1, std::memory_order_relaxed) >= max_pending_) {
      pending_.fetch_sub(1, std::memory_order_relaxed);
      return false;
    }
    // std::function wants something that can be copied; a hand-off may well allocate.
    auto shared = std::make_shared<Job>(std::move(job));
    gauge_->Add(1);
    pool_.Schedule([this, shared]() mutable {
      (*shared)();
      shared.reset();
      gauge_->Add(-1);
      pending_.fetch_sub(1, std::memory_order_relaxed);
    });
    return true;
  }

  Status Overloaded() const;

 private:
  const int64_t max_pending_;
  std::atomic<int64_t> pending_{0};
  Gauge* const gauge_;
  ThreadPool pool_;
};

}  // namespace slipway::serve
