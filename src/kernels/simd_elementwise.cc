// SPDX-License-Identifier: Apache-2.0
//
// Vectorised float loops. Compiled once for each target that Highway dispatches to.
#include "kernels/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd_elementwise.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// Behind the above, which it needs.
#include "kernels/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace slipway::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class Op>
void Unary(const void* x, void* y, int64_t n, float alpha) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const float* in = static_cast<const float*>(x);
  float* out = static_cast<float*>(y);
  const auto a = hn::Set(d, alpha);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(Op::Do(d, hn::LoadU(d, in + i), a), d, out + i);
  }
  if (i == n) return;
  const auto rest = static_cast<size_t>(n - i);
  HWY_ALIGN float tile[HWY_MAX_BYTES / sizeof(float)] = {};
  for (size_t k = 0; k < rest; ++k) tile[k] = in[static_cast<size_t>(i) + k];
  hn::Store(Op::Do(d, hn::Load(d, tile), a), d, tile);
  for (size_t k = 0; k < rest; ++k) out[static_cast<size_t>(i) + k] = tile[k];
}

template <class Op>
bool Binary(const void* a, int sa, const void* b, int sb, void* out, int64_t n, float alpha) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const float* x = static_cast<const float*>(a);
  const float* y = static_cast<const float*>(b);
  float* to = static_cast<float*>(out);
  const auto p = hn::Set(d, alpha);
  const float x0 = n > 0 ? *x : 0, y0 = n > 0 ? *y : 0;
  const auto vx0 = hn::Set(d, x0), vy0 = hn::Set(d, y0);
  int64_t i = 0;
  if (sa == 1 && sb == 1) {
    for (; i + lanes <= n; i += lanes) {
      hn::StoreU(Op::Do(d, hn::LoadU(d, x + i), hn::LoadU(d, y + i), p), d, to + i);
    }
  } else if (sa == 1) {
    for (; i + lanes <= n; i += lanes) {
      hn::StoreU(Op::Do(d, hn::LoadU(d, x + i), vy0, p), d, to + i);
    }
  } else if (sb == 1) {
    for (; i + lanes <= n; i += lanes) {
      hn::StoreU(Op::Do(d, vx0, hn::LoadU(d, y + i), p), d, to + i);
    }
  }
  HWY_ALIGN float tx[HWY_MAX_BYTES / sizeof(float)] = {};
  HWY_ALIGN float ty[HWY_MAX_BYTES / sizeof(float)] = {};
  for (; i < n; i += lanes) {
    const auto rest = static_cast<size_t>(std::min(lanes, n - i));
    for (size_t k = 0; k < rest; ++k) {
      tx[k] = sa ? x[static_cast<size_t>(i) + k] : x0;
      ty[k] = sb ? y[static_cast<size_t>(i) + k] : y0;
    }
    hn::Store(Op::Do(d, hn::Load(d, tx), hn::Load(d, ty), p), d, tx);
    for (size_t k = 0; k < rest; ++k) to[static_cast<size_t>(i) + k] = tx[k];
  }
  return true;
}

#define SLIPWAY_UNARY(NAME, EXPR)               \
  struct NAME {                                 \
    template <class D, class V>                 \
    static HWY_INLINE V Do(D d, V x, V alpha) { \
      (void)d, (void)alpha;                     \
      return EXPR;                              \
    }                                           \
  };
SLIPWAY_UNARY(Abs, hn::Abs(x))
SLIPWAY_UNARY(Neg, hn::Neg(x))
SLIPWAY_UNARY(Square, hn::Mul(x, x))
SLIPWAY_UNARY(Sqrt, hn::Sqrt(x))
SLIPWAY_UNARY(Rsqrt, hn::Div(hn::Set(d, 1.0f), hn::Sqrt(x)))
SLIPWAY_UNARY(Reciprocal, hn::Div(hn::Set(d, 1.0f), x))
SLIPWAY_UNARY(Floor, hn::Floor(x))
SLIPWAY_UNARY(Ceil, hn::Ceil(x))
SLIPWAY_UNARY(Round, hn::Round(x))
SLIPWAY_UNARY(Exp, simd::Exp(d, x))
SLIPWAY_UNARY(Tanh, simd::Tanh(d, x))
SLIPWAY_UNARY(Sigmoid, simd::Sigmoid(d, x))
// Written so that a NaN stays one.
SLIPWAY_UNARY(Relu, hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x))
SLIPWAY_UNARY(Relu6, hn::IfThenElse(hn::Gt(x, hn::Set(d, 6.0f)), hn::Set(d, 6.0f),
                                    hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x)))
SLIPWAY_UNARY(LeakyRelu, hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, hn::Mul(x, alpha)))
SLIPWAY_UNARY(Elu, hn::IfThenElse(hn::Lt(x, hn::Zero(d)), simd::Expm1(d, x), x))
SLIPWAY_UNARY(Selu, hn::IfThenElse(hn::Lt(x, hn::Zero(d)),
                                   hn::Mul(hn::Set(d, 1.7580993408473768599f), simd::Expm1(d, x)),
                                   hn::Mul(hn::Set(d, 1.0507009873554804934f), x)))
SLIPWAY_UNARY(Softsign, hn::Div(x, hn::Add(hn::Set(d, 1.0f), hn::Abs(x))))
#undef SLIPWAY_UNARY

#define SLIPWAY_BINARY(NAME, EXPR)                   \
  struct NAME {                                      \
    template <class D, class V>                      \
    static HWY_INLINE V Do(D d, V x, V y, V alpha) { \
      (void)d, (void)alpha;                          \
      return EXPR;                                   \
    }                                                \
  };
SLIPWAY_BINARY(Add, hn::Add(x, y))
SLIPWAY_BINARY(Sub, hn::Sub(x, y))
SLIPWAY_BINARY(Mul, hn::Mul(x, y))
SLIPWAY_BINARY(Div, hn::Div(x, y))
SLIPWAY_BINARY(Maximum, hn::IfThenElse(hn::Or(hn::Gt(y, x), hn::IsNaN(y)), y, x))
SLIPWAY_BINARY(Minimum, hn::IfThenElse(hn::Or(hn::Lt(y, x), hn::IsNaN(y)), y, x))
SLIPWAY_BINARY(SquaredDifference, hn::Mul(hn::Sub(x, y), hn::Sub(x, y)))
// x is the gradient of the output, y the forward op's input or output.
SLIPWAY_BINARY(ReluGrad, hn::IfThenElseZero(hn::Gt(y, hn::Zero(d)), x))
SLIPWAY_BINARY(Relu6Grad,
               hn::IfThenElseZero(hn::And(hn::Gt(y, hn::Zero(d)), hn::Lt(y, hn::Set(d, 6.0f))), x))
SLIPWAY_BINARY(LeakyReluGrad, hn::IfThenElse(hn::Gt(y, hn::Zero(d)), x, hn::Mul(x, alpha)))
SLIPWAY_BINARY(EluGrad,
               hn::IfThenElse(hn::Lt(y, hn::Zero(d)), hn::Mul(hn::Add(y, hn::Set(d, 1.0f)), x), x))
#undef SLIPWAY_BINARY

// These take the forward output first and its gradient second.
#define SLIPWAY_GRAD(NAME, EXPR)                \
  struct NAME {                                 \
    template <class D, class V>                 \
    static HWY_INLINE V Do(D d, V y, V dy, V) { \
      (void)d;                                  \
      return EXPR;                              \
    }                                           \
  };
SLIPWAY_GRAD(TanhGrad, hn::Mul(dy, hn::Sub(hn::Set(d, 1.0f), hn::Mul(y, y))))
SLIPWAY_GRAD(SigmoidGrad, hn::Mul(hn::Mul(dy, y), hn::Sub(hn::Set(d, 1.0f), y)))
// 0 for a gradient of 0 (activations.cc).
SLIPWAY_GRAD(RsqrtGrad,
             hn::IfThenZeroElse(hn::Eq(dy, hn::Zero(d)),
                                hn::Mul(hn::Mul(hn::Mul(hn::Set(d, -0.5f), dy), y), hn::Mul(y, y))))
SLIPWAY_GRAD(SqrtGrad,
             hn::IfThenZeroElse(hn::Eq(dy, hn::Zero(d)), hn::Div(hn::Mul(hn::Set(d, 0.5f), dy), y)))
#undef SLIPWAY_GRAD

UnaryLoop GetUnary(FastUnary op) {
  switch (op) {
#define SLIPWAY_CASE(NAME) \
  case FastUnary::k##NAME: \
    return &Unary<NAME>;
    SLIPWAY_CASE(Abs)
    SLIPWAY_CASE(Neg)
    SLIPWAY_CASE(Square)
    SLIPWAY_CASE(Sqrt)
    SLIPWAY_CASE(Rsqrt)
    SLIPWAY_CASE(Reciprocal)
    SLIPWAY_CASE(Floor)
    SLIPWAY_CASE(Ceil)
    SLIPWAY_CASE(Round)
    SLIPWAY_CASE(Exp)
    SLIPWAY_CASE(Tanh)
    SLIPWAY_CASE(Sigmoid)
    SLIPWAY_CASE(Relu)
    SLIPWAY_CASE(Relu6)
    SLIPWAY_CASE(LeakyRelu)
    SLIPWAY_CASE(Elu)
    SLIPWAY_CASE(Selu)
    SLIPWAY_CASE(Softsign)
#undef SLIPWAY_CASE
  }
  return nullptr;
}

BinaryLoop GetBinary(FastBinary op) {
  switch (op) {
#define SLIPWAY_CASE(NAME)  \
  case FastBinary::k##NAME: \
    return &Binary<NAME>;
    SLIPWAY_CASE(Add)
    SLIPWAY_CASE(Sub)
    SLIPWAY_CASE(Mul)
    SLIPWAY_CASE(Div)
    SLIPWAY_CASE(Maximum)
    SLIPWAY_CASE(Minimum)
    SLIPWAY_CASE(SquaredDifference)
    SLIPWAY_CASE(ReluGrad)
    SLIPWAY_CASE(Relu6Grad)
    SLIPWAY_CASE(LeakyReluGrad)
    SLIPWAY_CASE(EluGrad)
    SLIPWAY_CASE(TanhGrad)
    SLIPWAY_CASE(SigmoidGrad)
    SLIPWAY_CASE(RsqrtGrad)
    SLIPWAY_CASE(SqrtGrad)
#undef SLIPWAY_CASE
  }
  return nullptr;
}

}  // namespace slipway::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace slipway::kernels {

HWY_EXPORT(GetUnary);
HWY_EXPORT(GetBinary);

UnaryLoop FastUnaryLoop(FastUnary op) { return HWY_DYNAMIC_DISPATCH(GetUnary)(op); }
BinaryLoop FastBinaryLoop(FastBinary op) { return HWY_DYNAMIC_DISPATCH(GetBinary)(op); }

}  // namespace slipway::kernels
#endif
