// SPDX-License-Identifier: Apache-2.0
//
// Local response normalisation: y = x / (bias + alpha * the sum of squares of near channels) ^ beta
#include <algorithm>
#include <cmath>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

using LrnTypes = TypeList<float, Half, BFloat16>;

struct Lrn {
  int64_t radius;
  float bias, alpha, beta;

  // The norm of channel c of a pixel of n channels.
  template <typename T>
  float Norm(const T* x, int64_t n, int64_t c) const {
    float sum = 0;
    for (int64_t i = std::max<int64_t>(0, c - radius); i < std::min(n, c + radius + 1); ++i) {
      const auto v = static_cast<float>(x[i]);
      sum += v * v;
    }
    return bias + alpha * sum;
  }

  template <typename T>
  void Forward(const T* x, int64_t n, T* y) const {
    for (int64_t c = 0; c < n; ++c) {
      y[c] = T(static_cast<float>(x[c]) * std::pow(Norm(x, n, c), -beta));
    }
  }

  template <typename T>
  void Backward(const T* dy, const T* x, const T* y, int64_t n, float* sums, T* dx) const {
    std::fill_n(sums, n, 0.0f);
    for (int64_t c = 0; c < n; ++c) {
      const float norm = Norm(x, n, c), d = static_cast<float>(dy[c]);
      const float shared = -2 * alpha * beta * static_cast<float>(y[c]) / norm;
      for (int64_t i = std::max<int64_t>(0, c - radius); i < std::min(n, c + radius + 1); ++i) {
        float slope = shared * static_cast<float>(x[i]);
        if (i == c) slope += std::pow(norm, -beta);
        sums[i] += slope * d;
      }
    }
    for (int64_t c = 0; c < n; ++c) dx[c] = T(sums[c]);
  }
};

StatusOr<Lrn> LrnOf(const ir::Node& node) {
  const int64_t radius = IntAttr(node, "depth_radius", 5);
  if (radius < 0 || radius > (int64_t{1} << 31)) {
    return InvalidArgumentError(StrCat("depth_radius = ", radius, " is not between 0 and 2^31"));
  }
  return Lrn{radius, AttrOr<float>(node, "bias", 1), AttrOr<float>(node, "alpha", 1),
             AttrOr<float>(node, "beta", 0.5f)};
}

int64_t PixelGrain(int64_t channels) { return std::max<int64_t>(1, 1024 / channels); }

StatusOr<KernelFn> BindLrn(const BindContext& bind) {
  ASSIGN_OR_RETURN(const Lrn lrn, LrnOf(*bind.node));
  return KernelFn([lrn](KernelContext& ctx) -> Status {
    const Tensor& x = ctx.input(0);
    if (x.rank() != 4) {
      return InvalidArgumentError(StrCat("in must be 4-dimensional, not ", x.shape().ToString()));
    }
    ASSIGN_OR_RETURN(Tensor * y, ctx.AllocateOutput(0, x.shape()));
    if (x.num_elements() == 0) return OkStatus();
    const int64_t n = x.dim(3);
    SwitchType<int>(LrnTypes{}, x.dtype(), [&]<typename T>() {
      const T* from = x.flat<T>().data();
      T* to = y->flat<T>().data();
      ctx.intra_op().ParallelFor(x.num_elements() / n, PixelGrain(n),
                                 [&](int64_t begin, int64_t end) {
                                   for (int64_t p = begin; p < end; ++p) {
                                     lrn.Forward(from + p * n, n, to + p * n);
                                   }
                                 });
      return 0;
    });
    return OkStatus();
  });
}

StatusOr<KernelFn> BindLrnGrad(const BindContext& bind) {
  ASSIGN_OR_RETURN(const Lrn lrn, LrnOf(*bind.node));
  return KernelFn([lrn](KernelContext& ctx) -> Status {
    const Tensor& x = ctx.input(1);
    RETURN_IF_ERROR(CheckRank(x, 4, "input_image"));
    RETURN_IF_ERROR(CheckSameShape(ctx.input(0), x, "input_grads", "input_image"));
    RETURN_IF_ERROR(CheckSameShape(ctx.input(2), x, "output_image", "input_image"));
    ASSIGN_OR_RETURN(Tensor * dx, ctx.AllocateOutput(0, x.shape()));
    if (x.num_elements() == 0) return OkStatus();
    const int64_t n = x.dim(3);
    auto* sums = static_cast<float*>(ctx.Scratch(static_cast<size_t>(n) * sizeof(float)));
    if (sums == nullptr) return ResourceExhaustedError("No memory for the gradient of LRN");
    SwitchType<int>(LrnTypes{}, x.dtype(), [&]<typename T>() {
      for (int64_t at = 0; at < x.num_elements(); at += n) {
        lrn.Backward(ctx.input(0).flat<T>().data() + at, x.flat<T>().data() + at,
                     ctx.input(2).flat<T>().data() + at, n, sums, dx->flat<T>().data() + at);
      }
      return 0;
    });
    return OkStatus();
  });
}

}  // namespace

std::span<const KernelDef> LrnKernels() {
  static const std::vector<KernelDef> table = MakeKernels({
      {"LRN", BindLrn, LrnTypes::DTypes()},
      {"LRNGrad", BindLrnGrad, LrnTypes::DTypes()},
  });
  return table;
}

}  // namespace slipway::kernels
