// SPDX-License-Identifier: Apache-2.0
//
// Rules that keep every bit of every value: x + 0.0 is not x (it turns -0.0 into 0.0) and x * 0 is
// not 0 (NaN), so neither is here.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>

#include "base/strings.h"
#include "ir/passes/passes.h"
#include "ir/passes/rewrite.h"

namespace slipway::ir {
namespace {

// A node and its inputs as they are after the rules applied so far.
struct Subject {
  Graph& graph;
  Node* node;
  std::vector<Output> inputs;

  const Output& input(int i) const { return inputs[static_cast<size_t>(i)]; }
};

// What the node's outputs are instead; empty if the rule does not apply.
using Rule = StatusOr<std::vector<Output>> (*)(const Subject& s);

std::vector<Output> Keep() { return {}; }

const Tensor* ConstantOf(const Output& value) {
  return value.node->IsConst() ? &value.node->const_value() : nullptr;
}

std::optional<std::vector<int64_t>> Integers(const Output& value) {
  const Tensor* tensor = ConstantOf(value);
  if (tensor == nullptr) return std::nullopt;
  if (tensor->dtype() == DType::kInt32) {
    auto flat = tensor->flat<int32_t>();
    return std::vector<int64_t>(flat.begin(), flat.end());
  }
  if (tensor->dtype() != DType::kInt64) return std::nullopt;
  auto flat = tensor->flat<int64_t>();
  return std::vector<int64_t>(flat.begin(), flat.end());
}

StatusOr<Output> AddConst(Graph& graph, std::string_view name, Tensor value) {
  NodeSpec spec;
  spec.op = "Const";
  spec.name = std::string(name);
  spec.attrs["dtype"] = value.dtype();
  spec.attrs["value"] = std::move(value);
  ASSIGN_OR_RETURN(Node * node, graph.AddNode(std::move(spec)));
  return Output{node, 0};
}

Tensor Int32Tensor(const std::vector<int64_t>& values) {
  Tensor tensor(DType::kInt32, Shape({static_cast<int64_t>(values.size())}));
  std::transform(values.begin(), values.end(), tensor.flat<int32_t>().begin(),
                 [](int64_t v) { return static_cast<int32_t>(v); });
  return tensor;
}

// The node again with other inputs; it takes its control inputs along.
StatusOr<std::vector<Output>> AgainWith(const Subject& s, std::vector<Output> inputs,
                                        AttrMap attrs) {
  NodeSpec spec;
  spec.op = s.node->op();
  spec.name = s.node->name();
  spec.inputs = std::move(inputs);
  spec.control_inputs = s.node->control_inputs();
  spec.attrs = std::move(attrs);
  spec.device = s.node->device();
  ASSIGN_OR_RETURN(Node * node, s.graph.AddNode(std::move(spec)));
  return std::vector<Output>{{node, 0}};
}

// Both are the same shape for every value that may be fed: all sizes known and equal, but at most
// one unknown at the same place (the number of elements settles it, unless a size is 0).
bool SurelySameShape(const PartialShape& a, const PartialShape& b) {
  if (!a.has_rank() || a.rank() != b.rank()) return false;
  int unknown = 0;
  bool zero = false;
  for (int i = 0; i < a.rank(); ++i) {
    if (a.dim(i) != b.dim(i)) return false;
    if (a.dim(i) < 0) ++unknown;
    zero = zero || a.dim(i) == 0;
  }
  return unknown == 0 || (unknown == 1 && !zero);
}

bool StaticallySame(const PartialShape& a, const PartialShape& b) {
  return a.IsFullyDefined() && a == b;
}

StatusOr<std::vector<Output>> PassThrough(const Subject& s) { return s.inputs; }

StatusOr<std::vector<Output>> SameTypeCast(const Subject& s) {
  if (s.input(0).dtype() != s.node->dtype(0)) return Keep();
  return std::vector<Output>{s.input(0)};
}

// f(f(x)) = f(x).
StatusOr<std::vector<Output>> Idempotent(const Subject& s) {
  if (s.input(0).node->op() != s.node->op()) return Keep();
  return std::vector<Output>{s.input(0)};
}

// f(f(x)) = x.
StatusOr<std::vector<Output>> Involution(const Subject& s) {
  const Node& inner = *s.input(0).node;
  if (inner.op() != s.node->op() || !inner.control_inputs().empty()) return Keep();
  return std::vector<Output>{inner.input(0)};
}

template <typename T>
bool AllAre(const Tensor& tensor, double wanted) {
  for (const T& element : tensor.flat<T>()) {
    const auto value = static_cast<double>(element);
    if (value != wanted || std::signbit(value) != std::signbit(wanted)) return false;
  }
  return tensor.num_elements() > 0;
}

bool AllElementsAre(const Tensor& tensor, double wanted) {
  switch (tensor.dtype()) {
    case DType::kFloat:
      return AllAre<float>(tensor, wanted);
    case DType::kDouble:
      return AllAre<double>(tensor, wanted);
    case DType::kInt32:
      return AllAre<int32_t>(tensor, std::abs(wanted));
    case DType::kInt64:
      return AllAre<int64_t>(tensor, std::abs(wanted));
    default:
      return false;
  }
}

// x op constant = x if every element of the constant is `neutral` and does not widen the shape.
std::vector<Output> DropNeutral(const Subject& s, int x, double neutral) {
  const Tensor* constant = ConstantOf(s.input(1 - x));
  if (constant == nullptr || constant->num_elements() > 4096) return Keep();
  const PartialShape& shape = s.input(x).shape();
  if (constant->rank() != 0 && !StaticallySame(shape, s.node->shape(0))) return Keep();
  if (!AllElementsAre(*constant, neutral)) return Keep();
  return {s.input(x)};
}

StatusOr<std::vector<Output>> TimesOne(const Subject& s) {
  std::vector<Output> left = DropNeutral(s, 0, 1.0);
  return left.empty() ? DropNeutral(s, 1, 1.0) : left;
}
StatusOr<std::vector<Output>> PlusZero(const Subject& s) {
  // -0.0 is the neutral one of floating-point addition; integers have but one zero.
  std::vector<Output> left = DropNeutral(s, 0, -0.0);
  return left.empty() ? DropNeutral(s, 1, -0.0) : left;
}
StatusOr<std::vector<Output>> MinusZero(const Subject& s) { return DropNeutral(s, 0, 0.0); }
StatusOr<std::vector<Output>> DividedByOne(const Subject& s) { return DropNeutral(s, 0, 1.0); }
StatusOr<std::vector<Output>> ToThePowerOfOne(const Subject& s) { return DropNeutral(s, 0, 1.0); }

// Shape arithmetic (batch size out of a shape and into another) that inference saw through.
StatusOr<std::vector<Output>> ReshapeToKnown(const Subject& s) {
  const PartialShape& to = s.node->shape(0);
  if (ConstantOf(s.input(1)) != nullptr || !to.has_rank()) return Keep();
  const auto unknown = std::count(to.dims().begin(), to.dims().end(), -1);
  const auto zeros = std::count(to.dims().begin(), to.dims().end(), 0);
  const auto large =
      std::count_if(to.dims().begin(), to.dims().end(), [](int64_t d) { return d > INT32_MAX; });
  if (unknown > 1 || (unknown == 1 && zeros > 0) || large > 0) return Keep();
  ASSIGN_OR_RETURN(Output shape,
                   AddConst(s.graph, StrCat(s.node->name(), "/shape"), Int32Tensor(to.dims())));
  return AgainWith(s, {s.input(0), shape}, {});
}

StatusOr<std::vector<Output>> Reshape(const Subject& s) {
  if (SurelySameShape(s.input(0).shape(), s.node->shape(0))) {
    return std::vector<Output>{s.input(0)};
  }
  const Node& inner = *s.input(0).node;
  const bool only_shapes =
      inner.op() == "Reshape" || inner.op() == "ExpandDims" || inner.op() == "Squeeze";
  if (only_shapes && inner.control_inputs().empty()) {
    if (SurelySameShape(inner.input(0).shape(), s.node->shape(0))) {
      return std::vector<Output>{inner.input(0)};
    }
    return AgainWith(s, {inner.input(0), s.input(1)}, {});
  }
  return ReshapeToKnown(s);
}

StatusOr<std::vector<Output>> Transpose(const Subject& s) {
  std::optional<std::vector<int64_t>> perm = Integers(s.input(1));
  if (!perm.has_value()) return Keep();
  const auto rank = static_cast<int64_t>(perm->size());
  for (int64_t& axis : *perm) {
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return Keep();
  }
  if (std::is_sorted(perm->begin(), perm->end())) return std::vector<Output>{s.input(0)};
  const Node& inner = *s.input(0).node;
  if (inner.op() != "Transpose" || !inner.control_inputs().empty()) return Keep();
  std::optional<std::vector<int64_t>> first = Integers(inner.input(1));
  if (!first.has_value() || first->size() != perm->size()) return Keep();
  std::vector<int64_t> both;
  for (int64_t axis : *perm) {
    int64_t from = (*first)[static_cast<size_t>(axis)];
    if (from < 0) from += rank;
    both.push_back(from);
  }
  if (std::is_sorted(both.begin(), both.end())) return std::vector<Output>{inner.input(0)};
  ASSIGN_OR_RETURN(Output composed,
                   AddConst(s.graph, StrCat(s.node->name(), "/perm"), Int32Tensor(both)));
  return AgainWith(s, {inner.input(0), composed}, {});
}

// Moves that keep the shape keep everything.
StatusOr<std::vector<Output>> NothingToMove(const Subject& s) {
  if (!StaticallySame(s.input(0).shape(), s.node->shape(0))) return Keep();
  return std::vector<Output>{s.input(0)};
}

StatusOr<std::vector<Output>> OnlyOne(const Subject& s) {
  const size_t parts = s.node->op() == "ConcatV2" ? s.inputs.size() - 1 : s.inputs.size();
  if (parts != 1) return Keep();
  return std::vector<Output>{s.input(0)};
}

// A reduction over no axes.
StatusOr<std::vector<Output>> NothingToReduce(const Subject& s) {
  const Tensor* axes = ConstantOf(s.input(1));
  if (axes == nullptr || axes->num_elements() != 0) return Keep();
  return std::vector<Output>{s.input(0)};
}

const std::multimap<std::string_view, Rule>& Rules() {
  static const auto* const rules = new std::multimap<std::string_view, Rule>{
      {"Identity", PassThrough},  {"IdentityN", PassThrough},
      {"Snapshot", PassThrough},  {"StopGradient", Idempotent},
      {"Relu", Idempotent},       {"Abs", Idempotent},
      {"Floor", Idempotent},      {"Ceil", Idempotent},
      {"Round", Idempotent},      {"Neg", Involution},
      {"LogicalNot", Involution}, {"Cast", SameTypeCast},
      {"Mul", TimesOne},          {"RealDiv", DividedByOne},
      {"Div", DividedByOne},      {"Pow", ToThePowerOfOne},
      {"AddV2", PlusZero},        {"Add", PlusZero},
      {"Sub", MinusZero},         {"Reshape", Reshape},
      {"Transpose", Transpose},   {"BroadcastTo", NothingToMove},
      {"Tile", NothingToMove},    {"Pad", NothingToMove},
      {"PadV2", NothingToMove},   {"Slice", NothingToMove},
      {"AddN", OnlyOne},          {"ConcatV2", OnlyOne},
      {"Sum", NothingToReduce},   {"Max", NothingToReduce},
      {"Min", NothingToReduce},   {"Prod", NothingToReduce},
  };
  return *rules;
}

}  // namespace

Status SimplifyArithmetic(Function& function, const PassContext&, std::string* note) {
  ASSIGN_OR_RETURN(std::vector<Node*> order, function.graph.TopologicalOrder());
  Replacements replacements(function);
  for (Node* node : order) {
    auto [begin, end] = Rules().equal_range(node->op());
    for (auto it = begin; it != end; ++it) {
      const Subject subject{function.graph, node, replacements.ResolvedInputs(*node)};
      ASSIGN_OR_RETURN(std::vector<Output> values, it->second(subject));
      if (values.empty()) continue;
      replacements.Replace(node, std::move(values));
      break;
    }
  }
  *note = StrCat(replacements.size(), " nodes simplified");
  replacements.Apply();
  return OkStatus();
}

}  // namespace slipway::ir
