// SPDX-License-Identifier: Apache-2.0
//
// Special functions. Abramowitz and Stegun, "Handbook of Mathematical Functions".
#include <cmath>
#include <numbers>

#include "ir/grad/expr.h"
#include "ir/grad/shapes.h"
#include "ir/gradient.h"

namespace slipway::ir::grad {
namespace {

void Digamma(GradientContext& c) {
  c.set_dx(0, Dy(c) * X(c).Scalar(1).Op("Polygamma", {c.input(0)}));
}
void Polygamma(GradientContext& c) {
  if (c.wants(1)) SetBroadcastGradient(c, 1, Dy(c) * (1.0 + X(c, 0)).Op("Polygamma", {c.input(1)}));
}
void Zeta(GradientContext& c) {
  Expr x = X(c, 0);
  if (c.wants(1)) SetBroadcastGradient(c, 1, Dy(c) * -x * (1.0 + x).Op("Zeta", {c.input(1)}));
}
void Erfinv(GradientContext& c) {
  const double scale = std::sqrt(std::numbers::pi) / 2;
  c.set_dx(0, Dy(c) * (scale * Y(c).Op("Square").Op("Exp")));
}
void Ndtri(GradientContext& c) {
  const double scale = std::sqrt(2 * std::numbers::pi);
  c.set_dx(0, Dy(c) * (scale * (0.5 * Y(c).Op("Square")).Op("Exp")));
}

// x^(a-1) e^-x / Gamma(a)
Expr GammaDensity(Expr a, Expr x) {
  return ((a - a.Scalar(1)).Op("Xlogy", {x}) - x - a.Op("Lgamma")).Op("Exp");
}
void Igamma(GradientContext& c) {
  Expr a = X(c, 0), x = X(c, 1);
  if (c.wants(0)) SetBroadcastGradient(c, 0, Dy(c) * a.Op("IgammaGradA", {x}));
  if (c.wants(1)) SetBroadcastGradient(c, 1, Dy(c) * GammaDensity(a, x));
}
void Igammac(GradientContext& c) {
  Expr a = X(c, 0), x = X(c, 1);
  if (c.wants(0)) SetBroadcastGradient(c, 0, -Dy(c) * a.Op("IgammaGradA", {x}));
  if (c.wants(1)) SetBroadcastGradient(c, 1, -Dy(c) * GammaDensity(a, x));
}

// value where |x| is not tiny, limit where it is, without dividing by it.
Expr AwayFromZero(Expr x, Expr (*value)(Expr x, Expr y), Expr y, double limit) {
  Expr large = x.Op("Abs").Op("Greater", {x.Scalar(1.1920929e-7)});
  return Where(large, value(Where(large, x, x.Scalar(1)), y), x.Scalar(limit));
}
Expr OverX(Expr y, Expr x) { return y / x; }
void BesselI0(GradientContext& c) { c.set_dx(0, Dy(c) * X(c).Op("BesselI1")); }
void BesselI0e(GradientContext& c) {
  Expr x = X(c);
  c.set_dx(0, Dy(c) * (x.Op("BesselI1e") - x.Op("Sign") * Y(c)));
}
void BesselI1(GradientContext& c) {
  const auto slope = [](Expr x, Expr y) { return x.Op("BesselI0") - OverX(y, x); };
  c.set_dx(0, Dy(c) * AwayFromZero(X(c), slope, Y(c), 1));
}
void BesselI1e(GradientContext& c) {
  const auto slope = [](Expr x, Expr y) {
    return x.Op("BesselI0e") - y * (x.Op("Sign") + x.Op("Reciprocal"));
  };
  c.set_dx(0, Dy(c) * AwayFromZero(X(c), slope, Y(c), 0.5));
}

constexpr GradientEntry kEntries[] = {
    {"BesselI0", BesselI0},   {"BesselI0e", BesselI0e}, {"BesselI1", BesselI1},
    {"BesselI1e", BesselI1e}, {"Digamma", Digamma},     {"Erfinv", Erfinv},
    {"Igamma", Igamma},       {"Igammac", Igammac},     {"Ndtri", Ndtri},
    {"Polygamma", Polygamma}, {"Zeta", Zeta},
};

}  // namespace

std::span<const GradientEntry> SpecialGradients() { return kEntries; }

}  // namespace slipway::ir::grad
