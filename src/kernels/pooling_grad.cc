// SPDX-License-Identifier: Apache-2.0
//
// Gradients of pooling.
#include <cmath>

#include "kernels/accumulate.h"
#include "kernels/conv_geometry.h"
#include "kernels/kernel_table.h"
#include "kernels/pool_geometry.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

using GradTypes = TypeList<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t,
                           uint8_t, uint16_t, uint32_t, uint64_t>;

template <typename T>
T Plus(T a, T b) {
  if constexpr (std::is_arithmetic_v<T>) return WrapAdd(a, b);
  return T(static_cast<float>(a) + static_cast<float>(b));
}

// All of a window's gradient goes to its first largest value.
template <typename T>
void MaxBackward(ThreadPool& pool, const Pool& p, const T* input, const T* dy, T* dx) {
  const int64_t lines = p.dims[0].output * p.dims[1].output;
  pool.ParallelFor(p.batch, 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      const T* image = input + n * p.in_pixels * p.channels;
      const T* dout = dy + n * p.out_pixels * p.channels;
      T* din = dx + n * p.in_pixels * p.channels;
      ForWindows(p, 0, lines, [&](int64_t at, WindowRange z, WindowRange y, WindowRange x) {
        for (int64_t c = 0; c < p.channels; ++c) {
          const int64_t channel = c * p.channel_in();
          int64_t best = -1;
          ForPixels(p, z, y, x, [&](int64_t pixel) {
            const int64_t place = pixel * p.pixel() + channel;
            using A = ComputeType<T>;
            if (best < 0 || static_cast<A>(image[best]) < static_cast<A>(image[place])) {
              best = place;
            }
          });
          if (best < 0) continue;
          din[best] = Plus(din[best], dout[at * p.pixel() + c * p.channel_out()]);
        }
      });
    }
  });
}

// The gradient goes to each value that is near what the forward op gave, as TensorFlow has it in
// three dimensions.
template <typename T>
void NearBackward(ThreadPool& pool, const Pool& p, const T* input, const T* output, const T* dy,
                  T* dx) {
  constexpr float kNear = 1e-5f;
  const int64_t lines = p.dims[0].output * p.dims[1].output;
  pool.ParallelFor(p.batch, 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      const int64_t first_in = n * p.in_pixels * p.channels;
      const int64_t first_out = n * p.out_pixels * p.channels;
      ForWindows(p, 0, lines, [&](int64_t at, WindowRange z, WindowRange y, WindowRange x) {
        for (int64_t c = 0; c < p.channels; ++c) {
          const int64_t from = first_out + at * p.pixel() + c * p.channel_out();
          ForPixels(p, z, y, x, [&](int64_t pixel) {
            const int64_t to = first_in + pixel * p.pixel() + c * p.channel_in();
            const T distance(static_cast<float>(input[to]) - static_cast<float>(output[from]));
            if (std::abs(static_cast<float>(distance)) < static_cast<float>(T(kNear))) {
              dx[to] = Plus(dx[to], dy[from]);
            }
          });
        }
      });
    }
  });
}

// A window's gradient is shared by its pixels.
template <typename T>
void AverageBackward(ThreadPool& pool, const Pool& p, const T* dy, ComputeType<T>* dx) {
  using A = ComputeType<T>;
  const int64_t lines = p.dims[0].output * p.dims[1].output;
  pool.ParallelFor(p.batch, 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      const T* dout = dy + n * p.out_pixels * p.channels;
      A* din = dx + n * p.in_pixels * p.channels;
      ForWindows(p, 0, lines, [&](int64_t at, WindowRange z, WindowRange y, WindowRange x) {
        const A share = A{1} / static_cast<A>(WindowSize(z, y, x));
        ForPixels(p, z, y, x, [&](int64_t pixel) {
          for (int64_t c = 0; c < p.channels; ++c) {
            din[pixel * p.pixel() + c * p.channel_in()] +=
                static_cast<A>(dout[at * p.pixel() + c * p.channel_out()]) * share;
          }
        });
      });
    }
  });
}

Status CheckGradient(const Pool& p, const Tensor& dy, std::string_view what) {
  ASSIGN_OR_RETURN(const Shape shape, p.output_shape());
  if (dy.shape() == shape) return OkStatus();
  return InvalidArgumentError(StrCat("Expected ", what, " shape to be ", shape.ToString(),
                                     ", but got ", dy.shape().ToString()));
}

using NearTypes = TypeList<float, Half, BFloat16>;

Status MaxGradient(KernelContext& ctx, const ir::WindowSpec& spec, bool near) {
  const Tensor& input = ctx.input(0);
  const Tensor& dy = ctx.input(2);
  ASSIGN_OR_RETURN(const Pool p, MakePool(spec, input.shape()));
  RETURN_IF_ERROR(CheckGradient(p, ctx.input(1), "orig_output"));
  RETURN_IF_ERROR(CheckGradient(p, dy, "grad"));
  ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, input.shape()));
  if (out->num_elements() == 0) return OkStatus();
  std::memset(out->raw_data(), 0, out->byte_size());
  if (dy.num_elements() == 0) return OkStatus();
  if (near) {
    SwitchType<int>(NearTypes{}, input.dtype(), [&]<typename T>() {
      NearBackward(ctx.intra_op(), p, input.flat<T>().data(), ctx.input(1).flat<T>().data(),
                   dy.flat<T>().data(), out->flat<T>().data());
      return 0;
    });
    return OkStatus();
  }
  SwitchType<int>(GradTypes{}, input.dtype(), [&]<typename T>() {
    MaxBackward(ctx.intra_op(), p, input.flat<T>().data(), dy.flat<T>().data(),
                out->flat<T>().data());
    return 0;
  });
  return OkStatus();
}

StatusOr<KernelFn> BindMaxPoolGrad(const BindContext& bind) {
  ASSIGN_OR_RETURN(const ir::WindowSpec spec, ir::ReadWindowSpec(*bind.node, {.window = "ksize"}));
  const bool near = bind.node->op() == "MaxPool3DGrad";
  return KernelFn([spec, near](KernelContext& ctx) { return MaxGradient(ctx, spec, near); });
}

StatusOr<KernelFn> BindMaxPoolGradV2(const BindContext& bind) {
  ASSIGN_OR_RETURN(const ir::WindowSpec fixed, ir::ReadWindowSpec(*bind.node, {}));
  return KernelFn([fixed](KernelContext& ctx) -> Status {
    ir::WindowSpec spec = fixed;
    ASSIGN_OR_RETURN(const IntVec ksize, ReadIntVector(ctx.input(3), "ksize"));
    ASSIGN_OR_RETURN(const IntVec strides, ReadIntVector(ctx.input(4), "strides"));
    RETURN_IF_ERROR(ir::SetWindow({ksize.begin(), ksize.end()}, &spec));
    RETURN_IF_ERROR(ir::SetStrides({strides.begin(), strides.end()}, &spec));
    return MaxGradient(ctx, spec, false);
  });
}

template <typename T>
Status RunAverage(KernelContext& ctx, const Pool& p, const Tensor& dy, Tensor* out) {
  return AccumulateOutput<T>(ctx, out, [&](ComputeType<T>* sums) {
    if (dy.num_elements() > 0) AverageBackward(ctx.intra_op(), p, dy.flat<T>().data(), sums);
  });
}

StatusOr<KernelFn> BindAvgPoolGrad(const BindContext& bind) {
  ASSIGN_OR_RETURN(const ir::WindowSpec spec, ir::ReadWindowSpec(*bind.node, {.window = "ksize"}));
  return KernelFn([spec](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(const Shape shape, ReadShape(ctx.input(0), "orig_input_shape"));
    ASSIGN_OR_RETURN(const Pool p, MakePool(spec, shape));
    RETURN_IF_ERROR(CheckGradient(p, ctx.input(1), "grad"));
    ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
    if (out->num_elements() == 0) return OkStatus();
    return SwitchType<Status>(Floats{}, out->dtype(), [&]<typename T>() {
      return RunAverage<T>(ctx, p, ctx.input(1), out);
    });
  });
}

}  // namespace

std::span<const KernelDef> PoolingGradKernels() {
  const std::vector<DType> max = GradTypes::DTypes();
  static const std::vector<KernelDef> table = MakeKernels({
      {"AvgPoolGrad", BindAvgPoolGrad, FloatTypes(), "T", {}, {}, true},
      {"AvgPool3DGrad", BindAvgPoolGrad, FloatTypes(), "T", {}, {}, true},
      {"MaxPoolGrad", BindMaxPoolGrad, max, "T", {}, {}, true},
      {"MaxPoolGradV2", BindMaxPoolGradV2, max, "T", {}, {}, true},
      {"MaxPool3DGrad", BindMaxPoolGrad, NearTypes::DTypes(), "T", {}, {}, true},
  });
  return table;
}

}  // namespace slipway::kernels
