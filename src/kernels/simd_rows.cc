// SPDX-License-Identifier: Apache-2.0
#include "kernels/simd_rows.h"

#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd_rows.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// Behind the above, which it needs.
#include "kernels/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace slipway::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

int64_t LanesOf(D d) { return static_cast<int64_t>(hn::Lanes(d)); }

// Four running sums of fn(x[i]), so that neither latency nor rounding adds up over the row.
template <class Fn>
float SumOf(const float* x, int64_t n, Fn fn) {
  const D d;
  const int64_t lanes = LanesOf(d);
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    s0 = hn::Add(s0, fn(hn::LoadU(d, x + i)));
    s1 = hn::Add(s1, fn(hn::LoadU(d, x + i + lanes)));
    s2 = hn::Add(s2, fn(hn::LoadU(d, x + i + 2 * lanes)));
    s3 = hn::Add(s3, fn(hn::LoadU(d, x + i + 3 * lanes)));
  }
  for (; i + lanes <= n; i += lanes) s0 = hn::Add(s0, fn(hn::LoadU(d, x + i)));
  float total = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  for (; i < n; ++i) total += hn::GetLane(fn(hn::Set(d, x[i])));
  return total;
}

// Long rows in halves: the error then grows with the logarithm of the length.
constexpr int64_t kWholeRow = 8192;

float Sum(const float* x, int64_t n) {
  if (n > kWholeRow) {
    const int64_t half = n / 2;
    return Sum(x, half) + Sum(x + half, n - half);
  }
  return SumOf(x, n, [](V v) HWY_ATTR { return v; });
}

float SumSquares(const float* x, int64_t n) {
  if (n > kWholeRow) {
    const int64_t half = n / 2;
    return SumSquares(x, half) + SumSquares(x + half, n - half);
  }
  return SumOf(x, n, [](V v) HWY_ATTR { return hn::Mul(v, v); });
}

HWY_INLINE V MaxOrNan(V so_far, V x) {
  return hn::IfThenElse(hn::Or(hn::Gt(x, so_far), hn::IsNaN(x)), x, so_far);
}

float Max(const float* x, int64_t n) {
  const D d;
  const int64_t lanes = LanesOf(d);
  float best = x[0];
  int64_t i = 0;
  if (n >= lanes) {
    auto m = hn::LoadU(d, x);
    for (i = lanes; i + lanes <= n; i += lanes) m = MaxOrNan(m, hn::LoadU(d, x + i));
    HWY_ALIGN float tile[HWY_MAX_BYTES / sizeof(float)];
    hn::Store(m, d, tile);
    best = tile[0];
    for (int64_t k = 1; k < lanes; ++k) {
      if (tile[k] > best || tile[k] != tile[k]) best = tile[k];
    }
  }
  for (; i < n; ++i) {
    if (x[i] > best || x[i] != x[i]) best = x[i];
  }
  return best;
}

// y[i] = fn(x[i]) a vector at a time, the last one through a tile.
template <class Fn>
void Map(const float* x, float* y, int64_t n, Fn fn) {
  const D d;
  const int64_t lanes = LanesOf(d);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(fn(hn::LoadU(d, x + i)), d, y + i);
  if (i == n) return;
  HWY_ALIGN float tile[HWY_MAX_BYTES / sizeof(float)] = {};
  for (int64_t k = 0; i + k < n; ++k) tile[k] = x[i + k];
  hn::Store(fn(hn::Load(d, tile)), d, tile);
  for (int64_t k = 0; i + k < n; ++k) y[i + k] = tile[k];
}

float ExpSum(const float* x, float shift, float* y, int64_t n) {
  const D d;
  const auto s = hn::Set(d, shift);
  Map(x, y, n, [&](V v) HWY_ATTR { return simd::Exp(d, hn::Sub(v, s)); });
  return Sum(y, n);
}

// Rows of a few vectors are summed as they are made; longer ones in halves.
SoftmaxStats Softmax(const float* x, float* y, int64_t n) {
  constexpr int64_t kShort = 256;
  const D d;
  const int64_t lanes = LanesOf(d);
  const auto tail = hn::FirstN(d, static_cast<size_t>(n % lanes));
  const int64_t whole = n / lanes * lanes;
  const auto lowest = hn::Set(d, -std::numeric_limits<float>::infinity());
  auto m = lowest;
  for (int64_t i = 0; i < whole; i += lanes) m = hn::Max(m, hn::LoadU(d, x + i));
  if (whole < n) {
    m = hn::Max(m, hn::IfThenElse(tail, hn::MaskedLoad(tail, d, x + whole), lowest));
  }
  m = hn::MaxOfLanes(d, m);  // NaN or not: its exponential makes the sum NaN
  auto sum = hn::Zero(d);
  for (int64_t i = 0; i < whole; i += lanes) {
    const auto e = simd::Exp(d, hn::Sub(hn::LoadU(d, x + i), m));
    sum = hn::Add(sum, e);
    hn::StoreU(e, d, y + i);
  }
  auto last = hn::Zero(d);
  if (whole < n) {
    const auto e = simd::Exp(d, hn::Sub(hn::MaskedLoad(tail, d, x + whole), m));
    last = hn::IfThenElseZero(tail, e);
  }
  const float short_sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum, last)));
  const float total =
      n <= kShort ? short_sum : Sum(y, whole) + hn::GetLane(hn::SumOfLanes(d, last));
  const auto by = hn::Set(d, 1.0f / total);
  for (int64_t i = 0; i < whole; i += lanes) {
    hn::StoreU(hn::Mul(hn::LoadU(d, y + i), by), d, y + i);
  }
  HWY_ALIGN float tile[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(hn::Mul(last, by), d, tile);
  for (int64_t i = whole; i < n; ++i) y[i] = tile[i - whole];
  return {hn::GetLane(m), total};
}

void ColumnSums(const float* x, int64_t ld, int64_t rows, int64_t cols, float* sums) {
  const D d;
  const int64_t lanes = LanesOf(d);
  int64_t j = 0;
  for (; j + 4 * lanes <= cols; j += 4 * lanes) {
    auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    const float* at = x + j;
    for (int64_t r = 0; r < rows; ++r, at += ld) {
      s0 = hn::Add(s0, hn::LoadU(d, at));
      s1 = hn::Add(s1, hn::LoadU(d, at + lanes));
      s2 = hn::Add(s2, hn::LoadU(d, at + 2 * lanes));
      s3 = hn::Add(s3, hn::LoadU(d, at + 3 * lanes));
    }
    hn::StoreU(s0, d, sums + j);
    hn::StoreU(s1, d, sums + j + lanes);
    hn::StoreU(s2, d, sums + j + 2 * lanes);
    hn::StoreU(s3, d, sums + j + 3 * lanes);
  }
  for (; j < cols; j += lanes) {
    const auto mask = hn::FirstN(d, static_cast<size_t>(cols - j));
    auto s = hn::Zero(d);
    for (int64_t r = 0; r < rows; ++r) s = hn::Add(s, hn::MaskedLoad(mask, d, x + r * ld + j));
    hn::BlendedStore(s, mask, d, sums + j);
  }
}

void Scale(const float* x, float by, float* y, int64_t n) {
  const D d;
  const auto s = hn::Set(d, by);
  Map(x, y, n, [&](V v) HWY_ATTR { return hn::Mul(v, s); });
}

void AddScaled(const float* x, float by, float* y, int64_t n) {
  const D d;
  const int64_t lanes = LanesOf(d);
  const auto s = hn::Set(d, by);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(hn::MulAdd(hn::LoadU(d, x + i), s, hn::LoadU(d, y + i)), d, y + i);
  }
  for (; i < n; ++i) y[i] += x[i] * by;
}

void MaxInto(const float* x, float* y, int64_t n) {
  const D d;
  const int64_t lanes = LanesOf(d);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(MaxOrNan(hn::LoadU(d, y + i), hn::LoadU(d, x + i)), d, y + i);
  }
  for (; i < n; ++i) {
    if (x[i] > y[i] || x[i] != x[i]) y[i] = x[i];
  }
}

void Momentum(float* var, float* accum, const float* grad, float rate, float momentum,
              bool nesterov, int64_t n) {
  const D d;
  const int64_t lanes = LanesOf(d);
  const auto r = hn::Set(d, rate), mu = hn::Set(d, momentum);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto g = hn::LoadU(d, grad + i);
    const auto a = hn::MulAdd(hn::LoadU(d, accum + i), mu, g);
    const auto step = nesterov ? hn::MulAdd(a, mu, g) : a;
    hn::StoreU(a, d, accum + i);
    hn::StoreU(hn::NegMulAdd(step, r, hn::LoadU(d, var + i)), d, var + i);
  }
  for (; i < n; ++i) {
    accum[i] = accum[i] * momentum + grad[i];
    var[i] -= (nesterov ? accum[i] * momentum + grad[i] : accum[i]) * rate;
  }
}

void KerasMomentum(float* var, float* accum, const float* grad, float rate, float momentum,
                   bool nesterov, int64_t n) {
  const D d;
  const int64_t lanes = LanesOf(d);
  const auto r = hn::Set(d, rate), mu = hn::Set(d, momentum);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto down = hn::Mul(hn::LoadU(d, grad + i), r);
    const auto a = hn::MulSub(hn::LoadU(d, accum + i), mu, down);
    const auto step = nesterov ? hn::MulSub(a, mu, down) : a;
    hn::StoreU(a, d, accum + i);
    hn::StoreU(hn::Add(hn::LoadU(d, var + i), step), d, var + i);
  }
  for (; i < n; ++i) {
    accum[i] = accum[i] * momentum - rate * grad[i];
    var[i] += nesterov ? accum[i] * momentum - rate * grad[i] : accum[i];
  }
}

void Adam(float* var, float* m, float* v, const float* grad, const AdamStep& s, int64_t n) {
  const D d;
  const int64_t lanes = LanesOf(d);
  const float one_b1 = 1.0f - s.beta1, one_b2 = 1.0f - s.beta2;
  const auto b1 = hn::Set(d, one_b1), b2 = hn::Set(d, one_b2), beta1 = hn::Set(d, s.beta1);
  const auto rate = hn::Set(d, s.rate), epsilon = hn::Set(d, s.epsilon);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto g = hn::LoadU(d, grad + i);
    auto mi = hn::LoadU(d, m + i), vi = hn::LoadU(d, v + i);
    mi = hn::MulAdd(hn::Sub(g, mi), b1, mi);
    vi = hn::MulAdd(hn::Sub(hn::Mul(g, g), vi), b2, vi);
    hn::StoreU(mi, d, m + i);
    hn::StoreU(vi, d, v + i);
    const auto along = s.nesterov ? hn::MulAdd(g, b1, hn::Mul(beta1, mi)) : mi;
    const auto step = hn::Div(hn::Mul(along, rate), hn::Add(hn::Sqrt(vi), epsilon));
    hn::StoreU(hn::Sub(hn::LoadU(d, var + i), step), d, var + i);
  }
  for (; i < n; ++i) {
    m[i] += (grad[i] - m[i]) * one_b1;
    v[i] += (grad[i] * grad[i] - v[i]) * one_b2;
    const float along = s.nesterov ? grad[i] * one_b1 + s.beta1 * m[i] : m[i];
    var[i] -= along * s.rate / (std::sqrt(v[i]) + s.epsilon);
  }
}

RowLoops GetRows() {
  return {&Sum,   &Max,       &SumSquares, &ExpSum,   &Softmax,       &ColumnSums,
          &Scale, &AddScaled, &MaxInto,    &Momentum, &KerasMomentum, &Adam};
}

}  // namespace slipway::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace slipway::kernels {

HWY_EXPORT(GetRows);

const RowLoops& Rows() {
  static const RowLoops rows = HWY_DYNAMIC_DISPATCH(GetRows)();
  return rows;
}

}  // namespace slipway::kernels
#endif
