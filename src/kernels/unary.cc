// SPDX-License-Identifier: Apache-2.0
//
// Functions of one tensor, element by element, and the gradients that have ops of their own.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "kernels/elementwise.h"
#include "kernels/kernel_table.h"
#include "kernels/special_functions.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

// One function for each row of the table.
#define SLIPWAY_MATH(NAME, EXPR)                                                 \
  template <typename T>                                                          \
  T NAME##Fn(T x) {                                                              \
    return static_cast<T>(EXPR);                                                 \
  }                                                                              \
  UnaryLoop NAME##Loop(DType dtype) {                                            \
    return SwitchType<UnaryLoop>(Reals{}, dtype, []<typename T>() -> UnaryLoop { \
      return &UnaryLoopOf<T, T, NAME##Fn<T>>;                                    \
    });                                                                          \
  }

// The z with this lower tail of the normal distribution, 0 < tail <= 1/2: a rational start, good to
// 4.5e-4, for Newton's method.
double NormalQuantileStart(double tail) {
  const double t = std::sqrt(-2 * std::log(tail));
  return (2.515517 + t * (0.802853 + t * 0.010328)) /
             (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) -
         t;
}

double NdtriOf(double p) {
  if (!(p > 0 && p < 1)) {
    if (p == 0 || p == 1) return (p - 0.5) * std::numeric_limits<double>::infinity();
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double tail = std::min(p, 1 - p);
  double z = NormalQuantileStart(tail);
  for (int i = 0; i < 4; ++i) {
    const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
    // Halley's correction of Newton's step keeps far tails from overshooting.
    const double step = (0.5 * std::erfc(-z / std::numbers::sqrt2) - tail) / density;
    z -= step / (1 + 0.5 * z * step);
  }
  return p < 0.5 ? z : -z;
}

double ErfinvOf(double x) {
  const double a = std::abs(x);
  if (!(a < 1)) {
    return a == 1 ? x * std::numeric_limits<double>::infinity()
                  : std::numeric_limits<double>::quiet_NaN();
  }
  double y = -NormalQuantileStart((1 - a) / 2) / std::numbers::sqrt2;
  for (int i = 0; i < 4; ++i) {
    const double error = a < 0.5 ? std::erf(y) - a : (1 - a) - std::erfc(y);
    const double step = error / (2 * std::numbers::inv_sqrtpi * std::exp(-y * y));
    y -= step / (1 + y * step);
  }
  return std::copysign(y, x);
}

template <typename T>
T SoftplusOf(T x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

SLIPWAY_MATH(Exp, std::exp(x))
SLIPWAY_MATH(Expm1, std::expm1(x))
SLIPWAY_MATH(Log, std::log(x))
SLIPWAY_MATH(Log1p, std::log1p(x))
SLIPWAY_MATH(Sqrt, std::sqrt(x))
SLIPWAY_MATH(Rsqrt, T{1} / std::sqrt(x))
SLIPWAY_MATH(Reciprocal, T{1} / x)
SLIPWAY_MATH(Sin, std::sin(x))
SLIPWAY_MATH(Cos, std::cos(x))
SLIPWAY_MATH(Tan, std::tan(x))
SLIPWAY_MATH(Asin, std::asin(x))
SLIPWAY_MATH(Acos, std::acos(x))
SLIPWAY_MATH(Atan, std::atan(x))
SLIPWAY_MATH(Sinh, std::sinh(x))
SLIPWAY_MATH(Cosh, std::cosh(x))
SLIPWAY_MATH(Asinh, std::asinh(x))
SLIPWAY_MATH(Acosh, std::acosh(x))
SLIPWAY_MATH(Atanh, std::atanh(x))
SLIPWAY_MATH(Tanh, std::tanh(x))
SLIPWAY_MATH(Sigmoid, x < 0 ? std::exp(x) / (T{1} + std::exp(x)) : T{1} / (T{1} + std::exp(-x)))
SLIPWAY_MATH(Erf, std::erf(x))
SLIPWAY_MATH(Erfc, std::erfc(x))
SLIPWAY_MATH(Digamma, Digamma(x))
SLIPWAY_MATH(Erfinv, ErfinvOf(x))
SLIPWAY_MATH(Ndtri, NdtriOf(x))
SLIPWAY_MATH(Floor, std::floor(x))
SLIPWAY_MATH(Ceil, std::ceil(x))
SLIPWAY_MATH(Round, std::nearbyint(x))
SLIPWAY_MATH(Softplus, SoftplusOf(x))
#undef SLIPWAY_MATH

template <typename T>
T LgammaFn(T x) {
  int sign = 0;  // the library's own variable for it is not safe with threads
  if constexpr (std::is_same_v<T, float>) {
    return lgammaf_r(x, &sign);
  } else {
    return lgamma_r(x, &sign);
  }
}
UnaryLoop LgammaLoop(DType dtype) {
  return SwitchType<UnaryLoop>(
      Reals{}, dtype, []<typename T>() -> UnaryLoop { return &UnaryLoopOf<T, T, LgammaFn<T>>; });
}

// For integers too.
template <typename T>
T NegFn(T x) {
  if constexpr (std::is_integral_v<T>) {
    return WrapSub(T{0}, x);
  } else {
    return -x;
  }
}
template <typename T>
T AbsFn(T x) {
  if constexpr (std::is_unsigned_v<T>) {
    return x;
  } else if constexpr (std::is_integral_v<T>) {
    return x < 0 ? WrapSub(T{0}, x) : x;
  } else {
    return std::abs(x);
  }
}
template <typename T>
T SignFn(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    if (x != x) return x;
  }
  return static_cast<T>((T{0} < x) - (x < T{0}));
}
template <typename T>
T SquareFn(T x) {
  return WrapMul(x, x);
}
template <typename T>
T SameFn(T x) {
  return x;
}
template <typename T>
T InvertFn(T x) {
  return static_cast<T>(~x);
}

#define SLIPWAY_NUMBER(NAME, TYPES)                                              \
  UnaryLoop NAME##Loop(DType dtype) {                                            \
    return SwitchType<UnaryLoop>(TYPES{}, dtype, []<typename T>() -> UnaryLoop { \
      return &UnaryLoopOf<T, T, NAME##Fn<T>>;                                    \
    });                                                                          \
  }
SLIPWAY_NUMBER(Neg, Numbers)
SLIPWAY_NUMBER(Abs, Numbers)
SLIPWAY_NUMBER(Sign, Numbers)
SLIPWAY_NUMBER(Square, Numbers)
SLIPWAY_NUMBER(Same, Ints)
SLIPWAY_NUMBER(Invert, Ints)
#undef SLIPWAY_NUMBER

template <typename T>
bool IsNanFn(T x) {
  return std::isnan(x);
}
template <typename T>
bool IsInfFn(T x) {
  return std::isinf(x);
}
template <typename T>
bool IsFiniteFn(T x) {
  return std::isfinite(x);
}
#define SLIPWAY_PREDICATE(NAME)                                                  \
  UnaryLoop NAME##Loop(DType dtype) {                                            \
    return SwitchType<UnaryLoop>(Reals{}, dtype, []<typename T>() -> UnaryLoop { \
      return &UnaryLoopOf<T, bool, NAME##Fn<T>>;                                 \
    });                                                                          \
  }
SLIPWAY_PREDICATE(IsNan)
SLIPWAY_PREDICATE(IsInf)
SLIPWAY_PREDICATE(IsFinite)
#undef SLIPWAY_PREDICATE

using PickLoop = UnaryLoop (*)(DType);
struct UnaryOp {
  PickLoop reals;
  PickLoop ints = nullptr;
  std::optional<FastUnary> fast = {};
};

const std::unordered_map<std::string_view, UnaryOp>& Ops() {
  static const std::unordered_map<std::string_view, UnaryOp> ops = {
      {"Abs", {AbsLoop, AbsLoop, FastUnary::kAbs}},
      {"Neg", {NegLoop, NegLoop, FastUnary::kNeg}},
      {"Sign", {SignLoop, SignLoop}},
      {"Square", {SquareLoop, SquareLoop, FastUnary::kSquare}},
      {"Invert", {nullptr, InvertLoop}},
      {"Exp", {ExpLoop, nullptr, FastUnary::kExp}},
      {"Expm1", {Expm1Loop}},
      {"Log", {LogLoop}},
      {"Log1p", {Log1pLoop}},
      {"Sqrt", {SqrtLoop, nullptr, FastUnary::kSqrt}},
      {"Rsqrt", {RsqrtLoop, nullptr, FastUnary::kRsqrt}},
      {"Reciprocal", {ReciprocalLoop, nullptr, FastUnary::kReciprocal}},
      {"Inv", {ReciprocalLoop, nullptr, FastUnary::kReciprocal}},
      {"Floor", {FloorLoop, nullptr, FastUnary::kFloor}},
      {"Ceil", {CeilLoop, nullptr, FastUnary::kCeil}},
      {"Round", {RoundLoop, SameLoop, FastUnary::kRound}},
      {"Rint", {RoundLoop, nullptr, FastUnary::kRound}},
      {"Sin", {SinLoop}},
      {"Cos", {CosLoop}},
      {"Tan", {TanLoop}},
      {"Asin", {AsinLoop}},
      {"Acos", {AcosLoop}},
      {"Atan", {AtanLoop}},
      {"Sinh", {SinhLoop}},
      {"Cosh", {CoshLoop}},
      {"Asinh", {AsinhLoop}},
      {"Acosh", {AcoshLoop}},
      {"Atanh", {AtanhLoop}},
      {"Tanh", {TanhLoop, nullptr, FastUnary::kTanh}},
      {"Sigmoid", {SigmoidLoop, nullptr, FastUnary::kSigmoid}},
      {"Erf", {ErfLoop}},
      {"Erfc", {ErfcLoop}},
      {"Erfinv", {ErfinvLoop}},
      {"Ndtri", {NdtriLoop}},
      {"Lgamma", {LgammaLoop}},
      {"Digamma", {DigammaLoop}},
      {"Softplus", {SoftplusLoop}},
      {"IsNan", {IsNanLoop}},
      {"IsInf", {IsInfLoop}},
      {"IsFinite", {IsFiniteLoop}},
  };
  return ops;
}

StatusOr<KernelFn> BindUnary(const BindContext& c) {
  const UnaryOp& op = Ops().at(c.node->op());
  UnaryKernel kernel;
  kernel.dtype = c.input_dtype(0);
  kernel.out_dtype = c.node->dtype(0);
  const DType compute = IsHalfSize(kernel.dtype) ? DType::kFloat : kernel.dtype;
  if (compute == DType::kFloat && op.fast.has_value()) {
    kernel.loop = FastUnaryLoop(*op.fast);
  } else {
    const PickLoop pick = IsFloating(compute) ? op.reals : op.ints;
    kernel.loop = pick == nullptr ? nullptr : pick(compute);
  }
  if (kernel.loop == nullptr) {
    return UnimplementedError(std::string(c.node->op()) + " of " +
                              std::string(DTypeName(kernel.dtype)));
  }
  return KernelFn(kernel);
}

bool NotFn(bool x) { return !x; }

StatusOr<KernelFn> BindLogicalNot(const BindContext&) {
  return KernelFn(UnaryKernel{&UnaryLoopOf<bool, bool, NotFn>, DType::kBool, DType::kBool});
}

std::vector<KernelDef> MakeTable() {
  std::vector<KernelRow> rows;
  for (const auto& [name, op] : Ops()) {
    std::vector<DType> types;
    if (op.reals != nullptr) types = FloatTypes();
    if (op.ints != nullptr) {
      for (DType t : Ints::DTypes()) types.push_back(t);
    }
    const bool predicate = name.starts_with("Is");
    rows.push_back({name.data(), BindUnary, types, "T"});
    if (!predicate) rows.back().in_place = {{0, 0}};
  }
  rows.push_back({"LogicalNot", BindLogicalNot, {}, "T", {{0, 0}}});
  return MakeKernels(std::move(rows));
}

}  // namespace

std::span<const KernelDef> UnaryKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
