// SPDX-License-Identifier: Apache-2.0
//
// Lists of tensors. The gradient of a list is a list: an element that is not set there has none.
#include "ir/grad/attrs.h"
#include "ir/grad/expr.h"
#include "ir/grad/shapes.h"
#include "ir/gradient.h"

namespace slipway::ir::grad {
namespace {

AttrMap ElementType(GradientContext& c) { return CopyAttrs(c.node(), {"element_dtype"}); }

Output AnyShape(GraphBuilder& b) { return b.Scalar<int32_t>(-1); }

// A list with as many elements as `list`, none of them set, of elements shaped as `item`.
Expr EmptyLike(GradientContext& c, Expr list, Output item) {
  GraphBuilder& b = c.builder();
  return {b, b.Op("TensorListReserve", {ShapeOf(b, item), list.Op("TensorListLength")},
                  ElementType(c))};
}

void PushBack(GradientContext& c) {
  GraphBuilder& b = c.builder();
  const std::vector<Output> parts =
      b.Ops("TensorListPopBack", {c.dy(0), ShapeOf(b, c.input(1))}, ElementType(c));
  if (!b.ok()) return;
  if (c.wants(0)) c.set_dx(0, parts[0]);
  if (c.wants(1)) c.set_dx(1, parts[1]);
}

void PopBack(GradientContext& c) {
  if (!c.wants(0)) return;
  Expr list = c.dy(0).valid() ? Dy(c, 0) : Y(c, 0).Op("ZerosLike");
  Output item = c.dy(1).valid() ? c.dy(1) : Output(Y(c, 1).Op("ZerosLike"));
  c.set_dx(0, list.Op("TensorListPushBack", {item}, ElementType(c)));
}

void Stack(GradientContext& c) {
  if (!c.wants(0)) return;
  GraphBuilder& b = c.builder();
  Expr shape(b, ShapeOf(b, c.dy(0)));
  Expr element =
      shape.Op("StridedSlice", {b.Int32Vector({1}), b.Int32Vector({0}), b.Int32Vector({1})},
               {{"end_mask", 1}});
  c.set_dx(0, Dy(c).Op("TensorListFromTensor", {element}, ElementType(c)));
}

void FromTensor(GradientContext& c) {
  if (!c.wants(0)) return;
  GraphBuilder& b = c.builder();
  Expr shape(b, ShapeOf(b, c.input(0)));
  Expr element =
      shape.Op("StridedSlice", {b.Int32Vector({1}), b.Int32Vector({0}), b.Int32Vector({1})},
               {{"end_mask", 1}});
  c.set_dx(0, Dy(c).Op("TensorListStack", {element}, ElementType(c)));
}

void GetItem(GradientContext& c) {
  if (!c.wants(0)) return;
  c.set_dx(0, EmptyLike(c, X(c, 0), c.dy(0))
                  .Op("TensorListSetItem", {c.input(1), c.dy(0)}, ElementType(c)));
}

void SetItem(GradientContext& c) {
  GraphBuilder& b = c.builder();
  if (c.wants(0)) {
    Expr list =
        Dy(c).Op("TensorListSetItem", {c.input(1), X(c, 2).Op("ZerosLike")}, ElementType(c));
    // The list may have grown by this.
    const bool grows = AttrOr(c.node(), "resize_if_index_out_of_bounds", false);
    c.set_dx(0, grows ? list.Op("TensorListResize", {X(c, 0).Op("TensorListLength")}) : list);
  }
  if (c.wants(2)) {
    c.set_dx(2,
             Dy(c).Op("TensorListGetItem", {c.input(1), ShapeOf(b, c.input(2))}, ElementType(c)));
  }
}

void Resize(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, Dy(c).Op("TensorListResize", {X(c).Op("TensorListLength")}));
}

void Gather(GradientContext& c) {
  if (!c.wants(0)) return;
  GraphBuilder& b = c.builder();
  c.set_dx(0, Dy(c).Op("TensorListScatterV2",
                       {c.input(1), AnyShape(b), X(c).Op("TensorListLength")}, ElementType(c)));
}

void Scatter(GradientContext& c) {
  if (!c.wants(0)) return;
  c.set_dx(0, Dy(c).Op("TensorListGather", {c.input(1), AnyShape(c.builder())}, ElementType(c)));
}

constexpr GradientEntry kEntries[] = {
    {"TensorListFromTensor", FromTensor}, {"TensorListGather", Gather},
    {"TensorListGetItem", GetItem},       {"TensorListPopBack", PopBack},
    {"TensorListPushBack", PushBack},     {"TensorListResize", Resize},
    {"TensorListScatterV2", Scatter},     {"TensorListSetItem", SetItem},
    {"TensorListStack", Stack},
};

}  // namespace

std::span<const GradientEntry> ListGradients() { return kEntries; }

}  // namespace slipway::ir::grad
