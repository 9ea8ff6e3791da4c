// SPDX-License-Identifier: Apache-2.0
//
// Real numbers rounded as if they were quantised, for training that will be: FakeQuant and its
// gradients.
#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/quantization.h"

namespace slipway::kernels {
namespace {

struct Levels {
  int lowest = 0, highest = 255;
};

StatusOr<Levels> LevelsOf(const ir::Node& node) {
  const int64_t bits = IntAttr(node, "num_bits", 8);
  if (bits < 2 || bits > 16) {
    return InvalidArgumentError(StrCat("num_bits must be between 2 and 16, inclusive, got ", bits));
  }
  return Levels{BoolAttr(node, "narrow_range") ? 1 : 0, (1 << bits) - 1};
}

// A range moved so that zero is one of its levels.
struct Nudged {
  float min = 0, max = 0, scale = 0;

  Nudged(FloatRange range, Levels levels) {
    const auto lowest = static_cast<float>(levels.lowest);
    const auto highest = static_cast<float>(levels.highest);
    scale = (range.max - range.min) / (highest - lowest);
    const float zero = lowest - range.min / scale;
    float nudged = lowest;  // where there is no scale, too
    if (zero > highest) {
      nudged = highest;
    } else if (zero >= lowest) {
      nudged = std::round(zero);
    }
    min = (lowest - nudged) * scale;
    max = (highest - nudged) * scale;
  }
  bool Covers(float x) const { return x >= min && x <= max; }
};

// An element every `stride` from `x`, `count` of them: one channel.
void Round(const float* x, float* y, int64_t count, int64_t stride, const Nudged& n) {
  const float inverse = 1.0f / n.scale;
  const float zero = std::floor(-n.min * inverse + 0.5f);
  for (int64_t i = 0; i < count * stride; i += stride) {
    const float clamped = std::max(std::min(x[i], n.max), n.min) - n.min;
    y[i] = std::floor(clamped * inverse - zero + 0.5f) * n.scale;
  }
}

StatusOr<KernelFn> BindArgs(const BindContext& bind) {
  ASSIGN_OR_RETURN(const Levels levels, LevelsOf(*bind.node));
  const FloatRange range{AttrOr<float>(*bind.node, "min", -6), AttrOr<float>(*bind.node, "max", 6)};
  if (!(range.min < range.max)) {
    return InvalidArgumentError(
        StrCat("min has to be smaller than max, was: ", range.min, " >= ", range.max));
  }
  const bool gradient = bind.node->op() == "FakeQuantWithMinMaxArgsGradient";
  return KernelFn([n = Nudged(range, levels), gradient](KernelContext& c) -> Status {
    const Tensor& x = c.input(gradient ? 1 : 0);
    if (gradient) RETURN_IF_ERROR(CheckSameShape(c.input(0), x, "gradient", "input"));
    ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, x.shape()));
    float* out = y->flat<float>().data();
    const float* in = x.flat<float>().data();
    if (!gradient) {
      Round(in, out, x.num_elements(), 1, n);
      return OkStatus();
    }
    const float* g = c.input(0).flat<float>().data();
    for (int64_t i = 0; i < x.num_elements(); ++i) out[i] = g[i] * (n.Covers(in[i]) ? 1.0f : 0.0f);
    return OkStatus();
  });
}

// A range for all elements, or for each index of the last dimension.
struct Channels {
  int64_t channels = 1, rows = 0;
  const float *min = nullptr, *max = nullptr;

  FloatRange range(int64_t channel) const { return {min[channel], max[channel]}; }
  // A range of nothing: the variables were not set yet.
  bool unset(int64_t channel) const { return min[channel] == 0 && max[channel] == 0; }
};

StatusOr<Channels> ReadChannels(const KernelContext& c, int input, bool per_channel) {
  const Tensor& x = c.input(input);
  Channels result;
  if (per_channel && x.rank() == 0) {
    return InvalidArgumentError("input must be at least 1 dimensional, got a scalar");
  }
  if (per_channel) result.channels = x.dim(x.rank() - 1);
  for (const auto& [i, name, values] :
       {std::tuple(input + 1, "min", &result.min), std::tuple(input + 2, "max", &result.max)}) {
    const Tensor& t = c.input(i);
    if (t.rank() != (per_channel ? 1 : 0)) {
      return InvalidArgumentError(
          StrCat("`", name, "` must be rank ", per_channel ? 1 : 0, " but is rank ", t.rank()));
    }
    if (t.num_elements() != result.channels) {
      return InvalidArgumentError(StrCat(name, " has incorrect size, expected ", result.channels,
                                         " was ", t.num_elements()));
    }
    *values = t.flat<float>().data();
  }
  if (result.channels > 0) result.rows = x.num_elements() / result.channels;
  return result;
}

StatusOr<KernelFn> BindVars(const BindContext& bind) {
  ASSIGN_OR_RETURN(const Levels levels, LevelsOf(*bind.node));
  const bool per_channel = bind.node->op() == "FakeQuantWithMinMaxVarsPerChannel";
  return KernelFn([levels, per_channel](KernelContext& c) -> Status {
    const Tensor& x = c.input(0);
    ASSIGN_OR_RETURN(const Channels k, ReadChannels(c, 0, per_channel));
    ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, x.shape()));
    const float* in = x.flat<float>().data();
    float* out = y->flat<float>().data();
    for (int64_t channel = 0; channel < k.channels; ++channel) {
      if (!k.unset(channel)) {
        Round(in + channel, out + channel, k.rows, k.channels, Nudged(k.range(channel), levels));
        continue;
      }
      for (int64_t r = 0; r < k.rows; ++r) out[channel + r * k.channels] = 0;
    }
    return OkStatus();
  });
}

StatusOr<KernelFn> BindVarsGradient(const BindContext& bind) {
  ASSIGN_OR_RETURN(const Levels levels, LevelsOf(*bind.node));
  const bool per_channel = bind.node->op() == "FakeQuantWithMinMaxVarsPerChannelGradient";
  return KernelFn([levels, per_channel](KernelContext& c) -> Status {
    const Tensor& x = c.input(1);
    RETURN_IF_ERROR(CheckSameShape(c.input(0), x, "gradient", "input"));
    ASSIGN_OR_RETURN(const Channels k, ReadChannels(c, 1, per_channel));
    ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, x.shape()));
    ASSIGN_OR_RETURN(Tensor * dmin, c.AllocateOutput(1, c.input(2).shape()));
    ASSIGN_OR_RETURN(Tensor * dmax, c.AllocateOutput(2, c.input(2).shape()));
    const float* g = c.input(0).flat<float>().data();
    const float* in = x.flat<float>().data();
    float* out = y->flat<float>().data();
    for (int64_t channel = 0; channel < k.channels; ++channel) {
      const bool unset = k.unset(channel);
      const Nudged n(k.range(channel), levels);
      float below = 0, above = 0;
      for (int64_t r = 0; r < k.rows; ++r) {
        const int64_t i = channel + r * k.channels;
        out[i] = unset ? g[i] : g[i] * (n.Covers(in[i]) ? 1.0f : 0.0f);
        if (unset) continue;
        if (in[i] < n.min) below += g[i];
        if (in[i] > n.max) above += g[i];
      }
      dmin->flat<float>()[static_cast<size_t>(channel)] = below;
      dmax->flat<float>()[static_cast<size_t>(channel)] = above;
    }
    return OkStatus();
  });
}

}  // namespace

std::span<const KernelDef> FakeQuantKernels() {
  static const std::vector<KernelDef> table = MakeKernels({
      {"FakeQuantWithMinMaxArgs", BindArgs},
      {"FakeQuantWithMinMaxArgsGradient", BindArgs},
      {"FakeQuantWithMinMaxVars", BindVars},
      {"FakeQuantWithMinMaxVarsGradient", BindVarsGradient},
      {"FakeQuantWithMinMaxVarsPerChannel", BindVars},
      {"FakeQuantWithMinMaxVarsPerChannelGradient", BindVarsGradient},
  });
  return table;
}

}  // namespace slipway::kernels
