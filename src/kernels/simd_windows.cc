// SPDX-License-Identifier: Apache-2.0
#include "kernels/simd_windows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd_windows.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace slipway::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// fn(i, d) over [0, n) in vectors of d; the rest one by one.
template <class Fn>
HWY_INLINE void ForVectors(int64_t n, Fn&& fn) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) fn(i, D());
  for (; i < n; ++i) fn(i, hn::CappedTag<float, 1>());
}

void WeightedSum(const float* const* x, const float* const* w, int64_t taps, int64_t n, float* y) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  int64_t i = 0;
  // Four sums at a time: additions of one sum wait for each other.
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    V s0 = hn::Zero(D()), s1 = s0, s2 = s0, s3 = s0;
    for (int64_t t = 0; t < taps; ++t) {
      const float* from = x[t] + i;
      const float* by = w[t] + i;
      s0 = hn::MulAdd(hn::LoadU(D(), from), hn::LoadU(D(), by), s0);
      s1 = hn::MulAdd(hn::LoadU(D(), from + lanes), hn::LoadU(D(), by + lanes), s1);
      s2 = hn::MulAdd(hn::LoadU(D(), from + 2 * lanes), hn::LoadU(D(), by + 2 * lanes), s2);
      s3 = hn::MulAdd(hn::LoadU(D(), from + 3 * lanes), hn::LoadU(D(), by + 3 * lanes), s3);
    }
    hn::StoreU(s0, D(), y + i);
    hn::StoreU(s1, D(), y + i + lanes);
    hn::StoreU(s2, D(), y + i + 2 * lanes);
    hn::StoreU(s3, D(), y + i + 3 * lanes);
  }
  ForVectors(n - i, [&](int64_t j, auto d) {
    auto sum = hn::Zero(d);
    for (int64_t t = 0; t < taps; ++t) {
      sum = hn::MulAdd(hn::LoadU(d, x[t] + i + j), hn::LoadU(d, w[t] + i + j), sum);
    }
    hn::StoreU(sum, d, y + i + j);
  });
}

void Max(const float* const* x, int64_t taps, int64_t n, float* y) {
  ForVectors(n, [&](int64_t i, auto d) {
    auto max = hn::Set(d, hwy::LowestValue<float>());
    for (int64_t t = 0; t < taps; ++t) {
      const auto v = hn::LoadU(d, x[t] + i);
      max = hn::IfThenElse(hn::Lt(max, v), v, max);
    }
    hn::StoreU(max, d, y + i);
  });
}

void Mean(const float* const* x, int64_t taps, float by, int64_t n, float* y) {
  ForVectors(n, [&](int64_t i, auto d) {
    auto sum = hn::Zero(d);
    for (int64_t t = 0; t < taps; ++t) sum = hn::Add(sum, hn::LoadU(d, x[t] + i));
    hn::StoreU(hn::Div(sum, hn::Set(d, by)), d, y + i);
  });
}

void ScaleShift(const float* x, const float* scale, const float* shift, int64_t n, float* y) {
  ForVectors(n, [&](int64_t i, auto d) {
    const auto v =
        hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, scale + i), hn::LoadU(d, shift + i));
    hn::StoreU(v, d, y + i);
  });
}

const WindowLoops* Loops() {
  static const WindowLoops loops = {&WeightedSum, &Max, &Mean, &ScaleShift};
  return &loops;
}

}  // namespace slipway::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace slipway::kernels {

HWY_EXPORT(Loops);

const WindowLoops& Windows() {
  static const WindowLoops* const best = HWY_DYNAMIC_DISPATCH(Loops)();
  return *best;
}

}  // namespace slipway::kernels
#endif
