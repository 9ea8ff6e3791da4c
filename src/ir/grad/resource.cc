// SPDX-License-Identifier: Apache-2.0
//
// Reads of variables: the gradient of a handle is the (dense) gradient of the variable's value.
#include "ir/grad/expr.h"
#include "ir/gradient.h"

namespace slipway::ir::grad {
namespace {

void ReadVariableOp(GradientContext& c) { c.set_dx(0, c.dy(0)); }

void ResourceGather(GradientContext& c) {
  GraphBuilder& b = c.builder();
  const AttrValue* batch_dims = c.node().FindAttr("batch_dims");
  const int64_t* batch = batch_dims == nullptr ? nullptr : batch_dims->As<int64_t>();
  if (batch != nullptr && *batch != 0) {
    b.Fail(UnimplementedError("The gradient of ResourceGather '" + c.node().name() +
                              "' needs batch_dims = 0"));
    return;
  }
  Expr shape = X(c).Op("VariableShape");
  Expr rows = shape.Op("StridedSlice", {b.Int32Vector({0}), b.Int32Vector({1}), b.Int32Vector({1})},
                       {{"shrink_axis_mask", 1}});
  c.set_dx(0, Dy(c).Op("UnsortedSegmentSum", {c.input(1), rows}));
}

constexpr GradientEntry kEntries[] = {
    {"ReadVariableOp", ReadVariableOp},
    {"ResourceGather", ResourceGather},
};

}  // namespace

std::span<const GradientEntry> ResourceGradients() { return kEntries; }

}  // namespace slipway::ir::grad
