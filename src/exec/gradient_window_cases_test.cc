// SPDX-License-Identifier: Apache-2.0
//
// Convolutions, pooling and what else images pass through.
#include "exec/gradient_case_list.h"

namespace slipway::exec::gradient_cases {
namespace {

using Sizes = std::vector<int64_t>;

void AddConvolutions(Cases& c) {
  for (const char* padding : {"SAME", "VALID"}) {
    const AttrMap flat = {{"strides", Sizes{1, 1, 1, 1}}, {"padding", padding}};
    const AttrMap strided = {{"strides", Sizes{1, 2, 2, 1}}, {"padding", padding}};
    c.Plain("Conv2D", {Signed({1, 4, 4, 2}), Signed({3, 2, 2, 2}, 1)}, flat, padding);
    c.Plain("Conv2D", {Signed({1, 4, 4, 2}), Signed({3, 2, 2, 2}, 1)}, strided,
            std::string("Strided") + padding);
    c.Plain("DepthwiseConv2dNative", {Signed({1, 4, 4, 2}), Signed({3, 2, 2, 2}, 1)}, strided,
            padding);
    const AttrMap cube = {{"strides", Sizes{1, 1, 1, 1, 1}}, {"padding", padding}};
    c.Plain("Conv3D", {Signed({1, 3, 3, 2, 2}), Signed({2, 2, 1, 2, 2}, 1)}, cube, padding);
  }
  const AttrMap valid = {{"strides", Sizes{1, 1, 1, 1}}, {"padding", "VALID"}};
  for (const char* op : {"Conv2DBackpropInput", "DepthwiseConv2dNativeBackpropInput"}) {
    const bool depthwise = op[0] == 'D';
    c.Plain(op,
            {Ints({1, 3, 3, 2}), Signed({2, 2, 2, depthwise ? 1 : 3}),
             Signed({1, 2, 2, depthwise ? 2 : 3}, 1)},
            valid);
  }
  for (const char* op : {"Conv2DBackpropFilter", "DepthwiseConv2dNativeBackpropFilter"}) {
    const bool depthwise = op[0] == 'D';
    c.Plain(op,
            {Signed({1, 3, 3, 2}), Ints({2, 2, 2, depthwise ? 1 : 3}),
             Signed({1, 2, 2, depthwise ? 2 : 3}, 1)},
            valid);
  }
  const AttrMap cube = {{"strides", Sizes{1, 1, 1, 1, 1}}, {"padding", "VALID"}};
  c.Plain("Conv3DBackpropInputV2",
          {Ints({1, 3, 2, 2, 2}), Signed({2, 1, 2, 2, 1}), Signed({1, 2, 2, 1, 1}, 1)}, cube);
  c.Plain("Conv3DBackpropFilterV2",
          {Signed({1, 3, 2, 2, 2}), Ints({2, 1, 2, 2, 1}), Signed({1, 2, 2, 1, 1}, 1)}, cube);
  c.Plain("Dilation2D", {Signed({1, 4, 4, 2}), Signed({2, 2, 2}, 1)},
          {{"strides", Sizes{1, 1, 1, 1}}, {"rates", Sizes{1, 1, 1, 1}}, {"padding", "SAME"}});
}

void AddPools(Cases& c) {
  for (const char* padding : {"SAME", "VALID"}) {
    const AttrMap flat = {
        {"ksize", Sizes{1, 2, 2, 1}}, {"strides", Sizes{1, 2, 1, 1}}, {"padding", padding}};
    const AttrMap cube = {
        {"ksize", Sizes{1, 2, 2, 2, 1}}, {"strides", Sizes{1, 2, 1, 1, 1}}, {"padding", padding}};
    for (const char* op : {"MaxPool", "AvgPool"})
      c.Plain(op, {Signed({1, 4, 3, 2})}, flat, padding);
    for (const char* op : {"MaxPool3D", "AvgPool3D"})
      c.Plain(op, {Signed({1, 3, 3, 2, 1})}, cube, padding);
  }
  c.Plain("LRN", {Signed({1, 2, 2, 5})}, {{"depth_radius", 1}, {"alpha", 0.5f}});
}

void AddNormalization(Cases& c) {
  for (const char* op : {"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"}) {
    for (const bool training : {true, false}) {
      const Tensor mean = training ? Signed({0}) : Signed({2}, 1);
      const Tensor variance = training ? Positive({0}) : Positive({2}, 1);
      c.Add(std::string(op) + (training ? "" : "Inference"), op,
            {Signed({2, 3, 2, 2}), Positive({2}), Signed({2}, 2), mean, variance},
            [op, training](GraphBuilder& b, const Outputs& x) -> Outputs {
              return {b.Op(op, x, {{"epsilon", 0.01f}, {"is_training", training}})};
            });
      c.last().constant = {3, 4};
      c.last().tolerance = 5e-3;
    }
  }
}

void AddResizes(Cases& c) {
  for (const char* op : {"ResizeBilinear", "ResizeBicubic", "ResizeNearestNeighbor"}) {
    for (const bool half : {false, true}) {
      c.Plain(op, {Signed({1, 3, 2, 2}), Ints({4, 5})}, {{"half_pixel_centers", half}},
              half ? "Half" : "");
    }
    c.Plain(op, {Signed({1, 3, 2, 2}), Ints({4, 5})}, {{"align_corners", true}}, "Align");
  }
}

void AddCrops(Cases& c) {
  // The corners of boxes fall between pixels, where the image is smooth.
  const Tensor boxes =
      Tensor::FromValues<float>({0.11f, 0.07f, 0.83f, 0.91f, 0.9f, 0.12f, 0.2f, 0.7f}, {2, 4});
  c.Plain("CropAndResize", {Signed({2, 4, 5, 2}), boxes, Ints({1, 0}), Ints({2, 3})});
  c.last().tolerance = 5e-2;
  c.Plain("CropAndResize", {Signed({2, 4, 5, 2}), boxes, Ints({1, 0}), Ints({1, 3})},
          {{"method", "nearest"}}, "Nearest");
  c.last().constant = {1};
}

void AddSpace(Cases& c) {
  const Tensor none = Tensor::FromValues<int32_t>({0, 1, 1, 0}, {2, 2});
  c.Plain("SpaceToBatchND", {Signed({1, 3, 3, 2}), Ints({2, 2}), none});
  c.Plain("BatchToSpaceND", {Signed({4, 2, 2, 2}), Ints({2, 2}), none});
  c.Plain("SpaceToDepth", {Signed({1, 4, 2, 2})}, {{"block_size", 2}});
  c.Plain("DepthToSpace", {Signed({1, 2, 1, 8})}, {{"block_size", 2}});
}

}  // namespace

void AddWindows(Cases& c) {
  AddConvolutions(c);
  AddPools(c);
  AddNormalization(c);
  AddResizes(c);
  AddCrops(c);
  AddSpace(c);
}

}  // namespace slipway::exec::gradient_cases
