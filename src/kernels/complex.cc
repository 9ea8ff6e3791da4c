// SPDX-License-Identifier: Apache-2.0
//
// Complex numbers: their own ops, and the elementwise ones of other families.
#include <cmath>
#include <complex>
#include <unordered_map>

#include "kernels/checks.h"
#include "kernels/elementwise.h"
#include "kernels/kernel_table.h"
#include "kernels/strided_copy.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

// Loops over complex numbers of both precisions.
template <typename Loop>
struct Pair {
  Loop of_float, of_double;
};

#define SLIPWAY_COMPLEX(NAME, EXPR)                                                          \
  template <typename C>                                                                      \
  C NAME##Fn(C x) {                                                                          \
    return EXPR;                                                                             \
  }                                                                                          \
  constexpr Pair<UnaryLoop> k##NAME = {                                                      \
      &UnaryLoopOf<std::complex<float>, std::complex<float>, NAME##Fn<std::complex<float>>>, \
      &UnaryLoopOf<std::complex<double>, std::complex<double>, NAME##Fn<std::complex<double>>>};

SLIPWAY_COMPLEX(Conj, std::conj(x))
SLIPWAY_COMPLEX(Neg, -x)
SLIPWAY_COMPLEX(Sign, x == C(0) ? C(0) : x / std::abs(x))
SLIPWAY_COMPLEX(Exp, std::exp(x))
SLIPWAY_COMPLEX(Log, std::log(x))
SLIPWAY_COMPLEX(Sqrt, std::sqrt(x))
SLIPWAY_COMPLEX(Rsqrt, C(1) / std::sqrt(x))
SLIPWAY_COMPLEX(Square, x* x)
SLIPWAY_COMPLEX(Reciprocal, C(1) / x)
SLIPWAY_COMPLEX(Sin, std::sin(x))
SLIPWAY_COMPLEX(Cos, std::cos(x))
SLIPWAY_COMPLEX(Tan, std::tan(x))
SLIPWAY_COMPLEX(Asin, std::asin(x))
SLIPWAY_COMPLEX(Acos, std::acos(x))
SLIPWAY_COMPLEX(Atan, std::atan(x))
SLIPWAY_COMPLEX(Sinh, std::sinh(x))
SLIPWAY_COMPLEX(Cosh, std::cosh(x))
SLIPWAY_COMPLEX(Tanh, std::tanh(x))
SLIPWAY_COMPLEX(Asinh, std::asinh(x))
SLIPWAY_COMPLEX(Acosh, std::acosh(x))
SLIPWAY_COMPLEX(Atanh, std::atanh(x))
SLIPWAY_COMPLEX(Sigmoid, C(1) / (C(1) + std::exp(-x)))
#undef SLIPWAY_COMPLEX

// exp(x) - 1 and log(1 + x) without the loss of small values; of infinity log1p is what
// TensorFlow's formula gives.
template <typename R>
std::complex<R> Expm1Fn(std::complex<R> x) {
  const R half = std::sin(x.imag() / 2);
  const R real = std::expm1(x.real());
  return {real - 2 * half * half * (real + 1), (real + 1) * std::sin(x.imag())};
}
template <typename R>
std::complex<R> Log1pFn(std::complex<R> x) {
  const std::complex<R> shifted = R(1) + x, log = std::log(shifted);
  if (shifted == log || shifted == std::complex<R>(1)) return x;
  return x * (log / (shifted - R(1)));
}
constexpr Pair<UnaryLoop> kExpm1 = {
    &UnaryLoopOf<std::complex<float>, std::complex<float>, Expm1Fn<float>>,
    &UnaryLoopOf<std::complex<double>, std::complex<double>, Expm1Fn<double>>};
constexpr Pair<UnaryLoop> kLog1p = {
    &UnaryLoopOf<std::complex<float>, std::complex<float>, Log1pFn<float>>,
    &UnaryLoopOf<std::complex<double>, std::complex<double>, Log1pFn<double>>};

#define SLIPWAY_COMPLEX(NAME, EXPR)                                                           \
  template <typename C>                                                                       \
  C NAME##Fn(C a, C b) {                                                                      \
    return EXPR;                                                                              \
  }                                                                                           \
  constexpr Pair<BinaryLoop> k##NAME = {                                                      \
      &BinaryLoopOf<std::complex<float>, std::complex<float>, NAME##Fn<std::complex<float>>>, \
      &BinaryLoopOf<std::complex<double>, std::complex<double>, NAME##Fn<std::complex<double>>>};

SLIPWAY_COMPLEX(Add, a + b)
SLIPWAY_COMPLEX(Sub, a - b)
SLIPWAY_COMPLEX(Mul, a* b)
SLIPWAY_COMPLEX(Div, a / b)
SLIPWAY_COMPLEX(DivNoNan, b == C(0) ? C(0) : a / b)
SLIPWAY_COMPLEX(MulNoNan, b == C(0) ? C(0) : a * b)
SLIPWAY_COMPLEX(Xdivy, a == C(0) ? C(0) : a / b)
SLIPWAY_COMPLEX(Xlogy, a == C(0) ? C(0) : a * std::log(b))
SLIPWAY_COMPLEX(Xlog1py, a == C(0) ? C(0) : a * Log1pFn(b))
SLIPWAY_COMPLEX(SquaredDifference, (a - b) * std::conj(a - b))
SLIPWAY_COMPLEX(TanhGrad, b*(C(1) - a * a))
SLIPWAY_COMPLEX(SigmoidGrad, b* a*(C(1) - a))
SLIPWAY_COMPLEX(SqrtGrad, b == C(0) ? C(0) : b * C(0.5) / std::conj(a))
SLIPWAY_COMPLEX(RsqrtGrad,
                b == C(0) ? C(0) : C(-0.5) * (b * std::conj(a)) * (std::conj(a) * std::conj(a)))
SLIPWAY_COMPLEX(ReciprocalGrad, b == C(0) ? C(0) : std::conj(a) * (-b * std::conj(a)))
#undef SLIPWAY_COMPLEX

// 0^0 is 1, as of real numbers; the standard library's way through logarithms gives NaN.
template <typename C>
C PowFn(C a, C b) {
  if (b == C(0)) return C(1);
  if (a == C(0)) return C(b.real() > 0 ? 0 : NAN, b.real() > 0 ? 0 : NAN);
  return std::pow(a, b);
}
constexpr Pair<BinaryLoop> kPow = {
    &BinaryLoopOf<std::complex<float>, std::complex<float>, PowFn<std::complex<float>>>,
    &BinaryLoopOf<std::complex<double>, std::complex<double>, PowFn<std::complex<double>>>};

const std::unordered_map<std::string_view, Pair<UnaryLoop>>& UnaryOps() {
  static const std::unordered_map<std::string_view, Pair<UnaryLoop>> ops = {
      {"Conj", kConj},
      {"Neg", kNeg},
      {"Sign", kSign},
      {"Exp", kExp},
      {"Expm1", kExpm1},
      {"Log", kLog},
      {"Log1p", kLog1p},
      {"Sqrt", kSqrt},
      {"Rsqrt", kRsqrt},
      {"Square", kSquare},
      {"Reciprocal", kReciprocal},
      {"Inv", kReciprocal},
      {"Sin", kSin},
      {"Cos", kCos},
      {"Tan", kTan},
      {"Asin", kAsin},
      {"Acos", kAcos},
      {"Atan", kAtan},
      {"Sinh", kSinh},
      {"Cosh", kCosh},
      {"Tanh", kTanh},
      {"Asinh", kAsinh},
      {"Acosh", kAcosh},
      {"Atanh", kAtanh},
      {"Sigmoid", kSigmoid},
  };
  return ops;
}

const std::unordered_map<std::string_view, Pair<BinaryLoop>>& BinaryOps() {
  static const std::unordered_map<std::string_view, Pair<BinaryLoop>> ops = {
      {"Add", kAdd},
      {"AddV2", kAdd},
      {"Sub", kSub},
      {"Mul", kMul},
      {"Div", kDiv},
      {"RealDiv", kDiv},
      {"DivNoNan", kDivNoNan},
      {"MulNoNan", kMulNoNan},
      {"Xdivy", kXdivy},
      {"Xlogy", kXlogy},
      {"Xlog1py", kXlog1py},
      {"Pow", kPow},
      {"SquaredDifference", kSquaredDifference},
      {"TanhGrad", kTanhGrad},
      {"SigmoidGrad", kSigmoidGrad},
      {"SqrtGrad", kSqrtGrad},
      {"RsqrtGrad", kRsqrtGrad},
      {"ReciprocalGrad", kReciprocalGrad},
      {"InvGrad", kReciprocalGrad},
  };
  return ops;
}

template <typename Loop>
Loop Choose(const Pair<Loop>& loops, DType dtype) {
  return dtype == DType::kComplex64 ? loops.of_float : loops.of_double;
}

StatusOr<KernelFn> BindUnary(const BindContext& c) {
  UnaryKernel kernel;
  kernel.dtype = kernel.out_dtype = c.input_dtype(0);
  kernel.loop = Choose(UnaryOps().at(c.node->op()), kernel.dtype);
  return KernelFn(kernel);
}

StatusOr<KernelFn> BindBinary(const BindContext& c) {
  BinaryKernel kernel;
  kernel.dtype = kernel.out_dtype = c.input_dtype(0);
  kernel.loop = Choose(BinaryOps().at(c.node->op()), kernel.dtype);
  if (c.node->op().ends_with("Grad")) kernel.shapes = BinaryKernel::Shapes::kCounts;
  return KernelFn(kernel);
}

template <typename R>
R RealFn(std::complex<R> x) {
  return x.real();
}
template <typename R>
R ImagFn(std::complex<R> x) {
  return x.imag();
}
template <typename R>
R MagnitudeFn(std::complex<R> x) {
  return std::abs(x);
}
template <typename R>
R AngleFn(std::complex<R> x) {
  return std::arg(x);
}

template <typename R>
UnaryLoop PartLoop(std::string_view op) {
  if (op == "Real") return &UnaryLoopOf<std::complex<R>, R, RealFn<R>>;
  if (op == "Imag") return &UnaryLoopOf<std::complex<R>, R, ImagFn<R>>;
  if (op == "ComplexAbs") return &UnaryLoopOf<std::complex<R>, R, MagnitudeFn<R>>;
  return &UnaryLoopOf<std::complex<R>, R, AngleFn<R>>;
}

// A real part of each number; the type attributes may contradict each other.
StatusOr<KernelFn> BindPart(const BindContext& c) {
  UnaryKernel kernel;
  kernel.dtype = c.input_dtype(0);
  kernel.out_dtype = c.node->dtype(0);
  const bool narrow = kernel.dtype == DType::kComplex64;
  if (kernel.out_dtype != (narrow ? DType::kFloat : DType::kDouble)) {
    return InvalidArgumentError(
        StrCat(c.node->op(), " of ", DTypeName(kernel.dtype), " to ", DTypeName(kernel.out_dtype)));
  }
  kernel.loop = narrow ? PartLoop<float>(c.node->op()) : PartLoop<double>(c.node->op());
  return KernelFn(kernel);
}

template <typename R>
bool ComplexLoop(const void* a, int sa, const void* b, int sb, void* out, int64_t n, float) {
  const R* x = static_cast<const R*>(a);
  const R* y = static_cast<const R*>(b);
  for (int64_t i = 0; i < n; ++i) {
    static_cast<std::complex<R>*>(out)[i] = {x[i * sa], y[i * sb]};
  }
  return true;
}

StatusOr<KernelFn> BindComplex(const BindContext& c) {
  BinaryKernel kernel;
  kernel.dtype = c.input_dtype(0);
  kernel.out_dtype = c.node->dtype(0);
  const bool narrow = kernel.dtype == DType::kFloat;
  if (kernel.out_dtype != (narrow ? DType::kComplex64 : DType::kComplex128)) {
    return InvalidArgumentError(
        StrCat("Complex of ", DTypeName(kernel.dtype), " to ", DTypeName(kernel.out_dtype)));
  }
  kernel.loop = narrow ? &ComplexLoop<float> : &ComplexLoop<double>;
  return KernelFn(kernel);
}

Status RunConjugateTranspose(KernelContext& c) {
  const Tensor& x = c.input(0);
  ASSIGN_OR_RETURN(IntVec perm, ReadIntVector(c.input(1), "perm"));
  if (perm.rank() != x.rank()) {
    return InvalidArgumentError(StrCat("transpose expects a vector of size ", x.rank(),
                                       ". But input(1) is a vector of size ", perm.rank()));
  }
  const IntVec strides = RowMajorStrides(x.shape());
  IntVec dims, from;
  std::array<bool, Shape::kMaxRank> seen{};
  for (int64_t d : perm) {
    if (d < 0 || d >= x.rank() || seen[static_cast<size_t>(d)]) {
      return InvalidArgumentError(
          StrCat(d, " is missing or out of range or twice in perm of rank ", x.rank()));
    }
    seen[static_cast<size_t>(d)] = true;
    dims.push_back(x.dim(static_cast<int>(d)));
    from.push_back(strides[static_cast<size_t>(d)]);
  }
  const Shape shape(dims.span());
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, shape));
  const IntVec to = RowMajorStrides(shape);
  StridedCopy(x.dtype(), dims.span(), x.raw_data(), from.span(), y->raw_data(), to.span(),
              &c.intra_op());
  if (IsComplex(x.dtype())) {
    Choose(kConj, x.dtype())(y->raw_data(), y->raw_data(), y->num_elements(), 0);
  }
  return OkStatus();
}

std::vector<KernelDef> MakeTable() {
  const std::vector<DType> complexes = Complexes::DTypes();
  std::vector<KernelRow> rows;
  for (const auto& [name, loops] : UnaryOps()) {
    rows.push_back({name.data(), BindUnary, complexes, "T", {{0, 0}}});
  }
  for (const auto& [name, loops] : BinaryOps()) {
    rows.push_back({name.data(), BindBinary, complexes, "T", {{0, 0}, {1, 0}}});
  }
  for (const char* op : {"Real", "Imag", "ComplexAbs", "Angle"}) {
    rows.push_back({op, BindPart, complexes});
  }
  rows.push_back({"Complex", BindComplex, Reals::DTypes()});
  rows.push_back({"ConjugateTranspose", [](const BindContext&) -> StatusOr<KernelFn> {
                    return KernelFn(RunConjugateTranspose);
                  }});
  return MakeKernels(std::move(rows));
}

}  // namespace

std::span<const KernelDef> ComplexKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
