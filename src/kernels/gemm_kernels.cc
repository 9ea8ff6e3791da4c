// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm_kernels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace slipway::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Twelve sums held in registers. Written out, so that they stay there at every optimisation level.
void Tile(const float* a, const float* b, int64_t k, float* c, int64_t ldc, bool accumulate) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto c00 = hn::Zero(d), c01 = c00, c10 = c00, c11 = c00, c20 = c00, c21 = c00;
  auto c30 = c00, c31 = c00, c40 = c00, c41 = c00, c50 = c00, c51 = c00;
  for (int64_t p = 0; p < k; ++p, a += kGemmRows, b += 2 * lanes) {
    const auto b0 = hn::LoadU(d, b), b1 = hn::LoadU(d, b + lanes);
    const auto step = [&](int row, auto& s0, auto& s1) HWY_ATTR {
      const auto x = hn::Set(d, a[row]);
      s0 = hn::MulAdd(x, b0, s0);
      s1 = hn::MulAdd(x, b1, s1);
    };
    step(0, c00, c01);
    step(1, c10, c11);
    step(2, c20, c21);
    step(3, c30, c31);
    step(4, c40, c41);
    step(5, c50, c51);
  }
  const auto store = [&](int row, auto s0, auto s1) HWY_ATTR {
    float* to = c + row * ldc;
    if (accumulate) {
      s0 = hn::Add(s0, hn::LoadU(d, to));
      s1 = hn::Add(s1, hn::LoadU(d, to + lanes));
    }
    hn::StoreU(s0, d, to);
    hn::StoreU(s1, d, to + lanes);
  };
  store(0, c00, c01);
  store(1, c10, c11);
  store(2, c20, c21);
  store(3, c30, c31);
  store(4, c40, c41);
  store(5, c50, c51);
}

void Row(const float* x, int64_t x_stride, const float* b, int64_t ldb, int64_t k, float* y,
         int64_t n) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t j = 0;
  for (; j + 4 * lanes <= n; j += 4 * lanes) {
    auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    const float* column = b + j;
    for (int64_t p = 0; p < k; ++p, column += ldb) {
      const auto v = hn::Set(d, x[p * x_stride]);
      s0 = hn::MulAdd(v, hn::LoadU(d, column), s0);
      s1 = hn::MulAdd(v, hn::LoadU(d, column + lanes), s1);
      s2 = hn::MulAdd(v, hn::LoadU(d, column + 2 * lanes), s2);
      s3 = hn::MulAdd(v, hn::LoadU(d, column + 3 * lanes), s3);
    }
    hn::StoreU(s0, d, y + j);
    hn::StoreU(s1, d, y + j + lanes);
    hn::StoreU(s2, d, y + j + 2 * lanes);
    hn::StoreU(s3, d, y + j + 3 * lanes);
  }
  for (; j + lanes <= n; j += lanes) {
    auto s = hn::Zero(d);
    for (int64_t p = 0; p < k; ++p) {
      s = hn::MulAdd(hn::Set(d, x[p * x_stride]), hn::LoadU(d, b + p * ldb + j), s);
    }
    hn::StoreU(s, d, y + j);
  }
  for (; j < n; ++j) {
    float s = 0;
    for (int64_t p = 0; p < k; ++p) s += x[p * x_stride] * b[p * ldb + j];
    y[j] = s;
  }
}

float Dot(const float* x, const float* y, int64_t k) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  int64_t p = 0;
  for (; p + 4 * lanes <= k; p += 4 * lanes) {
    s0 = hn::MulAdd(hn::LoadU(d, x + p), hn::LoadU(d, y + p), s0);
    s1 = hn::MulAdd(hn::LoadU(d, x + p + lanes), hn::LoadU(d, y + p + lanes), s1);
    s2 = hn::MulAdd(hn::LoadU(d, x + p + 2 * lanes), hn::LoadU(d, y + p + 2 * lanes), s2);
    s3 = hn::MulAdd(hn::LoadU(d, x + p + 3 * lanes), hn::LoadU(d, y + p + 3 * lanes), s3);
  }
  const auto sum = hn::Add(hn::Add(s0, s1), hn::Add(s2, s3));
  float total = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; p < k; ++p) total += x[p] * y[p];
  return total;
}

GemmTarget GetGemmTarget() {
  const hn::ScalableTag<float> d;
  return {static_cast<int64_t>(2 * hn::Lanes(d)), &Tile, &Row, &Dot};
}

}  // namespace slipway::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace slipway::kernels {

HWY_EXPORT(GetGemmTarget);

const GemmTarget& BestGemmTarget() {
  static const GemmTarget target = HWY_DYNAMIC_DISPATCH(GetGemmTarget)();
  return target;
}

}  // namespace slipway::kernels
#endif
