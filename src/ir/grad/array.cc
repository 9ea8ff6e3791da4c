// SPDX-License-Identifier: Apache-2.0
//
// Ops that move, repeat, join, cut or convert elements.
#include <algorithm>
#include <optional>

#include "ir/grad/attrs.h"
#include "ir/grad/expr.h"
#include "ir/grad/shapes.h"
#include "ir/gradient.h"

namespace slipway::ir::grad {
namespace {

int NumInputs(GradientContext& c) { return static_cast<int>(c.node().inputs().size()); }

void Identity(GradientContext& c) {
  for (int i = 0; i < NumInputs(c); ++i) c.set_dx(i, c.dy(i));
}

void ReshapeBack(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, ReshapeLike(c.builder(), c.dy(0), c.input(0)));
}

void Cast(GradientContext& c) {
  if (IsFloating(c.dy(0).dtype())) {
    c.set_dx(0, Dy(c).Op("Cast", {}, {{"DstT", c.input(0).dtype()}}));
  }
}

void Transpose(GradientContext& c) {
  if (!c.wants(0)) return;
  const auto perm = ConstantIntegers(c.input(1));
  if (!perm.has_value()) {
    c.set_dx(0, Dy(c).Op("Transpose", {X(c, 1).Op("InvertPermutation")}));
    return;
  }
  std::vector<int64_t> inverse(perm->size());
  for (size_t i = 0; i < perm->size(); ++i) {
    int64_t to = (*perm)[i];
    if (to < 0) to += static_cast<int64_t>(perm->size());
    if (to < 0 || to >= static_cast<int64_t>(perm->size())) {
      c.builder().Fail(InvalidArgumentError("Transpose '" + c.node().name() +
                                            "' has a permutation that is none"));
      return;
    }
    inverse[static_cast<size_t>(to)] = static_cast<int64_t>(i);
  }
  c.set_dx(0, Dy(c).Op("Transpose", {IndexVector(c.builder(), inverse, DType::kInt32)}));
}

void Pack(GradientContext& c) {
  std::vector<Output> parts = c.builder().Ops(
      "Unpack", {c.dy(0)},
      {{"num", int64_t{NumInputs(c)}}, {"axis", AttrOr<int64_t>(c.node(), "axis", 0)}});
  for (int i = 0; i < static_cast<int>(parts.size()); ++i) {
    c.set_dx(i, parts[static_cast<size_t>(i)]);
  }
}

// Every output's gradient; zeros where nothing depends on it.
std::vector<Output> AllDy(GradientContext& c) {
  std::vector<Output> all;
  for (int i = 0; i < c.node().num_outputs(); ++i) {
    all.push_back(c.dy(i).valid() ? c.dy(i) : Output(Y(c, i).Op("ZerosLike")));
  }
  return all;
}

void Unpack(GradientContext& c) {
  c.set_dx(0, c.builder().Op("Pack", AllDy(c), {{"axis", AttrOr<int64_t>(c.node(), "axis", 0)}}));
}

void JoinOutputs(GradientContext& c, int value, int axis) {
  if (!c.wants(value)) return;
  std::vector<Output> inputs = AllDy(c);
  inputs.push_back(c.input(axis));
  c.set_dx(value, c.builder().Op("ConcatV2", std::move(inputs)));
}
void Split(GradientContext& c) { JoinOutputs(c, 1, 0); }
void SplitV(GradientContext& c) { JoinOutputs(c, 0, 2); }

// Sizes of the joined parts along the axis, if all are known.
std::optional<std::vector<int64_t>> PartSizes(GradientContext& c, int64_t axis) {
  std::vector<int64_t> sizes;
  for (int i = 0; i + 1 < NumInputs(c); ++i) {
    const PartialShape& shape = c.input(i).shape();
    if (!shape.has_rank()) return std::nullopt;
    const int64_t dim = axis < 0 ? axis + shape.rank() : axis;
    if (dim < 0 || dim >= shape.rank() || shape.dim(static_cast<int>(dim)) < 0) return std::nullopt;
    sizes.push_back(shape.dim(static_cast<int>(dim)));
  }
  return sizes;
}

void CutStatically(GradientContext& c, int64_t axis, const std::vector<int64_t>& sizes) {
  const int rank = c.input(0).shape().rank();
  std::vector<int64_t> begin(static_cast<size_t>(rank), 0);
  std::vector<int64_t> size(static_cast<size_t>(rank), -1);
  const auto dim = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  for (size_t i = 0; i < sizes.size(); ++i) {
    size[dim] = sizes[i];
    if (c.wants(static_cast<int>(i))) {
      c.set_dx(static_cast<int>(i),
               Dy(c).Op("Slice", {IndexVector(c.builder(), begin, DType::kInt32),
                                  IndexVector(c.builder(), size, DType::kInt32)}));
    }
    begin[dim] += sizes[i];
  }
}

void ConcatV2(GradientContext& c) {
  const int n = NumInputs(c) - 1;
  if (const auto axis = ConstantIntegers(c.input(n)); axis.has_value() && axis->size() == 1) {
    if (const auto sizes = PartSizes(c, (*axis)[0])) return CutStatically(c, (*axis)[0], *sizes);
  }
  GraphBuilder& b = c.builder();
  std::vector<Output> inputs = {c.input(n)};
  for (int i = 0; i < n; ++i) inputs.push_back(ShapeOf(b, c.input(i)));
  std::vector<Output> offsets = b.Ops("ConcatOffset", inputs);
  if (!b.ok()) return;
  for (int i = 0; i < n; ++i) {
    const auto k = static_cast<size_t>(i);
    if (c.wants(i)) c.set_dx(i, Dy(c).Op("Slice", {offsets[k], inputs[k + 1]}));
  }
}

void Slice(GradientContext& c) {
  if (!c.wants(0)) return;
  const DType index = c.input(1).dtype();
  Expr begin = X(c, 1);
  Expr shape(c.builder(), ShapeOf(c.builder(), c.input(0), index));
  Expr taken(c.builder(), ShapeOf(c.builder(), c.output(0), index));
  Expr paddings = begin.Op("Pack", {shape - taken - begin}, {{"axis", 1}});
  c.set_dx(0, Dy(c).Op("Pad", {paddings}));
}

void StridedSlice(GradientContext& c) {
  if (!c.wants(0)) return;
  AttrMap attrs;
  for (const char* mask :
       {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"}) {
    attrs[mask] = AttrOr<int64_t>(c.node(), mask, 0);
  }
  GraphBuilder& b = c.builder();
  Output shape = ShapeOf(b, c.input(0), c.input(1).dtype());
  c.set_dx(0, b.Op("StridedSliceGrad", {shape, c.input(1), c.input(2), c.input(3), c.dy(0)},
                   std::move(attrs)));
}

// As in TensorFlow there is none by the padding value of PadV2.
void Pad(GradientContext& c) {
  if (!c.wants(0)) return;
  GraphBuilder& b = c.builder();
  const DType index = c.input(1).dtype();
  Expr paddings = X(c, 1);
  Output begin;
  if (const auto values = ConstantIntegers(c.input(1))) {
    std::vector<int64_t> before;
    for (size_t i = 0; i + 1 < values->size(); i += 2) before.push_back((*values)[i]);
    begin = IndexVector(b, before, index);
  } else {
    Output column = b.Scalar<int32_t>(0);
    begin = paddings.Op("GatherV2", {column, b.Scalar<int32_t>(1)});
  }
  c.set_dx(0, Dy(c).Op("Slice", {begin, ShapeOf(b, c.input(0), index)}));
}

// Each dimension of the result is (times repeated, size): summed over the first.
void Tile(GradientContext& c) {
  if (!c.wants(0)) return;
  GraphBuilder& b = c.builder();
  const PartialShape& shape = c.input(0).shape();
  const auto times = ConstantIntegers(c.input(1));
  const int rank = shape.has_rank() ? shape.rank() : c.output(0).shape().rank();
  if (rank < 0) {
    b.Fail(UnimplementedError("The gradient of Tile '" + c.node().name() +
                              "' needs an input of known rank"));
    return;
  }
  std::vector<int64_t> axes;
  for (int i = 0; i < rank; ++i) axes.push_back(2 * i);
  Output split;
  if (times.has_value() && shape.IsFullyDefined()) {
    std::vector<int64_t> sizes;
    for (int i = 0; i < rank; ++i) {
      sizes.push_back((*times)[static_cast<size_t>(i)]);
      sizes.push_back(shape.dim(i));
    }
    split = IndexVector(b, sizes, DType::kInt32);
  } else {
    Expr pairs = X(c, 1).Op("Pack", {ShapeOf(b, c.input(0), c.input(1).dtype())}, {{"axis", 1}});
    split = pairs.Op("Reshape", {b.Int32Vector({-1})});
  }
  c.set_dx(0, Dy(c).Op("Reshape", {split}).Op("Sum", {IndexVector(b, axes, DType::kInt32)}));
}

void BroadcastTo(GradientContext& c) {
  if (c.wants(0)) {
    c.set_dx(0, SumToShape(c.builder(), c.dy(0), c.input(0), c.output(0)));
  }
}

void Fill(GradientContext& c) {
  if (!c.wants(1)) return;
  GraphBuilder& b = c.builder();
  Expr flat = Dy(c).Op("Reshape", {b.Int32Vector({-1})});
  c.set_dx(1, flat.Op("Sum", {b.Int32Vector({0})}));
}

void Select(GradientContext& c) {
  Expr zeros = Dy(c).Op("ZerosLike");
  if (c.wants(1)) c.set_dx(1, X(c, 0).Op("Select", {c.dy(0), zeros}));
  if (c.wants(2)) c.set_dx(2, X(c, 0).Op("Select", {zeros, c.dy(0)}));
}

void SelectV2(GradientContext& c) {
  GraphBuilder& b = c.builder();
  Expr zero = Dy(c).Scalar(0);
  // The output stands for what each value was broadcast against.
  if (c.wants(1)) {
    c.set_dx(1, SumToShape(b, Where(X(c, 0), Dy(c), zero), c.input(1), c.output(0)));
  }
  if (c.wants(2)) {
    c.set_dx(2, SumToShape(b, Where(X(c, 0), zero, Dy(c)), c.input(2), c.output(0)));
  }
}

void MirrorPad(GradientContext& c) {
  if (c.wants(0)) {
    c.set_dx(0, Dy(c).Op("MirrorPadGrad", {c.input(1)}, CopyAttrs(c.node(), {"mode"})));
  }
}

void ReverseSequence(GradientContext& c) {
  if (c.wants(0)) {
    c.set_dx(0, Dy(c).Op("ReverseSequence", {c.input(1)},
                         CopyAttrs(c.node(), {"seq_dim", "batch_dim"})));
  }
}

void Roll(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, Dy(c).Op("Roll", {-X(c, 1), c.input(2)}));
}

void ReverseV2(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, Dy(c).Op("ReverseV2", {c.input(1)}));
}

constexpr GradientEntry kEntries[] = {
    {"BroadcastTo", BroadcastTo},
    {"Cast", Cast},
    {"CheckNumerics", Identity},
    {"ConcatV2", ConcatV2},
    {"EnsureShape", Identity},
    {"ExpandDims", ReshapeBack},
    {"Fill", Fill},
    {"Identity", Identity},
    {"IdentityN", Identity},
    {"MirrorPad", MirrorPad},
    {"Pack", Pack},
    {"Pad", Pad},
    {"PadV2", Pad},
    {"Reshape", ReshapeBack},
    {"ReverseSequence", ReverseSequence},
    {"ReverseV2", ReverseV2},
    {"Roll", Roll},
    {"Select", Select},
    {"SelectV2", SelectV2},
    {"Slice", Slice},
    {"Snapshot", Identity},
    {"Split", Split},
    {"SplitV", SplitV},
    {"Squeeze", ReshapeBack},
    {"StridedSlice", StridedSlice},
    {"Tile", Tile},
    {"Transpose", Transpose},
    {"Unpack", Unpack},
};

}  // namespace

std::span<const GradientEntry> ArrayGradients() { return kEntries; }

}  // namespace slipway::ir::grad
