// SPDX-License-Identifier: Apache-2.0
//
// Sums, means and extremes by segment; sorting and splitting by index.
#include "base/strings.h"
#include "ir/grad/attrs.h"
#include "ir/grad/expr.h"
#include "ir/grad/shapes.h"
#include "ir/gradient.h"

namespace slipway::ir::grad {
namespace {

Expr Rows(Expr x, Output ids) { return x.Op("GatherV2", {ids, x.builder().Scalar<int32_t>(0)}); }
Expr CastLike(Expr x, Output like) { return x.Op("Cast", {}, {{"DstT", like.dtype()}}); }

// A vector with one element an id, as a column that broadcasts against the rows of the data;
// nothing if the rank is not known.
std::optional<Expr> AsColumn(GradientContext& c, Expr value, int ids_rank) {
  const PartialShape& data = c.input(0).shape();
  if (!data.has_rank() || ids_rank < 0) {
    c.builder().Fail(UnimplementedError(StrCat("The gradient of ", c.node().op(), " '",
                                               c.node().name(), "' needs inputs of known rank")));
    return std::nullopt;
  }
  for (int i = ids_rank; i < data.rank(); ++i) {
    value = value.Op("ExpandDims", {c.builder().Scalar<int32_t>(-1)});
  }
  return value;
}

void SegmentSum(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, Rows(Dy(c), c.input(1)));
}

void SegmentMean(GradientContext& c) {
  if (!c.wants(0)) return;
  Expr ones = CastLike(X(c, 1).Op("OnesLike"), c.input(0));
  const auto counts = AsColumn(c, Rows(ones.Op("SegmentSum", {c.input(1)}), c.input(1)), 1);
  if (counts) c.set_dx(0, Rows(Dy(c), c.input(1)) / *counts);
}

// All that equal the extreme share its gradient.
void SegmentExtreme(GradientContext& c) {
  if (!c.wants(0)) return;
  Expr selected = X(c).Op("Equal", {Rows(Y(c), c.input(1))});
  Expr count = CastLike(selected, c.input(0)).Op("SegmentSum", {c.input(1)});
  Expr share = Rows(Dy(c) / count, c.input(1));
  c.set_dx(0, Where(selected, share, share.Scalar(0)));
}

// Rows with a negative id were dropped.
struct Kept {
  Expr ids;   // 0 for what was dropped
  Expr rows;  // a column of booleans
};
std::optional<Kept> KeptRows(GradientContext& c) {
  Expr ids = X(c, 1), zero = ids.Scalar(0);
  const auto rows = AsColumn(c, ids.Op("GreaterEqual", {zero}),
                             c.input(1).shape().has_rank() ? c.input(1).shape().rank() : -1);
  if (!rows) return std::nullopt;
  return Kept{ids.Op("Maximum", {zero}), *rows};
}

void UnsortedExtreme(GradientContext& c) {
  const auto kept = c.wants(0) ? KeptRows(c) : std::nullopt;
  if (!kept) return;
  Expr selected = X(c).Op("Equal", {Rows(Y(c), kept->ids)}).Op("LogicalAnd", {kept->rows});
  Expr count = CastLike(selected, c.input(0)).Op("UnsortedSegmentSum", {c.input(1), c.input(2)});
  Expr share = Rows(Dy(c) / count, kept->ids);
  c.set_dx(0, Where(selected, share, share.Scalar(0)));
}

// The product of the others: y / x, and where x is 0 the product without it, which is 0 too if
// there is another 0.
void UnsortedProd(GradientContext& c) {
  const auto kept = c.wants(0) ? KeptRows(c) : std::nullopt;
  if (!kept) return;
  Expr x = X(c), zero = x.Scalar(0);
  Expr is_zero = x.Op("Equal", {zero});
  Expr zeros = CastLike(is_zero, c.input(0)).Op("UnsortedSegmentSum", {c.input(1), c.input(2)});
  Expr dy = Where(zeros.Op("Greater", {x.Scalar(1)}), zero, Dy(c));
  Expr without = Where(is_zero, x.Scalar(1), x).Op("UnsortedSegmentProd", {c.input(1), c.input(2)});
  Expr others = Where(is_zero, Rows(without, kept->ids), Rows(Y(c), kept->ids) / x);
  c.set_dx(0, Where(kept->rows, Rows(dy, kept->ids) * others, zero));
}

// Each value goes back to the place that its index names, in the flattened input.
void TopK(GradientContext& c) {
  if (!c.wants(0)) return;
  GraphBuilder& b = c.builder();
  const Output flat = b.Int32Vector({-1});
  Expr shape(b, ShapeOf(b, c.input(0)));
  Expr last =
      shape.Op("StridedSlice", {b.Int32Vector({-1}), b.Int32Vector({0}), b.Int32Vector({1})},
               {{"shrink_axis_mask", 1}, {"end_mask", 1}});
  Expr size = shape.Op("Prod", {b.Int32Vector({0})});
  Expr starts(b, b.Op("Range", {b.Scalar<int32_t>(0), size, last}));
  Expr indices = Y(c, 1).Op("Cast", {}, {{"DstT", DType::kInt32}});
  Expr rows = indices.Op(
      "Reshape", {Expr(b, b.Scalar<int32_t>(-1))
                      .Op("Pack", {indices.Op("Shape").Op(
                                      "StridedSlice",
                                      {b.Int32Vector({-1}), b.Int32Vector({0}), b.Int32Vector({1})},
                                      {{"shrink_axis_mask", 1}, {"end_mask", 1}})})});
  Expr places = (rows + starts.Op("ExpandDims", {b.Scalar<int32_t>(-1)}))
                    .Op("Reshape", {b.Int32Vector({-1, 1})});
  Expr vector = Dy(c).Op("Reshape", {flat});
  Expr dx = places.Op("ScatterNd", {vector, size.Op("Reshape", {b.Int32Vector({1})})});
  c.set_dx(0, dx.Op("Reshape", {shape}));
}

// The rows go back to where they came from.
void DynamicPartition(GradientContext& c) {
  if (!c.wants(0)) return;
  GraphBuilder& b = c.builder();
  Expr shape(b, ShapeOf(b, c.input(1)));
  Expr count = shape.Op("Prod", {b.Int32Vector({0})});
  Expr range(b, b.Op("Range", {b.Scalar<int32_t>(0), count, b.Scalar<int32_t>(1)}));
  Expr places = range.Op("Reshape", {shape});
  std::vector<Output> inputs =
      b.Ops("DynamicPartition", {places, c.input(1)}, CopyAttrs(c.node(), {"num_partitions"}));
  for (int i = 0; i < c.node().num_outputs(); ++i) {
    inputs.push_back(c.dy(i).valid() ? c.dy(i) : Output(Y(c, i).Op("ZerosLike")));
  }
  Expr rows(b, b.Op("DynamicStitch", std::move(inputs)));
  c.set_dx(0, rows.Op("Reshape", {ShapeOf(b, c.input(0))}));
}

void DynamicStitch(GradientContext& c) {
  const int n = static_cast<int>(c.node().inputs().size()) / 2;
  for (int i = 0; i < n; ++i) {
    if (c.wants(n + i)) c.set_dx(n + i, Rows(Dy(c), c.input(i)));
  }
}

constexpr GradientEntry kEntries[] = {
    {"DynamicPartition", DynamicPartition},
    {"DynamicStitch", DynamicStitch},
    {"ParallelDynamicStitch", DynamicStitch},
    {"SegmentMax", SegmentExtreme},
    {"SegmentMean", SegmentMean},
    {"SegmentMin", SegmentExtreme},
    {"SegmentSum", SegmentSum},
    {"TopK", TopK},
    {"TopKV2", TopK},
    {"UnsortedSegmentMax", UnsortedExtreme},
    {"UnsortedSegmentMin", UnsortedExtreme},
    {"UnsortedSegmentProd", UnsortedProd},
};

}  // namespace

std::span<const GradientEntry> SegmentGradients() { return kEntries; }

}  // namespace slipway::ir::grad
