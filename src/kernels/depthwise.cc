// SPDX-License-Identifier: Apache-2.0
#include "kernels/depthwise.h"

#include "kernels/accumulate.h"
#include "kernels/kernel_table.h"
#include "kernels/simd_windows.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

// Taps of a window whose pointers fit on the stack; larger ones go the plain way.
constexpr int64_t kFastTaps = 64;

// One output pixel of floats with one output for each channel.
void FastPixel(const Conv& c, const float* input, const float* filter, const ConvRow& row,
               float* to) {
  const float* x[kFastTaps];
  const float* w[kFastTaps];
  int64_t n = 0;
  const float* image = input + row.image * c.in_pixels * c.in_channels;
  ForTaps(c, row, [&](int64_t tap, int64_t pixel) {
    if (pixel < 0) return;
    x[n] = image + pixel * c.in_channels;
    w[n++] = filter + tap * c.in_channels;
  });
  Windows().weighted_sum(x, w, n, c.in_channels, to);
}

// One output pixel of any type, summed in `sums`.
template <typename T>
void PlainPixel(const Conv& c, const T* input, const T* filter, const ConvRow& row,
                ComputeType<T>* sums, T* to) {
  using A = ComputeType<T>;
  const int64_t each = c.group_out();
  std::fill_n(sums, c.out_channels, A{0});
  const T* image = input + row.image * c.in_pixels * c.in_channels;
  ForTaps(c, row, [&](int64_t tap, int64_t pixel) {
    if (pixel < 0) return;
    const T* x = image + pixel * c.in_channels;
    const T* w = filter + tap * c.out_channels;
    A* sum = sums;
    for (int64_t i = 0; i < c.in_channels; ++i) {
      const A value = static_cast<A>(x[i]);
      for (int64_t q = 0; q < each; ++q) *sum++ += value * static_cast<A>(*w++);
    }
  });
  for (int64_t i = 0; i < c.out_channels; ++i) to[i] = T(sums[i]);
}

int64_t PixelGrain(const Conv& c) {
  return std::max<int64_t>(1, 32768 / std::max<int64_t>(1, c.taps * c.out_channels));
}

template <typename T>
Status Forward(KernelContext& ctx, const Conv& c, const T* input, const T* filter, T* out) {
  using A = ComputeType<T>;
  if constexpr (std::is_same_v<T, float>) {
    if (c.group_out() == 1 && c.taps <= kFastTaps) {
      ctx.intra_op().ParallelFor(c.rows(), PixelGrain(c), [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) {
          FastPixel(c, input, filter, RowAt(c, r), out + r * c.out_channels);
        }
      });
      return OkStatus();
    }
  }
  const int64_t parts = std::min<int64_t>(ctx.intra_op().size() + 1, c.rows());
  const auto bytes = static_cast<size_t>(parts * c.out_channels) * sizeof(A);
  auto* sums = static_cast<A*>(ctx.Scratch(bytes));
  if (sums == nullptr) return ResourceExhaustedError("No memory for a depthwise convolution");
  ctx.intra_op().ParallelFor(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      for (int64_t r = c.rows() * p / parts; r < c.rows() * (p + 1) / parts; ++r) {
        PlainPixel(c, input, filter, RowAt(c, r), sums + p * c.out_channels,
                   out + r * c.out_channels);
      }
    }
  });
  return OkStatus();
}

// Channels [from, to) of what flows back: fn(x index, w index, y index) for every product.
template <typename Fn>
void ForProducts(const Conv& c, int64_t from, int64_t to, Fn&& fn) {
  const int64_t each = c.group_out();
  for (int64_t r = 0; r < c.rows(); ++r) {
    const ConvRow row = RowAt(c, r);
    const int64_t image = row.image * c.in_pixels;
    ForTaps(c, row, [&](int64_t tap, int64_t pixel) {
      if (pixel < 0) return;
      for (int64_t i = from; i < to; ++i) {
        const int64_t x = (image + pixel) * c.in_channels + i;
        for (int64_t q = i * each; q < (i + 1) * each; ++q) {
          fn(x, tap * c.out_channels + q, r * c.out_channels + q);
        }
      }
    });
  }
}

// The gradient of input or filter, in `sums`: by channels, so that no two threads meet.
template <typename T>
void Backward(ThreadPool& pool, const Conv& c, bool of_input, const T* other, const T* dy,
              ComputeType<T>* sums) {
  using A = ComputeType<T>;
  constexpr int64_t kChannelGrain = 16;
  pool.ParallelFor(c.in_channels, kChannelGrain, [&](int64_t begin, int64_t end) {
    if (of_input) {
      ForProducts(c, begin, end, [&](int64_t x, int64_t w, int64_t y) {
        sums[x] += static_cast<A>(other[w]) * static_cast<A>(dy[y]);
      });
    } else {
      ForProducts(c, begin, end, [&](int64_t x, int64_t w, int64_t y) {
        sums[w] += static_cast<A>(other[x]) * static_cast<A>(dy[y]);
      });
    }
  });
}

template <typename T>
Status RunBackward(KernelContext& ctx, const Conv& c, bool of_input, const Tensor& other,
                   const Tensor& dy, Tensor* out) {
  return AccumulateOutput<T>(ctx, out, [&](ComputeType<T>* sums) {
    Backward<T>(ctx.intra_op(), c, of_input, other.flat<T>().data(), dy.flat<T>().data(), sums);
  });
}

StatusOr<ir::WindowSpec> DepthwiseSpec(const BindContext& bind) {
  ASSIGN_OR_RETURN(ir::WindowSpec spec, ir::ReadWindowSpec(*bind.node, {.dilations = "dilations"}));
  if (spec.channels_first) {
    return UnimplementedError(
        StrCat(bind.node->op(), " on CPU is only supported for NHWC format, not NCHW"));
  }
  return spec;
}

StatusOr<KernelFn> BindDepthwise(const BindContext& bind) {
  ASSIGN_OR_RETURN(const ir::WindowSpec spec, DepthwiseSpec(bind));
  return KernelFn([spec](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(const Conv c,
                     MakeConv(spec, ctx.input(0).shape(), ctx.input(1).shape(), true));
    ASSIGN_OR_RETURN(const Shape shape, c.output_shape());
    ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
    if (out->num_elements() == 0) return OkStatus();
    return RunDepthwise(ctx, c, ctx.input(0), ctx.input(1), out);
  });
}

// Inputs (sizes, filter, dy) for the gradient of the input, (input, sizes, dy) for the filter's.
StatusOr<KernelFn> BindDepthwiseGradient(const BindContext& bind) {
  ASSIGN_OR_RETURN(const ir::WindowSpec spec, DepthwiseSpec(bind));
  const bool of_input = bind.node->op() == "DepthwiseConv2dNativeBackpropInput";
  return KernelFn([spec, of_input](KernelContext& ctx) -> Status {
    const int sizes = of_input ? 0 : 1;
    ASSIGN_OR_RETURN(const Shape shape,
                     ReadShape(ctx.input(sizes), of_input ? "input_sizes" : "filter_sizes"));
    const Tensor& other = ctx.input(1 - sizes);
    const Shape& input = of_input ? shape : other.shape();
    const Shape& filter = of_input ? other.shape() : shape;
    ASSIGN_OR_RETURN(const Conv c,
                     MakeConvGradient(spec, input, filter, ctx.input(2).shape(), true));
    ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
    if (out->num_elements() == 0) return OkStatus();
    return SwitchType<Status>(Floats{}, out->dtype(), [&]<typename T>() {
      return RunBackward<T>(ctx, c, of_input, other, ctx.input(2), out);
    });
  });
}

}  // namespace

Status RunDepthwise(KernelContext& ctx, const Conv& c, const Tensor& input, const Tensor& filter,
                    Tensor* out) {
  return SwitchType<Status>(Floats{}, out->dtype(), [&]<typename T>() {
    return Forward<T>(ctx, c, input.flat<T>().data(), filter.flat<T>().data(),
                      out->flat<T>().data());
  });
}

std::span<const KernelDef> DepthwiseKernels() {
  static const std::vector<KernelDef> table = MakeKernels({
      {"DepthwiseConv2dNative", BindDepthwise, FloatTypes(), "T", {}, {}, true},
      {"DepthwiseConv2dNativeBackpropInput",
       BindDepthwiseGradient,
       FloatTypes(),
       "T",
       {},
       {},
       true},
      {"DepthwiseConv2dNativeBackpropFilter",
       BindDepthwiseGradient,
       FloatTypes(),
       "T",
       {},
       {},
       true},
  });
  return table;
}

}  // namespace slipway::kernels
