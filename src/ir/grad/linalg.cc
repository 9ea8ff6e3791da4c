// SPDX-License-Identifier: Apache-2.0
//
// Solvers and decompositions of matrices, and their diagonals and bands. Giles, "Collected matrix
// derivative results for forward and reverse mode algorithmic differentiation" (2008).
#include "ir/grad/attrs.h"
#include "ir/grad/expr.h"
#include "ir/grad/shapes.h"
#include "ir/gradient.h"

namespace slipway::ir::grad {
namespace {

Expr Product(Expr a, Expr b, bool transpose_a, bool transpose_b) {
  return a.Op("BatchMatMulV2", {b}, {{"adj_x", transpose_a}, {"adj_y", transpose_b}});
}

// For an adjoint inverse y = a'^-1 the roles of y and y' are swapped.
void MatrixInverse(GradientContext& c) {
  const bool adjoint = AttrOr(c.node(), "adjoint", false);
  Expr y = Y(c);
  c.set_dx(0, adjoint ? -Product(y, Product(Dy(c), y, true, false), false, false)
                      : -Product(y, Product(Dy(c), y, false, true), true, false));
}

void MatrixDeterminant(GradientContext& c) {
  Expr scale = Dy(c) * Y(c);
  for (int i = 0; i < 2; ++i) scale = scale.Op("ExpandDims", {c.builder().Scalar<int32_t>(-1)});
  c.set_dx(0, scale * X(c).Op("MatrixInverse", {}, {{"adjoint", true}}));
}

// dL/da where a y = b (or a' y = b): -dL/db y', or its transpose.
Expr BySolver(Expr db, Expr y, bool adjoint) {
  return adjoint ? -Product(y, db, false, true) : -Product(db, y, false, true);
}

void MatrixSolve(GradientContext& c) {
  const bool adjoint = AttrOr(c.node(), "adjoint", false);
  Expr db = X(c).Op("MatrixSolve", {c.dy(0)}, {{"adjoint", !adjoint}});
  if (c.wants(0)) c.set_dx(0, BySolver(db, Y(c), adjoint));
  if (c.wants(1)) c.set_dx(1, db);
}

void MatrixTriangularSolve(GradientContext& c) {
  GraphBuilder& b = c.builder();
  const bool adjoint = AttrOr(c.node(), "adjoint", false), lower = AttrOr(c.node(), "lower", true);
  Expr db = X(c).Op("MatrixTriangularSolve", {c.dy(0)}, {{"adjoint", !adjoint}, {"lower", lower}});
  if (c.wants(1)) c.set_dx(1, SumToShape(b, db, c.input(1), c.input(0), 2));
  if (!c.wants(0)) return;
  Output keep = b.Scalar<int32_t>(-1), none = b.Scalar<int32_t>(0);
  Expr da =
      BySolver(db, Y(c), adjoint).Op("MatrixBandPart", {lower ? keep : none, lower ? none : keep});
  c.set_dx(0, SumToShape(b, da, c.input(0), c.input(1), 2));
}

void Cholesky(GradientContext& c) {
  GraphBuilder& b = c.builder();
  Expr l = Y(c);
  Expr identity = l.Op("MatrixDiagPart").Op("OnesLike").Op("MatrixDiag");
  Expr inverse = l.Op("MatrixTriangularSolve", {identity}, {{"lower", true}});
  Expr middle = Product(l, Dy(c), true, false);
  middle = middle.Op("MatrixSetDiag", {0.5 * middle.Op("MatrixDiagPart")});
  middle = middle.Op("MatrixBandPart", {b.Scalar<int32_t>(-1), b.Scalar<int32_t>(0)});
  Expr half = Product(Product(inverse, middle, true, false), inverse, false, false);
  // half + half', as the product of half with the identity from either side.
  c.set_dx(0, 0.5 * (half + Product(half, identity, true, false)));
}

void MatrixBandPart(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, Dy(c).Op("MatrixBandPart", {c.input(1), c.input(2)}));
}

void MatrixDiag(GradientContext& c) { c.set_dx(0, Dy(c).Op("MatrixDiagPart")); }
void MatrixDiagPart(GradientContext& c) {
  c.set_dx(0, X(c).Op("ZerosLike").Op("MatrixSetDiag", {c.dy(0)}));
}
void MatrixSetDiag(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, Dy(c).Op("MatrixSetDiag", {X(c, 1).Op("ZerosLike")}));
  if (c.wants(1)) c.set_dx(1, Dy(c).Op("MatrixDiagPart"));
}

AttrMap Align(const Node& node) { return CopyAttrs(node, {"align"}); }
// Inputs diagonal, k, …
void MatrixDiagV3(GradientContext& c) {
  if (!c.wants(0)) return;
  c.set_dx(0, Dy(c).Op("MatrixDiagPartV3", {c.input(1), Dy(c).Scalar(0)}, Align(c.node())));
}
// Inputs matrix, k, padding_value.
void MatrixDiagPartV3(GradientContext& c) {
  if (!c.wants(0)) return;
  Expr zeros = X(c).Op("ZerosLike");
  c.set_dx(0, zeros.Op("MatrixSetDiagV3", {c.dy(0), c.input(1)}, Align(c.node())));
}
// Inputs matrix, diagonal, k.
void MatrixSetDiagV3(GradientContext& c) {
  const AttrMap align = Align(c.node());
  if (c.wants(0)) {
    c.set_dx(0, Dy(c).Op("MatrixSetDiagV3", {X(c, 1).Op("ZerosLike"), c.input(2)}, align));
  }
  if (c.wants(1)) {
    c.set_dx(1, Dy(c).Op("MatrixDiagPartV3", {c.input(2), Dy(c).Scalar(0)}, align));
  }
}

constexpr GradientEntry kEntries[] = {
    {"Cholesky", Cholesky},
    {"MatrixBandPart", MatrixBandPart},
    {"MatrixDeterminant", MatrixDeterminant},
    {"MatrixDiag", MatrixDiag},
    {"MatrixDiagPart", MatrixDiagPart},
    {"MatrixDiagPartV3", MatrixDiagPartV3},
    {"MatrixDiagV3", MatrixDiagV3},
    {"MatrixInverse", MatrixInverse},
    {"MatrixSetDiag", MatrixSetDiag},
    {"MatrixSetDiagV3", MatrixSetDiagV3},
    {"MatrixSolve", MatrixSolve},
    {"MatrixTriangularSolve", MatrixTriangularSolve},
};

}  // namespace

std::span<const GradientEntry> LinalgGradients() { return kEntries; }

}  // namespace slipway::ir::grad
