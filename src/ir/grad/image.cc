// SPDX-License-Identifier: Apache-2.0
//
// Pooling, normalization over windows and batches, resizing, and moves between space and depth or
// batch: what images pass through beside convolutions.
#include "base/strings.h"
#include "ir/grad/attrs.h"
#include "ir/grad/expr.h"
#include "ir/grad/shapes.h"
#include "ir/gradient.h"

namespace slipway::ir::grad {
namespace {

AttrMap PoolAttrs(const Node& node) {
  return CopyAttrs(node, {"ksize", "strides", "padding", "data_format"});
}

void MaxPool(GradientContext& c) {
  AttrMap attrs = PoolAttrs(c.node());
  if (const AttrValue* paddings = c.node().FindAttr("explicit_paddings")) {
    attrs["explicit_paddings"] = *paddings;
  }
  c.set_dx(0, X(c).Op("MaxPoolGrad", {c.output(0), c.dy(0)}, attrs));
}
void MaxPool3D(GradientContext& c) {
  c.set_dx(0, X(c).Op("MaxPool3DGrad", {c.output(0), c.dy(0)}, PoolAttrs(c.node())));
}
void AvgPool(GradientContext& c) {
  Output shape = ShapeOf(c.builder(), c.input(0));
  c.set_dx(0, c.builder().Op("AvgPoolGrad", {shape, c.dy(0)}, PoolAttrs(c.node())));
}
void AvgPool3D(GradientContext& c) {
  Output shape = ShapeOf(c.builder(), c.input(0));
  c.set_dx(0, c.builder().Op("AvgPool3DGrad", {shape, c.dy(0)}, PoolAttrs(c.node())));
}

void Lrn(GradientContext& c) {
  c.set_dx(0, Dy(c).Op("LRNGrad", {c.input(0), c.output(0)},
                       CopyAttrs(c.node(), {"depth_radius", "bias", "alpha", "beta"})));
}

// By x, scale and offset. In training the op keeps what its gradient needs in its last outputs;
// else the statistics are inputs, and constants.
void FusedBatchNorm(GradientContext& c) {
  const bool v3 = c.node().op() == "FusedBatchNormV3";
  const bool training = AttrOr(c.node(), "is_training", true);
  std::vector<Output> inputs = {c.dy(0), c.input(0), c.input(1)};
  for (int i = 3; i < 5; ++i) inputs.push_back(training ? c.output(i) : c.input(i));
  if (v3) inputs.push_back(c.output(5));
  const std::string op = v3                                    ? "FusedBatchNormGradV3"
                         : c.node().op() == "FusedBatchNormV2" ? "FusedBatchNormGradV2"
                                                               : "FusedBatchNormGrad";
  if (!c.dy(0).valid()) {
    c.builder().Fail(
        UnimplementedError(StrCat("The gradient of ", c.node().op(), " '", c.node().name(),
                                  "' by its statistics is not there")));
    return;
  }
  const std::vector<Output> dx =
      c.builder().Ops(op, inputs, CopyAttrs(c.node(), {"epsilon", "data_format", "is_training"}));
  for (int i = 0; i < 3 && c.builder().ok(); ++i) {
    if (c.wants(i)) c.set_dx(i, dx[static_cast<size_t>(i)]);
  }
}

void CropAndResize(GradientContext& c) {
  GraphBuilder& b = c.builder();
  AttrMap attrs = CopyAttrs(c.node(), {"method"});
  if (c.wants(1)) {
    if (AttrOr<std::string>(c.node(), "method", "bilinear") != "bilinear") {
      b.Fail(UnimplementedError(StrCat("The gradient of CropAndResize '", c.node().name(),
                                       "' by its boxes is there for bilinear only")));
      return;
    }
    c.set_dx(1, b.Op("CropAndResizeGradBoxes", {c.dy(0), c.input(0), c.input(1), c.input(2)}));
  }
  if (!c.wants(0)) return;
  attrs["T"] = c.input(0).dtype();
  c.set_dx(0, b.Op("CropAndResizeGradImage",
                   {c.dy(0), c.input(1), c.input(2), ShapeOf(b, c.input(0))}, std::move(attrs)));
}

AttrMap ResizeAttrs(const Node& node) {
  return CopyAttrs(node, {"align_corners", "half_pixel_centers"});
}
void ResizeBilinear(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, Dy(c).Op("ResizeBilinearGrad", {c.input(0)}, ResizeAttrs(c.node())));
}
void ResizeBicubic(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, Dy(c).Op("ResizeBicubicGrad", {c.input(0)}, ResizeAttrs(c.node())));
}
void ResizeNearestNeighbor(GradientContext& c) {
  if (!c.wants(0)) return;
  GraphBuilder& b = c.builder();
  Output size = b.Op("Slice", {ShapeOf(b, c.input(0)), b.Int32Vector({1}), b.Int32Vector({2})});
  c.set_dx(0, Dy(c).Op("ResizeNearestNeighborGrad", {size}, ResizeAttrs(c.node())));
}

void Dilation2D(GradientContext& c) {
  const AttrMap attrs = CopyAttrs(c.node(), {"strides", "rates", "padding"});
  if (c.wants(0)) c.set_dx(0, X(c).Op("Dilation2DBackpropInput", {c.input(1), c.dy(0)}, attrs));
  if (c.wants(1)) c.set_dx(1, X(c).Op("Dilation2DBackpropFilter", {c.input(1), c.dy(0)}, attrs));
}

void SpaceToBatchNd(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, Dy(c).Op("BatchToSpaceND", {c.input(1), c.input(2)}));
}
void BatchToSpaceNd(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, Dy(c).Op("SpaceToBatchND", {c.input(1), c.input(2)}));
}
void SpaceToDepth(GradientContext& c) {
  c.set_dx(0, Dy(c).Op("DepthToSpace", {}, CopyAttrs(c.node(), {"block_size", "data_format"})));
}
void DepthToSpace(GradientContext& c) {
  c.set_dx(0, Dy(c).Op("SpaceToDepth", {}, CopyAttrs(c.node(), {"block_size", "data_format"})));
}

constexpr GradientEntry kEntries[] = {
    {"AvgPool", AvgPool},
    {"AvgPool3D", AvgPool3D},
    {"BatchToSpaceND", BatchToSpaceNd},
    {"CropAndResize", CropAndResize},
    {"DepthToSpace", DepthToSpace},
    {"Dilation2D", Dilation2D},
    {"FusedBatchNorm", FusedBatchNorm},
    {"FusedBatchNormV2", FusedBatchNorm},
    {"FusedBatchNormV3", FusedBatchNorm},
    {"LRN", Lrn},
    {"MaxPool", MaxPool},
    {"MaxPool3D", MaxPool3D},
    {"ResizeBicubic", ResizeBicubic},
    {"ResizeBilinear", ResizeBilinear},
    {"ResizeNearestNeighbor", ResizeNearestNeighbor},
    {"SpaceToBatchND", SpaceToBatchNd},
    {"SpaceToDepth", SpaceToDepth},
};

}  // namespace

std::span<const GradientEntry> ImageGradients() { return kEntries; }

}  // namespace slipway::ir::grad
