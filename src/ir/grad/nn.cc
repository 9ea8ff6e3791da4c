// SPDX-License-Identifier: Apache-2.0
//
// Bias, activations, softmax and cross-entropies.
#include "ir/grad/expr.h"
#include "ir/grad/shapes.h"
#include "ir/gradient.h"

namespace slipway::ir::grad {
namespace {

AttrMap CopyAttr(const Node& node, const char* name) {
  const AttrValue* value = node.FindAttr(name);
  if (value == nullptr) return {};
  return {{name, *value}};
}

void BiasAdd(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, c.dy(0));
  if (c.wants(1)) {
    c.set_dx(1, Dy(c).Op("BiasAddGrad", {}, CopyAttr(c.node(), "data_format")));
  }
}

// Activations whose gradient is computed from the output; relu'(0) = 0.
void Relu(GradientContext& c) { c.set_dx(0, Dy(c).Op("ReluGrad", {c.output(0)})); }
void Relu6(GradientContext& c) { c.set_dx(0, Dy(c).Op("Relu6Grad", {c.output(0)})); }
void Elu(GradientContext& c) { c.set_dx(0, Dy(c).Op("EluGrad", {c.output(0)})); }
void Selu(GradientContext& c) { c.set_dx(0, Dy(c).Op("SeluGrad", {c.output(0)})); }
// And from the input.
void LeakyRelu(GradientContext& c) {
  c.set_dx(0, Dy(c).Op("LeakyReluGrad", {c.input(0)}, CopyAttr(c.node(), "alpha")));
}
void Softplus(GradientContext& c) { c.set_dx(0, Dy(c).Op("SoftplusGrad", {c.input(0)})); }
void Softsign(GradientContext& c) { c.set_dx(0, Dy(c).Op("SoftsignGrad", {c.input(0)})); }

// Second derivatives of the piecewise linear ones: linear in dy, flat in the features.
void ReluGrad(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, Dy(c).Op("ReluGrad", {c.input(1)}));
}
void Relu6Grad(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, Dy(c).Op("Relu6Grad", {c.input(1)}));
}
void LeakyReluGrad(GradientContext& c) {
  if (!c.wants(0)) return;
  c.set_dx(0, Dy(c).Op("LeakyReluGrad", {c.input(1)}, CopyAttr(c.node(), "alpha")));
}

Expr SumLastAxis(Expr x) {
  return x.Op("Sum", {x.builder().Int32Vector({-1})}, {{"keep_dims", true}});
}

void Softmax(GradientContext& c) {
  Expr y = Y(c);
  c.set_dx(0, (Dy(c) - SumLastAxis(Dy(c) * y)) * y);
}

void LogSoftmax(GradientContext& c) { c.set_dx(0, Dy(c) - SumLastAxis(Dy(c)) * Y(c).Op("Exp")); }

void L2Loss(GradientContext& c) { c.set_dx(0, X(c) * Dy(c)); }

// dy of a loss per row, ready to scale rows: a scalar where all rows have the same (the mean of a
// batch), else a column.
Expr RowScale(GradientContext& c) {
  const Node& from = *c.dy(0).node;
  if (from.op() == "BroadcastTo" && from.input(0).shape().rank() == 0) {
    return {c.builder(), from.input(0)};
  }
  if (from.op() == "Fill") return {c.builder(), from.input(1)};
  return Dy(c).Op("ExpandDims", {c.builder().Scalar<int32_t>(-1)});
}

// The part of dlogits that comes from the second output (the op's own gradient): only there in
// second derivatives.
Expr CurvatureTerm(GradientContext& c) {
  Expr softmax = X(c).Op("Softmax");
  Expr dd = Dy(c, 1);
  return (dd - SumLastAxis(dd * softmax)) * softmax;
}

void CrossEntropyLogits(GradientContext& c) {
  if (!c.wants(0)) return;
  const bool first = c.dy(0).valid();
  const bool second = c.dy(1).valid();
  if (first && second) {
    c.set_dx(0, RowScale(c) * Y(c, 1) + CurvatureTerm(c));
  } else if (first) {
    c.set_dx(0, RowScale(c) * Y(c, 1));
  } else if (second) {
    c.set_dx(0, CurvatureTerm(c));
  }
}

void SoftmaxCrossEntropy(GradientContext& c) {
  CrossEntropyLogits(c);
  if (c.wants(1) && c.dy(0).valid()) c.set_dx(1, RowScale(c) * -X(c).Op("LogSoftmax"));
}

void BiasAddGrad(GradientContext& c) {
  const AttrValue* format = c.node().FindAttr("data_format");
  const std::string* text = format == nullptr ? nullptr : format->As<std::string>();
  if (text != nullptr && *text == "NCHW") {
    c.builder().Fail(UnimplementedError("The gradient of BiasAddGrad '" + c.node().name() +
                                        "' with data_format NCHW is not there; use NHWC"));
    return;
  }
  c.set_dx(0, Dy(c).Op("BroadcastTo", {ShapeOf(c.builder(), c.input(0))}));
}

constexpr GradientEntry kEntries[] = {
    {"BiasAdd", BiasAdd},
    {"BiasAddGrad", BiasAddGrad},
    {"BiasAddV1", BiasAdd},
    {"Elu", Elu},
    {"L2Loss", L2Loss},
    {"LeakyRelu", LeakyRelu},
    {"LeakyReluGrad", LeakyReluGrad},
    {"LogSoftmax", LogSoftmax},
    {"Relu", Relu},
    {"Relu6", Relu6},
    {"Relu6Grad", Relu6Grad},
    {"ReluGrad", ReluGrad},
    {"Selu", Selu},
    {"Softmax", Softmax},
    {"SoftmaxCrossEntropyWithLogits", SoftmaxCrossEntropy},
    {"Softplus", Softplus},
    {"Softsign", Softsign},
    {"SparseSoftmaxCrossEntropyWithLogits", CrossEntropyLogits},
};

}  // namespace

std::span<const GradientEntry> NnGradients() { return kEntries; }

}  // namespace slipway::ir::grad
