// SPDX-License-Identifier: Apache-2.0
//
// Elementwise ops of one input. Formulas use the output where TensorFlow does, so that values
// agree with its gradients at the edges of the domain too.
#include <cmath>
#include <numbers>

#include "ir/grad/expr.h"
#include "ir/grad/shapes.h"
#include "ir/gradient.h"

namespace slipway::ir::grad {
namespace {

void Abs(GradientContext& c) { c.set_dx(0, Dy(c) * X(c).Op("Sign")); }
void Neg(GradientContext& c) { c.set_dx(0, -Dy(c)); }
void Sign(GradientContext& c) { c.set_dx(0, X(c).Op("ZerosLike")); }
void Square(GradientContext& c) { c.set_dx(0, Dy(c) * (2.0 * X(c))); }
void Sqrt(GradientContext& c) { c.set_dx(0, Y(c).Op("SqrtGrad", {c.dy(0)})); }
void Rsqrt(GradientContext& c) { c.set_dx(0, Y(c).Op("RsqrtGrad", {c.dy(0)})); }
void Exp(GradientContext& c) { c.set_dx(0, Dy(c) * Y(c)); }
void Expm1(GradientContext& c) { c.set_dx(0, Dy(c) * X(c).Op("Exp")); }
void Log(GradientContext& c) { c.set_dx(0, Dy(c) / X(c)); }
void Log1p(GradientContext& c) { c.set_dx(0, Dy(c) / (1.0 + X(c))); }
void Reciprocal(GradientContext& c) { c.set_dx(0, Y(c).Op("ReciprocalGrad", {c.dy(0)})); }
// Inputs y and the gradient by it.
void SqrtGrad(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, -Dy(c) * Y(c) / X(c, 0));
  if (c.wants(1)) c.set_dx(1, 0.5 * Dy(c) / X(c, 0));
}
void RsqrtGrad(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, -1.5 * Dy(c) * X(c, 1) * X(c, 0).Op("Square"));
  if (c.wants(1)) c.set_dx(1, X(c, 0).Op("RsqrtGrad", {c.dy(0)}));
}
void ReciprocalGrad(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, -2.0 * Dy(c) * X(c, 1) * X(c, 0));
  if (c.wants(1)) c.set_dx(1, X(c, 0).Op("ReciprocalGrad", {c.dy(0)}));
}
void Sin(GradientContext& c) { c.set_dx(0, Dy(c) * X(c).Op("Cos")); }
void Cos(GradientContext& c) { c.set_dx(0, -Dy(c) * X(c).Op("Sin")); }
void Tan(GradientContext& c) { c.set_dx(0, Dy(c) / X(c).Op("Cos").Op("Square")); }
void Asin(GradientContext& c) { c.set_dx(0, Dy(c) * (1.0 - X(c).Op("Square")).Op("Rsqrt")); }
void Acos(GradientContext& c) { c.set_dx(0, -Dy(c) * (1.0 - X(c).Op("Square")).Op("Rsqrt")); }
void Atan(GradientContext& c) { c.set_dx(0, Dy(c) / (1.0 + X(c).Op("Square"))); }
void Sinh(GradientContext& c) { c.set_dx(0, Dy(c) * X(c).Op("Cosh")); }
void Cosh(GradientContext& c) { c.set_dx(0, Dy(c) * X(c).Op("Sinh")); }
void Asinh(GradientContext& c) { c.set_dx(0, Dy(c) / Y(c).Op("Cosh")); }
void Acosh(GradientContext& c) { c.set_dx(0, Dy(c) / Y(c).Op("Sinh")); }
void Atanh(GradientContext& c) { c.set_dx(0, Dy(c) / (1.0 - X(c).Op("Square"))); }
void Tanh(GradientContext& c) { c.set_dx(0, Y(c).Op("TanhGrad", {c.dy(0)})); }
void Sigmoid(GradientContext& c) { c.set_dx(0, Y(c).Op("SigmoidGrad", {c.dy(0)})); }

void ErfScaled(GradientContext& c, double sign) {
  Expr slope = (sign * 2 / std::sqrt(std::numbers::pi)) * (-X(c).Op("Square")).Op("Exp");
  c.set_dx(0, Dy(c) * slope);
}
void Erf(GradientContext& c) { ErfScaled(c, 1); }
void Erfc(GradientContext& c) { ErfScaled(c, -1); }
void Lgamma(GradientContext& c) { c.set_dx(0, Dy(c) * X(c).Op("Digamma")); }

// Second derivatives: the gradients of gradient ops (their inputs: y, dy).
void TanhGrad(GradientContext& c) {
  Expr y = X(c, 0);
  if (c.wants(0)) c.set_dx(0, -2.0 * Dy(c) * X(c, 1) * y);
  if (c.wants(1)) c.set_dx(1, y.Op("TanhGrad", {c.dy(0)}));
}
void SigmoidGrad(GradientContext& c) {
  Expr y = X(c, 0);
  Expr scaled = X(c, 1) * Dy(c);
  if (c.wants(0)) c.set_dx(0, scaled - 2.0 * scaled * y);
  if (c.wants(1)) c.set_dx(1, y.Op("SigmoidGrad", {c.dy(0)}));
}

void ClipByValue(GradientContext& c) {
  Expr dy = Dy(c);
  Expr low = X(c, 0).Op("Less", {c.input(1)});
  Expr high = X(c, 0).Op("Greater", {c.input(2)});
  Expr zero = dy.Scalar(0);
  GraphBuilder& b = c.builder();
  if (c.wants(0)) c.set_dx(0, Where(low.Op("LogicalOr", {high}), zero, dy));
  if (c.wants(1)) {
    c.set_dx(1, SumToShape(b, Where(low, dy, zero), c.input(1), c.input(0)));
  }
  if (c.wants(2)) {
    c.set_dx(2, SumToShape(b, Where(high, dy, zero), c.input(2), c.input(0)));
  }
}

constexpr GradientEntry kEntries[] = {
    {"Abs", Abs},
    {"Acos", Acos},
    {"Acosh", Acosh},
    {"Asin", Asin},
    {"Asinh", Asinh},
    {"Atan", Atan},
    {"Atanh", Atanh},
    {"ClipByValue", ClipByValue},
    {"Cos", Cos},
    {"Cosh", Cosh},
    {"Erf", Erf},
    {"Erfc", Erfc},
    {"Exp", Exp},
    {"Expm1", Expm1},
    {"Inv", Reciprocal},
    {"Lgamma", Lgamma},
    {"Log", Log},
    {"Log1p", Log1p},
    {"Neg", Neg},
    {"InvGrad", ReciprocalGrad},
    {"Reciprocal", Reciprocal},
    {"ReciprocalGrad", ReciprocalGrad},
    {"Rsqrt", Rsqrt},
    {"RsqrtGrad", RsqrtGrad},
    {"Sigmoid", Sigmoid},
    {"SigmoidGrad", SigmoidGrad},
    {"Sign", Sign},
    {"Sin", Sin},
    {"Sinh", Sinh},
    {"Sqrt", Sqrt},
    {"SqrtGrad", SqrtGrad},
    {"Square", Square},
    {"Tan", Tan},
    {"Tanh", Tanh},
    {"TanhGrad", TanhGrad},
};

}  // namespace

std::span<const GradientEntry> UnaryGradients() { return kEntries; }

}  // namespace slipway::ir::grad
