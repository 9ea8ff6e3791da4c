// SPDX-License-Identifier: Apache-2.0
#include "kernels/conv_geometry.h"

namespace slipway::kernels {
namespace {

Status CheckConvRank(const Shape& shape, int rank, std::string_view what) {
  if (shape.rank() == rank) return OkStatus();
  return InvalidArgumentError(StrCat(what, " must be ", rank, "-dimensional: ", shape.ToString()));
}

Status SetChannels(const Shape& filter, bool depthwise, Conv* c) {
  const int rank = c->spec.rank();
  const int64_t taken = filter.dim(rank - 2), last = filter.dim(rank - 1);
  if (depthwise) {
    if (taken != c->in_channels) {
      return InvalidArgumentError(
          StrCat("input and filter must have the same depth: ", c->in_channels, " vs ", taken));
    }
    ASSIGN_OR_RETURN(c->out_channels, CheckedMul(taken, last, "Output depth"));
    c->groups = c->in_channels;
    return OkStatus();
  }
  if (taken == 0 ? c->in_channels != 0 : c->in_channels % taken != 0) {
    return InvalidArgumentError(StrCat(
        "input depth must be evenly divisible by filter depth: ", c->in_channels, " vs ", taken));
  }
  c->out_channels = last;
  c->groups = taken == 0 ? 1 : c->in_channels / taken;
  if (c->groups == 0) c->groups = 1;  // no channels at all
  if (last % c->groups != 0) {
    return InvalidArgumentError(StrCat(
        "output depth must be evenly divisible by number of groups: ", last, " vs ", c->groups));
  }
  return OkStatus();
}

StatusOr<Shape> ImageShape(const Conv& c, bool output) {
  const int rank = c.spec.rank();
  std::array<int64_t, 5> sizes{};
  sizes[0] = c.batch;
  sizes[static_cast<size_t>(c.spec.channel_axis())] = output ? c.out_channels : c.in_channels;
  for (int i = 3 - c.spec.spatial; i < 3; ++i) {
    const ir::WindowDim& dim = c.dims[static_cast<size_t>(i)];
    sizes[static_cast<size_t>(c.spec.axis(i))] = output ? dim.output : dim.input;
  }
  return Shape::FromDims({sizes.data(), static_cast<size_t>(rank)});
}

ImageStrides StridesOf(bool channels_first, int64_t pixels, int64_t channels) {
  if (channels_first) return {pixels * channels, 1, pixels};
  return {pixels * channels, channels, 1};
}

}  // namespace

bool Conv::pointwise() const {
  const bool plain = std::all_of(dims.begin(), dims.end(), [](const ir::WindowDim& d) {
    return d.window == 1 && d.stride == 1 && d.before == 0 && d.after == 0;
  });
  return plain && groups == 1 && !spec.channels_first;
}

ImageStrides Conv::in_strides() const {
  return StridesOf(spec.channels_first, in_pixels, in_channels);
}
ImageStrides Conv::out_strides() const {
  return StridesOf(spec.channels_first, out_pixels, out_channels);
}
StatusOr<Shape> Conv::input_shape() const { return ImageShape(*this, false); }
StatusOr<Shape> Conv::output_shape() const { return ImageShape(*this, true); }

StatusOr<Conv> MakeConv(const ir::WindowSpec& spec, const Shape& input, const Shape& filter,
                        bool depthwise) {
  RETURN_IF_ERROR(CheckConvRank(input, spec.rank(), "input"));
  RETURN_IF_ERROR(CheckConvRank(filter, spec.rank(), "filter"));
  if (spec.batch_stride != 1 || spec.channel_stride != 1) {
    return UnimplementedError(
        "Current implementation does not yet support strides in the batch and depth dimensions.");
  }
  Conv c;
  c.spec = spec;
  c.dims = spec.dims;
  c.batch = input.dim(0);
  c.in_channels = input.dim(spec.channel_axis());
  RETURN_IF_ERROR(SetChannels(filter, depthwise, &c));
  for (int i = 3 - spec.spatial; i < 3; ++i) {
    ir::WindowDim& dim = c.dims[static_cast<size_t>(i)];
    dim.input = input.dim(spec.axis(i));
    dim.window = filter.dim(i - (3 - spec.spatial));
    RETURN_IF_ERROR(ir::ComputeWindow(spec.padding, &dim));
    ASSIGN_OR_RETURN(c.in_pixels, CheckedMul(c.in_pixels, dim.input, "Input size"));
    ASSIGN_OR_RETURN(c.taps, CheckedMul(c.taps, dim.window, "Filter size"));
    ASSIGN_OR_RETURN(c.out_pixels, CheckedMul(c.out_pixels, dim.output, "Output size"));
  }
  RETURN_IF_ERROR(c.output_shape().status());
  return c;
}

StatusOr<Conv> MakeConvGradient(const ir::WindowSpec& spec, const Shape& input, const Shape& filter,
                                const Shape& out_backprop, bool depthwise) {
  RETURN_IF_ERROR(CheckConvRank(out_backprop, spec.rank(), "out_backprop"));
  ASSIGN_OR_RETURN(Conv c, MakeConv(spec, input, filter, depthwise));
  ASSIGN_OR_RETURN(const Shape output, c.output_shape());
  if (output == out_backprop) return c;
  return InvalidArgumentError(
      StrCat("Size of out_backprop doesn't match computed: actual = ", out_backprop.ToString(),
             ", computed = ", output.ToString(), " for input ", input.ToString(), " and filter ",
             filter.ToString()));
}

}  // namespace slipway::kernels
