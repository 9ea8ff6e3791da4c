// SPDX-License-Identifier: Apache-2.0
#include "kernels/machine_probe.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/machine_probe.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

// This file is read once for each target; the type is the same for all.
#ifndef SLIPWAY_MACHINE_PROBE_LOOPS
#define SLIPWAY_MACHINE_PROBE_LOOPS
namespace slipway::kernels {
namespace {

struct ProbeLoops {
  int64_t lanes;
  const char* name;
  float (*multiply_adds)(int64_t steps, float seed);
  float (*read)(const float* x, int64_t n);
};

}  // namespace
}  // namespace slipway::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace slipway::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Ten sums that do not wait for one another: two units of four or five cycles are kept busy.
float MultiplyAdds(int64_t steps, float seed) {
  const hn::ScalableTag<float> d;
  const auto x = hn::Set(d, seed), y = hn::Set(d, 0.5f);
  // Different numbers, or the compiler makes one sum of all.
  auto s0 = hn::Set(d, 1.0f), s1 = hn::Set(d, 1.1f), s2 = hn::Set(d, 1.2f);
  auto s3 = hn::Set(d, 1.3f), s4 = hn::Set(d, 1.4f), s5 = hn::Set(d, 1.5f);
  auto s6 = hn::Set(d, 1.6f), s7 = hn::Set(d, 1.7f), s8 = hn::Set(d, 1.8f);
  auto s9 = hn::Set(d, 1.9f);
  for (int64_t i = 0; i < steps; ++i) {
    s0 = hn::MulAdd(s0, x, y);
    s1 = hn::MulAdd(s1, x, y);
    s2 = hn::MulAdd(s2, x, y);
    s3 = hn::MulAdd(s3, x, y);
    s4 = hn::MulAdd(s4, x, y);
    s5 = hn::MulAdd(s5, x, y);
    s6 = hn::MulAdd(s6, x, y);
    s7 = hn::MulAdd(s7, x, y);
    s8 = hn::MulAdd(s8, x, y);
    s9 = hn::MulAdd(s9, x, y);
  }
  const auto a = hn::Add(hn::Add(s0, s1), hn::Add(s2, s3));
  const auto b = hn::Add(hn::Add(s4, s5), hn::Add(s6, s7));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(s8, s9))));
}

float ReadAll(const float* x, int64_t n) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  for (int64_t i = 0; i + 4 * lanes <= n; i += 4 * lanes) {
    s0 = hn::Add(s0, hn::LoadU(d, x + i));
    s1 = hn::Add(s1, hn::LoadU(d, x + i + lanes));
    s2 = hn::Add(s2, hn::LoadU(d, x + i + 2 * lanes));
    s3 = hn::Add(s3, hn::LoadU(d, x + i + 3 * lanes));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
}

ProbeLoops GetProbeLoops() {
  const hn::ScalableTag<float> d;
  return {static_cast<int64_t>(hn::Lanes(d)), hwy::TargetName(HWY_TARGET), &MultiplyAdds, &ReadAll};
}

}  // namespace slipway::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace slipway::kernels {

HWY_EXPORT(GetProbeLoops);

namespace {

constexpr double kSecondsEach = 0.06;

double Now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// The shortest time of one call of `fn`, of as many as fit; at least three.
template <typename Fn>
double BestSeconds(Fn fn) {
  volatile float sink = fn();  // warms up
  double best = 1e9;
  const double start = Now();
  double before = start;
  for (int i = 0; i < 3 || before - start < kSecondsEach; ++i) {
    sink = fn();
    const double after = Now();
    best = std::min(best, after - before);
    before = after;
  }
  static_cast<void>(sink);
  return best;
}

}  // namespace

MachineLimits ProbeMachine() {
  const ProbeLoops loops = HWY_DYNAMIC_DISPATCH(GetProbeLoops)();
  MachineLimits limits;
  limits.vector_target = loops.name;
  volatile float seed = 0.5f;  // unknown to the compiler
  constexpr int64_t kSteps = 20000;
  const double fma = BestSeconds([&] { return loops.multiply_adds(kSteps, seed); });
  limits.gflops = static_cast<double>(kSteps * 10 * 2 * loops.lanes) / fma * 1e-9;
  constexpr size_t kBytes = size_t{64} << 20;
  const std::unique_ptr<char[]> memory(new (std::nothrow) char[kBytes]);
  if (memory == nullptr) return limits;
  std::memset(memory.get(), 0, kBytes);  // pages of its own, not one shared page of zeros
  const auto* floats = reinterpret_cast<const float*>(memory.get());
  const double read = BestSeconds([&] { return loops.read(floats, kBytes / sizeof(float)); });
  limits.gb_per_second = static_cast<double>(kBytes) / read * 1e-9;
  return limits;
}

}  // namespace slipway::kernels
#endif
