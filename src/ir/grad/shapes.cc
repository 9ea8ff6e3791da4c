// SPDX-License-Identifier: Apache-2.0
#include "ir/grad/shapes.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace slipway::ir::grad {
namespace {

// A size of a value: dimension `dim` of `value`.
struct Size {
  Output value;
  int dim = 0;
  friend bool operator==(const Size&, const Size&) = default;
};

constexpr std::array<std::string_view, 44> kSameShapeAsInput0 = {
    "Abs",     "Acos",       "Acosh",      "Asin",  "Asinh",    "Atan",         "Atanh",
    "BiasAdd", "Cast",       "Ceil",       "Cos",   "Cosh",     "Elu",          "Erf",
    "Erfc",    "Exp",        "Expm1",      "Floor", "Identity", "LeakyRelu",    "Log",
    "Log1p",   "LogSoftmax", "LogicalNot", "Neg",   "OnesLike", "Reciprocal",   "Relu",
    "Relu6",   "Round",      "Rsqrt",      "Selu",  "Sigmoid",  "Sign",         "Sin",
    "Softmax", "Softplus",   "Softsign",   "Sqrt",  "Square",   "StopGradient", "Tan",
    "Tanh",    "ZerosLike"};

constexpr std::array<std::string_view, 20> kBroadcastingBinary = {
    "Add",          "AddV2",   "Div",       "DivNoNan",   "Equal",     "Greater",
    "GreaterEqual", "Less",    "LessEqual", "LogicalAnd", "LogicalOr", "Maximum",
    "Minimum",      "Mul",     "NotEqual",  "Pow",        "RealDiv",   "SquaredDifference",
    "Sub",          "FloorMod"};

template <typename List>
bool Contains(const List& list, std::string_view op) {
  return std::find(list.begin(), list.end(), op) != list.end();
}

bool IsMatMul(const Node& node) { return node.op() == "MatMul" || node.op() == "_FusedMatMul"; }

// Where the size comes from, one step up; nothing if this is as far as we can tell.
std::optional<Size> Origin(const Size& size) {
  const Node& node = *size.value.node;
  if (size.value.index != 0 || !size.value.shape().has_rank()) return std::nullopt;
  if (Contains(kSameShapeAsInput0, node.op())) return Size{node.input(0), size.dim};
  if (IsMatMul(node)) {
    const bool a = size.dim == 0;
    const AttrValue* transposed = node.FindAttr(a ? "transpose_a" : "transpose_b");
    const bool flip =
        transposed != nullptr && transposed->As<bool>() != nullptr && *transposed->As<bool>();
    return Size{node.input(a ? 0 : 1), a == flip ? 1 : 0};
  }
  if (node.op() == "RandomUniform" || node.op() == "RandomStandardNormal" ||
      node.op() == "StatelessRandomUniform" || node.op() == "StatelessRandomUniformV2" ||
      node.op() == "Fill") {
    const Node& shape = *node.input(0).node;
    if (shape.op() == "Shape") return Size{shape.input(0), size.dim};
  }
  if (Contains(kBroadcastingBinary, node.op())) {
    const PartialShape& a = node.input(0).shape();
    const PartialShape& b = node.input(1).shape();
    if (!a.has_rank() || !b.has_rank()) return std::nullopt;
    const int dim_a = size.dim - size.value.shape().rank() + a.rank();
    const int dim_b = size.dim - size.value.shape().rank() + b.rank();
    if (dim_b < 0 || (dim_a >= 0 && b.dim(dim_b) == 1)) return Size{node.input(0), dim_a};
    if (dim_a < 0 || a.dim(dim_a) == 1) return Size{node.input(1), dim_b};
  }
  return std::nullopt;
}

Size Root(Size size) {
  // A limit, so that a cycle in a graph being read cannot hold us.
  for (int step = 0; step < 1000; ++step) {
    std::optional<Size> next = Origin(size);
    if (!next.has_value() || next->dim < 0 || !next->value.shape().has_rank() ||
        next->dim >= next->value.shape().rank()) {
      break;
    }
    size = *next;
  }
  return size;
}

bool SameSize(const Size& a, const Size& b) {
  const int64_t known_a = a.value.shape().dim(a.dim);
  const int64_t known_b = b.value.shape().dim(b.dim);
  if (known_a >= 0 && known_b >= 0) return known_a == known_b;
  return Root(a) == Root(b);
}

// The axes of the broadcast result along which `value` was repeated against `other`; nothing if
// that is not known before running.
std::optional<std::vector<int64_t>> RepeatedAxes(Output value, Output other, int inner) {
  const PartialShape& shape = value.shape();
  if (!shape.has_rank() || !other.shape().has_rank()) return std::nullopt;
  const int rank = std::max(shape.rank(), other.shape().rank());
  std::vector<int64_t> axes;
  for (int axis = 0; axis < rank - inner; ++axis) {
    const int mine = axis - rank + shape.rank();
    const int theirs = axis - rank + other.shape().rank();
    if (mine < 0) {
      axes.push_back(axis);
    } else if (theirs >= 0) {
      const int64_t size = shape.dim(mine);
      const int64_t other_size = other.shape().dim(theirs);
      // A sum over one element is the element, so an unknown other size may be summed too.
      if (size == 1 && other_size != 1) {
        axes.push_back(axis);
      } else if (size < 0 && other_size != 1 && !SameSize({value, mine}, {other, theirs})) {
        return std::nullopt;
      }
    }
  }
  return axes;
}

Output SumAxes(GraphBuilder& b, Output x, const std::vector<int64_t>& axes, bool keep_dims) {
  if (axes.empty()) return x;
  return b.Op("Sum", {x, IndexVector(b, axes, DType::kInt32)}, {{"keep_dims", keep_dims}});
}

Output BatchShape(GraphBuilder& b, Output value, int inner) {
  Output shape = b.Op("Shape", {value});
  if (inner == 0) return shape;
  return b.Op("StridedSlice",
              {shape, b.Int32Vector({0}), b.Int32Vector({-inner}), b.Int32Vector({1})},
              {{"begin_mask", 1}});
}

Output SumDynamically(GraphBuilder& b, Output gradient, Output value, Output other, int inner) {
  std::vector<Output> axes =
      b.Ops("BroadcastGradientArgs", {BatchShape(b, value, inner), BatchShape(b, other, inner)});
  if (!b.ok()) return {};
  Output sum = b.Op("Sum", {gradient, axes[0]});
  return b.Op("Reshape", {sum, b.Op("Shape", {value})});
}

}  // namespace

Output IndexVector(GraphBuilder& b, const std::vector<int64_t>& values, DType dtype) {
  const Shape shape({static_cast<int64_t>(values.size())});
  if (dtype == DType::kInt64) return b.Const(Tensor::FromValues<int64_t>(values, shape));
  return b.Int32Vector(std::vector<int32_t>(values.begin(), values.end()));
}

std::optional<std::vector<int64_t>> ConstantIntegers(Output value) {
  while (value.valid() && value.node->op() == "Identity") value = value.node->input(0);
  if (!value.valid() || !value.node->IsConst()) return std::nullopt;
  const Tensor& tensor = value.node->const_value();
  if (tensor.dtype() == DType::kInt32) {
    auto flat = tensor.flat<int32_t>();
    return std::vector<int64_t>(flat.begin(), flat.end());
  }
  if (tensor.dtype() != DType::kInt64) return std::nullopt;
  auto flat = tensor.flat<int64_t>();
  return std::vector<int64_t>(flat.begin(), flat.end());
}

Output ShapeOf(GraphBuilder& b, Output value, DType dtype) {
  if (!value.valid()) return {};
  if (value.shape().IsFullyDefined()) return IndexVector(b, value.shape().dims(), dtype);
  return b.Op("Shape", {value}, {{"out_type", dtype}});
}

Output ReshapeLike(GraphBuilder& b, Output gradient, Output like) {
  if (!b.ok() || !gradient.valid()) return {};
  const PartialShape& shape = like.shape();
  if (!shape.has_rank()) return b.Op("Reshape", {gradient, b.Op("Shape", {like})});
  if (shape.IsFullyDefined() && gradient.shape() == shape) return gradient;
  const auto unknown = std::count(shape.dims().begin(), shape.dims().end(), -1);
  const auto zeros = std::count(shape.dims().begin(), shape.dims().end(), 0);
  if (unknown == 1 && zeros == 0) {
    return b.Op("Reshape", {gradient, IndexVector(b, shape.dims(), DType::kInt32)});
  }
  return b.Op("Reshape", {gradient, ShapeOf(b, like)});
}

bool SameShape(Output a, Output b) {
  if (a == b) return true;
  if (!a.shape().has_rank() || a.shape().rank() != b.shape().rank()) return false;
  for (int i = 0; i < a.shape().rank(); ++i) {
    if (!SameSize({a, i}, {b, i})) return false;
  }
  return true;
}

Output SumToShape(GraphBuilder& b, Output gradient, Output value, Output other, int inner) {
  if (!b.ok() || !gradient.valid()) return {};
  if (other.shape().has_rank() && other.shape().rank() == inner) return gradient;
  std::optional<std::vector<int64_t>> axes = RepeatedAxes(value, other, inner);
  if (!axes.has_value()) return SumDynamically(b, gradient, value, other, inner);
  // Leading axes vanish, the others stay with size 1.
  const int extra = std::max(0, other.shape().rank() - value.shape().rank());
  std::vector<int64_t> leading;
  std::vector<int64_t> inside;
  for (int64_t axis : *axes) {
    if (axis < extra) {
      leading.push_back(axis);
    } else {
      inside.push_back(axis - extra);
    }
  }
  return SumAxes(b, SumAxes(b, gradient, leading, false), inside, true);
}

void SetBroadcastGradient(GradientContext& c, int i, Output gradient) {
  c.set_dx(i, SumToShape(c.builder(), gradient, c.input(i), c.input(1 - i)));
}

}  // namespace slipway::ir::grad
