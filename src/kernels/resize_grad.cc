// SPDX-License-Identifier: Apache-2.0
//
// Gradients of resizing: each pixel of the result hands its gradient back to those that it was
// made of. Sums are taken in float64.
#include <algorithm>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/resample.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

using NearestTypes = TypeList<float, double, Half, BFloat16, int8_t, int32_t, uint8_t>;

// One image: `from` [rows, columns, channels] of gradients, added to `to` [.., width, channels].
void AddBack(const TapTable& rows, const TapTable& columns, int64_t width, int64_t channels,
             const double* from, double* to) {
  for (size_t y = 0; y + 1 < rows.begin.size(); ++y) {
    for (size_t x = 0; x + 1 < columns.begin.size(); ++x, from += channels) {
      for (int64_t r = rows.begin[y]; r < rows.begin[y + 1]; ++r) {
        const Tap& row = rows.taps[static_cast<size_t>(r)];
        for (int64_t t = columns.begin[x]; t < columns.begin[x + 1]; ++t) {
          const Tap& column = columns.taps[static_cast<size_t>(t)];
          const double weight =
              static_cast<double>(row.weight) * static_cast<double>(column.weight);
          double* pixel = to + (row.index * width + column.index) * channels;
          for (int64_t c = 0; c < channels; ++c) pixel[c] += weight * from[c];
        }
      }
    }
  }
}

void Widen(const Tensor& t, int64_t begin, int64_t n, double* to) {
  SwitchType<int>(NearestTypes{}, t.dtype(), [&]<typename T>() {
    const T* from = t.flat<T>().data() + begin;
    using A = std::conditional_t<kIsHalf<T>, float, double>;
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<A>(from[i]);
    return 0;
  });
}

void Narrow(const double* from, int64_t begin, int64_t n, Tensor* t) {
  SwitchType<int>(NearestTypes{}, t->dtype(), [&]<typename T>() {
    T* to = t->flat<T>().data() + begin;
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_integral_v<T>) {
        to[i] = static_cast<T>(static_cast<int64_t>(from[i]));
      } else {
        to[i] =
            T(static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(from[i]));
      }
    }
    return 0;
  });
}

Status RunBack(KernelContext& ctx, const TapTable& rows, const TapTable& columns, Tensor* out) {
  const Tensor& grads = ctx.input(0);
  const int64_t n = out->dim(1) * out->dim(2) * out->dim(3);
  const int64_t m = grads.dim(1) * grads.dim(2) * grads.dim(3);
  const int64_t batch = out->dim(0);
  ASSIGN_OR_RETURN(const int64_t places, CheckedMul(batch, n + m, "size of the gradients"));
  ASSIGN_OR_RETURN(const int64_t bytes,
                   CheckedMul(places, sizeof(double), "size of the gradients"));
  if (bytes == 0) return OkStatus();
  auto* memory = static_cast<double*>(ctx.Scratch(static_cast<size_t>(bytes)));
  if (memory == nullptr) return ResourceExhaustedError("No memory for the gradients of images");
  ctx.intra_op().ParallelFor(batch, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      double *to = memory + i * (n + m), *from = to + n;
      std::fill_n(to, n, 0.0);
      Widen(grads, i * m, m, from);
      AddBack(rows, columns, out->dim(2), out->dim(3), from, to);
      Narrow(to, i * n, n, out);
    }
  });
  return OkStatus();
}

struct GradSpec {
  bool bicubic = false, align_corners = false, half_pixel = false;

  TapTable Taps(int64_t input, int64_t output) const {
    const ResizeScale scale = MakeResizeScale(input, output, align_corners, half_pixel);
    return bicubic ? BicubicTaps(input, output, scale) : BilinearTaps(input, output, scale);
  }
  TapTable NearestTaps(int64_t input, int64_t output) const {
    TapTable table;
    for (int64_t place : NearestPlaces(input, output, align_corners, half_pixel)) {
      table.Add(place, 1);
      table.EndOutput();
    }
    return table;
  }
};

StatusOr<GradSpec> ReadSpec(const ir::Node& node) {
  const GradSpec spec = {node.op() == "ResizeBicubicGrad", BoolAttr(node, "align_corners"),
                         BoolAttr(node, "half_pixel_centers")};
  if (spec.align_corners && spec.half_pixel) {
    return InvalidArgumentError("If half_pixel_centers is True, align_corners must be False.");
  }
  return spec;
}

Status CheckImages(const Tensor& grads, const Tensor& original) {
  if (grads.rank() != 4) {
    return InvalidArgumentError(
        StrCat("input_grad must be 4-dimensional", grads.shape().ToString()));
  }
  if (original.rank() != 4) {
    return InvalidArgumentError(
        StrCat("original_image must be 4-dimensional", original.shape().ToString()));
  }
  if (original.dim(1) <= 0 || original.dim(2) <= 0) {
    return InvalidArgumentError(StrCat("original dimensions must be positive, but the shape is ",
                                       original.shape().ToString()));
  }
  if (grads.dim(1) <= 0 || grads.dim(2) <= 0) {
    return InvalidArgumentError(
        StrCat("resized dimensions must be positive, but the shape is ", grads.shape().ToString()));
  }
  if (grads.dim(0) == original.dim(0) && grads.dim(3) == original.dim(3)) return OkStatus();
  return InvalidArgumentError(StrCat("input_grad of shape ", grads.shape().ToString(),
                                     " does not fit images of shape ", original.shape().ToString(),
                                     " in batch or channels"));
}

StatusOr<KernelFn> BindResizeGrad(const BindContext& bind) {
  ASSIGN_OR_RETURN(const GradSpec spec, ReadSpec(*bind.node));
  return KernelFn([spec](KernelContext& ctx) -> Status {
    const Tensor &grads = ctx.input(0), &original = ctx.input(1);
    RETURN_IF_ERROR(CheckImages(grads, original));
    ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, original.shape()));
    return RunBack(ctx, spec.Taps(out->dim(1), grads.dim(1)), spec.Taps(out->dim(2), grads.dim(2)),
                   out);
  });
}

StatusOr<KernelFn> BindNearestGrad(const BindContext& bind) {
  ASSIGN_OR_RETURN(const GradSpec spec, ReadSpec(*bind.node));
  return KernelFn([spec](KernelContext& ctx) -> Status {
    const Tensor& grads = ctx.input(0);
    if (grads.rank() != 4) {
      return InvalidArgumentError(StrCat("input must be 4-dimensional", grads.shape().ToString()));
    }
    ASSIGN_OR_RETURN(const IntVec size, ReadIntVector(ctx.input(1), "size"));
    if (size.size() != 2) {
      return InvalidArgumentError(
          StrCat("shape_t must have two elements", ctx.input(1).shape().ToString()));
    }
    if (size[0] <= 0 || size[1] <= 0) {
      return InvalidArgumentError(
          StrCat("shape_t's elements must be positive, but are ", size[0], " and ", size[1]));
    }
    const int64_t dims[] = {grads.dim(0), size[0], size[1], grads.dim(3)};
    ASSIGN_OR_RETURN(const Shape shape, Shape::FromDims(dims));
    ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
    return RunBack(ctx, spec.NearestTaps(size[0], grads.dim(1)),
                   spec.NearestTaps(size[1], grads.dim(2)), out);
  });
}

}  // namespace

std::span<const KernelDef> ResizeGradKernels() {
  static const std::vector<KernelDef> table = MakeKernels({
      {"ResizeBicubicGrad", BindResizeGrad, {DType::kFloat, DType::kDouble}, "T", {}, {}, true},
      {"ResizeBilinearGrad", BindResizeGrad, FloatTypes(), "T", {}, {}, true},
      {"ResizeNearestNeighborGrad", BindNearestGrad, NearestTypes::DTypes(), "T", {}, {}, true},
  });
  return table;
}

}  // namespace slipway::kernels
