// SPDX-License-Identifier: Apache-2.0
//
// Einsum: the gradient by one operand is an Einsum of dy and the other operand.
#include <algorithm>
#include <optional>
#include <string>

#include "base/strings.h"
#include "ir/grad/attrs.h"
#include "ir/grad/expr.h"
#include "ir/grad/shapes.h"
#include "ir/gradient.h"

namespace slipway::ir::grad {
namespace {

struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

bool HasDots(std::string_view subscripts) { return subscripts.find('.') != std::string::npos; }

// Nothing, and an error, for a label that stands twice in one operand (a diagonal).
std::optional<Equation> Read(GradientContext& c) {
  std::string text = AttrOr<std::string>(c.node(), "equation", "");
  std::erase(text, ' ');
  const size_t arrow = text.find("->");
  Equation equation;
  const std::string operands = text.substr(0, arrow);
  for (std::string_view part : StrSplit(operands, ',')) {
    equation.operands.emplace_back(part);
  }
  equation.result = text.substr(arrow + 2);
  for (std::string labels : equation.operands) {
    std::erase(labels, '.');
    std::sort(labels.begin(), labels.end());
    if (std::adjacent_find(labels.begin(), labels.end()) == labels.end()) continue;
    c.builder().Fail(UnimplementedError(StrCat("The gradient of Einsum '", c.node().name(),
                                               "' with the equation '", text,
                                               "' is not there: an operand has a label twice")));
    return std::nullopt;
  }
  return equation;
}

// The labels of an operand that the others know, its ellipsis kept; with an ellipsis in front if
// only the others have one, whose dimensions are then summed.
std::string Known(const std::string& own, const std::string& others) {
  std::string kept = HasDots(others) && !HasDots(own) ? "..." : "";
  for (const char label : own) {
    if (label == '.' || others.find(label) != std::string::npos) kept += label;
  }
  return kept;
}

// With a dimension of size 1 for each label of `own` that `kept` lacks: those in front of an
// ellipsis counted from the left, the others from the right.
Expr WithAll(Expr x, const std::string& own, const std::string& kept) {
  GraphBuilder& b = x.builder();
  const size_t dots = std::min(own.find('.'), own.size());
  const auto lacks = [&](size_t at) {
    return own[at] != '.' && kept.find(own[at]) == std::string::npos;
  };
  if (HasDots(own)) {
    for (size_t at = 0; at < dots; ++at) {
      if (lacks(at)) x = x.Op("ExpandDims", {b.Scalar(static_cast<int32_t>(at))});
    }
  }
  for (size_t at = own.size(); at-- > (HasDots(own) ? dots : 0);) {
    const auto axis = -static_cast<int32_t>(own.size() - at);
    if (lacks(at)) x = x.Op("ExpandDims", {b.Scalar(axis)});
  }
  return x;
}

// By operand i. What a label of its own was summed over gets the same everywhere, and what an
// ellipsis repeated is summed.
void ByOperand(GradientContext& c, const Equation& equation, int i) {
  GraphBuilder& b = c.builder();
  const std::string& own = equation.operands[static_cast<size_t>(i)];
  std::vector<Output> inputs = {c.dy(0)};
  std::string others = equation.result;
  if (equation.operands.size() > 1) {
    inputs.push_back(c.input(1 - i));
    StrAppend(&others, ",", equation.operands[static_cast<size_t>(1 - i)]);
  }
  const std::string kept = Known(own, others);
  Expr dx(b, b.Op("Einsum", std::move(inputs), {{"equation", StrCat(others, "->", kept)}}));
  if (kept != own) dx = WithAll(dx, own, kept) * X(c, i).Op("OnesLike");
  c.set_dx(i, SumToShape(b, dx, c.input(i), dx));
}

void Einsum(GradientContext& c) {
  const std::optional<Equation> equation = Read(c);
  if (!equation) return;
  for (int i = 0; i < static_cast<int>(equation->operands.size()); ++i) {
    if (c.wants(i)) ByOperand(c, *equation, i);
  }
}

constexpr GradientEntry kEntries[] = {{"Einsum", Einsum}};

}  // namespace

std::span<const GradientEntry> EinsumGradients() { return kEntries; }

}  // namespace slipway::ir::grad
