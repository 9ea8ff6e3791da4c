// SPDX-License-Identifier: Apache-2.0
//
// WAV files of 16-bit samples. Bytes come from anywhere: broken ones are INVALID_ARGUMENT.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "slipway/tensor.h"

namespace slipway {

struct WavAudio {
  std::string_view samples;  // little-endian int16, channels side by side
  int64_t frames = 0;
  int channels = 0;
  int sample_rate = 0;

  // Of one frame and channel, in [-1, 1).
  float At(int64_t frame, int channel) const;
};
// A view into `file`.
StatusOr<WavAudio> ParseWav(std::string_view file);

// audio: float [frames, channels], clipped to [-1, 1).
StatusOr<std::string> EncodeWav(const Tensor& audio, int sample_rate);

}  // namespace slipway
