// SPDX-License-Identifier: Apache-2.0
//
// The two kinds of work that a pool takes: single tasks (Schedule) and loops split over the
// workers and the caller (ParallelFor). The engine has two pools: inter-op (drains evaluation
// queues) and intra-op (splits one kernel). A pool thread must never block on another task.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace slipway {

// The processors this process may really use: the affinity mask and the cgroup's CPU quota
// (v1 or v2), rounded up, at least 1.
int AvailableCpus();

// Thread safety: all methods may be called from any thread, pool threads included.
class ThreadPool {
 public:
  struct Options {
    const char* name = "pool";  // of its threads, as `top -H` shows them
    // Called once on each new worker before its first task (floating-point mode and the like).
    std::function<void()> on_thread_start;
  };

  // A pool of `threads` workers; 0 is a pool that runs everything on the caller.
  explicit ThreadPool(int threads) : ThreadPool(threads, Options()) {}
  ThreadPool(int threads, Options options);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  // Runs what was scheduled, then joins.
  ~ThreadPool();

  int size() const;

  // Runs `task` on a worker soon (on the caller, before returning, in a pool of 0).
  void Schedule(std::function<void()> task);

  // Calls body(begin, end) over disjoint ranges that cover [0, total), on the workers and on
  // the caller, and returns when all are done. A range has at least `grain` elements (but the
  // last). One range, and so no hand-off, when total <= grain or the pool is empty.
  // The split depends on total, grain and size() only. Nested calls are safe: the caller
  // always works through ranges itself and never waits for a range nobody has begun.
  // `body` is borrowed for the call; nothing is allocated per range.
  using RangeBody = void (*)(void* context, int64_t begin, int64_t end);
  void ParallelForRaw(int64_t total, int64_t grain, RangeBody body, void* context);

  template <typename Body>
  void ParallelFor(int64_t total, int64_t grain, Body&& body) {
    ParallelForRaw(
        total, grain,
        [](void* context, int64_t begin, int64_t end) {
          (*static_cast<std::remove_reference_t<Body>*>(context))(begin, end);
        },
        &body);
  }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace slipway
