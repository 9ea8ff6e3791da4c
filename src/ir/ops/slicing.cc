// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/strings.h"
#include "ir/op_schema.h"
#include "ir/ops/shape_helpers.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

Status PackShape(ShapeContext& c) {
  PartialShape all;
  for (int i = 0; i < c.num_inputs(); ++i) {
    ASSIGN_OR_RETURN(all, MergeShapes(c, all, c.input(i)));
  }
  if (!all.has_rank()) return OkStatus();
  ASSIGN_OR_RETURN(const int axis, WrapAxis(c, AttrOf<int64_t>(c, "axis"), all.rank() + 1));
  Dims dims = all.dims();
  dims.insert(dims.begin() + axis, c.num_inputs());
  c.set_output(0, PartialShape(std::move(dims)));
  return OkStatus();
}

int NumOutputs(const ShapeContext& c) { return c.node().num_outputs(); }

Status UnpackShape(ShapeContext& c) {
  const PartialShape& in = c.input(0);
  if (!in.has_rank()) return OkStatus();
  RETURN_IF_ERROR(CheckMinRank(c, 0, 1));
  ASSIGN_OR_RETURN(const int axis, WrapAxis(c, AttrOf<int64_t>(c, "axis"), in.rank()));
  RETURN_IF_ERROR(MergeDims(c, in.dim(axis), NumOutputs(c)).status());
  Dims dims = in.dims();
  dims.erase(dims.begin() + axis);
  for (int i = 0; i < NumOutputs(c); ++i) c.set_output(i, PartialShape(dims));
  return OkStatus();
}

// The rank that the values have in common, -1 if no one's is known.
StatusOr<int> CommonRank(const ShapeContext& c, int n) {
  int64_t rank = -1;
  for (int i = 0; i < n; ++i) {
    RETURN_IF_ERROR(CheckMinRank(c, i, 1));
    const int64_t own = c.input(i).rank();
    if (rank >= 0 && own >= 0 && rank != own) {
      return c.Error(StrCat("Shapes must be equal rank, but are ", rank, " and ", own));
    }
    rank = std::max(rank, own);
  }
  return static_cast<int>(rank);
}

Status ConcatShape(ShapeContext& c) {
  const int n = c.num_inputs() - 1;  // the axis is last
  RETURN_IF_ERROR(CheckScalar(c, n));
  ASSIGN_OR_RETURN(const int rank, CommonRank(c, n));
  if (rank < 0) return OkStatus();
  const std::optional<int64_t> given = ConstInteger(c, n);
  if (!given) {
    c.set_output(0, PartialShape::UnknownOfRank(rank));
    return OkStatus();
  }
  ASSIGN_OR_RETURN(const int axis, WrapAxis(c, *given, rank));
  PartialShape rest;  // all but the axis, which is left open
  int64_t sum = 0;
  for (int i = 0; i < n; ++i) {
    PartialShape shape = c.input(i).has_rank() ? c.input(i) : PartialShape::UnknownOfRank(rank);
    sum = DimAdd(sum, shape.dim(axis));
    shape.set_dim(axis, -1);
    ASSIGN_OR_RETURN(rest, MergeShapes(c, rest, shape));
  }
  rest.set_dim(axis, sum);
  c.set_output(0, std::move(rest));
  return OkStatus();
}

Status ConcatOffsetShape(ShapeContext& c) {
  for (int i = 1; i < c.num_inputs(); ++i) c.set_output(i - 1, c.input(i));
  return OkStatus();
}

void SetAllOutputs(ShapeContext& c, const PartialShape& shape) {
  for (int i = 0; i < NumOutputs(c); ++i) c.set_output(i, shape);
}

Status SplitShape(ShapeContext& c) {
  RETURN_IF_ERROR(CheckScalar(c, 0));
  PartialShape shape = c.input(1);
  if (!shape.has_rank()) return OkStatus();
  const std::optional<int64_t> given = ConstInteger(c, 0);
  if (!given) {
    SetAllOutputs(c, PartialShape::UnknownOfRank(shape.rank()));
    return OkStatus();
  }
  ASSIGN_OR_RETURN(const int axis, WrapAxis(c, *given, shape.rank()));
  const int64_t size = shape.dim(axis), n = NumOutputs(c);
  if (size >= 0 && size % n != 0) {
    return c.Error(StrCat("Dimension size must be evenly divisible by ", n, " but is ", size,
                          ": Number of ways to split should evenly divide the split dimension"));
  }
  shape.set_dim(axis, size < 0 ? -1 : size / n);
  SetAllOutputs(c, shape);
  return OkStatus();
}

Status SplitVShape(ShapeContext& c) {
  RETURN_IF_ERROR(CheckScalar(c, 2));
  ASSIGN_OR_RETURN(const PartialShape count, c.InputOfRank(1, 1));
  RETURN_IF_ERROR(MergeDims(c, count.dim(0), NumOutputs(c)).status());
  PartialShape shape = c.input(0);
  const std::optional<int64_t> given = ConstInteger(c, 2);
  if (!shape.has_rank()) return OkStatus();
  if (!given) {
    SetAllOutputs(c, PartialShape::UnknownOfRank(shape.rank()));
    return OkStatus();
  }
  ASSIGN_OR_RETURN(const int axis, WrapAxis(c, *given, shape.rank()));
  const int64_t total = shape.dim(axis);
  const auto n = static_cast<size_t>(NumOutputs(c));
  Dims sizes = ConstIntegers(c, 1).value_or(Dims(n, -1));
  if (sizes.size() != n) return c.Error("size_splits has not one element for each output");
  int64_t sum = 0;
  int64_t* open = nullptr;
  for (int64_t& size : sizes) {
    if (size < -1) return c.Error(StrCat("size_splits has ", size, "; wanted sizes or one -1"));
    if (size >= 0) sum = DimAdd(sum, size);
    if (size == -1) open = &size;
  }
  const bool all_known = std::ranges::find(sizes, -1) == sizes.end();
  const bool one_open = std::ranges::count(sizes, -1) == 1;
  if (total >= 0 && (sum > total || (all_known && sum != total))) {
    return c.Error(StrCat("can't split axis of size ", total, " into pieces of size [",
                          StrJoin(sizes, ","), "]"));
  }
  if (one_open && total >= 0) *open = total - sum;
  for (size_t i = 0; i < n; ++i) {
    shape.set_dim(axis, sizes[i]);
    c.set_output(static_cast<int>(i), shape);
  }
  return OkStatus();
}

// One size of a Slice, -1 if not known.
StatusOr<int64_t> SlicedDim(const ShapeContext& c, int64_t dim, int64_t begin, int64_t size) {
  if (begin < 0 || size < -1) {
    return c.Error(StrCat("begin ", begin, " and size ", size, " must be >= 0 (size -1: all)"));
  }
  // A size that is told stands, as in TensorFlow; whether it fits is seen when it runs.
  if (size >= 0) return size;
  if (dim >= 0 && begin > dim) {
    return c.Error(StrCat("Expected begin in [0, ", dim, "], but got ", begin));
  }
  return dim < 0 ? -1 : dim - begin;
}

Status SliceShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(const PartialShape begin_shape, c.InputOfRank(1, 1));
  ASSIGN_OR_RETURN(const PartialShape size_shape, c.InputOfRank(2, 1));
  const PartialShape& in = c.input(0);
  ASSIGN_OR_RETURN(int64_t rank, MergeDims(c, begin_shape.dim(0), size_shape.dim(0)));
  ASSIGN_OR_RETURN(rank, MergeDims(c, rank, in.rank()));
  if (rank < 0 || rank > Shape::kMaxRank) return OkStatus();
  PartialShape out = PartialShape::UnknownOfRank(static_cast<int>(rank));
  const auto fitting = [&](std::optional<Dims> v) {
    return v && static_cast<int64_t>(v->size()) == rank ? std::move(v) : std::nullopt;
  };
  const std::optional<Dims> begin = fitting(ConstIntegers(c, 1));
  // Sizes computed from shapes help too; their unknown elements are not the -1 that means "all".
  const std::optional<Dims> size = fitting(ConstIntegers(c, 2));
  const std::optional<Dims> partly = fitting(c.input_as_shape(2));
  for (int i = 0; i < out.rank(); ++i) {
    const auto k = static_cast<size_t>(i);
    if (begin && size) {
      ASSIGN_OR_RETURN(const int64_t dim,
                       SlicedDim(c, in.has_rank() ? in.dim(i) : -1, (*begin)[k], (*size)[k]));
      out.set_dim(i, dim);
    } else if (size || partly) {
      out.set_dim(i, std::max<int64_t>(size ? (*size)[k] : (*partly)[k], -1));
    }
  }
  c.set_output(0, std::move(out));
  return OkStatus();
}

// The sparse specification of a StridedSlice, element by element.
struct StridedSpec {
  std::optional<Dims> begin, end, stride;
  int64_t begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask;
  int count = 0;
};

bool Bit(int64_t mask, int i) { return i < 63 && ((mask >> i) & 1) != 0; }

StatusOr<int64_t> StridedDim(const ShapeContext& c, const StridedSpec& s, int k, int64_t dim) {
  const auto at = [&](const std::optional<Dims>& v) -> std::optional<int64_t> {
    if (!v || v->size() <= static_cast<size_t>(k)) return std::nullopt;
    return (*v)[static_cast<size_t>(k)];
  };
  const auto begin = at(s.begin), end = at(s.end), stride = at(s.stride);
  if (Bit(s.shrink_axis_mask, k)) {
    if (begin && dim >= 0 && (*begin < -dim || *begin >= dim)) {
      return c.Error(StrCat("slice index ", *begin, " of dimension ", k, " out of bounds."));
    }
    return 1;
  }
  if (stride && *stride == 0) return c.Error(StrCat("strides[", k, "] must be non-zero"));
  const bool full = Bit(s.begin_mask, k) && Bit(s.end_mask, k);
  if (!stride || dim < 0) {
    // Without the size, two indices of one sign still fix the length from above only.
    return -1;
  }
  if (!full && ((!Bit(s.begin_mask, k) && !begin) || (!Bit(s.end_mask, k) && !end))) return -1;
  const bool forward = *stride > 0;
  const int64_t low = forward ? 0 : -1, high = forward ? dim : dim - 1;
  const auto wrap = [&](int64_t i) { return std::clamp(i < 0 ? i + dim : i, low, high); };
  const int64_t first = Bit(s.begin_mask, k) ? (forward ? low : high) : wrap(*begin);
  const int64_t last = Bit(s.end_mask, k) ? (forward ? high : low) : wrap(*end);
  const int64_t length = forward ? last - first : first - last;
  if (length <= 0) return 0;
  // |INT64_MIN| does not exist; any stride beyond the length takes one element.
  if (*stride > length || *stride < -length) return 1;
  const int64_t step = forward ? *stride : -*stride;
  return (length + step - 1) / step;
}

StatusOr<StridedSpec> SpecOf(const ShapeContext& c) {
  StridedSpec s;
  ASSIGN_OR_RETURN(PartialShape length, c.InputOfRank(1, 1));
  for (int i = 2; i <= 3; ++i) {
    ASSIGN_OR_RETURN(const PartialShape other, c.InputOfRank(i, 1));
    ASSIGN_OR_RETURN(length, MergeShapes(c, length, other));
  }
  if (length.dim(0) > 32) return c.Error("begin has more than 32 elements");
  s.count = static_cast<int>(length.dim(0));
  s.begin = ConstIntegers(c, 1);
  s.end = ConstIntegers(c, 2);
  s.stride = ConstIntegers(c, 3);
  s.begin_mask = AttrOf<int64_t>(c, "begin_mask");
  s.end_mask = AttrOf<int64_t>(c, "end_mask");
  s.ellipsis_mask = AttrOf<int64_t>(c, "ellipsis_mask");
  s.new_axis_mask = AttrOf<int64_t>(c, "new_axis_mask");
  s.shrink_axis_mask = AttrOf<int64_t>(c, "shrink_axis_mask");
  if ((s.ellipsis_mask & (s.ellipsis_mask - 1)) != 0) {
    return c.Error("Multiple ellipses in slice spec not allowed");
  }
  return s;
}

Status StridedSliceShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(const StridedSpec s, SpecOf(c));
  const PartialShape& in = c.input(0);
  if (s.count < 0 || !in.has_rank()) return OkStatus();
  int consumed = 0;  // dimensions of the input that the specification names
  for (int k = 0; k < s.count; ++k) {
    consumed += !Bit(s.ellipsis_mask, k) && !Bit(s.new_axis_mask, k);
  }
  if (consumed > in.rank()) {
    return c.Error(StrCat("Index out of range using input dim ", in.rank(), "; input has only ",
                          in.rank(), " dims"));
  }
  Dims dims;
  int next = 0;  // dimension of the input
  for (int k = 0; k < s.count; ++k) {
    if (Bit(s.ellipsis_mask, k)) {
      const int covered = in.rank() - consumed;
      Append(&dims, in, next, next + covered);
      next += covered;
    } else if (Bit(s.new_axis_mask, k)) {
      dims.push_back(1);
    } else {
      ASSIGN_OR_RETURN(const int64_t dim, StridedDim(c, s, k, in.dim(next++)));
      if (!Bit(s.shrink_axis_mask, k)) dims.push_back(dim);
    }
  }
  Append(&dims, in, next, in.rank());
  c.set_output(0, PartialShape(std::move(dims)));
  return OkStatus();
}

Status StridedSliceGradShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(PartialShape shape, ShapeFromInput(c, 0));
  c.set_output(0, std::move(shape));
  return OkStatus();
}

Status TileShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(const PartialShape multiples, ShapeFromInput(c, 1));
  const PartialShape& in = c.input(0);
  ASSIGN_OR_RETURN(const int64_t rank, MergeDims(c, in.rank(), multiples.rank()));
  if (rank < 0) return OkStatus();
  PartialShape out = PartialShape::UnknownOfRank(static_cast<int>(rank));
  for (int i = 0; in.has_rank() && multiples.has_rank() && i < out.rank(); ++i) {
    out.set_dim(i, DimMul(in.dim(i), multiples.dim(i)));
  }
  c.set_output(0, std::move(out));
  return OkStatus();
}

// Element i of a constant int32 or int64 matrix.
int64_t IntegerAt(const Tensor& t, size_t i) {
  return t.dtype() == DType::kInt32 ? t.flat<int32_t>()[i] : t.flat<int64_t>()[i];
}

Status PadShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(const PartialShape paddings_shape, c.InputOfRank(1, 2));
  RETURN_IF_ERROR(MergeDims(c, paddings_shape.dim(1), 2).status());
  const PartialShape& in = c.input(0);
  ASSIGN_OR_RETURN(const int64_t rank, MergeDims(c, paddings_shape.dim(0), in.rank()));
  if (rank < 0 || rank > Shape::kMaxRank) return OkStatus();
  PartialShape out = PartialShape::UnknownOfRank(static_cast<int>(rank));
  const Tensor* paddings = c.input_value(1);
  if (paddings != nullptr && paddings->num_elements() != 2 * rank) paddings = nullptr;
  for (int i = 0; paddings != nullptr && in.has_rank() && i < out.rank(); ++i) {
    const int64_t before = IntegerAt(*paddings, static_cast<size_t>(i) * 2);
    const int64_t after = IntegerAt(*paddings, static_cast<size_t>(i) * 2 + 1);
    if (before < 0 || after < 0) {
      return c.Error(StrCat("Paddings must be non-negative: ", before, " ", after));
    }
    out.set_dim(i, DimAdd(DimAdd(before, after), in.dim(i)));
  }
  c.set_output(0, std::move(out));
  return OkStatus();
}

Status MirrorPadGradShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(const PartialShape paddings_shape, c.InputOfRank(1, 2));
  RETURN_IF_ERROR(MergeDims(c, paddings_shape.dim(1), 2).status());
  const PartialShape& in = c.input(0);
  ASSIGN_OR_RETURN(const int64_t rank, MergeDims(c, paddings_shape.dim(0), in.rank()));
  if (rank < 0 || rank > Shape::kMaxRank) return OkStatus();
  PartialShape out = PartialShape::UnknownOfRank(static_cast<int>(rank));
  const Tensor* paddings = c.input_value(1);
  if (paddings != nullptr && paddings->num_elements() != 2 * rank) paddings = nullptr;
  for (int i = 0; paddings != nullptr && in.has_rank() && i < out.rank(); ++i) {
    const int64_t before = IntegerAt(*paddings, static_cast<size_t>(i) * 2);
    const int64_t after = IntegerAt(*paddings, static_cast<size_t>(i) * 2 + 1);
    const int64_t size = in.dim(i);
    if (before >= 0 && after >= 0 && before <= size && after <= size - before) {
      out.set_dim(i, size - before - after);
    }
  }
  c.set_output(0, std::move(out));
  return OkStatus();
}

Status ReverseShape(ShapeContext& c) {
  RETURN_IF_ERROR(c.InputOfRank(1, 1).status());
  const std::optional<Dims> axes = ConstIntegers(c, 1);
  for (size_t i = 0; axes && c.input(0).has_rank() && i < axes->size(); ++i) {
    RETURN_IF_ERROR(WrapAxis(c, (*axes)[i], c.input(0).rank()).status());
  }
  return UnchangedShape(c);
}

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"Pack", "values: N * T", "output: T", "N: int >= 1, T: type, axis: int = 0", kPure, PackShape},
    {"Unpack", "value: T", "output: num * T",
     "num: int >= 0, T: type, axis: int = 0", kPure, UnpackShape},
    {"ConcatV2", "values: N * T, axis: Tidx", "output: T",
     "N: int >= 2, T: type, Tidx: index = int32", kPure, ConcatShape},
    {"ConcatOffset", "concat_dim: int32, shape: N * shape_type", "offset: N * shape_type",
     "N: int >= 2, shape_type: index = int32", kPure, ConcatOffsetShape},
    {"Split", "split_dim: int32, value: T", "output: num_split * T",
     "num_split: int >= 1, T: type", kPure, SplitShape},
    {"SplitV", "value: T, size_splits: Tlen, split_dim: int32", "output: num_split * T",
     "num_split: int >= 1, T: type, Tlen: {int32, int64, int8} = int64", kPure, SplitVShape},
    {"Slice", "input: T, begin: Index, size: Index", "output: T",
     "T: type, Index: index", kPure, SliceShape},
    {"StridedSlice", "input: T, begin: Index, end: Index, strides: Index", "output: T",
     "T: type, Index: {int16, int32, int64}, begin_mask: int = 0, end_mask: int = 0,"
     " ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0",
     kPure, StridedSliceShape},
    {"StridedSliceGrad",
     "shape: Index, begin: Index, end: Index, strides: Index, dy: T",
     "output: T",
     "T: type, Index: index, begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0,"
     " new_axis_mask: int = 0, shrink_axis_mask: int = 0", kPure, StridedSliceGradShape},
    {"Tile", "input: T, multiples: Tmultiples", "output: T",
     "T: type, Tmultiples: index = int32", kPure, TileShape},
    {"Pad", "input: T, paddings: Tpaddings", "output: T",
     "T: type, Tpaddings: index = int32", kPure, PadShape},
    {"PadV2", "input: T, paddings: Tpaddings, constant_values: T", "output: T",
     "T: type, Tpaddings: index = int32", kPure, PadShape},
    {"MirrorPad", "input: T, paddings: Tpaddings", "output: T",
     "T: type, Tpaddings: index = int32, mode: {'REFLECT', 'SYMMETRIC'}", kPure, PadShape},
    {"MirrorPadGrad", "input: T, paddings: Tpaddings", "output: T",
     "T: type, Tpaddings: index = int32, mode: {'REFLECT', 'SYMMETRIC'}", kPure,
     MirrorPadGradShape},
    {"ReverseV2", "tensor: T, axis: Tidx", "output: T",
     "Tidx: index = int32, T: {bfloat16, bool, complex128, complex64, float16, float32, float64,"
     " int16, int32, int64, int8, string, uint16, uint32, uint64, uint8}", kPure, ReverseShape},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> SlicingOps() { return kOps; }

}  // namespace slipway::ir
