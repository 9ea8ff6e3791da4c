// SPDX-License-Identifier: Apache-2.0
//
// Maximum and average pooling, in two and three dimensions.
#include <limits>

#include "kernels/attrs.h"
#include "kernels/conv_geometry.h"
#include "kernels/kernel_table.h"
#include "kernels/pool_geometry.h"
#include "kernels/simd_windows.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

using MaxTypes = TypeList<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t,
                          uint16_t, uint32_t, uint64_t>;

template <typename A>
A Lowest() {
  return std::numeric_limits<A>::lowest();
}

// Pixels of a window whose pointers fit on the stack.
constexpr int64_t kFastPixels = 64;

// One window of floats with channels side by side.
bool FastWindow(const Pool& p, bool max, const float* image, WindowRange z, WindowRange y,
                WindowRange x, float* to) {
  const int64_t n = WindowSize(z, y, x);
  if (n > kFastPixels || p.spec.channels_first) return false;
  const float* pixels[kFastPixels];
  int64_t at = 0;
  ForPixels(p, z, y, x, [&](int64_t pixel) { pixels[at++] = image + pixel * p.channels; });
  if (max) {
    Windows().max(pixels, n, p.channels, to);
  } else {
    Windows().mean(pixels, n, static_cast<float>(n), p.channels, to);
  }
  return true;
}

// One window for channels of any type and layout.
template <typename T>
void PlainWindow(const Pool& p, bool max, const T* image, WindowRange z, WindowRange y,
                 WindowRange x, T* to) {
  using A = ComputeType<T>;
  const auto count = static_cast<A>(WindowSize(z, y, x));
  for (int64_t c = 0; c < p.channels; ++c) {
    const T* from = image + c * p.channel_in();
    A value = max ? Lowest<A>() : A{0};
    ForPixels(p, z, y, x, [&](int64_t pixel) {
      const A v = static_cast<A>(from[pixel * p.pixel()]);
      if (max) {
        value = value < v ? v : value;
      } else {
        value += v;
      }
    });
    to[c * p.channel_out()] = T(max ? value : static_cast<A>(value / count));
  }
}

template <typename T>
void RunPool(ThreadPool& pool, const Pool& p, bool max, const T* input, T* output) {
  const int64_t lines = p.dims[0].output * p.dims[1].output;
  double work = static_cast<double>(p.dims[2].output) * static_cast<double>(p.channels);
  for (const ir::WindowDim& d : p.dims) {
    work *= static_cast<double>(std::min(d.window, d.input));
  }
  const auto grain = static_cast<int64_t>(std::max(1.0, 32768 / std::max(1.0, work)));
  pool.ParallelFor(p.batch * lines, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t n = i / lines;
      const T* image = input + n * p.in_pixels * p.channels;
      T* out = output + n * p.out_pixels * p.channels;
      ForWindows(p, i % lines, i % lines + 1,
                 [&](int64_t at, WindowRange z, WindowRange y, WindowRange x) {
                   T* to = out + at * p.pixel();
                   if constexpr (std::is_same_v<T, float>) {
                     if (FastWindow(p, max, image, z, y, x, to)) return;
                   }
                   PlainWindow(p, max, image, z, y, x, to);
                 });
    }
  });
}

// MaxPool over channels alone, windows side by side.
template <typename T>
void MaxOverChannels(const T* x, int64_t pixels, int64_t channels, int64_t window, T* y) {
  using A = ComputeType<T>;
  const int64_t n = channels / window;
  for (int64_t i = 0; i < pixels * n; ++i) {
    const T* from = x + i / n * channels + i % n * window;
    A max = Lowest<A>();
    for (int64_t k = 0; k < window; ++k) {
      const A v = static_cast<A>(from[k]);
      max = max < v ? v : max;
    }
    y[i] = T(max);
  }
}

Status DepthPool(KernelContext& ctx, const ir::WindowSpec& spec) {
  const Tensor& x = ctx.input(0);
  RETURN_IF_ERROR(CheckRank(x, 4, "tensor_in"));
  const bool space = std::any_of(spec.dims.begin(), spec.dims.end(), [](const ir::WindowDim& d) {
    return d.window != 1 || d.stride != 1;
  });
  if (space) {
    return UnimplementedError(
        "MaxPooling supports exactly one of pooling across depth or pooling across width/height.");
  }
  const int64_t channels = x.dim(3), window = spec.channel_window;
  if (spec.channel_stride != window) {
    return UnimplementedError(
        "Depthwise max pooling requires the depth window to equal the depth stride.");
  }
  if (channels % window != 0) {
    return UnimplementedError(StrCat("Depthwise max pooling requires the depth window ", window,
                                     " to evenly divide the input depth ", channels));
  }
  Shape shape = x.shape();
  shape.set_dim(3, channels / window);
  ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  if (out->num_elements() == 0) return OkStatus();
  SwitchType<int>(MaxTypes{}, x.dtype(), [&]<typename T>() {
    MaxOverChannels(x.flat<T>().data(), x.num_elements() / channels, channels, window,
                    out->flat<T>().data());
    return 0;
  });
  return OkStatus();
}

Status PoolInput(KernelContext& ctx, const ir::WindowSpec& spec, bool max) {
  if (max && !spec.channels_first && spec.spatial == 2 && spec.channel_window > 1) {
    return DepthPool(ctx, spec);
  }
  const Tensor& x = ctx.input(0);
  ASSIGN_OR_RETURN(const Pool p, MakePool(spec, x.shape()));
  ASSIGN_OR_RETURN(const Shape shape, p.output_shape());
  ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  if (out->num_elements() == 0) return OkStatus();
  SwitchType<int>(MaxTypes{}, x.dtype(), [&]<typename T>() {
    RunPool(ctx.intra_op(), p, max, x.flat<T>().data(), out->flat<T>().data());
    return 0;
  });
  return OkStatus();
}

StatusOr<KernelFn> BindPool(const BindContext& bind) {
  ASSIGN_OR_RETURN(const ir::WindowSpec spec, ir::ReadWindowSpec(*bind.node, {.window = "ksize"}));
  const bool max = bind.node->op().starts_with("Max");
  return KernelFn([spec, max](KernelContext& ctx) { return PoolInput(ctx, spec, max); });
}

StatusOr<KernelFn> BindMaxPoolV2(const BindContext& bind) {
  ASSIGN_OR_RETURN(const ir::WindowSpec fixed, ir::ReadWindowSpec(*bind.node, {}));
  return KernelFn([fixed](KernelContext& ctx) -> Status {
    ir::WindowSpec spec = fixed;
    ASSIGN_OR_RETURN(const IntVec ksize, ReadIntVector(ctx.input(1), "ksize"));
    ASSIGN_OR_RETURN(const IntVec strides, ReadIntVector(ctx.input(2), "strides"));
    RETURN_IF_ERROR(ir::SetWindow({ksize.begin(), ksize.end()}, &spec));
    RETURN_IF_ERROR(ir::SetStrides({strides.begin(), strides.end()}, &spec));
    return PoolInput(ctx, spec, true);
  });
}

// The first largest value of each window, and where it lies in the image (or in the batch).
template <typename T, typename I>
void MaxWithPlace(const Pool& p, bool in_batch, const T* input, T* output, I* places) {
  using A = ComputeType<T>;
  const int64_t size = p.in_pixels * p.channels, lines = p.dims[0].output * p.dims[1].output;
  for (int64_t n = 0; n < p.batch; ++n, input += size) {
    ForWindows(p, 0, lines, [&](int64_t, WindowRange z, WindowRange y, WindowRange x) {
      for (int64_t c = 0; c < p.channels; ++c) {
        A max = Lowest<A>();
        int64_t place = -1;
        ForPixels(p, z, y, x, [&](int64_t pixel) {
          const int64_t at = pixel * p.channels + c;
          const A v = static_cast<A>(input[at]);
          if (place >= 0 && !(max < v)) return;
          max = v;
          place = at;
        });
        *output++ = T(max);
        *places++ = static_cast<I>(place + (in_batch ? n * size : 0));
      }
    });
  }
}

StatusOr<KernelFn> BindMaxPoolWithArgmax(const BindContext& bind) {
  ASSIGN_OR_RETURN(const ir::WindowSpec spec, ir::ReadWindowSpec(*bind.node, {.window = "ksize"}));
  const bool in_batch = BoolAttr(*bind.node, "include_batch_in_index");
  return KernelFn([spec, in_batch](KernelContext& ctx) -> Status {
    const Tensor& x = ctx.input(0);
    ASSIGN_OR_RETURN(const Pool p, MakePool(spec, x.shape()));
    ASSIGN_OR_RETURN(const Shape shape, p.output_shape());
    ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
    ASSIGN_OR_RETURN(Tensor * places, ctx.AllocateOutput(1, shape));
    if (out->num_elements() == 0) return OkStatus();
    SwitchType<int>(MaxTypes{}, x.dtype(), [&]<typename T>() {
      return SwitchType<int>(Indices{}, places->dtype(), [&]<typename I>() {
        MaxWithPlace(p, in_batch, x.flat<T>().data(), out->flat<T>().data(),
                     places->flat<I>().data());
        return 0;
      });
    });
    return OkStatus();
  });
}

}  // namespace

std::span<const KernelDef> PoolingKernels() {
  const std::vector<DType> max = MaxTypes::DTypes();
  static const std::vector<KernelDef> table = MakeKernels({
      {"AvgPool", BindPool, FloatTypes(), "T", {}, {}, true},
      {"AvgPool3D", BindPool, FloatTypes(), "T", {}, {}, true},
      {"MaxPool", BindPool, max, "T", {}, {}, true},
      {"MaxPool3D", BindPool, {DType::kFloat, DType::kHalf, DType::kBFloat16}, "T", {}, {}, true},
      {"MaxPoolV2", BindMaxPoolV2, max, "T", {}, {}, true},
      {"MaxPoolWithArgmax", BindMaxPoolWithArgmax, max, "T", {}, {}, true},
  });
  return table;
}

}  // namespace slipway::kernels
