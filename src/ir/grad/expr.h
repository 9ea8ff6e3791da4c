// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on graph values in C++ notation, so that a gradient reads like its formula: every
// operator adds a node. After an error of the builder the values are invalid and nothing is added.
#pragma once

#include <string_view>
#include <vector>

#include "ir/gradient.h"

namespace slipway::ir::grad {

class Expr {
 public:
  Expr(GraphBuilder& builder, Output value) : builder_(&builder), value_(value) {}
  operator Output() const { return value_; }  // NOLINT: a value where the builder wants one
  GraphBuilder& builder() const { return *builder_; }

  // A node with this value as its first input.
  Expr Op(std::string_view op, std::vector<Output> more_inputs = {}, AttrMap attrs = {}) const {
    more_inputs.insert(more_inputs.begin(), value_);
    return {*builder_, builder_->Op(op, std::move(more_inputs), std::move(attrs))};
  }
  // A scalar of the same dtype.
  Expr Scalar(double value) const { return {*builder_, builder_->ScalarLike(value, value_)}; }

 private:
  GraphBuilder* builder_;
  Output value_;
};

inline Expr operator+(Expr a, Expr b) { return a.Op("AddV2", {b}); }
inline Expr operator-(Expr a, Expr b) { return a.Op("Sub", {b}); }
inline Expr operator*(Expr a, Expr b) { return a.Op("Mul", {b}); }
inline Expr operator/(Expr a, Expr b) { return a.Op("RealDiv", {b}); }
inline Expr operator-(Expr a) { return a.Op("Neg"); }
inline Expr operator+(double a, Expr b) { return b.Scalar(a) + b; }
inline Expr operator-(double a, Expr b) { return b.Scalar(a) - b; }
inline Expr operator*(double a, Expr b) { return b.Scalar(a) * b; }

// condition ? a : b, each broadcast.
inline Expr Where(Expr condition, Expr a, Expr b) { return condition.Op("SelectV2", {a, b}); }

// Inputs, outputs and output gradients of the node that is differentiated.
inline Expr X(GradientContext& c, int i = 0) { return {c.builder(), c.input(i)}; }
inline Expr Y(GradientContext& c, int i = 0) { return {c.builder(), c.output(i)}; }
inline Expr Dy(GradientContext& c, int i = 0) { return {c.builder(), c.dy(i)}; }

}  // namespace slipway::ir::grad
