// SPDX-License-Identifier: Apache-2.0
//
// Convolutions and their gradients, and morphological dilation.
#include "base/strings.h"
#include "ir/op_schema.h"
#include "ir/ops/shape_helpers.h"
#include "ir/shape_inference.h"
#include "ir/window.h"

namespace slipway::ir {
namespace {

using enum Effect;

// Output sizes of input 0 under windows of the first sizes of the filter; `channels` behind them.
StatusOr<PartialShape> Slide(const ShapeContext& c, const WindowSpec& spec,
                             const PartialShape& input, const PartialShape& filter,
                             int64_t channels) {
  PartialShape out = PartialShape::UnknownOfRank(spec.rank());
  out.set_dim(0, input.dim(0));
  out.set_dim(spec.channel_axis(), channels);
  for (int i = 3 - spec.spatial; i < 3; ++i) {
    WindowDim dim = spec.dims[static_cast<size_t>(i)];
    dim.input = input.dim(spec.axis(i));
    if (filter.has_rank()) dim.window = filter.dim(i - (3 - spec.spatial));
    if (dim.input < 0 || (dim.window < 0 && spec.padding != Padding::kSame)) continue;
    dim.window = std::max<int64_t>(dim.window, 1);
    const Status status = ComputeWindow(spec.padding, &dim);
    if (!status.ok()) return c.Error(status.message());
    out.set_dim(spec.axis(i), dim.output);
  }
  return out;
}

StatusOr<WindowSpec> SpecOf(const ShapeContext& c, const char* dilations = "dilations") {
  auto spec = ReadWindowSpec(c.node(), {.dilations = dilations});
  if (!spec.ok()) return c.Error(spec.status().message());
  return spec;
}

Status ConvolutionShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(const WindowSpec spec, SpecOf(c));
  ASSIGN_OR_RETURN(PartialShape input, c.InputOfRank(0, spec.rank()));
  ASSIGN_OR_RETURN(PartialShape filter, c.InputOfRank(1, spec.rank()));
  if (!input.has_rank()) input = PartialShape::UnknownOfRank(spec.rank());
  if (!filter.has_rank()) filter = PartialShape::UnknownOfRank(spec.rank());
  const int64_t depth = input.dim(spec.channel_axis()), taken = filter.dim(spec.rank() - 2);
  if (depth > 0 && taken > 0 && depth % taken != 0) {
    return c.Error(StrCat("Depth of input (", depth,
                          ") is not a multiple of input depth of filter (", taken, ")"));
  }
  ASSIGN_OR_RETURN(PartialShape out, Slide(c, spec, input, filter, filter.dim(spec.rank() - 1)));
  c.set_output(0, std::move(out));
  return OkStatus();
}

Status DepthwiseShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(const WindowSpec spec, SpecOf(c));
  ASSIGN_OR_RETURN(PartialShape input, c.InputOfRank(0, 4));
  ASSIGN_OR_RETURN(PartialShape filter, c.InputOfRank(1, 4));
  if (!input.has_rank()) input = PartialShape::UnknownOfRank(4);
  if (!filter.has_rank()) filter = PartialShape::UnknownOfRank(4);
  ASSIGN_OR_RETURN(const int64_t depth,
                   MergeDims(c, input.dim(spec.channel_axis()), filter.dim(2)));
  const int64_t channels = depth < 0 ? -1 : DimMul(depth, filter.dim(3));
  ASSIGN_OR_RETURN(PartialShape out, Slide(c, spec, input, filter, channels));
  c.set_output(0, std::move(out));
  return OkStatus();
}

Status Dilation2DShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(const WindowSpec spec, SpecOf(c, "rates"));
  ASSIGN_OR_RETURN(PartialShape input, c.InputOfRank(0, 4));
  ASSIGN_OR_RETURN(PartialShape filter, c.InputOfRank(1, 3));
  if (!input.has_rank()) input = PartialShape::UnknownOfRank(4);
  if (!filter.has_rank()) filter = PartialShape::UnknownOfRank(3);
  ASSIGN_OR_RETURN(const int64_t depth, MergeDims(c, input.dim(3), filter.dim(2)));
  ASSIGN_OR_RETURN(PartialShape out, Slide(c, spec, input, filter, depth));
  c.set_output(0, std::move(out));
  return OkStatus();
}

// Of the input, or of the filter, of the dilation that is differentiated.
template <int kInput>
Status Dilation2DBackpropShape(ShapeContext& c) {
  c.set_output(0, c.input(kInput));
  return OkStatus();
}

// The shape that input kSizes, a vector of sizes, stands for. A list of two (or three) is that of
// the spatial sizes alone: the rest is not known then.
template <int kSizes, int kRank>
Status SizesShape(ShapeContext& c) {
  PartialShape sizes;
  const auto values = ConstIntegers(c, kSizes);
  if (!values.has_value() || values->size() == kRank) {
    ASSIGN_OR_RETURN(sizes, ShapeFromInput(c, kSizes));
  }
  c.set_output(0, sizes.rank() == kRank ? sizes : PartialShape::UnknownOfRank(kRank));
  return OkStatus();
}

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"Conv2D", "input: T, filter: T", "output: T",
     "T: {bfloat16, float16, float32, float64, int32}, strides: list(int), use_cudnn_on_gpu:"
     " bool = true, padding: {'EXPLICIT', 'SAME', 'VALID'}, explicit_paddings: list(int) = [],"
     " data_format: {'NCHW', 'NHWC'} = 'NHWC', dilations: list(int) = [1, 1, 1, 1]",
     kPure, ConvolutionShape},
    {"Conv2DBackpropFilter", "input: T, filter_sizes: int32, out_backprop: T", "output: T",
     "T: floating, strides: list(int), use_cudnn_on_gpu: bool = true, padding: {'EXPLICIT',"
     " 'SAME', 'VALID'}, explicit_paddings: list(int) = [], data_format: {'NCHW', 'NHWC'} ="
     " 'NHWC', dilations: list(int) = [1, 1, 1, 1]", kPure, (SizesShape<1, 4>)},
    {"Conv2DBackpropInput", "input_sizes: int32, filter: T, out_backprop: T", "output: T",
     "T: {bfloat16, float16, float32, float64, int32}, strides: list(int), use_cudnn_on_gpu:"
     " bool = true, padding: {'EXPLICIT', 'SAME', 'VALID'}, explicit_paddings: list(int) = [],"
     " data_format: {'NCHW', 'NHWC'} = 'NHWC', dilations: list(int) = [1, 1, 1, 1]",
     kPure, (SizesShape<0, 4>)},
    {"Conv3D", "input: T, filter: T", "output: T",
     "T: floating, strides: list(int) >= 5, padding: {'SAME', 'VALID'}, data_format: {'NCDHW',"
     " 'NDHWC'} = 'NDHWC', dilations: list(int) = [1, 1, 1, 1, 1]", kPure, ConvolutionShape},
    {"Conv3DBackpropFilterV2", "input: T, filter_sizes: int32, out_backprop: T", "output: T",
     "T: floating, strides: list(int) >= 5, padding: {'SAME', 'VALID'}, data_format: {'NCDHW',"
     " 'NDHWC'} = 'NDHWC', dilations: list(int) = [1, 1, 1, 1, 1]", kPure, (SizesShape<1, 5>)},
    {"Conv3DBackpropInputV2", "input_sizes: Tshape, filter: T, out_backprop: T", "output: T",
     "T: floating, strides: list(int) >= 5, padding: {'SAME', 'VALID'}, data_format: {'NCDHW',"
     " 'NDHWC'} = 'NDHWC', dilations: list(int) = [1, 1, 1, 1, 1], Tshape: index = int32",
     kPure, (SizesShape<0, 5>)},
    {"DepthwiseConv2dNative", "input: T, filter: T", "output: T",
     "T: floating, strides: list(int), padding: {'EXPLICIT', 'SAME', 'VALID'},"
     " explicit_paddings: list(int) = [], data_format: {'NCHW', 'NHWC'} = 'NHWC', dilations:"
     " list(int) = [1, 1, 1, 1]", kPure, DepthwiseShape},
    {"DepthwiseConv2dNativeBackpropFilter",
     "input: T, filter_sizes: int32, out_backprop: T",
     "output: T",
     "T: floating, strides: list(int), padding: {'EXPLICIT', 'SAME', 'VALID'},"
     " explicit_paddings: list(int) = [], data_format: {'NCHW', 'NHWC'} = 'NHWC', dilations:"
     " list(int) = [1, 1, 1, 1]", kPure, (SizesShape<1, 4>)},
    {"DepthwiseConv2dNativeBackpropInput",
     "input_sizes: int32, filter: T, out_backprop: T",
     "output: T",
     "T: floating, strides: list(int), padding: {'EXPLICIT', 'SAME', 'VALID'},"
     " explicit_paddings: list(int) = [], data_format: {'NCHW', 'NHWC'} = 'NHWC', dilations:"
     " list(int) = [1, 1, 1, 1]", kPure, (SizesShape<0, 4>)},
    {"Dilation2D", "input: T, filter: T", "output: T",
     "T: realnumeric, strides: list(int) >= 4, rates: list(int) >= 4, padding: {'SAME', 'VALID'}",
     kPure, Dilation2DShape},
    {"Dilation2DBackpropFilter", "input: T, filter: T, out_backprop: T", "filter_backprop: T",
     "T: realnumeric, strides: list(int) >= 4, rates: list(int) >= 4, padding: {'SAME', 'VALID'}",
     kPure, Dilation2DBackpropShape<1>},
    {"Dilation2DBackpropInput", "input: T, filter: T, out_backprop: T", "in_backprop: T",
     "T: realnumeric, strides: list(int) >= 4, rates: list(int) >= 4, padding: {'SAME', 'VALID'}",
     kPure, Dilation2DBackpropShape<0>},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> ConvOps() { return kOps; }

}  // namespace slipway::ir
