// SPDX-License-Identifier: Apache-2.0
//
// Activations and the gradients that have ops of their own.
#include <cmath>
#include <optional>

#include "kernels/attrs.h"
#include "kernels/elementwise.h"
#include "kernels/kernel_table.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

constexpr double kSeluScale = 1.0507009873554804934193349852946;
constexpr double kSeluScaleAlpha = 1.7580993408473768599402175208123;

template <typename T>
T ReluOf(T x, float) {
  return x < T{0} ? T{0} : x;
}
template <typename T>
T Relu6Of(T x, float) {
  return x < T{0} ? T{0} : x > T{6} ? T{6} : x;
}
template <typename T>
T LeakyReluOf(T x, float alpha) {
  return x > T{0} ? x : static_cast<T>(x * static_cast<T>(alpha));
}
template <typename T>
T EluOf(T x, float) {
  return x < 0 ? std::expm1(x) : x;
}
template <typename T>
T SeluOf(T x, float) {
  return x < 0 ? static_cast<T>(kSeluScaleAlpha) * std::expm1(x) : static_cast<T>(kSeluScale) * x;
}
template <typename T>
T SoftsignOf(T x, float) {
  return x / (T{1} + std::abs(x));
}

// Gradient first, then the forward op's input (features) or output.
template <typename T>
T ReluGradOf(T dy, T x, float) {
  return x > T{0} ? dy : T{0};
}
template <typename T>
T Relu6GradOf(T dy, T x, float) {
  return x > T{0} && x < T{6} ? dy : T{0};
}
template <typename T>
T LeakyReluGradOf(T dy, T x, float alpha) {
  return x > T{0} ? dy : static_cast<T>(dy * static_cast<T>(alpha));
}
template <typename T>
T EluGradOf(T dy, T y, float) {
  return y < 0 ? (y + 1) * dy : dy;
}
template <typename T>
T SeluGradOf(T dy, T y, float) {
  return y < 0 ? dy * (y + static_cast<T>(kSeluScaleAlpha)) : dy * static_cast<T>(kSeluScale);
}
template <typename T>
T SoftplusGradOf(T dy, T x, float) {
  return dy / (std::exp(-x) + T{1});
}
template <typename T>
T SoftsignGradOf(T dy, T x, float) {
  const T s = T{1} + std::abs(x);
  return dy / (s * s);
}
// Forward output first, then its gradient.
template <typename T>
T TanhGradOf(T y, T dy, float) {
  return dy * (T{1} - y * y);
}
template <typename T>
T SigmoidGradOf(T y, T dy, float) {
  return dy * y * (T{1} - y);
}
// These give 0 for a gradient of 0, whatever the output is: NaN and infinity on a branch that a
// Select did not take stay there.
template <typename T>
T RsqrtGradOf(T y, T dy, float) {
  return dy == T(0) ? T(0) : T(-0.5) * dy * y * y * y;
}
template <typename T>
T SqrtGradOf(T y, T dy, float) {
  return dy == T(0) ? T(0) : T(0.5) * dy / y;
}
template <typename T>
T ReciprocalGradOf(T y, T dy, float) {
  return dy == T(0) ? T(0) : -dy * y * y;
}

template <typename T, T (*kFn)(T, float)>
void AlphaLoop(const void* x, void* y, int64_t n, float alpha) {
  for (int64_t i = 0; i < n; ++i) {
    static_cast<T*>(y)[i] = kFn(static_cast<const T*>(x)[i], alpha);
  }
}
template <typename T, T (*kFn)(T, T, float)>
bool GradLoop(const void* a, int sa, const void* b, int sb, void* out, int64_t n, float alpha) {
  for (int64_t i = 0; i < n; ++i) {
    static_cast<T*>(out)[i] =
        kFn(static_cast<const T*>(a)[i * sa], static_cast<const T*>(b)[i * sb], alpha);
  }
  return true;
}

#define SLIPWAY_ACTIVATION(NAME, TYPES)                                                        \
  UnaryLoop NAME##Loop(DType dtype) {                                                          \
    return SwitchType<UnaryLoop>(                                                              \
        TYPES{}, dtype, []<typename T>() -> UnaryLoop { return &AlphaLoop<T, NAME##Of<T>>; }); \
  }
#define SLIPWAY_GRADIENT(NAME, TYPES)                                                          \
  BinaryLoop NAME##Loop(DType dtype) {                                                         \
    return SwitchType<BinaryLoop>(                                                             \
        TYPES{}, dtype, []<typename T>() -> BinaryLoop { return &GradLoop<T, NAME##Of<T>>; }); \
  }
SLIPWAY_ACTIVATION(Relu, Numbers)
SLIPWAY_ACTIVATION(Relu6, Numbers)
SLIPWAY_ACTIVATION(LeakyRelu, Reals)
SLIPWAY_ACTIVATION(Elu, Reals)
SLIPWAY_ACTIVATION(Selu, Reals)
SLIPWAY_ACTIVATION(Softsign, Reals)
SLIPWAY_GRADIENT(ReluGrad, Numbers)
SLIPWAY_GRADIENT(Relu6Grad, Numbers)
SLIPWAY_GRADIENT(LeakyReluGrad, Reals)
SLIPWAY_GRADIENT(EluGrad, Reals)
SLIPWAY_GRADIENT(SeluGrad, Reals)
SLIPWAY_GRADIENT(SoftplusGrad, Reals)
SLIPWAY_GRADIENT(SoftsignGrad, Reals)
SLIPWAY_GRADIENT(TanhGrad, Reals)
SLIPWAY_GRADIENT(SigmoidGrad, Reals)
SLIPWAY_GRADIENT(RsqrtGrad, Reals)
SLIPWAY_GRADIENT(SqrtGrad, Reals)
SLIPWAY_GRADIENT(ReciprocalGrad, Reals)
#undef SLIPWAY_ACTIVATION
#undef SLIPWAY_GRADIENT

// TensorFlow multiplies half types, so that infinity and NaN are not stopped.
bool HalfReluGradLoop(const void* dy, int, const void* x, int, void* dx, int64_t n, float) {
  for (int64_t i = 0; i < n; ++i) {
    const float open = static_cast<const float*>(x)[i] > 0 ? 1.0f : 0.0f;
    static_cast<float*>(dx)[i] = static_cast<const float*>(dy)[i] * open;
  }
  return true;
}

struct ActivationOp {
  UnaryLoop (*loop)(DType);
  std::optional<FastUnary> fast;
  bool ints = false;
};
struct GradientOp {
  BinaryLoop (*loop)(DType);
  std::optional<FastBinary> fast = {};
  bool ints = false;
  BinaryKernel::Shapes shapes = BinaryKernel::Shapes::kSame;
};

const std::unordered_map<std::string_view, ActivationOp>& Activations() {
  static const std::unordered_map<std::string_view, ActivationOp> ops = {
      {"Relu", {ReluLoop, FastUnary::kRelu, true}},
      {"Relu6", {Relu6Loop, FastUnary::kRelu6, true}},
      {"LeakyRelu", {LeakyReluLoop, FastUnary::kLeakyRelu}},
      {"Elu", {EluLoop, FastUnary::kElu}},
      {"Selu", {SeluLoop, FastUnary::kSelu}},
      {"Softsign", {SoftsignLoop, FastUnary::kSoftsign}},
  };
  return ops;
}

const std::unordered_map<std::string_view, GradientOp>& Gradients() {
  constexpr auto kCounts = BinaryKernel::Shapes::kCounts;
  static const std::unordered_map<std::string_view, GradientOp> ops = {
      {"ReluGrad", {ReluGradLoop, FastBinary::kReluGrad, true}},
      {"Relu6Grad", {Relu6GradLoop, FastBinary::kRelu6Grad, true}},
      {"LeakyReluGrad", {LeakyReluGradLoop, FastBinary::kLeakyReluGrad}},
      {"EluGrad", {EluGradLoop, FastBinary::kEluGrad}},
      {"SeluGrad", {SeluGradLoop}},
      {"SoftplusGrad", {SoftplusGradLoop}},
      {"SoftsignGrad", {SoftsignGradLoop}},
      {"TanhGrad", {TanhGradLoop, FastBinary::kTanhGrad, false, kCounts}},
      {"SigmoidGrad", {SigmoidGradLoop, FastBinary::kSigmoidGrad, false, kCounts}},
      {"RsqrtGrad", {RsqrtGradLoop, FastBinary::kRsqrtGrad, false, kCounts}},
      {"SqrtGrad", {SqrtGradLoop, FastBinary::kSqrtGrad, false, kCounts}},
      {"ReciprocalGrad", {ReciprocalGradLoop, {}, false, kCounts}},
      {"InvGrad", {ReciprocalGradLoop, {}, false, kCounts}},
  };
  return ops;
}

StatusOr<KernelFn> BindActivation(const BindContext& c) {
  const ActivationOp& op = Activations().at(c.node->op());
  UnaryKernel kernel;
  kernel.dtype = kernel.out_dtype = c.input_dtype(0);
  kernel.alpha = AttrOr<float>(*c.node, "alpha", 0.0f);
  const DType compute = IsHalfSize(kernel.dtype) ? DType::kFloat : kernel.dtype;
  kernel.loop = compute == DType::kFloat ? FastUnaryLoop(*op.fast) : op.loop(compute);
  return KernelFn(kernel);
}

StatusOr<KernelFn> BindGradient(const BindContext& c) {
  const GradientOp& op = Gradients().at(c.node->op());
  BinaryKernel kernel;
  kernel.dtype = kernel.out_dtype = c.input_dtype(0);
  kernel.alpha = AttrOr<float>(*c.node, "alpha", 0.0f);
  kernel.shapes = op.shapes;
  const bool half = IsHalfSize(kernel.dtype);
  const DType compute = half ? DType::kFloat : kernel.dtype;
  kernel.loop = compute == DType::kFloat && op.fast ? FastBinaryLoop(*op.fast) : op.loop(compute);
  if (half && c.node->op() == "ReluGrad") kernel.loop = &HalfReluGradLoop;
  return KernelFn(kernel);
}

std::vector<KernelDef> MakeTable() {
  std::vector<KernelRow> rows;
  for (const auto& [name, op] : Activations()) {
    rows.push_back(
        {name.data(), BindActivation, op.ints ? NumberTypes() : FloatTypes(), "T", {{0, 0}}});
  }
  for (const auto& [name, op] : Gradients()) {
    rows.push_back(
        {name.data(), BindGradient, op.ints ? NumberTypes() : FloatTypes(), "T", {{0, 0}, {1, 0}}});
  }
  return MakeKernels(std::move(rows));
}

}  // namespace

std::span<const KernelDef> ActivationKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
