// SPDX-License-Identifier: Apache-2.0
//
// Ops that pick or place elements by index. Gradients are dense: rows picked twice add up, rows not
// picked get zeros.
#include "ir/grad/attrs.h"
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

// Dimensions first…last-1 of a shape.
Expr Part(Expr shape, int64_t first, int64_t last) {
  GraphBuilder& b = shape.builder();
  return shape.Op("Slice", {b.Int32Vector({static_cast<int32_t>(first)}),
                            b.Int32Vector({static_cast<int32_t>(last - first)})});
}

// With batch dimensions: those and the picked ones are moved to the front and flattened, every
// batch with segments of its own.
void GatherInBatches(GradientContext& c, int64_t axis, int64_t batch) {
  GraphBuilder& b = c.builder();
  const int64_t rank = c.input(0).shape().rank(), picked = c.input(1).shape().rank() - batch;
  std::vector<int64_t> to_front, back;
  for (int64_t i = 0; i < batch; ++i) to_front.push_back(i);
  for (int64_t i = 0; i < picked; ++i) to_front.push_back(axis + i);
  for (int64_t i = batch; i < axis; ++i) to_front.push_back(i);
  for (int64_t i = axis + picked; i < rank - 1 + picked; ++i) to_front.push_back(i);
  for (int64_t i = 0; i < batch; ++i) back.push_back(i);
  for (int64_t i = batch + 1; i <= axis; ++i) back.push_back(i);
  back.push_back(batch);
  for (int64_t i = axis + 1; i < rank; ++i) back.push_back(i);

  Expr moved = Dy(c).Op("Transpose", {IndexVector(b, to_front, DType::kInt32)});
  Expr shape(b, ShapeOf(b, c.input(0)));
  Expr rest = Part(Expr(b, ShapeOf(b, moved)), batch + picked, rank - 1 + picked);
  Output first = b.Int32Vector({0});
  Expr batches = Part(shape, 0, batch).Op("Prod", {first});
  Expr size(b, SizeOf(b, c.input(0), axis));
  Expr indices = X(c, 1).Op("Cast", {}, {{"DstT", DType::kInt32}});
  Expr rows = indices.Op("Reshape", {batches.Op("Pack", {b.Scalar<int32_t>(-1)})});
  Expr starts(b, b.Op("Range", {b.Scalar<int32_t>(0), batches, b.Scalar<int32_t>(1)}));
  Expr ids = (rows + (starts * size).Op("ExpandDims", {b.Scalar<int32_t>(-1)}))
                 .Op("Reshape", {b.Int32Vector({-1})});
  Output zero = b.Scalar<int32_t>(0);
  Output flat = b.Op("ConcatV2", {b.Int32Vector({-1}), rest, zero});
  Expr sums = moved.Op("Reshape", {flat}).Op("UnsortedSegmentSum", {ids, batches * size});
  Output whole = b.Op(
      "ConcatV2", {Part(shape, 0, batch), size.Op("Reshape", {b.Int32Vector({1})}), rest, zero});
  c.set_dx(0, sums.Op("Reshape", {whole}).Op("Transpose", {IndexVector(b, back, DType::kInt32)}));
}

void GatherV2(GradientContext& c) {
  if (!c.wants(0)) return;
  int64_t batch = AttrOr<int64_t>(c.node(), "batch_dims", 0);
  const auto axes = ConstantIntegers(c.input(2));
  if (!axes.has_value() || axes->size() != 1) {
    c.builder().Fail(GatherUnsupported(c.node(), "a constant axis"));
    return;
  }
  int64_t axis = (*axes)[0];
  if (axis < 0 && c.input(0).shape().has_rank()) axis += c.input(0).shape().rank();
  if (batch != 0) {
    if (axis < 0 || !c.input(0).shape().has_rank() || !c.input(1).shape().has_rank()) {
      c.builder().Fail(
          GatherUnsupported(c.node(), "inputs of known rank where batch_dims is not 0"));
      return;
    }
    if (batch < 0) batch += c.input(1).shape().rank();
    return GatherInBatches(c, axis, batch);
  }
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

void TensorScatterAdd(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, c.dy(0));
  if (c.wants(2)) c.set_dx(2, Dy(c).Op("GatherNd", {c.input(1)}));
}
void TensorScatterSub(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, c.dy(0));
  if (c.wants(2)) c.set_dx(2, -Dy(c).Op("GatherNd", {c.input(1)}));
}

// Whoever equals the result shares its gradient: the tensor and any number of updates.
void TensorScatterExtreme(GradientContext& c) {
  const auto equal = [&](Expr a, Expr b) {
    return a.Op("Equal", {b}).Op("Cast", {}, {{"DstT", c.input(0).dtype()}});
  };
  Expr indices = X(c, 1);
  Expr tensor = equal(X(c, 0), Y(c));
  Expr updates = equal(X(c, 2), Y(c).Op("GatherNd", {indices}));
  Output shape = ShapeOf(c.builder(), c.input(0), c.input(1).dtype());
  Expr share = Dy(c) / (tensor + indices.Op("ScatterNd", {updates, shape}));
  if (c.wants(0)) c.set_dx(0, share * tensor);
  if (c.wants(2)) c.set_dx(2, share.Op("GatherNd", {indices}) * updates);
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
    {"TensorScatterAdd", TensorScatterAdd},
    {"TensorScatterMax", TensorScatterExtreme},
    {"TensorScatterMin", TensorScatterExtreme},
    {"TensorScatterSub", TensorScatterSub},
    {"TensorScatterUpdate", TensorScatterUpdate},
    {"UnsortedSegmentSum", UnsortedSegmentSum},
};

}  // namespace

std::span<const GradientEntry> IndexGradients() { return kEntries; }

}  // namespace slipway::ir::grad
