// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "ir/op_schema.h"
#include "ir/ops/shape_helpers.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

Status ConstShape(ShapeContext& c) {
  const Tensor& value = AttrOf<Tensor>(c, "value");
  const DType dtype = AttrOf<DType>(c, "dtype");
  if (value.dtype() != dtype) {
    return c.Error(
        StrCat("value is of type ", DTypeName(value.dtype()), ", but dtype is ", DTypeName(dtype)));
  }
  c.set_output(0, value.shape());
  return OkStatus();
}

Status PlaceholderShape(ShapeContext& c) {
  c.set_output(0, AttrOf<PartialShape>(c, "shape"));
  return OkStatus();
}

Status PlaceholderWithDefaultShape(ShapeContext& c) {
  RETURN_IF_ERROR(MergeShapes(c, c.input(0), AttrOf<PartialShape>(c, "shape")).status());
  return PlaceholderShape(c);
}

Status IdentityNShape(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) c.set_output(i, c.input(i));
  return OkStatus();
}

Status EnsureShapeShape(ShapeContext& c) {
  const auto& wanted = AttrOf<PartialShape>(c, "shape");
  StatusOr<PartialShape> shape = wanted.Merge(c.input(0));
  if (!shape.ok()) {
    return c.Error(StrCat("Shape of tensor ", c.input(0).ToString(),
                          " is not compatible with expected shape ", wanted.ToString()));
  }
  c.set_output(0, *std::move(shape));
  return OkStatus();
}

Status ShapeNShape(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) c.set_output(i, {c.input(i).rank()});
  return OkStatus();
}

// The product of the known sizes, and which one is not known: -1 none, -2 several.
struct Product {
  int64_t known = 1;
  int unknown = -1;
};
Product ProductOf(const PartialShape& shape) {
  Product product;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape.dim(i) >= 0) {
      product.known = DimMul(product.known, shape.dim(i));
    } else {
      product.unknown = product.unknown == -1 ? i : -2;
    }
  }
  return product;
}

Status ReshapeShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(PartialShape out, ShapeFromInput(c, 1));
  const PartialShape& in = c.input(0);
  if (in.has_rank() && out.has_rank()) {
    const Product from = ProductOf(in), to = ProductOf(out);
    const bool settled = to.unknown == -1 || to.known == 0;
    if (from.unknown == -1 && settled && from.known != to.known) {
      return c.Error(StrCat("Cannot reshape a tensor with ", from.known, " elements to shape ",
                            out.ToString(), " (", to.known, " elements)"));
    }
    if (from.unknown == -1 && to.unknown >= 0 && to.known > 0) {
      if (from.known % to.known != 0) {
        return c.Error(StrCat("Cannot reshape a tensor with ", from.known, " elements to shape ",
                              out.ToString(), ": Dimension size must be evenly divisible by ",
                              to.known, " but is ", from.known));
      }
      out.set_dim(to.unknown, from.known / to.known);
    }
    // One unknown size on each side, and the others agree: it is the same one, still unknown.
  }
  c.set_output(0, std::move(out));
  return OkStatus();
}

Status ExpandDimsShape(ShapeContext& c) {
  const PartialShape& in = c.input(0);
  if (!in.has_rank()) return OkStatus();
  const std::optional<int64_t> axis = ConstInteger(c, 1);
  if (!axis) {
    c.set_output(0, PartialShape::UnknownOfRank(in.rank() + 1));
    return OkStatus();
  }
  if (*axis < -in.rank() - 1 || *axis > in.rank()) {
    return c.Error(
        StrCat("dim ", *axis, " not in the interval [", -in.rank() - 1, ", ", in.rank(), "]."));
  }
  Dims dims = in.dims();
  dims.insert(dims.begin() + (*axis < 0 ? *axis + in.rank() + 1 : *axis), 1);
  c.set_output(0, PartialShape(std::move(dims)));
  return OkStatus();
}

Status SqueezeShape(ShapeContext& c) {
  const PartialShape& in = c.input(0);
  if (!in.has_rank()) return OkStatus();
  const auto& axes = AttrOf<Dims>(c, "squeeze_dims");
  std::vector<bool> squeezed(static_cast<size_t>(in.rank()), false);
  for (const int64_t axis : axes) {
    if (axis < -in.rank() || axis >= in.rank()) {
      return c.Error(StrCat("squeeze_dims[", axis, "] not in [", -in.rank(), ",", in.rank(), ")."));
    }
    squeezed[static_cast<size_t>(axis < 0 ? axis + in.rank() : axis)] = true;
  }
  Dims dims;
  for (int i = 0; i < in.rank(); ++i) {
    const int64_t dim = in.dim(i);
    if (axes.empty() && dim < 0) return OkStatus();  // it may be 1: the rank is not known
    const bool gone = axes.empty() ? dim == 1 : squeezed[static_cast<size_t>(i)];
    if (gone && dim >= 0 && dim != 1) {
      return c.Error(StrCat("Can not squeeze dim[", i, "], expected a dimension of 1, got ", dim));
    }
    if (!gone) dims.push_back(dim);
  }
  c.set_output(0, PartialShape(std::move(dims)));
  return OkStatus();
}

Status ShapeShape(ShapeContext& c) {
  c.set_output(0, {c.input(0).rank()});
  return OkStatus();
}

Status TransposeShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(const PartialShape perm_shape, c.InputOfRank(1, 1));
  const std::optional<Dims> perm = ConstIntegers(c, 1);
  const PartialShape& in = c.input(0);
  ASSIGN_OR_RETURN(const int64_t rank, MergeDims(c, in.rank(), perm_shape.dim(0)));
  if (rank < 0 || rank > Shape::kMaxRank) return OkStatus();
  PartialShape out = PartialShape::UnknownOfRank(static_cast<int>(rank));
  std::vector<bool> seen(static_cast<size_t>(rank), false);
  const bool usable = perm && static_cast<int64_t>(perm->size()) == rank;
  for (int i = 0; usable && i < out.rank(); ++i) {
    int64_t from = (*perm)[static_cast<size_t>(i)];
    if (from < -rank || from >= rank) {
      return c.Error(StrCat("perm dim ", from, " is out of range of input rank ", rank));
    }
    if (from < 0) from += rank;
    if (seen[static_cast<size_t>(from)]) {
      return c.Error(StrCat("perm has dimension ", from, " twice: [", StrJoin(*perm, ","), "]"));
    }
    seen[static_cast<size_t>(from)] = true;
    if (in.has_rank()) out.set_dim(i, in.dim(static_cast<int>(from)));
  }
  c.set_output(0, std::move(out));
  return OkStatus();
}

Status InvertPermutationShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(PartialShape shape, c.InputOfRank(0, 1));
  c.set_output(0, std::move(shape));
  return OkStatus();
}

Status BitcastShape(ShapeContext& c) {
  const auto from = static_cast<int64_t>(DTypeSize(AttrOf<DType>(c, "T")));
  const auto to = static_cast<int64_t>(DTypeSize(AttrOf<DType>(c, "type")));
  const PartialShape& in = c.input(0);
  if (!in.has_rank() || from == to || to == 0 || from == 0) return UnchangedShape(c);
  Dims dims = in.dims();
  if (from > to) {
    dims.push_back(from / to);
  } else {
    if (dims.empty() || (dims.back() >= 0 && dims.back() != to / from)) {
      return c.Error(StrCat("Cannot bitcast due to shape. ",
                            dims.empty() ? "a scalar" : StrCat(dims.back()), " does not match ",
                            to / from));
    }
    dims.pop_back();
  }
  c.set_output(0, PartialShape(std::move(dims)));
  return OkStatus();
}

Status FillShape(ShapeContext& c) {
  RETURN_IF_ERROR(CheckScalar(c, 1));
  ASSIGN_OR_RETURN(PartialShape shape, ShapeFromInput(c, 0));
  c.set_output(0, std::move(shape));
  return OkStatus();
}

// A constant real scalar, exact for integers below 2^63 in long double.
std::optional<long double> ConstNumber(const ShapeContext& c, int i) {
  const Tensor* t = c.input_value(i);
  if (t == nullptr || t->num_elements() != 1) return std::nullopt;
  switch (t->dtype()) {
    case DType::kInt32:
      return t->scalar<int32_t>();
    case DType::kInt64:
      return t->scalar<int64_t>();
    case DType::kFloat:
      return t->scalar<float>();
    case DType::kDouble:
      return t->scalar<double>();
    default:
      return std::nullopt;
  }
}

Status RangeShape(ShapeContext& c) {
  for (int i = 0; i < 3; ++i) RETURN_IF_ERROR(CheckScalar(c, i));
  c.set_output(0, {-1});
  const auto start = ConstNumber(c, 0), limit = ConstNumber(c, 1), delta = ConstNumber(c, 2);
  if (!start || !limit || !delta) return OkStatus();
  const auto text = [](long double v) { return StrCat(static_cast<double>(v)); };
  if (*delta == 0) return c.Error("Requires delta != 0");
  if (*delta > 0 && *start > *limit) {
    return c.Error(
        StrCat("Requires start <= limit when delta > 0: ", text(*start), "/", text(*limit)));
  }
  if (*delta < 0 && *start < *limit) {
    return c.Error(
        StrCat("Requires start >= limit when delta < 0: ", text(*start), "/", text(*limit)));
  }
  const long double size = std::ceil((*limit - *start) / *delta);
  if (!(size >= 0 && size < 9.2e18L)) {
    return c.Error(
        StrCat("Requires ((limit - start) / delta) to fit 63 bits, but it is ", text(size)));
  }
  c.set_output(0, {static_cast<int64_t>(size)});
  return OkStatus();
}

Status LinSpaceShape(ShapeContext& c) {
  for (int i = 0; i < 3; ++i) RETURN_IF_ERROR(CheckScalar(c, i));
  const std::optional<int64_t> num = ConstInteger(c, 2);
  if (num && *num <= 0) return c.Error(StrCat("Requires num > 0: ", *num));
  c.set_output(0, {num.value_or(-1)});
  return OkStatus();
}

Status OneHotShape(ShapeContext& c) {
  for (int i = 1; i < 4; ++i) RETURN_IF_ERROR(CheckScalar(c, i));
  const int64_t axis = AttrOf<int64_t>(c, "axis");
  if (axis < -1) return c.Error(StrCat("axis must be >= -1, but is ", axis));
  const std::optional<int64_t> depth = ConstInteger(c, 1);
  if (depth && *depth < 0)
    return c.Error(
        StrCat("Dimension size, given by scalar input 1, must be "
               "non-negative but is ",
               *depth));
  const PartialShape& indices = c.input(0);
  if (!indices.has_rank()) return OkStatus();
  if (axis > indices.rank()) {
    return c.Error(StrCat("axis ", axis, " must be in the range [-1, ", indices.rank(), "]"));
  }
  Dims dims = indices.dims();
  dims.insert(axis < 0 ? dims.end() : dims.begin() + axis, depth.value_or(-1));
  c.set_output(0, PartialShape(std::move(dims)));
  return OkStatus();
}

Status BroadcastToShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(PartialShape out, ShapeFromInput(c, 1));
  const PartialShape& in = c.input(0);
  if (in.has_rank() && out.has_rank()) {
    bool fits = in.rank() <= out.rank();
    for (int i = 1; fits && i <= in.rank(); ++i) {
      const int64_t from = in.dim(in.rank() - i), to = out.dim(out.rank() - i);
      fits = from < 0 || to < 0 || from == 1 || from == to;
    }
    if (!fits) {
      return c.Error(StrCat("Incompatible shapes: ", in.ToString(), " vs. ", out.ToString()));
    }
  }
  c.set_output(0, std::move(out));
  return OkStatus();
}

Status BroadcastArgsShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(const PartialShape a, c.InputOfRank(0, 1));
  ASSIGN_OR_RETURN(const PartialShape b, c.InputOfRank(1, 1));
  const bool known = a.dim(0) >= 0 && b.dim(0) >= 0;
  c.set_output(0, {known ? std::max(a.dim(0), b.dim(0)) : -1});
  return OkStatus();
}

Status BroadcastGradientArgsShape(ShapeContext& c) {
  RETURN_IF_ERROR(c.InputOfRank(0, 1).status());
  RETURN_IF_ERROR(c.InputOfRank(1, 1).status());
  c.set_output(0, {-1});
  c.set_output(1, {-1});
  return OkStatus();
}

Status WhereShape(ShapeContext& c) {
  c.set_output(0, {-1, c.input(0).rank()});
  return OkStatus();
}

Status EmptyShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(PartialShape shape, ShapeFromInput(c, 0));
  c.set_output(0, std::move(shape));
  return OkStatus();
}

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"Const", "", "output: dtype", "value: tensor, dtype: type", kPure, ConstShape},
    {"Placeholder", "", "output: dtype",
     "dtype: type, shape: shape = unknown", kPure, PlaceholderShape},
    {"PlaceholderWithDefault", "input: dtype", "output: dtype",
     "dtype: type, shape: shape", kPure, PlaceholderWithDefaultShape},
    {"Identity", "input: T", "output: T", "T: type", kPure, UnchangedShape},
    {"StopGradient", "input: T", "output: T", "T: type", kPure, UnchangedShape},
    {"PreventGradient", "input: T", "output: T",
     "T: type, message: string = ''", kPure, UnchangedShape},
    {"CheckNumerics", "tensor: T", "output: T",
     "T: floating, message: string", kPure, UnchangedShape},
    {"ZerosLike", "x: T", "y: T", "T: type", kPure, UnchangedShape},
    {"OnesLike", "x: T", "y: T",
     "T: {bfloat16, bool, complex128, complex64, float16, float32, float64, int16, int32, int64,"
     " int8, uint16, uint32, uint64, uint8}", kPure, UnchangedShape},
    {"Snapshot", "input: T", "output: T", "T: type", kPure, UnchangedShape},
    {"IdentityN", "input: T", "output: T", "T: list(type) >= 1", kPure, IdentityNShape},
    {"EnsureShape", "input: T", "output: T", "shape: shape, T: type", kPure, EnsureShapeShape},
    {"Shape", "input: T", "output: out_type",
     "T: type, out_type: index = int32", kPure, ShapeShape},
    {"ShapeN", "input: N * T", "output: N * out_type",
     "N: int >= 1, T: type, out_type: index = int32", kPure, ShapeNShape},
    {"Size", "input: T", "output: out_type",
     "T: type, out_type: index = int32", kPure, ScalarShape},
    {"Rank", "input: T", "output: int32", "T: type", kPure, ScalarShape},
    {"Reshape", "tensor: T, shape: Tshape", "output: T",
     "T: type, Tshape: index = int32", kPure, ReshapeShape},
    {"ExpandDims", "input: T, dim: Tdim", "output: T",
     "T: type, Tdim: index = int32", kPure, ExpandDimsShape},
    {"Squeeze", "input: T", "output: T",
     "T: type, squeeze_dims: list(int) >= 0 = []", kPure, SqueezeShape},
    {"ConjugateTranspose", "x: T, perm: Tperm", "y: T",
     "T: type, Tperm: index = int32", kPure, TransposeShape},
    {"Transpose", "x: T, perm: Tperm", "y: T",
     "T: type, Tperm: index = int32", kPure, TransposeShape},
    {"InvertPermutation", "x: T", "y: T", "T: index = int32", kPure, InvertPermutationShape},
    {"Bitcast", "input: T", "output: type", "T: numeric, type: numeric", kPure, BitcastShape},
    {"Fill", "dims: index_type, value: T", "output: T",
     "T: type, index_type: index = int32", kPure, FillShape},
    {"Range", "start: Tidx, limit: Tidx, delta: Tidx", "output: Tidx",
     "Tidx: {bfloat16, float16, float32, float64, int16, int32, int64, int8, uint16, uint32,"
     " uint64} = int32", kPure, RangeShape},
    {"LinSpace", "start: T, stop: T, num: Tidx", "output: T",
     "T: floating, Tidx: index = int32", kPure, LinSpaceShape},
    {"OneHot", "indices: TI, depth: int32, on_value: T, off_value: T", "output: T",
     "axis: int = -1, T: type, TI: {int32, int64, int8, uint8} = int64", kPure, OneHotShape},
    {"BroadcastTo", "input: T, shape: Tidx", "output: T",
     "T: type, Tidx: index = int32", kPure, BroadcastToShape},
    {"BroadcastArgs", "s0: T, s1: T", "r0: T", "T: index = int32", kPure, BroadcastArgsShape},
    {"BroadcastGradientArgs", "s0: T, s1: T", "r0: T, r1: T",
     "T: index = int32", kPure, BroadcastGradientArgsShape},
    {"Where", "input: T", "index: int64",
     "T: {bfloat16, bool, complex128, complex64, float16, float32, float64, int16, int32, int64,"
     " int8, qint16, qint32, qint8, quint16, quint8, uint16, uint32, uint64, uint8} = bool",
     kPure, WhereShape},
    {"InplaceUpdate", "x: T, i: int32, v: T", "y: T", "T: type", kPure, UnchangedShape},
    {"InplaceAdd", "x: T, i: int32, v: T", "y: T", "T: type", kPure, UnchangedShape},
    {"InplaceSub", "x: T, i: int32, v: T", "y: T", "T: type", kPure, UnchangedShape},
    {"DeepCopy", "x: T", "y: T", "T: type", kPure, UnchangedShape},
    {"Empty", "shape: int32", "output: dtype",
     "dtype: type, init: bool = false", kPure, EmptyShape},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> ArrayOps() { return kOps; }

}  // namespace slipway::ir
