// SPDX-License-Identifier: Apache-2.0
//
// What a hand-off costs: loops whose bodies take about as long as the argument says.
#include <benchmark/benchmark.h>

#include <atomic>
#include <chrono>

#include "base/thread_pool.h"

namespace slipway {
namespace {

void Work(std::chrono::nanoseconds duration) {
  const auto end = std::chrono::steady_clock::now() + duration;
  while (std::chrono::steady_clock::now() < end) {
  }
}

// Arguments: workers, microseconds of work in the loop, split into 64 pieces.
void BM_ParallelFor(benchmark::State& state) {
  ThreadPool pool(static_cast<int>(state.range(0)));
  const std::chrono::nanoseconds piece(state.range(1) * 1000 / 64);
  for (auto _ : state) {
    pool.ParallelFor(64, 1, [&](int64_t begin, int64_t end) {
      if (piece.count() > 0) Work(piece * (end - begin));
    });
  }
}
BENCHMARK(BM_ParallelFor)
    ->ArgsProduct({{0, 1, 3}, {0, 5, 20, 100, 1000}})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

void BM_Schedule(benchmark::State& state) {
  ThreadPool pool(1);
  for (auto _ : state) {
    std::atomic<bool> done{false};
    pool.Schedule([&] {
      done.store(true);
      done.notify_one();
    });
    done.wait(false);
  }
}
BENCHMARK(BM_Schedule)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace slipway
