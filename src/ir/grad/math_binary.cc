// SPDX-License-Identifier: Apache-2.0
//
// Elementwise ops of two inputs that broadcast, and AddN. Every gradient has the shape of the
// output first and is then summed over what was repeated (SetBroadcastGradient).
#include "ir/grad/expr.h"
#include "ir/grad/shapes.h"
#include "ir/gradient.h"

namespace slipway::ir::grad {
namespace {

void Add(GradientContext& c) {
  if (c.wants(0)) SetBroadcastGradient(c, 0, c.dy(0));
  if (c.wants(1)) SetBroadcastGradient(c, 1, c.dy(0));
}

void Sub(GradientContext& c) {
  if (c.wants(0)) SetBroadcastGradient(c, 0, c.dy(0));
  if (c.wants(1)) {
    // Negated after the sum: it is the smaller one.
    Output sum = SumToShape(c.builder(), c.dy(0), c.input(1), c.input(0));
    c.set_dx(1, c.builder().Op("Neg", {sum}));
  }
}

void Mul(GradientContext& c) {
  if (c.wants(0)) SetBroadcastGradient(c, 0, Dy(c) * X(c, 1));
  if (c.wants(1)) SetBroadcastGradient(c, 1, X(c, 0) * Dy(c));
}

void MulNoNan(GradientContext& c) {
  if (c.wants(0)) SetBroadcastGradient(c, 0, Dy(c).Op("MulNoNan", {c.input(1)}));
  if (c.wants(1)) SetBroadcastGradient(c, 1, X(c, 0).Op("MulNoNan", {c.dy(0)}));
}

void Divide(GradientContext& c, std::string_view op) {
  Expr y = X(c, 1);
  if (c.wants(0)) SetBroadcastGradient(c, 0, Dy(c).Op(op, {y}));
  if (c.wants(1)) SetBroadcastGradient(c, 1, Dy(c) * (-X(c, 0)).Op(op, {y}).Op(op, {y}));
}
void RealDiv(GradientContext& c) { Divide(c, "RealDiv"); }
void DivNoNan(GradientContext& c) { Divide(c, "DivNoNan"); }

void FloorMod(GradientContext& c) {
  if (c.wants(0)) SetBroadcastGradient(c, 0, c.dy(0));
  if (c.wants(1)) SetBroadcastGradient(c, 1, -Dy(c) * X(c, 0).Op("FloorDiv", {c.input(1)}));
}

void Pow(GradientContext& c) {
  Expr x = X(c, 0);
  Expr y = X(c, 1);
  if (c.wants(0)) SetBroadcastGradient(c, 0, Dy(c) * y * x.Op("Pow", {y - y.Scalar(1)}));
  if (c.wants(1)) {
    // log of a number that is not positive would be NaN; its gradient is taken as 0.
    Expr positive = x.Op("Greater", {x.Scalar(0)});
    Expr log = Where(positive, x, x.Scalar(1)).Op("Log");
    SetBroadcastGradient(c, 1, Dy(c) * Y(c) * Where(positive, log, x.Scalar(0)));
  }
}

// All of dy goes to x where x wins or ties.
void Extremum(GradientContext& c, std::string_view x_wins) {
  Expr dy = Dy(c);
  Expr mask = X(c, 0).Op(x_wins, {c.input(1)});
  if (c.wants(0)) SetBroadcastGradient(c, 0, Where(mask, dy, dy.Scalar(0)));
  if (c.wants(1)) SetBroadcastGradient(c, 1, Where(mask, dy.Scalar(0), dy));
}
void Maximum(GradientContext& c) { Extremum(c, "GreaterEqual"); }
void Minimum(GradientContext& c) { Extremum(c, "LessEqual"); }

void SquaredDifference(GradientContext& c) {
  Expr dx = 2.0 * Dy(c) * (X(c, 0) - X(c, 1));
  if (c.wants(0)) SetBroadcastGradient(c, 0, dx);
  if (c.wants(1)) {
    Expr sum(c.builder(), SumToShape(c.builder(), dx, c.input(1), c.input(0)));
    c.set_dx(1, -sum);
  }
}

void Atan2(GradientContext& c) {
  Expr y = X(c, 0);
  Expr x = X(c, 1);
  Expr scaled = Dy(c) / (x.Op("Square") + y.Op("Square"));
  if (c.wants(0)) SetBroadcastGradient(c, 0, x * scaled);
  if (c.wants(1)) SetBroadcastGradient(c, 1, -y * scaled);
}

Expr NotZero(Expr x) {
  return x.Op("NotEqual", {x.Scalar(0)})
      .Op("Cast", {}, {{"DstT", Output(x).valid() ? Output(x).dtype() : DType::kFloat}});
}
void Xlogy(GradientContext& c) {
  Expr y = X(c, 1);
  if (c.wants(0)) SetBroadcastGradient(c, 0, Dy(c) * NotZero(X(c, 0)).Op("Xlogy", {y}));
  if (c.wants(1)) SetBroadcastGradient(c, 1, Dy(c) * X(c, 0).Op("Xdivy", {y}));
}
void Xlog1py(GradientContext& c) {
  Expr y = X(c, 1);
  if (c.wants(0)) SetBroadcastGradient(c, 0, Dy(c) * NotZero(X(c, 0)).Op("Xlog1py", {y}));
  if (c.wants(1)) SetBroadcastGradient(c, 1, Dy(c) * X(c, 0).Op("Xdivy", {1.0 + y}));
}
void Xdivy(GradientContext& c) {
  Expr y = X(c, 1);
  if (c.wants(0)) SetBroadcastGradient(c, 0, Dy(c) * NotZero(X(c, 0)).Op("Xdivy", {y}));
  if (c.wants(1)) {
    SetBroadcastGradient(c, 1, Dy(c) * (-X(c, 0)).Op("Xdivy", {y.Op("Square")}));
  }
}

void AddN(GradientContext& c) {
  for (int i = 0; i < static_cast<int>(c.node().inputs().size()); ++i) c.set_dx(i, c.dy(0));
}

constexpr GradientEntry kEntries[] = {
    {"Add", Add},           {"AddN", AddN},
    {"AddV2", Add},         {"Atan2", Atan2},
    {"Div", RealDiv},       {"DivNoNan", DivNoNan},
    {"FloorMod", FloorMod}, {"Maximum", Maximum},
    {"Minimum", Minimum},   {"Mul", Mul},
    {"MulNoNan", MulNoNan}, {"Pow", Pow},
    {"RealDiv", RealDiv},   {"SquaredDifference", SquaredDifference},
    {"Sub", Sub},           {"Xdivy", Xdivy},
    {"Xlog1py", Xlog1py},   {"Xlogy", Xlogy},
};

}  // namespace

std::span<const GradientEntry> BinaryGradients() { return kEntries; }

}  // namespace slipway::ir::grad
