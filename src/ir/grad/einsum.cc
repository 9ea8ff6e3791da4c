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

// An equation with every dimension a letter: those of an ellipsis are written out, aligned on the
// right, with letters that the equation does not use.
struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

std::string WriteOut(const std::string& subscripts, int rank, const std::string& letters) {
  const size_t dots = subscripts.find("...");
  if (dots == std::string::npos) return subscripts;
  const int hidden = rank - static_cast<int>(subscripts.size() - 3);
  if (hidden < 0 || hidden > static_cast<int>(letters.size())) return subscripts;
  return subscripts.substr(0, dots) + letters.substr(letters.size() - static_cast<size_t>(hidden)) +
         subscripts.substr(dots + 3);
}

// Nothing, and an error, if a rank that an ellipsis needs is not known or a label is repeated.
std::optional<Equation> Read(GradientContext& c) {
  std::string text = AttrOr<std::string>(c.node(), "equation", "");
  std::erase(text, ' ');
  std::string letters;
  for (char letter = 'A'; letter <= 'Z'; ++letter) {
    if (text.find(letter) == std::string::npos) letters += letter;
  }
  const size_t arrow = text.find("->");
  Equation equation;
  int i = 0;
  for (std::string_view part : StrSplit(text.substr(0, arrow), ',')) {
    const PartialShape& shape = c.input(i++).shape();
    equation.operands.push_back(
        WriteOut(std::string(part), shape.has_rank() ? shape.rank() : -1, letters));
  }
  const PartialShape& shape = c.output(0).shape();
  equation.result = WriteOut(text.substr(arrow + 2), shape.has_rank() ? shape.rank() : -1, letters);
  for (std::string side : equation.operands) {
    std::sort(side.begin(), side.end());
    if (std::adjacent_find(side.begin(), side.end()) == side.end()) continue;
    c.builder().Fail(UnimplementedError(
        StrCat("The gradient of Einsum '", c.node().name(), "' with the equation '", text,
               "' needs operands of known rank, and no label twice in one operand")));
    return std::nullopt;
  }
  return equation;
}

// By operand i: labels that only it has were summed over, so that each of their elements gets the
// same.
void ByOperand(GradientContext& c, const Equation& equation, int i) {
  GraphBuilder& b = c.builder();
  const std::string& own = equation.operands[static_cast<size_t>(i)];
  const bool alone = equation.operands.size() == 1;
  const std::string other = alone ? "" : equation.operands[static_cast<size_t>(1 - i)];
  std::string kept;
  for (const char label : own) {
    if ((equation.result + other).find(label) != std::string::npos) kept += label;
  }
  std::vector<Output> inputs = {c.dy(0)};
  if (!alone) inputs.push_back(c.input(1 - i));
  const std::string text = StrCat(equation.result, alone ? "" : "," + other, "->", kept);
  Expr dx(b, b.Op("Einsum", std::move(inputs), {{"equation", text}}));
  for (size_t at = 0; at < own.size(); ++at) {
    if (kept.find(own[at]) != std::string::npos) continue;
    dx = dx.Op("ExpandDims", {b.Scalar(static_cast<int32_t>(at))});
  }
  if (kept.size() < own.size()) dx = dx.Op("BroadcastTo", {ShapeOf(b, c.input(i))});
  // An ellipsis broadcasts.
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
