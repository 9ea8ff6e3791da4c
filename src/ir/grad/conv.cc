// SPDX-License-Identifier: Apache-2.0
//
// Convolutions. Each of a convolution and its two gradients is linear in both of its tensors, and
// its own gradients are the other two.
#include "ir/grad/attrs.h"
#include "ir/grad/expr.h"
#include "ir/grad/shapes.h"
#include "ir/gradient.h"

namespace slipway::ir::grad {
namespace {

struct ConvOp {
  const char* forward;
  const char* by_input;
  const char* by_filter;
};
constexpr ConvOp kConv2D = {"Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"};
constexpr ConvOp kConv3D = {"Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2"};
constexpr ConvOp kDepthwise = {"DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropInput",
                               "DepthwiseConv2dNativeBackpropFilter"};

AttrMap WindowAttrs(const Node& node) {
  AttrMap attrs = CopyAttrs(node, {"strides", "padding", "data_format", "dilations"});
  if (const AttrValue* paddings = node.FindAttr("explicit_paddings")) {
    attrs["explicit_paddings"] = *paddings;
  }
  return attrs;
}

// y = conv(x, f); inputs x, f.
template <const ConvOp& kOp>
void Forward(GradientContext& c) {
  GraphBuilder& b = c.builder();
  const AttrMap attrs = WindowAttrs(c.node());
  if (c.wants(0)) {
    c.set_dx(0, b.Op(kOp.by_input, {ShapeOf(b, c.input(0)), c.input(1), c.dy(0)}, attrs));
  }
  if (c.wants(1)) {
    c.set_dx(1, b.Op(kOp.by_filter, {c.input(0), ShapeOf(b, c.input(1)), c.dy(0)}, attrs));
  }
}

// x = conv's gradient by its input; inputs the shape of x, f, y.
template <const ConvOp& kOp>
void ByInput(GradientContext& c) {
  GraphBuilder& b = c.builder();
  const AttrMap attrs = WindowAttrs(c.node());
  if (c.wants(1)) {
    c.set_dx(1, b.Op(kOp.by_filter, {c.dy(0), ShapeOf(b, c.input(1)), c.input(2)}, attrs));
  }
  if (c.wants(2)) c.set_dx(2, Dy(c).Op(kOp.forward, {c.input(1)}, attrs));
}

// f = conv's gradient by its filter; inputs x, the shape of f, y.
template <const ConvOp& kOp>
void ByFilter(GradientContext& c) {
  GraphBuilder& b = c.builder();
  const AttrMap attrs = WindowAttrs(c.node());
  if (c.wants(0)) {
    c.set_dx(0, b.Op(kOp.by_input, {ShapeOf(b, c.input(0)), c.dy(0), c.input(2)}, attrs));
  }
  if (c.wants(2)) c.set_dx(2, X(c, 0).Op(kOp.forward, {c.dy(0)}, attrs));
}

constexpr GradientEntry kEntries[] = {
    {"Conv2D", Forward<kConv2D>},
    {"Conv2DBackpropFilter", ByFilter<kConv2D>},
    {"Conv2DBackpropInput", ByInput<kConv2D>},
    {"Conv3D", Forward<kConv3D>},
    {"Conv3DBackpropFilterV2", ByFilter<kConv3D>},
    {"Conv3DBackpropInputV2", ByInput<kConv3D>},
    {"DepthwiseConv2dNative", Forward<kDepthwise>},
    {"DepthwiseConv2dNativeBackpropFilter", ByFilter<kDepthwise>},
    {"DepthwiseConv2dNativeBackpropInput", ByInput<kDepthwise>},
};

}  // namespace

std::span<const GradientEntry> ConvGradients() { return kEntries; }

}  // namespace slipway::ir::grad
