// SPDX-License-Identifier: Apache-2.0
//
// Patches, glimpses and morphological dilation of images.
#include <cmath>
#include <limits>

#include "base/random.h"
#include "kernels/attrs.h"
#include "kernels/conv_geometry.h"
#include "kernels/kernel_table.h"
#include "kernels/strided_copy.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

// Elements are moved, not computed with: a type for each size.
struct Wide {
  uint64_t words[2] = {};
  Wide() = default;
  explicit Wide(int) {}
};
template <typename Fn>
void SwitchSize(size_t size, Fn&& fn) {
  if (size == 1) fn.template operator()<uint8_t>();
  if (size == 2) fn.template operator()<uint16_t>();
  if (size == 4) fn.template operator()<uint32_t>();
  if (size == 8) fn.template operator()<uint64_t>();
  if (size == 16) fn.template operator()<Wide>();
}

// The patches are those that a convolution with a filter of these windows sees.
StatusOr<Conv> PatchConv(const ir::WindowSpec& spec, const Shape& input) {
  if (input.rank() != spec.rank()) {
    return InvalidArgumentError(
        StrCat("input must be ", spec.rank(), "-dimensional", input.ToString()));
  }
  Shape filter;
  for (int i = 3 - spec.spatial; i < 3; ++i) {
    filter.AddDim(spec.dims[static_cast<size_t>(i)].window);
  }
  filter.AddDim(input.dim(input.rank() - 1));
  filter.AddDim(1);
  RETURN_IF_ERROR(Shape::FromDims(filter.dims()).status());
  return MakeConv(spec, input, filter, false);
}

StatusOr<KernelFn> BindPatches(const BindContext& bind) {
  ASSIGN_OR_RETURN(const ir::WindowSpec spec,
                   ir::ReadWindowSpec(*bind.node, {.window = "ksizes", .dilations = "rates"}));
  return KernelFn([spec](KernelContext& ctx) -> Status {
    const Tensor& x = ctx.input(0);
    ASSIGN_OR_RETURN(Conv c, PatchConv(spec, x.shape()));
    c.out_channels = c.depth();
    ASSIGN_OR_RETURN(const Shape shape, c.output_shape());
    ASSIGN_OR_RETURN(Tensor * y, ctx.AllocateOutput(0, shape));
    if (y->num_elements() == 0) return OkStatus();
    SwitchSize(DTypeSize(x.dtype()), [&]<typename T>() {
      const auto* from = static_cast<const T*>(x.raw_data());
      auto* to = static_cast<T*>(y->raw_data());
      const int64_t grain = std::max<int64_t>(1, 16384 / c.depth());
      ctx.intra_op().ParallelFor(c.rows(), grain, [&](int64_t begin, int64_t end) {
        CopyPatches<T, T>(c, from, 0, begin, end, to + begin * c.depth());
      });
    });
    return OkStatus();
  });
}

using DilationTypes = TypeList<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t,
                               uint8_t, uint16_t, uint32_t, uint64_t>;

// The largest of pixel + filter under a window, by channel.
template <typename T>
void Dilate(const Conv& c, const T* input, const T* filter, int64_t row, T* to) {
  using A = ComputeType<T>;
  const ConvRow at = RowAt(c, row);
  const T* image = input + at.image * c.in_pixels * c.in_channels;
  for (int64_t i = 0; i < c.in_channels; ++i) {
    A max = std::numeric_limits<A>::lowest();
    ForTaps(c, at, [&](int64_t tap, int64_t pixel) {
      if (pixel < 0) return;
      const A value = WrapAdd(static_cast<A>(image[pixel * c.in_channels + i]),
                              static_cast<A>(filter[tap * c.in_channels + i]));
      max = value > max ? value : max;
    });
    to[i] = T(max);
  }
}

StatusOr<KernelFn> BindDilation2D(const BindContext& bind) {
  ASSIGN_OR_RETURN(const ir::WindowSpec spec,
                   ir::ReadWindowSpec(*bind.node, {.dilations = "rates"}));
  return KernelFn([spec](KernelContext& ctx) -> Status {
    const Tensor& x = ctx.input(0);
    RETURN_IF_ERROR(CheckRank(x, 4, "input"));
    RETURN_IF_ERROR(CheckRank(ctx.input(1), 3, "filter"));
    Shape filter = ctx.input(1).shape();
    filter.AddDim(1);
    ASSIGN_OR_RETURN(const Conv c, MakeConv(spec, x.shape(), filter, true));
    ASSIGN_OR_RETURN(const Shape shape, c.output_shape());
    ASSIGN_OR_RETURN(Tensor * y, ctx.AllocateOutput(0, shape));
    if (y->num_elements() == 0) return OkStatus();
    SwitchType<int>(DilationTypes{}, x.dtype(), [&]<typename T>() {
      ctx.intra_op().ParallelFor(c.rows(), 16, [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) {
          Dilate(c, x.flat<T>().data(), ctx.input(1).flat<T>().data(), r,
                 y->flat<T>().data() + r * c.in_channels);
        }
      });
      return 0;
    });
    return OkStatus();
  });
}

// dy goes to the pixel, or to the tap of the filter, whose sum was the largest: the first of them.
template <typename T>
void DilateBack(const Conv& c, const T* input, const T* filter, const T* dy, bool by_filter,
                T* to) {
  using A = ComputeType<T>;
  for (int64_t row = 0; row < c.rows(); ++row) {
    const ConvRow at = RowAt(c, row);
    const int64_t image = at.image * c.in_pixels;
    for (int64_t i = 0; i < c.in_channels; ++i) {
      A max = std::numeric_limits<A>::lowest();
      int64_t best = -1;
      ForTaps(c, at, [&](int64_t tap, int64_t pixel) {
        if (pixel < 0) return;
        const int64_t from = (image + pixel) * c.in_channels + i, weight = tap * c.in_channels + i;
        const A value = WrapAdd(static_cast<A>(input[from]), static_cast<A>(filter[weight]));
        if (!(value > max) && best >= 0) return;
        max = value;
        best = by_filter ? weight : from;
      });
      if (best >= 0) to[best] = WrapAdd(to[best], dy[row * c.in_channels + i]);
    }
  }
}

StatusOr<KernelFn> BindDilation2DBackprop(const BindContext& bind) {
  ASSIGN_OR_RETURN(const ir::WindowSpec spec,
                   ir::ReadWindowSpec(*bind.node, {.dilations = "rates"}));
  const bool by_filter = bind.node->op() == "Dilation2DBackpropFilter";
  return KernelFn([spec, by_filter](KernelContext& ctx) -> Status {
    const Tensor& x = ctx.input(0);
    const Tensor& dy = ctx.input(2);
    RETURN_IF_ERROR(CheckRank(x, 4, "input"));
    RETURN_IF_ERROR(CheckRank(ctx.input(1), 3, "filter"));
    Shape filter = ctx.input(1).shape();
    filter.AddDim(1);
    ASSIGN_OR_RETURN(const Conv c, MakeConv(spec, x.shape(), filter, true));
    ASSIGN_OR_RETURN(const Shape shape, c.output_shape());
    if (!(dy.shape() == shape)) {
      return InvalidArgumentError(StrCat("out_backprop has the shape ", dy.shape().ToString(),
                                         ", the output of the op ", shape.ToString()));
    }
    ASSIGN_OR_RETURN(Tensor * to, ctx.AllocateOutput(0, ctx.input(by_filter ? 1 : 0).shape()));
    SwitchType<int>(DilationTypes{}, x.dtype(), [&]<typename T>() {
      std::fill_n(to->flat<T>().data(), to->num_elements(), T(0));
      if (dy.num_elements() == 0) return 0;
      DilateBack(c, x.flat<T>().data(), ctx.input(1).flat<T>().data(), dy.flat<T>().data(),
                 by_filter, to->flat<T>().data());
      return 0;
    });
    return OkStatus();
  });
}

enum class Noise : uint8_t { kUniform, kGaussian, kZero };

struct Glimpse {
  bool centered = true, normalized = true;
  Noise noise = Noise::kUniform;

  // Where a glimpse of `size` begins along a dimension.
  int64_t Begin(float offset, int64_t input, int64_t size) const {
    const auto whole = static_cast<float>(input);
    if (normalized) offset *= whole;
    if (centered) {
      offset /= 2;
      offset += whole / 2;
    }
    offset -= static_cast<float>(size) / 2;
    // Far outside is outside: a glimpse of noise alone.
    const float limit = whole + static_cast<float>(size) + 1;
    if (!(offset > -limit)) return -input - size;
    return static_cast<int64_t>(std::min(offset, limit));
  }
};

// Values outside the image, which no two calls draw alike.
void FillNoise(Noise noise, float* to, int64_t n) {
  Philox generator(RandomSeed(), RandomSeed());
  for (int64_t i = 0; i < n; i += 4) {
    const Philox::Block words = generator.Next();
    for (int64_t k = i; k < std::min(n, i + 4); ++k) {
      const float u = UniformFloat(words[static_cast<size_t>(k - i)]);
      const float v = UniformFloat(words[static_cast<size_t>((k - i + 1) % 4)]);
      const float normal = std::sqrt(-2 * std::log(std::max(u, 1e-7f))) * std::cos(6.2831853f * v);
      to[k] = noise == Noise::kZero ? 0 : noise == Noise::kUniform ? u : normal;
    }
  }
}

void CopyGlimpse(const Tensor& x, int64_t image, int64_t top, int64_t left, Tensor* y) {
  const int64_t height = x.dim(1), width = x.dim(2), channels = x.dim(3);
  const int64_t rows = y->dim(1), columns = y->dim(2);
  const int64_t first = std::max<int64_t>(0, -left), last = std::min(columns, width - left);
  if (last <= first) return;
  for (int64_t r = std::max<int64_t>(0, -top); r < std::min(rows, height - top); ++r) {
    const float* from =
        x.flat<float>().data() + ((image * height + top + r) * width + left + first) * channels;
    std::copy_n(from, (last - first) * channels,
                y->flat<float>().data() + ((image * rows + r) * columns + first) * channels);
  }
}

Status RunGlimpse(KernelContext& ctx, const Glimpse& glimpse) {
  const Tensor& x = ctx.input(0);
  RETURN_IF_ERROR(CheckRank(x, 4, "input"));
  ASSIGN_OR_RETURN(const IntVec size, ReadIntVector(ctx.input(1), "size"));
  if (size.size() != 2) return InvalidArgumentError("input must be a vector of size 2: size");
  const Tensor& offsets = ctx.input(2);
  if (!(offsets.shape() == Shape({x.dim(0), 2}))) {
    return InvalidArgumentError(
        StrCat("offsets should have shape [", x.dim(0), ",2], not ", offsets.shape().ToString()));
  }
  const int64_t sizes[] = {x.dim(0), size[0], size[1], x.dim(3)};
  ASSIGN_OR_RETURN(const Shape shape, Shape::FromDims(sizes));
  ASSIGN_OR_RETURN(Tensor * y, ctx.AllocateOutput(0, shape));
  if (y->num_elements() == 0) return OkStatus();
  if (glimpse.noise == Noise::kZero) {
    std::fill_n(y->flat<float>().data(), y->num_elements(), 0.0f);
  } else {
    FillNoise(glimpse.noise, y->flat<float>().data(), y->num_elements());
  }
  for (int64_t i = 0; i < x.dim(0); ++i) {
    const float* offset = offsets.flat<float>().data() + 2 * i;
    CopyGlimpse(x, i, glimpse.Begin(offset[0], x.dim(1), size[0]),
                glimpse.Begin(offset[1], x.dim(2), size[1]), y);
  }
  return OkStatus();
}

StatusOr<KernelFn> BindGlimpse(const BindContext& bind) {
  Glimpse glimpse = {BoolAttr(*bind.node, "centered", true),
                     BoolAttr(*bind.node, "normalized", true), Noise::kUniform};
  const std::string noise = AttrOr<std::string>(*bind.node, "noise", "uniform");
  if (!BoolAttr(*bind.node, "uniform_noise", true)) {
    if (noise == "uniform") {
      return InvalidArgumentError(
          "The uniform_noise and noise should not be specified at the same time");
    }
    glimpse.noise = noise == "zero" ? Noise::kZero : Noise::kGaussian;
  }
  return KernelFn([glimpse](KernelContext& ctx) { return RunGlimpse(ctx, glimpse); });
}

}  // namespace

std::span<const KernelDef> PatchKernels() {
  static const std::vector<KernelDef> table = [] {
    std::vector<DType> types = NumberTypes();
    for (DType t : {DType::kBool, DType::kComplex64, DType::kComplex128}) types.push_back(t);
    return MakeKernels({
        {"Dilation2D", BindDilation2D, NumberTypes()},
        {"Dilation2DBackpropFilter", BindDilation2DBackprop, NumberTypes()},
        {"Dilation2DBackpropInput", BindDilation2DBackprop, NumberTypes()},
        {"ExtractGlimpse", BindGlimpse},
        {"ExtractImagePatches", BindPatches, types},
        {"ExtractVolumePatches", BindPatches, NumberTypes()},
    });
  }();
  return table;
}

}  // namespace slipway::kernels
