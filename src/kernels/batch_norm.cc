// SPDX-License-Identifier: Apache-2.0
//
// Batch normalisation as one op, and its gradient. Values are normalised with the biased variance;
// what training returns for the moving average is the unbiased one.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/simd_windows.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

struct BatchNormSpec {
  int rank = 4;
  bool channels_first = false;
  bool training = true;
  float epsilon = 1e-4f;
  float factor = 1;  // of the new values in the moving average
};

BatchNormSpec SpecOf(const ir::Node& node) {
  const std::string format = AttrOr<std::string>(node, "data_format", "NHWC");
  BatchNormSpec spec;
  spec.rank = static_cast<int>(format.size());
  spec.channels_first = format.starts_with("NC");
  spec.training = BoolAttr(node, "is_training", true);
  spec.epsilon = AttrOr<float>(node, "epsilon", 1e-4f);
  spec.factor = AttrOr<float>(node, "exponential_avg_factor", 1.0f);
  return spec;
}

// x as [outer, channels, inner].
struct ChannelView {
  int64_t outer = 0, channels = 0, inner = 1;
  int64_t count() const { return outer * inner; }
};

StatusOr<ChannelView> ViewOf(const BatchNormSpec& spec, const Tensor& x) {
  if (x.rank() != spec.rank) {
    return InvalidArgumentError(
        StrCat("input must be ", spec.rank, "-dimensional", x.shape().ToString()));
  }
  ChannelView v;
  v.channels = x.dim(spec.channels_first ? 1 : spec.rank - 1);
  if (x.num_elements() == 0) return v;
  for (int d = 2; spec.channels_first && d < spec.rank; ++d) v.inner *= x.dim(d);
  v.outer = x.num_elements() / (v.channels * v.inner);
  return v;
}

Status CheckVector(const Tensor& t, int64_t channels, std::string_view what) {
  if (t.rank() != 1) {
    return InvalidArgumentError(StrCat(what, " must be 1-dimensional", t.shape().ToString()));
  }
  if (t.dim(0) == channels) return OkStatus();
  return InvalidArgumentError(StrCat(what,
                                     " must have the same number of elements as the channels of "
                                     "x, got ",
                                     t.dim(0), " and ", channels));
}

// fn(channel, values, n) for runs of x that belong to one channel, if channels come first; else
// fn is given single values.
template <typename T, typename Fn>
void ForRuns(const ChannelView& v, T* x, Fn&& fn) {
  for (int64_t o = 0; o < v.outer; ++o) {
    for (int64_t c = 0; c < v.channels; ++c, x += v.inner) fn(c, x, v.inner);
  }
}

// Sums in double: a float's would lose digits over a batch of images.
struct Moments {
  std::vector<double> mean, variance;
};
template <typename T>
Moments MomentsOf(const ChannelView& v, const T* x) {
  const auto channels = static_cast<size_t>(v.channels);
  const auto n = static_cast<double>(v.count());
  Moments m = {std::vector<double>(channels), std::vector<double>(channels)};
  ForRuns(v, x, [&](int64_t c, const T* run, int64_t count) {
    double& sum = m.mean[static_cast<size_t>(c)];
    for (int64_t i = 0; i < count; ++i) sum += static_cast<double>(static_cast<float>(run[i]));
  });
  for (double& mean : m.mean) mean /= n;
  ForRuns(v, x, [&](int64_t c, const T* run, int64_t count) {
    const double mean = m.mean[static_cast<size_t>(c)];
    double& sum = m.variance[static_cast<size_t>(c)];
    for (int64_t i = 0; i < count; ++i) {
      const double d = static_cast<double>(static_cast<float>(run[i])) - mean;
      sum += d * d;
    }
  });
  for (double& variance : m.variance) variance /= n;
  return m;
}

// y = x * scale + shift, by channel.
template <typename T>
void Apply(ThreadPool& pool, const ChannelView& v, const T* x, const float* scale,
           const float* shift, T* y) {
  const int64_t block = v.channels * v.inner;
  const int64_t grain = std::max<int64_t>(1, 32768 / std::max<int64_t>(1, block));
  pool.ParallelFor(v.outer, grain, [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) {
      const T* from = x + o * block;
      T* to = y + o * block;
      if constexpr (std::is_same_v<T, float>) {
        if (v.inner == 1) {
          Windows().scale_shift(from, scale, shift, v.channels, to);
          continue;
        }
      }
      for (int64_t c = 0; c < v.channels; ++c, from += v.inner, to += v.inner) {
        for (int64_t i = 0; i < v.inner; ++i) {
          to[i] = T(static_cast<float>(from[i]) * scale[c] + shift[c]);
        }
      }
    }
  });
}

// The statistics and parameters are floats, or bfloat16 as the data is.
float FloatAt(const Tensor& t, int64_t i) {
  const auto at = static_cast<size_t>(i);
  return t.dtype() == DType::kFloat ? t.flat<float>()[at]
                                    : static_cast<float>(t.flat<BFloat16>()[at]);
}
void SetAt(Tensor* t, int64_t i, float value) {
  const auto at = static_cast<size_t>(i);
  if (t->dtype() == DType::kFloat) {
    t->flat<float>()[at] = value;
  } else {
    t->flat<BFloat16>()[at] = BFloat16(value);
  }
}

// The outputs beside y, of a value for each channel.
struct StatOutputs {
  Tensor *mean, *variance, *saved_mean, *saved_variance;
};

StatusOr<StatOutputs> AllocateStats(KernelContext& ctx, int64_t channels) {
  StatOutputs s{};
  Tensor** places[] = {&s.mean, &s.variance, &s.saved_mean, &s.saved_variance};
  for (int i = 0; i < 4; ++i) {
    ASSIGN_OR_RETURN(*places[i], ctx.AllocateOutput(i + 1, Shape({channels})));
  }
  return s;
}

float Blend(float old_value, float new_value, float factor) {
  return factor == 1 ? new_value : (1 - factor) * old_value + factor * new_value;
}

// What normalises a channel; the outputs beside y are set.
struct Normalizer {
  float mean, variance;
};
Normalizer TrainChannel(const KernelContext& ctx, const BatchNormSpec& spec, const Moments& m,
                        int64_t count, int64_t c, const StatOutputs& out) {
  const auto at = static_cast<size_t>(c);
  const auto mean = static_cast<float>(m.mean[at]), variance = static_cast<float>(m.variance[at]);
  const float unbiased =
      variance * static_cast<float>(static_cast<double>(count) /
                                    static_cast<double>(std::max<int64_t>(1, count - 1)));
  const bool blends = spec.factor != 1;
  SetAt(out.mean, c, Blend(blends ? FloatAt(ctx.input(3), c) : 0, mean, spec.factor));
  SetAt(out.variance, c, Blend(blends ? FloatAt(ctx.input(4), c) : 0, unbiased, spec.factor));
  SetAt(out.saved_mean, c, mean);
  SetAt(out.saved_variance, c, variance);
  return {mean, variance};
}
Normalizer InferChannel(const KernelContext& ctx, int64_t c, const StatOutputs& out) {
  const Normalizer n = {FloatAt(ctx.input(3), c), FloatAt(ctx.input(4), c)};
  SetAt(out.mean, c, n.mean);
  SetAt(out.variance, c, n.variance);
  SetAt(out.saved_mean, c, n.mean);
  SetAt(out.saved_variance, c, n.variance);
  return n;
}

Status CheckParameters(const KernelContext& ctx, const BatchNormSpec& spec, int64_t channels) {
  RETURN_IF_ERROR(CheckVector(ctx.input(1), channels, "scale"));
  RETURN_IF_ERROR(CheckVector(ctx.input(2), channels, "offset"));
  if (spec.training && spec.factor == 1) return OkStatus();
  RETURN_IF_ERROR(CheckVector(ctx.input(3), channels, "mean"));
  return CheckVector(ctx.input(4), channels, "variance");
}

template <typename T>
Status RunBatchNorm(KernelContext& ctx, const BatchNormSpec& spec, const ChannelView& v,
                    const StatOutputs& stats, Tensor* y) {
  const Tensor& x = ctx.input(0);
  auto* scale =
      static_cast<float*>(ctx.Scratch(2 * static_cast<size_t>(v.channels) * sizeof(float) + 1));
  if (scale == nullptr) return ResourceExhaustedError("No memory for batch normalization");
  float* shift = scale + v.channels;
  Moments moments;
  if (spec.training) moments = MomentsOf(v, x.flat<T>().data());
  for (int64_t c = 0; c < v.channels; ++c) {
    const Normalizer n = spec.training ? TrainChannel(ctx, spec, moments, v.count(), c, stats)
                                       : InferChannel(ctx, c, stats);
    scale[c] = FloatAt(ctx.input(1), c) / std::sqrt(n.variance + spec.epsilon);
    shift[c] = FloatAt(ctx.input(2), c) - n.mean * scale[c];
  }
  Apply(ctx.intra_op(), v, x.flat<T>().data(), scale, shift, y->flat<T>().data());
  return OkStatus();
}

StatusOr<KernelFn> BindBatchNorm(const BindContext& bind) {
  const BatchNormSpec spec = SpecOf(*bind.node);
  const bool v3 = bind.node->op() == "FusedBatchNormV3";
  return KernelFn([spec, v3](KernelContext& ctx) -> Status {
    const Tensor& x = ctx.input(0);
    ASSIGN_OR_RETURN(const ChannelView v, ViewOf(spec, x));
    RETURN_IF_ERROR(CheckParameters(ctx, spec, v.channels));
    ASSIGN_OR_RETURN(Tensor * y, ctx.AllocateOutput(0, x.shape()));
    ASSIGN_OR_RETURN(const StatOutputs stats, AllocateStats(ctx, v.channels));
    if (v3) {  // of use to other devices only
      ASSIGN_OR_RETURN(Tensor * reserved, ctx.AllocateOutput(5, Shape()));
      SetAt(reserved, 0, 0);
    }
    if (x.num_elements() == 0) {
      for (int64_t c = 0; c < v.channels; ++c) {
        const float nothing = spec.training ? std::nanf("") : 0.0f;
        SetAt(stats.mean, c, nothing);
        SetAt(stats.variance, c, nothing);
        SetAt(stats.saved_mean, c, 0);
        SetAt(stats.saved_variance, c, 0);
      }
      return OkStatus();
    }
    using Types = TypeList<float, Half, BFloat16>;
    return SwitchType<Status>(
        Types{}, x.dtype(), [&]<typename T>() { return RunBatchNorm<T>(ctx, spec, v, stats, y); });
  });
}

// Sums over a channel: of dy, and of dy * (x - mean).
struct GradientSums {
  std::vector<double> dy, dy_x;
};
template <typename T>
GradientSums SumGradients(const ChannelView& v, const T* dy, const T* x, const Tensor& mean) {
  const auto channels = static_cast<size_t>(v.channels);
  GradientSums s = {std::vector<double>(channels), std::vector<double>(channels)};
  ForRuns(v, dy, [&](int64_t c, const T* run, int64_t n) {
    const T* values = x + (run - dy);
    const double m = FloatAt(mean, c);
    double &sum = s.dy[static_cast<size_t>(c)], &product = s.dy_x[static_cast<size_t>(c)];
    for (int64_t i = 0; i < n; ++i) {
      const double d = static_cast<float>(run[i]);
      sum += d;
      product += d * (static_cast<double>(static_cast<float>(values[i])) - m);
    }
  });
  return s;
}

template <typename T>
void RunBatchNormGrad(const KernelContext& ctx, const BatchNormSpec& spec, const ChannelView& v,
                      Tensor* dx, Tensor* dscale, Tensor* doffset) {
  const T* dy = ctx.input(0).flat<T>().data();
  const T* x = ctx.input(1).flat<T>().data();
  const Tensor &mean = ctx.input(3), &variance = ctx.input(4);
  const GradientSums sums = SumGradients(v, dy, x, mean);
  const auto n = static_cast<double>(v.count());
  T* to = dx->flat<T>().data();
  for (int64_t c = 0; c < v.channels; ++c) {
    const auto at = static_cast<size_t>(c);
    const double deviation = std::sqrt(static_cast<double>(FloatAt(variance, c)) + spec.epsilon);
    SetAt(dscale, c, static_cast<float>(sums.dy_x[at] / deviation));
    SetAt(doffset, c, static_cast<float>(sums.dy[at]));
  }
  ForRuns(v, dy, [&](int64_t c, const T* run, int64_t count) {
    const auto at = static_cast<size_t>(c);
    const int64_t place = run - dy;
    const double shifted = static_cast<double>(FloatAt(variance, c)) + spec.epsilon;
    const double by = FloatAt(ctx.input(2), c) / std::sqrt(shifted);
    const double m = FloatAt(mean, c);
    const double mean_dy = spec.training ? sums.dy[at] / n : 0;
    const double slope = spec.training ? sums.dy_x[at] / n / shifted : 0;
    for (int64_t i = 0; i < count; ++i) {
      const double centred = static_cast<double>(static_cast<float>(x[place + i])) - m;
      const double d = static_cast<float>(run[i]);
      to[place + i] = T(static_cast<float>((d - mean_dy - centred * slope) * by));
    }
  });
}

StatusOr<KernelFn> BindBatchNormGrad(const BindContext& bind) {
  const BatchNormSpec spec = SpecOf(*bind.node);
  return KernelFn([spec](KernelContext& ctx) -> Status {
    const Tensor& dy = ctx.input(0);
    const Tensor& x = ctx.input(1);
    ASSIGN_OR_RETURN(const ChannelView v, ViewOf(spec, x));
    RETURN_IF_ERROR(CheckSameShape(dy, x, "y_backprop", "x"));
    RETURN_IF_ERROR(CheckVector(ctx.input(2), v.channels, "scale"));
    RETURN_IF_ERROR(CheckVector(ctx.input(3), v.channels, "reserve_space_1"));
    RETURN_IF_ERROR(CheckVector(ctx.input(4), v.channels, "reserve_space_2"));
    ASSIGN_OR_RETURN(Tensor * dx, ctx.AllocateOutput(0, x.shape()));
    ASSIGN_OR_RETURN(Tensor * dscale, ctx.AllocateOutput(1, Shape({v.channels})));
    ASSIGN_OR_RETURN(Tensor * doffset, ctx.AllocateOutput(2, Shape({v.channels})));
    RETURN_IF_ERROR(ctx.AllocateOutput(3, Shape({0})).status());
    RETURN_IF_ERROR(ctx.AllocateOutput(4, Shape({0})).status());
    if (x.num_elements() == 0) {
      std::memset(dscale->raw_data(), 0, dscale->byte_size());
      std::memset(doffset->raw_data(), 0, doffset->byte_size());
      return OkStatus();
    }
    using Types = TypeList<float, Half, BFloat16>;
    SwitchType<int>(Types{}, x.dtype(), [&]<typename T>() {
      RunBatchNormGrad<T>(ctx, spec, v, dx, dscale, doffset);
      return 0;
    });
    return OkStatus();
  });
}

}  // namespace

std::span<const KernelDef> BatchNormKernels() {
  const std::vector<DType> one = {DType::kFloat};
  const std::vector<DType> types = {DType::kFloat, DType::kHalf, DType::kBFloat16};
  static const std::vector<KernelDef> table = MakeKernels({
      {"FusedBatchNorm", BindBatchNorm, one},
      {"FusedBatchNormV2", BindBatchNorm, types},
      {"FusedBatchNormV3", BindBatchNorm, types},
      {"FusedBatchNormGrad", BindBatchNormGrad, one},
      {"FusedBatchNormGradV2", BindBatchNormGrad, types},
      {"FusedBatchNormGradV3", BindBatchNormGrad, types},
  });
  return table;
}

}  // namespace slipway::kernels
