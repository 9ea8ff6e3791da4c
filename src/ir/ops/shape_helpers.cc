// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/shape_helpers.h"

#include <limits>

#include "base/strings.h"

namespace slipway::ir {

int64_t DimAdd(int64_t a, int64_t b) {
  if (a < 0 || b < 0) return -1;
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

int64_t DimMul(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (a < 0 || b < 0) return -1;
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
}

StatusOr<int64_t> MergeDims(const ShapeContext& c, int64_t a, int64_t b) {
  if (a < 0) return b;
  if (b < 0 || a == b) return a;
  return c.Error(StrCat("Dimensions must be equal, but are ", a, " and ", b));
}

StatusOr<PartialShape> MergeShapes(const ShapeContext& c, const PartialShape& a,
                                   const PartialShape& b) {
  if (!a.has_rank()) return b;
  if (!b.has_rank()) return a;
  if (a.rank() != b.rank()) {
    return c.Error(StrCat("Shapes must be equal rank, but are ", a.rank(), " and ", b.rank(),
                          ". Shapes are ", a.ToString(), " and ", b.ToString(), "."));
  }
  Dims dims = a.dims();
  for (int i = 0; i < a.rank(); ++i) {
    const int64_t x = a.dim(i), y = b.dim(i);
    if (x >= 0 && y >= 0 && x != y) {
      return c.Error(StrCat("Dimension ", i, " in both shapes must be equal, but are ", x, " and ",
                            y, ". Shapes are ", a.ToString(), " and ", b.ToString(), "."));
    }
    if (x < 0) dims[static_cast<size_t>(i)] = y;
  }
  return PartialShape(std::move(dims));
}

std::optional<Dims> ConstIntegers(const ShapeContext& c, int i) {
  const Tensor* t = c.input_value(i);
  if (t == nullptr || t->rank() > 1 || t->num_elements() > Shape::kMaxRank) return std::nullopt;
  if (t->dtype() == DType::kInt32) {
    return Dims(t->flat<int32_t>().begin(), t->flat<int32_t>().end());
  }
  if (t->dtype() == DType::kInt64) {
    return Dims(t->flat<int64_t>().begin(), t->flat<int64_t>().end());
  }
  return std::nullopt;
}

std::optional<int64_t> ConstInteger(const ShapeContext& c, int i) {
  const std::optional<Dims> values = ConstIntegers(c, i);
  if (!values || values->size() != 1) return std::nullopt;
  return values->front();
}

StatusOr<PartialShape> ShapeFromInput(const ShapeContext& c, int i) {
  ASSIGN_OR_RETURN(const PartialShape vector, c.InputOfRank(i, 1));
  const int64_t rank = vector.dim(0);
  if (rank > Shape::kMaxRank) {
    return c.Error(StrCat("input ", i, " describes a shape of rank ", rank, "; at most ",
                          Shape::kMaxRank, " is allowed"));
  }
  std::optional<Dims> dims = c.input_as_shape(i);
  if (!dims) {
    return rank < 0 ? PartialShape::Unknown() : PartialShape::UnknownOfRank(static_cast<int>(rank));
  }
  for (const int64_t dim : *dims) {
    if (dim < -1) return c.Error(StrCat("Dimension ", dim, " must be >= 0 in input ", i));
  }
  return PartialShape(*std::move(dims));
}

Status CheckScalar(const ShapeContext& c, int i) { return c.InputOfRank(i, 0).status(); }

Status CheckMinRank(const ShapeContext& c, int i, int rank) {
  const PartialShape& shape = c.input(i);
  if (!shape.has_rank() || shape.rank() >= rank) return OkStatus();
  return c.Error(StrCat("Shape must be at least rank ", rank, " but is rank ", shape.rank(),
                        " for input ", i, " of shape ", shape.ToString()));
}

StatusOr<int> WrapAxis(const ShapeContext& c, int64_t axis, int rank) {
  if (axis >= -rank && axis < rank) return static_cast<int>(axis < 0 ? axis + rank : axis);
  return c.Error(StrCat("axis ", axis, " must be in the range [", -rank, ", ", rank, "), where ",
                        rank, " is the number of dimensions"));
}

Dims SubDims(const PartialShape& shape, int begin, int end) {
  return Dims(shape.dims().begin() + begin, shape.dims().begin() + end);
}

void Append(Dims* dims, const PartialShape& shape, int begin, int end) {
  dims->insert(dims->end(), shape.dims().begin() + begin, shape.dims().begin() + end);
}

HandleInfo HandleOf(const ShapeContext& c, int i) {
  Output handle = c.node().input(i);
  for (int steps = 0; steps < 64 && handle.node->op() == "Identity"; ++steps) {
    handle = handle.node->input(0);
    if (!handle.valid()) return {};
  }
  HandleInfo info;
  if (handle.node->op() == "VarHandleOp") {
    info.dtype = handle.node->CheckedAttr<DType>("dtype");
    info.shape = handle.node->CheckedAttr<PartialShape>("shape");
  } else if (handle.node->op() == "_Arg") {
    const AttrValue* types = handle.node->FindAttr("_handle_dtypes");
    const AttrValue* shapes = handle.node->FindAttr("_handle_shapes");
    const auto* type = types ? types->As<std::vector<DType>>() : nullptr;
    const auto* shape = shapes ? shapes->As<std::vector<PartialShape>>() : nullptr;
    if (type != nullptr && type->size() == 1) info.dtype = type->front();
    if (shape != nullptr && shape->size() == 1) info.shape = shape->front();
  }
  return info;
}

}  // namespace slipway::ir
