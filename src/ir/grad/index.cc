// SPDX-License-Identifier: Apache-2.0
//
// Ops that pick or place elements by index. Gradients are dense: rows picked twice add up, rows not
// picked get zeros.
#include "ir/grad/expr.h"
#include "ir/grad/shapes.h"
#include "ir/gradient.h"

namespace slipway::ir::grad {
namespace {

// The size of a dimension of `value` as an int32 scalar.
Output SizeOf(GraphBuilder& b, Output value, int64_t axis) {
  const PartialShape& shape = value.shape();
  if (shape.has_rank() && shape.dim(static_cast<int>(axis)) >= 0) {
    return b.Scalar(static_cast<int32_t>(shape.dim(static_cast<int>(axis))));
  }
  const auto at = static_cast<int32_t>(axis);
  return b.Op(
      "StridedSlice",
      {b.Op("Shape", {value}), b.Int32Vector({at}), b.Int32Vector({at + 1}), b.Int32Vector({1})},
      {{"shrink_axis_mask", 1}});
}

Status GatherUnsupported(const Node& node, std::string_view why) {
  return UnimplementedError("The gradient of " + node.op() + " '" + node.name() + "' needs " +
                            std::string(why));
}

void GatherRows(GradientContext& c) {
  if (!c.wants(0)) return;
  Output rows = SizeOf(c.builder(), c.input(0), 0);
  c.set_dx(0, Dy(c).Op("UnsortedSegmentSum", {c.input(1), rows}));
}

// Along another axis: the picked dimensions are moved to the front and back again.
void GatherAlong(GradientContext& c, int64_t axis) {
  GraphBuilder& b = c.builder();
  const int rank = c.input(0).shape().rank();
  const int picked = c.input(1).shape().rank();
  if (rank < 0 || picked < 0) {
    b.Fail(GatherUnsupported(c.node(), "inputs of known rank where the axis is not 0"));
    return;
  }
  std::vector<int64_t> to_front;
  std::vector<int64_t> back;
  for (int64_t i = 0; i < picked; ++i) to_front.push_back(axis + i);
  for (int64_t i = 0; i < axis; ++i) to_front.push_back(i);
  for (int64_t i = axis + picked; i < rank - 1 + picked; ++i) to_front.push_back(i);
  for (int64_t i = 1; i <= axis; ++i) back.push_back(i);
  back.push_back(0);
  for (int64_t i = axis + 1; i < rank; ++i) back.push_back(i);
  Expr moved = Dy(c).Op("Transpose", {IndexVector(b, to_front, DType::kInt32)});
  Expr sums = moved.Op("UnsortedSegmentSum", {c.input(1), SizeOf(b, c.input(0), axis)});
  c.set_dx(0, sums.Op("Transpose", {IndexVector(b, back, DType::kInt32)}));
}

void GatherV2(GradientContext& c) {
  if (!c.wants(0)) return;
  const AttrValue* batch_dims = c.node().FindAttr("batch_dims");
  const int64_t* batch = batch_dims == nullptr ? nullptr : batch_dims->As<int64_t>();
  const auto axes = ConstantIntegers(c.input(2));
  if ((batch != nullptr && *batch != 0) || !axes.has_value() || axes->size() != 1) {
    c.builder().Fail(GatherUnsupported(c.node(), "a constant axis and batch_dims = 0"));
    return;
  }
  int64_t axis = (*axes)[0];
  if (axis < 0 && c.input(0).shape().has_rank()) axis += c.input(0).shape().rank();
  if (axis == 0) return GatherRows(c);
  if (axis < 0) {
    c.builder().Fail(GatherUnsupported(c.node(), "an input of known rank where the axis is < 0"));
    return;
  }
  GatherAlong(c, axis);
}

void GatherNd(GradientContext& c) {
  if (!c.wants(0)) return;
  Output shape = ShapeOf(c.builder(), c.input(0), c.input(1).dtype());
  c.set_dx(0, X(c, 1).Op("ScatterNd", {c.dy(0), shape}));
}

void ScatterNd(GradientContext& c) {
  if (c.wants(1)) c.set_dx(1, Dy(c).Op("GatherNd", {c.input(0)}));
}

void TensorScatterUpdate(GradientContext& c) {
  if (c.wants(0)) {
    c.set_dx(0, Dy(c).Op("TensorScatterUpdate", {c.input(1), X(c, 2).Op("ZerosLike")}));
  }
  if (c.wants(2)) c.set_dx(2, Dy(c).Op("GatherNd", {c.input(1)}));
}

// Rows with a negative id were dropped: they get zeros.
void UnsortedSegmentSum(GradientContext& c) {
  if (!c.wants(0)) return;
  const PartialShape& data = c.input(0).shape();
  const PartialShape& ids_shape = c.input(1).shape();
  if (!data.has_rank() || !ids_shape.has_rank()) {
    c.builder().Fail(GatherUnsupported(c.node(), "inputs of known rank"));
    return;
  }
  Expr ids = X(c, 1);
  Expr zero = ids.Scalar(0);
  Expr rows = Dy(c).Op("GatherV2", {ids.Op("Maximum", {zero}), c.builder().Scalar<int32_t>(0)});
  Expr kept = ids.Op("GreaterEqual", {zero});
  for (int i = ids_shape.rank(); i < data.rank(); ++i) {
    kept = kept.Op("ExpandDims", {c.builder().Scalar<int32_t>(-1)});
  }
  c.set_dx(0, Where(kept, rows, Dy(c).Scalar(0)));
}

constexpr GradientEntry kEntries[] = {
    {"Gather", GatherRows},
    {"GatherNd", GatherNd},
    {"GatherV2", GatherV2},
    {"ScatterNd", ScatterNd},
    {"TensorScatterUpdate", TensorScatterUpdate},
    {"UnsortedSegmentSum", UnsortedSegmentSum},
};

}  // namespace

std::span<const GradientEntry> IndexGradients() { return kEntries; }

}  // namespace slipway::ir::grad
