// SPDX-License-Identifier: Apache-2.0
//
// Products of matrices. With a' and b' the operands as they enter the product (after transposing),
// d a' = dy b'^T and d b' = a'^T dy; the four cases say how the transposes fall onto a and b.
#include "ir/grad/expr.h"
#include "ir/grad/shapes.h"
#include "ir/gradient.h"

namespace slipway::ir::grad {
namespace {

// What differs between MatMul and the batched ops.
struct ProductOp {
  std::string_view op;
  const char* transpose_a;
  const char* transpose_b;
};

struct Operands {
  Output a;
  Output b;
  bool transpose_a;
  bool transpose_b;
};

Output Product(GraphBuilder& builder, const ProductOp& op, const Operands& p) {
  return builder.Op(op.op, {p.a, p.b},
                    {{op.transpose_a, p.transpose_a}, {op.transpose_b, p.transpose_b}});
}

bool Flag(const Node& node, const char* name) {
  const AttrValue* value = node.FindAttr(name);
  const bool* flag = value == nullptr ? nullptr : value->As<bool>();
  return flag != nullptr && *flag;
}

struct Gradients {
  Output a;
  Output b;
};

Gradients ProductGradients(GradientContext& c, const ProductOp& op) {
  const Output a = c.input(0);
  const Output b = c.input(1);
  const Output dy = c.dy(0);
  const bool ta = Flag(c.node(), op.transpose_a);
  const bool tb = Flag(c.node(), op.transpose_b);
  Gradients out;
  if (c.wants(0)) {
    out.a = ta ? Product(c.builder(), op, {b, dy, tb, true})
               : Product(c.builder(), op, {dy, b, false, !tb});
  }
  if (c.wants(1)) {
    out.b = tb ? Product(c.builder(), op, {dy, a, true, ta})
               : Product(c.builder(), op, {a, dy, !ta, false});
  }
  return out;
}

void MatMul(GradientContext& c) {
  const Gradients g = ProductGradients(c, {"MatMul", "transpose_a", "transpose_b"});
  if (c.wants(0)) c.set_dx(0, g.a);
  if (c.wants(1)) c.set_dx(1, g.b);
}

void BatchMatMul(GradientContext& c) {
  const Gradients g = ProductGradients(c, {"BatchMatMulV2", "adj_x", "adj_y"});
  GraphBuilder& b = c.builder();
  if (c.wants(0)) c.set_dx(0, SumToShape(b, g.a, c.input(0), c.input(1), 2));
  if (c.wants(1)) c.set_dx(1, SumToShape(b, g.b, c.input(1), c.input(0), 2));
}

constexpr GradientEntry kEntries[] = {
    {"BatchMatMul", BatchMatMul},
    {"BatchMatMulV2", BatchMatMul},
    {"MatMul", MatMul},
};

}  // namespace

std::span<const GradientEntry> MatMulGradients() { return kEntries; }

}  // namespace slipway::ir::grad
