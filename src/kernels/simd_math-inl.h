// SPDX-License-Identifier: Apache-2.0
//
// Functions on vectors of float, for every target: within 2 units in the last place of the exact
// value; infinities, NaN and subnormal results as the C library has them. Include it behind
// hwy/foreach_target.h (no include guard of the usual kind: once a target).
#include <cstdint>
#include <limits>

#if defined(SLIPWAY_KERNELS_SIMD_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SLIPWAY_KERNELS_SIMD_MATH_INL_H_
#undef SLIPWAY_KERNELS_SIMD_MATH_INL_H_
#else
#define SLIPWAY_KERNELS_SIMD_MATH_INL_H_
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace slipway::kernels::HWY_NAMESPACE::simd {
namespace hn = hwy::HWY_NAMESPACE;

// 2^n for whole n in [-126, 127].
template <class D, class V>
HWY_INLINE V PowerOfTwo(D d, V n) {
  const hn::RebindToSigned<D> di;
  const auto bits = hn::Add(hn::ConvertTo(di, n), hn::Set(di, 127));
  return hn::BitCast(d, hn::ShiftLeft<23>(bits));
}

// exp(r) - 1 for |r| <= ln(2)/2: Taylor's series to r^8.
template <class D, class V>
HWY_INLINE V ReducedExpm1(D d, V r) {
  auto p = hn::Set(d, 1.0f / 40320);
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f / 5040));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f / 720));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f / 120));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f / 24));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f / 6));
  p = hn::MulAdd(p, r, hn::Set(d, 0.5f));
  return hn::MulAdd(hn::Mul(r, r), p, r);
}

// x = n ln(2) + r; n is whole.
template <class D, class V>
HWY_INLINE V ReduceByLn2(D d, V x, V* r) {
  const auto n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504088896341f)));
  // ln(2) in two parts, the first exact when multiplied by a small whole number.
  *r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);
  *r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), *r);
  return n;
}

template <class D, class V>
HWY_INLINE V Exp(D d, V x) {
  // Beyond these the result is 0 or infinity; the clamp drops NaN, which is put back at the end.
  const auto bounded = hn::Min(hn::Max(x, hn::Set(d, -104.0f)), hn::Set(d, 89.0f));
  V r;
  const auto n = ReduceByLn2(d, bounded, &r);
  const auto y = hn::Add(ReducedExpm1(d, r), hn::Set(d, 1.0f));
  // In two steps, so that neither factor overflows and subnormal results come out right.
  const auto half = hn::Floor(hn::Mul(n, hn::Set(d, 0.5f)));
  const auto result = hn::Mul(hn::Mul(y, PowerOfTwo(d, half)), PowerOfTwo(d, hn::Sub(n, half)));
  return hn::IfThenElse(hn::IsNaN(x), x, result);
}

template <class D, class V>
HWY_INLINE V Expm1(D d, V x) {
  const auto one = hn::Set(d, 1.0f);
  const auto bounded = hn::Min(hn::Max(x, hn::Set(d, -30.0f)), hn::Set(d, 89.0f));
  V r;
  const auto n = ReduceByLn2(d, bounded, &r);
  const auto half = hn::Floor(hn::Mul(n, hn::Set(d, 0.5f)));
  const auto a = PowerOfTwo(d, half), b = PowerOfTwo(d, hn::Sub(n, half));
  const auto p = ReducedExpm1(d, r);
  // 2^n (p + 1) - 1 = 2^n p + (2^n - 1), without the loss of adding 1 first.
  const auto small = hn::MulAdd(hn::Mul(a, b), p, hn::Sub(hn::Mul(a, b), one));
  const auto large = hn::Sub(hn::Mul(hn::Mul(hn::Add(p, one), a), b), one);
  const auto result = hn::IfThenElse(hn::Lt(n, hn::Set(d, 100.0f)), small, large);
  return hn::IfThenElse(hn::IsNaN(x), x, result);
}

template <class D, class V>
HWY_INLINE V Tanh(D d, V x) {
  const auto one = hn::Set(d, 1.0f), two = hn::Set(d, 2.0f);
  // tanh(|x|) = e / (e + 2) with e = exp(2|x|) - 1; 1 in float from about 9.01 on.
  const auto a = hn::Min(hn::Abs(x), hn::Set(d, 10.0f));
  const auto e = Expm1(d, hn::Mul(two, a));
  const auto t = hn::Min(hn::Div(e, hn::Add(e, two)), one);
  return hn::IfThenElse(hn::IsNaN(x), x, hn::CopySign(t, x));
}

template <class D, class V>
HWY_INLINE V Sigmoid(D d, V x) {
  const auto one = hn::Set(d, 1.0f);
  // exp of a negative number never overflows; for x < 0 the ratio keeps small results exact.
  const auto e = Exp(d, hn::Neg(hn::Abs(x)));
  const auto numerator = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one);
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Div(numerator, hn::Add(one, e)));
}

}  // namespace slipway::kernels::HWY_NAMESPACE::simd
HWY_AFTER_NAMESPACE();

#endif  // SLIPWAY_KERNELS_SIMD_MATH_INL_H_
