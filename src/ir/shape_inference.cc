// SPDX-License-Identifier: Apache-2.0
#include "ir/shape_inference.h"

#include <algorithm>

#include "base/strings.h"

namespace slipway::ir {
namespace {

using Values = std::vector<int64_t>;

const Node* SkipIdentity(Output* output) {
  for (int steps = 0; steps < 64 && output->valid(); ++steps) {
    const std::string& op = output->node->op();
    if ((op != "Identity" && op != "StopGradient") || output->node->inputs().empty()) break;
    *output = output->node->input(0);
  }
  return output->node;
}

std::optional<Values> ConstIntegers(const Tensor& t) {
  if (t.rank() > 1 || t.num_elements() > Shape::kMaxRank) return std::nullopt;
  if (t.dtype() == DType::kInt32) return Values(t.flat<int32_t>().begin(), t.flat<int32_t>().end());
  if (t.dtype() == DType::kInt64) return Values(t.flat<int64_t>().begin(), t.flat<int64_t>().end());
  return std::nullopt;
}

// Follows integers that are computed from shapes. Scalars count as one element. Budgeted: a
// hostile graph may fan out at every step.
class IntegerEvaluator {
 public:
  std::optional<Values> Evaluate(Output output, int depth = 0) {
    std::optional<Values> values = EvaluateOp(output, depth);
    return values && Fits(*values, output.shape()) ? values : std::nullopt;
  }

 private:
  static constexpr int kMaxDepth = 24;
  int budget_ = 1000;

  static bool Fits(const Values& values, const PartialShape& shape) {
    const auto n = static_cast<int64_t>(values.size());
    if (shape.rank() == 0) return n == 1;
    return shape.rank() == 1 && (shape.dim(0) < 0 || shape.dim(0) == n);
  }

  std::optional<Values> EvaluateOp(Output output, int depth) {
    if (depth > kMaxDepth || --budget_ < 0) return std::nullopt;
    const Node* node = SkipIdentity(&output);
    if (node == nullptr || node->schema() == nullptr) return std::nullopt;
    const std::string& op = node->op();
    if (op == "Const") return ConstIntegers(node->const_value());
    if (op == "Shape") return OfShape(node->input(0).shape());
    if (op == "ShapeN") return OfShape(node->input(output.index).shape());
    if (op == "Size") return Values{node->input(0).shape().num_elements()};
    if (op == "Cast") return OfCast(output, depth);
    if (op == "Pack" || op == "ConcatV2") return Joined(*node, depth);
    if (op == "StridedSlice") return OfSlice(*node, depth);
    if (op == "Reshape" || op == "ExpandDims" || op == "Squeeze") {
      return output.shape().rank() <= 1 ? Evaluate(node->input(0), depth + 1) : std::nullopt;
    }
    if (op == "Mul" || op == "AddV2" || op == "Sub") return Binary(*node, depth);
    if (op == "Prod") return OfProd(*node, depth);
    return std::nullopt;
  }

  static std::optional<Values> OfShape(const PartialShape& shape) {
    if (!shape.has_rank()) return std::nullopt;
    return shape.dims();
  }

  std::optional<Values> OfCast(Output output, int depth) {
    const DType from = output.node->input(0).dtype();
    const bool integers = (from == DType::kInt32 || from == DType::kInt64) &&
                          (output.dtype() == DType::kInt32 || output.dtype() == DType::kInt64);
    return integers ? Evaluate(output.node->input(0), depth + 1) : std::nullopt;
  }

  // Pack of scalars, or ConcatV2 of vectors (its last input is the axis).
  std::optional<Values> Joined(const Node& node, int depth) {
    const bool pack = node.op() == "Pack";
    const size_t n = node.inputs().size() - (pack ? 0 : 1);
    Values all;
    for (size_t i = 0; i < n; ++i) {
      const Output& in = node.inputs()[i];
      if (in.shape().rank() != (pack ? 0 : 1)) return std::nullopt;
      const std::optional<Values> part = Evaluate(in, depth + 1);
      if (part) {
        all.insert(all.end(), part->begin(), part->end());
      } else if (pack) {
        all.push_back(-1);
      } else if (const int64_t length = in.shape().dim(0);
                 length >= 0 && length <= Shape::kMaxRank) {
        all.insert(all.end(), static_cast<size_t>(length), -1);
      } else {
        return std::nullopt;
      }
      if (all.size() > static_cast<size_t>(Shape::kMaxRank)) return std::nullopt;
    }
    return all;
  }

  // One element or a range of a vector.
  std::optional<Values> OfSlice(const Node& node, int depth) {
    const auto flag = [&](const char* name) { return node.CheckedAttr<int64_t>(name) & 1; };
    if (node.input(0).shape().rank() != 1 || flag("ellipsis_mask") || flag("new_axis_mask")) {
      return std::nullopt;
    }
    const auto begin = Evaluate(node.input(1), depth + 1);
    const auto end = Evaluate(node.input(2), depth + 1);
    const auto stride = Evaluate(node.input(3), depth + 1);
    const auto values = Evaluate(node.input(0), depth + 1);
    const auto single = [](const std::optional<Values>& v) { return v && v->size() == 1; };
    if (!values || !single(begin) || !single(end) || !single(stride)) return std::nullopt;
    const auto n = static_cast<int64_t>(values->size());
    const auto wrapped = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + n : i, 0, n); };
    if (flag("shrink_axis_mask")) {
      const int64_t i = begin->front() < 0 ? begin->front() + n : begin->front();
      if (i < 0 || i >= n) return std::nullopt;
      return Values{(*values)[static_cast<size_t>(i)]};
    }
    if (stride->front() != 1) return std::nullopt;
    const int64_t first = flag("begin_mask") ? 0 : wrapped(begin->front());
    const int64_t last = flag("end_mask") ? n : wrapped(end->front());
    if (first >= last) return Values{};
    return Values(values->begin() + first, values->begin() + last);
  }

  std::optional<Values> Binary(const Node& node, int depth) {
    const auto a = Evaluate(node.input(0), depth + 1);
    const auto b = Evaluate(node.input(1), depth + 1);
    if (!a || !b || a->size() != 1 || b->size() != 1) return std::nullopt;
    const int64_t x = a->front(), y = b->front();
    int64_t result = -1;
    if (x < 0 || y < 0) return Values{-1};
    const bool overflow = node.op() == "Mul"     ? __builtin_mul_overflow(x, y, &result)
                          : node.op() == "AddV2" ? __builtin_add_overflow(x, y, &result)
                                                 : __builtin_sub_overflow(x, y, &result);
    if (overflow || result < 0) return std::nullopt;
    return Values{result};
  }

  std::optional<Values> OfProd(const Node& node, int depth) {
    const auto values = Evaluate(node.input(0), depth + 1);
    const auto axis = Evaluate(node.input(1), depth + 1);
    if (!values || node.input(0).shape().rank() != 1 || axis != Values{0}) return std::nullopt;
    int64_t product = 1;
    for (const int64_t v : *values) {
      if (v < 0) return Values{-1};
      if (__builtin_mul_overflow(product, v, &product)) return std::nullopt;
    }
    return Values{product};
  }
};

}  // namespace

const Tensor* ShapeContext::input_value(int i) const {
  Output output = node_.input(i);
  const Node* node = SkipIdentity(&output);
  return node != nullptr && node->IsConst() && node->schema() != nullptr ? &node->const_value()
                                                                         : nullptr;
}

std::optional<std::vector<int64_t>> ShapeContext::input_as_shape(int i) const {
  return IntegerEvaluator().Evaluate(node_.input(i));
}

StatusOr<PartialShape> ShapeContext::InputOfRank(int i, int rank) const {
  const PartialShape& shape = input(i);
  if (!shape.has_rank()) return PartialShape::UnknownOfRank(rank);
  if (shape.rank() == rank) return shape;
  return Error(StrCat("Shape must be rank ", rank, " but is rank ", shape.rank(), " for input ", i,
                      " of shape ", shape.ToString()));
}

Status ShapeContext::Error(std::string_view text) const {
  return InvalidArgumentError(StrCat(node_.op(), " '", node_.name(), "': ", text));
}

StatusOr<PartialShape> BroadcastShapes(const PartialShape& a, const PartialShape& b) {
  if (!a.has_rank() || !b.has_rank()) return PartialShape::Unknown();
  const int rank = std::max(a.rank(), b.rank());
  std::vector<int64_t> dims(static_cast<size_t>(rank));
  for (int i = 0; i < rank; ++i) {
    const int ia = i - (rank - a.rank()), ib = i - (rank - b.rank());
    const int64_t x = ia < 0 ? 1 : a.dim(ia), y = ib < 0 ? 1 : b.dim(ib);
    int64_t& dim = dims[static_cast<size_t>(i)];
    if (x == y || y == 1) {
      dim = x;
    } else if (x == 1) {
      dim = y;
    } else if (x < 0 || y < 0) {
      dim = std::max(x, y);  // a size over 1 wins over an unknown one; 0 too
    } else {
      return InvalidArgumentError(
          StrCat("Incompatible shapes: ", a.ToString(), " vs. ", b.ToString()));
    }
  }
  return PartialShape(std::move(dims));
}

Status ScalarShape(ShapeContext& c) {
  c.set_output(0, PartialShape({}));
  return OkStatus();
}

Status UnchangedShape(ShapeContext& c) {
  c.set_output(0, c.input(0));
  return OkStatus();
}

Status BroadcastBinaryShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(PartialShape shape, BroadcastShapes(c.input(0), c.input(1)));
  c.set_output(0, std::move(shape));
  return OkStatus();
}

Status NoOutputs(ShapeContext&) { return OkStatus(); }

}  // namespace slipway::ir
