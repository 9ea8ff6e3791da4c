// SPDX-License-Identifier: Apache-2.0
//
// Sound: WAV files, spectrograms and mel-frequency cepstral coefficients.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "wire/wav.h"

namespace slipway::kernels {
namespace {

Status CheckSampleRate(const Tensor& rate) {
  if (rate.rank() == 0) return OkStatus();
  return InvalidArgumentError(StrCat("Input sample_rate should be a scalar tensor, got ",
                                     rate.shape().ToString(), " instead."));
}

StatusOr<KernelFn> BindDecodeWav(const BindContext& bind) {
  const int64_t wanted_channels = IntAttr(*bind.node, "desired_channels", -1);
  const int64_t wanted_samples = IntAttr(*bind.node, "desired_samples", -1);
  if (wanted_channels < -1 || wanted_samples < -1) {
    const bool channels = wanted_channels < -1;
    return InvalidArgumentError(StrCat("desired_", channels ? "channels" : "samples",
                                       " must be >= -1, got ",
                                       channels ? wanted_channels : wanted_samples));
  }
  return KernelFn([=](KernelContext& ctx) -> Status {
    const Tensor& contents = ctx.input(0);
    if (contents.rank() != 0) {
      return InvalidArgumentError(
          StrCat("contents must be scalar, got shape ", contents.shape().ToString()));
    }
    ASSIGN_OR_RETURN(const WavAudio wav, ParseWav(contents.scalar<std::string>()));
    const int64_t dims[] = {wanted_samples < 0 ? wav.frames : wanted_samples,
                            wanted_channels < 0 ? wav.channels : wanted_channels};
    ASSIGN_OR_RETURN(const Shape shape, Shape::FromDims(dims));
    ASSIGN_OR_RETURN(Tensor * audio, ctx.AllocateOutput(0, shape));
    ASSIGN_OR_RETURN(Tensor * rate, ctx.AllocateOutput(1, Shape()));
    rate->flat<int32_t>()[0] = wav.sample_rate;
    float* to = audio->flat<float>().data();
    for (int64_t i = 0; i < shape.dim(0); ++i) {
      for (int64_t c = 0; c < shape.dim(1); ++c) {  // the last channel stands for those missing
        const auto channel = static_cast<int>(std::min<int64_t>(c, wav.channels - 1));
        *to++ = i < wav.frames ? wav.At(i, channel) : 0;
      }
    }
    return OkStatus();
  });
}

StatusOr<KernelFn> BindEncodeWav(const BindContext&) {
  return KernelFn([](KernelContext& ctx) -> Status {
    const Tensor& audio = ctx.input(0);
    if (audio.rank() != 2) {
      return InvalidArgumentError(StrCat("audio must be 2-dimensional", audio.shape().ToString()));
    }
    RETURN_IF_ERROR(CheckSampleRate(ctx.input(1)));
    ASSIGN_OR_RETURN(std::string file, EncodeWav(audio, ctx.input(1).scalar<int32_t>()));
    ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, Shape()));
    out->flat<std::string>()[0] = std::move(file);
    return OkStatus();
  });
}

using Complex = std::complex<double>;

// In place, of a power of two.
void Transform(std::vector<Complex>& x) {
  const size_t n = x.size();
  for (size_t i = 1, j = 0; i < n; ++i) {
    size_t bit = n >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  for (size_t size = 2; size <= n; size *= 2) {
    for (size_t k = 0; k < size / 2; ++k) {
      const double angle =
          -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(size);
      const Complex turn(std::cos(angle), std::sin(angle));
      for (size_t i = k; i < n; i += size) {
        const Complex odd = x[i + size / 2] * turn;
        x[i + size / 2] = x[i] - odd;
        x[i] += odd;
      }
    }
  }
}

struct Spectrogram {
  int64_t window, stride;
  bool squared;
  int64_t length = 1;  // of the transform
  std::vector<double> hann;

  static StatusOr<Spectrogram> Make(const ir::Node& node) {
    Spectrogram s = {IntAttr(node, "window_size"),
                     IntAttr(node, "stride"),
                     BoolAttr(node, "magnitude_squared"),
                     1,
                     {}};
    if (s.window < 2 || s.window > (1 << 24) || s.stride < 1) {
      return InvalidArgumentError(StrCat("Spectrogram initialization failed for window size ",
                                         s.window, " and stride ", s.stride,
                                         "; wanted at least 2 and 1"));
    }
    while (s.length < s.window) s.length *= 2;
    for (int64_t i = 0; i < s.window; ++i) {
      s.hann.push_back(0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(i) /
                                            static_cast<double>(s.window)));
    }
    return s;
  }

  // One frame of a channel whose samples lie `step` apart.
  void Frame(const float* x, int64_t step, std::vector<Complex>& memory, float* to) const {
    std::fill(memory.begin(), memory.end(), Complex());
    for (int64_t i = 0; i < window; ++i) {
      const auto at = static_cast<size_t>(i);
      memory[at] = static_cast<double>(x[i * step]) * hann[at];
    }
    Transform(memory);
    for (int64_t i = 0; i <= length / 2; ++i) {
      const double power = std::norm(memory[static_cast<size_t>(i)]);
      to[i] = static_cast<float>(squared ? power : std::sqrt(power));
    }
  }
};

StatusOr<KernelFn> BindSpectrogram(const BindContext& bind) {
  ASSIGN_OR_RETURN(const Spectrogram s, Spectrogram::Make(*bind.node));
  return KernelFn([s](KernelContext& ctx) -> Status {
    const Tensor& x = ctx.input(0);
    if (x.rank() != 2) {
      return InvalidArgumentError(StrCat("input must be 2-dimensional", x.shape().ToString()));
    }
    const int64_t samples = x.dim(0), channels = x.dim(1);
    const int64_t frames = samples < s.window ? 0 : 1 + (samples - s.window) / s.stride;
    const int64_t bins = s.length / 2 + 1;
    const int64_t dims[] = {channels, frames, bins};
    ASSIGN_OR_RETURN(const Shape shape, Shape::FromDims(dims));
    ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
    if (out->num_elements() == 0) return OkStatus();
    ctx.intra_op().ParallelFor(channels * frames, 4, [&](int64_t begin, int64_t end) {
      std::vector<Complex> memory(static_cast<size_t>(s.length));
      for (int64_t i = begin; i < end; ++i) {
        const int64_t channel = i / frames, first = i % frames * s.stride;
        s.Frame(x.flat<float>().data() + first * channels + channel, channels, memory,
                out->flat<float>().data() + i * bins);
      }
    });
    return OkStatus();
  });
}

double Mel(double hertz) { return 1127.0 * std::log1p(hertz / 700.0); }

// Triangular filters side by side on the mel scale: a bin belongs to the falling side of one and
// to the rising side of the next.
struct MelBank {
  int64_t channels = 0, first = 0, last = -1;  // bins that count
  std::vector<int64_t> falling;                // of each bin; -1: before the first
  std::vector<double> weights;                 // of the falling side
  // The limits go beyond the last bin: TensorFlow gives zeros.
  bool too_short = false;

  MelBank(int64_t bins, double rate, int64_t count, double low, double high) : channels(count) {
    const double mel_low = Mel(low),
                 spacing = (Mel(high) - mel_low) / static_cast<double>(count + 1);
    const auto center = [&](int64_t i) { return mel_low + spacing * static_cast<double>(i + 1); };
    const double each = 0.5 * rate / static_cast<double>(bins - 1);
    first = static_cast<int64_t>(1.5 + low / each);
    last = static_cast<int64_t>(high / each);
    too_short = last >= bins;
    if (too_short) return;
    int64_t channel = 0;
    for (int64_t i = 0; i < bins; ++i) {
      const double mel = Mel(static_cast<double>(i) * each);
      if (i < first || i > last) {
        falling.push_back(-1);
        weights.push_back(0);
        continue;
      }
      while (channel < channels && center(channel) < mel) ++channel;
      falling.push_back(channel - 1);
      weights.push_back((center(channel) - mel) / spacing);
    }
  }

  void Run(const float* spectrum, std::vector<double>& out) const {
    std::fill(out.begin(), out.end(), 0.0);
    for (int64_t i = first; i <= last; ++i) {
      const auto at = static_cast<size_t>(i);
      const double value = std::sqrt(static_cast<double>(spectrum[i]));
      const double part = value * weights[at];
      const int64_t channel = falling[at];
      if (channel >= 0) out[static_cast<size_t>(channel)] += part;
      if (channel + 1 < channels) out[static_cast<size_t>(channel + 1)] += value - part;
    }
  }
};

struct MfccSpec {
  double low = 20, high = 4000;
  int64_t channels = 40, coefficients = 13;

  bool IsPossible() const {
    return channels >= 1 && channels <= (1 << 16) && coefficients >= 1 &&
           coefficients <= channels && low >= 0 && high > low && high < 1e9;
  }
  Status Error(int64_t bins, int32_t rate) const {
    return InvalidArgumentError(StrCat("Mfcc initialization failed for channel count ", bins,
                                       ", sample rate ", rate, " and filterbank_channel_count ",
                                       channels, " (", coefficients, " coefficients, ", low, " to ",
                                       high, " Hz)"));
  }
};

// The cosine transform of the logarithms.
void Cepstrum(const std::vector<double>& bank, int64_t coefficients, float* to) {
  constexpr double kFloor = 1e-12;
  const auto n = static_cast<double>(bank.size());
  for (int64_t i = 0; i < coefficients; ++i) {
    double sum = 0;
    for (size_t j = 0; j < bank.size(); ++j) {
      sum +=
          std::cos(static_cast<double>(i) * std::numbers::pi / n * (static_cast<double>(j) + 0.5)) *
          std::log(std::max(bank[j], kFloor));
    }
    to[i] = static_cast<float>(std::sqrt(2.0 / n) * sum);
  }
}

Status RunMfcc(KernelContext& ctx, const MfccSpec& spec) {
  const Tensor& x = ctx.input(0);
  if (x.rank() != 3) {
    return InvalidArgumentError(StrCat("spectrogram must be 3-dimensional", x.shape().ToString()));
  }
  RETURN_IF_ERROR(CheckSampleRate(ctx.input(1)));
  const int32_t rate = ctx.input(1).flat<int32_t>()[0];
  const int64_t bins = x.dim(2);
  if (rate <= 0 || bins < 2 || !spec.IsPossible()) return spec.Error(bins, rate);
  const int64_t dims[] = {x.dim(0), x.dim(1), spec.coefficients};
  ASSIGN_OR_RETURN(const Shape shape, Shape::FromDims(dims));
  ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  if (out->num_elements() == 0) return OkStatus();
  const MelBank mel(bins, rate, spec.channels, spec.low, spec.high);
  if (mel.too_short) {
    std::fill_n(out->flat<float>().data(), out->num_elements(), 0.0f);
    return OkStatus();
  }
  std::vector<double> bank(static_cast<size_t>(spec.channels));
  for (int64_t i = 0; i < x.dim(0) * x.dim(1); ++i) {
    mel.Run(x.flat<float>().data() + i * bins, bank);
    Cepstrum(bank, spec.coefficients, out->flat<float>().data() + i * spec.coefficients);
  }
  return OkStatus();
}

StatusOr<KernelFn> BindMfcc(const BindContext& bind) {
  const ir::Node& node = *bind.node;
  MfccSpec spec;
  spec.low = AttrOr<float>(node, "lower_frequency_limit", 20);
  spec.high = AttrOr<float>(node, "upper_frequency_limit", 4000);
  spec.channels = IntAttr(node, "filterbank_channel_count", 40);
  spec.coefficients = IntAttr(node, "dct_coefficient_count", 13);
  return KernelFn([spec](KernelContext& ctx) { return RunMfcc(ctx, spec); });
}

}  // namespace

std::span<const KernelDef> AudioKernels() {
  static const std::vector<KernelDef> table = MakeKernels({
      {"AudioSpectrogram", BindSpectrogram, {}, "T", {}, {}, true},
      {"DecodeWav", BindDecodeWav},
      {"EncodeWav", BindEncodeWav},
      {"Mfcc", BindMfcc},
  });
  return table;
}

}  // namespace slipway::kernels
