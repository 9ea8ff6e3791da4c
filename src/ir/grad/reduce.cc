// SPDX-License-Identifier: Apache-2.0
//
// Reductions and scans. A reduced dimension comes back as size 1 (KeepDims) and is then repeated.
#include <algorithm>
#include <optional>

#include "ir/grad/expr.h"
#include "ir/grad/shapes.h"
#include "ir/gradient.h"

namespace slipway::ir::grad {
namespace {

bool Flag(const Node& node, const char* name) {
  const AttrValue* value = node.FindAttr(name);
  const bool* flag = value == nullptr ? nullptr : value->As<bool>();
  return flag != nullptr && *flag;
}

// The reduced axes in ascending order, if they and the rank are known.
std::optional<std::vector<int64_t>> StaticAxes(const Node& node) {
  std::optional<std::vector<int64_t>> axes = ConstantIntegers(node.input(1));
  const PartialShape& shape = node.input(0).shape();
  if (!axes.has_value() || !shape.has_rank()) return std::nullopt;
  for (int64_t& axis : *axes) {
    if (axis < 0) axis += shape.rank();
    if (axis < 0 || axis >= shape.rank()) return std::nullopt;
  }
  std::sort(axes->begin(), axes->end());
  axes->erase(std::unique(axes->begin(), axes->end()), axes->end());
  return axes;
}

Expr Reduced(Expr x, std::string_view op, Output axes, bool keep_dims) {
  return x.Op(op, {axes}, {{"keep_dims", keep_dims}});
}

// A value of the output's shape with the reduced dimensions back as size 1; a scalar stays one,
// since it broadcasts just as well.
Expr KeepDims(GradientContext& c, Expr value) {
  if (Flag(c.node(), "keep_dims")) return value;
  const PartialShape& shape = c.input(0).shape();
  const std::optional<std::vector<int64_t>> axes = StaticAxes(c.node());
  if (!axes.has_value()) {
    // Rare: axes are computed. The shape of a reduction that keeps them is the one wanted.
    return value.Op("Reshape", {Reduced(X(c), "Sum", c.input(1), true).Op("Shape")});
  }
  if (static_cast<int>(axes->size()) == shape.rank()) return value;
  for (int64_t axis : *axes) {
    value = value.Op("ExpandDims", {c.builder().Scalar(static_cast<int32_t>(axis))});
  }
  return value;
}

Expr BroadcastToInput(GradientContext& c, Expr value) {
  if (c.input(0).shape().rank() == 0) return value;
  return value.Op("BroadcastTo", {ShapeOf(c.builder(), c.input(0))});
}

void Sum(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, BroadcastToInput(c, KeepDims(c, Dy(c))));
}

// How many elements went into one mean, as a scalar of the input's dtype.
Expr MeanCount(GradientContext& c) {
  const PartialShape& shape = c.input(0).shape();
  if (const auto axes = StaticAxes(c.node())) {
    int64_t count = 1;
    bool known = true;
    for (int64_t axis : *axes) {
      const int64_t size = shape.dim(static_cast<int>(axis));
      known = known && size >= 0;
      count *= size;
    }
    if (known) return X(c).Scalar(static_cast<double>(count));
  }
  Expr size = X(c).Op("Size");
  if (c.output(0).shape().rank() != 0) {
    size = size.Op("FloorDiv", {Y(c).Op("Size").Op("Maximum", {c.builder().Scalar<int32_t>(1)})});
  }
  return size.Op("Cast", {}, {{"DstT", c.input(0).dtype()}});
}

void Mean(GradientContext& c) {
  // Divided while it is small.
  if (c.wants(0)) c.set_dx(0, BroadcastToInput(c, KeepDims(c, Dy(c) / MeanCount(c))));
}

// Elements that tie for the extreme value share its gradient.
void MaxMin(GradientContext& c) {
  if (!c.wants(0)) return;
  Expr is_extreme =
      X(c).Op("Equal", {KeepDims(c, Y(c))}).Op("Cast", {}, {{"DstT", c.input(0).dtype()}});
  Expr count = Reduced(is_extreme, "Sum", c.input(1), Flag(c.node(), "keep_dims"));
  c.set_dx(0, is_extreme / KeepDims(c, count) * KeepDims(c, Dy(c)));
}

// The product of all other elements, axis by axis, with no division: zeros are allowed.
void Prod(GradientContext& c) {
  if (!c.wants(0)) return;
  const auto axes = StaticAxes(c.node());
  if (!axes.has_value()) {
    c.builder().Fail(UnimplementedError("The gradient of Prod '" + c.node().name() +
                                        "' needs constant axes and an input of known rank"));
    return;
  }
  Expr dx = KeepDims(c, Dy(c));
  Expr product = X(c);
  for (int64_t axis : *axes) {
    Output index = c.builder().Scalar(static_cast<int32_t>(axis));
    Expr before = product.Op("Cumprod", {index}, {{"exclusive", true}});
    Expr after = product.Op("Cumprod", {index}, {{"exclusive", true}, {"reverse", true}});
    dx = dx * (before * after);
    product = Reduced(product, "Prod", index, true);
  }
  c.set_dx(0, dx);
}

void EuclideanNorm(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, X(c) * KeepDims(c, Dy(c) / Y(c)));
}

AttrMap ScanAttrs(const Node& node, bool flip) {
  return {{"exclusive", Flag(node, "exclusive")}, {"reverse", Flag(node, "reverse") != flip}};
}

void Cumsum(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, Dy(c).Op("Cumsum", {c.input(1)}, ScanAttrs(c.node(), true)));
}

void Cumprod(GradientContext& c) {
  if (!c.wants(0)) return;
  c.set_dx(0, (Y(c) * Dy(c)).Op("Cumsum", {c.input(1)}, ScanAttrs(c.node(), true)) / X(c));
}

constexpr GradientEntry kEntries[] = {
    {"Cumprod", Cumprod}, {"Cumsum", Cumsum}, {"EuclideanNorm", EuclideanNorm},
    {"Max", MaxMin},      {"Mean", Mean},     {"Min", MaxMin},
    {"Prod", Prod},       {"Sum", Sum},
};

}  // namespace

std::span<const GradientEntry> ReduceGradients() { return kEntries; }

}  // namespace slipway::ir::grad
