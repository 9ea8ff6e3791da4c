// SPDX-License-Identifier: Apache-2.0
#include "wire/wav.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/strings.h"

namespace slipway {
namespace {

template <typename T>
T Little(std::string_view bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}
template <typename T>
void Append(std::string* to, T value) {
  to->append(reinterpret_cast<const char*>(&value), sizeof(T));
}

constexpr size_t kFormatBytes = 16;
constexpr int kBits = 16;

Status ReadFormat(std::string_view chunk, WavAudio* audio) {
  if (chunk.size() < kFormatBytes) {
    return InvalidArgumentError(
        StrCat("Bad format chunk size for WAV: Expected at least 16, but got ", chunk.size()));
  }
  const auto format = Little<uint16_t>(chunk, 0), channels = Little<uint16_t>(chunk, 2);
  const auto rate = Little<uint32_t>(chunk, 4);
  const auto frame_bytes = Little<uint16_t>(chunk, 12), bits = Little<uint16_t>(chunk, 14);
  if (format != 1 && format != 0xfffe) {
    return InvalidArgumentError(
        StrCat("Bad audio format for WAV: Expected 1 (PCM), but got", format));
  }
  if (bits != kBits) {
    return InvalidArgumentError(StrCat("Can only read 16-bit WAV files, but received ", bits));
  }
  if (channels == 0) {
    return InvalidArgumentError("Bad number of channels for WAV: Expected at least 1, but got 0");
  }
  if (frame_bytes != channels * kBits / 8) {
    return InvalidArgumentError(StrCat("Bad bytes per sample in WAV header: Expected ",
                                       channels * kBits / 8, " but got ", frame_bytes));
  }
  if (rate > static_cast<uint32_t>(std::numeric_limits<int32_t>::max())) {
    return InvalidArgumentError(StrCat("Bad sample rate in WAV header: ", rate));
  }
  audio->channels = channels;
  audio->sample_rate = static_cast<int>(rate);
  return OkStatus();
}

}  // namespace

float WavAudio::At(int64_t frame, int channel) const {
  const auto at = static_cast<size_t>(frame * channels + channel) * 2;
  return static_cast<float>(Little<int16_t>(samples, at)) / 32768.0f;
}

StatusOr<WavAudio> ParseWav(std::string_view file) {
  if (file.size() < 12 || !file.starts_with("RIFF") || file.substr(8, 4) != "WAVE") {
    return InvalidArgumentError(file.size() < 12 ? "Data too short when trying to read string: "
                                                   "a WAV file begins with 12 bytes of header"
                                                 : "Header mismatch: Expected RIFF and WAVE in a "
                                                   "WAV file");
  }
  WavAudio audio;
  std::string_view rest = file.substr(12);
  while (rest.size() >= 8) {
    const std::string_view name = rest.substr(0, 4);
    const size_t size = Little<uint32_t>(rest, 4);
    rest.remove_prefix(8);
    if (name == "fmt ") {
      RETURN_IF_ERROR(ReadFormat(rest.substr(0, size), &audio));
    } else if (name == "data") {
      if (audio.channels == 0) return InvalidArgumentError("WAV data before its format");
      if (size > rest.size()) {
        return InvalidArgumentError(
            StrCat("Data too short when trying to read string: ", rest.size(), " bytes of ", size));
      }
      const auto frame = static_cast<size_t>(audio.channels) * 2;
      audio.frames = static_cast<int64_t>(size / frame);
      audio.samples = rest.substr(0, size / frame * frame);
      return audio;
    }
    rest.remove_prefix(std::min(rest.size(), size + size % 2));
  }
  return InvalidArgumentError("No data chunk found in WAV");
}

StatusOr<std::string> EncodeWav(const Tensor& audio, int sample_rate) {
  const int64_t frames = audio.dim(0), channels = audio.dim(1);
  if (channels < 1 || channels > 65535 / 2) {  // the bytes of a frame are 16 bits too
    return InvalidArgumentError(StrCat("num_channels must be in (0, 2^15), got: ", channels));
  }
  if (sample_rate < 1) {
    return InvalidArgumentError(StrCat("sample_rate must be in (0, 2^32), got: ", sample_rate));
  }
  constexpr int64_t kHeader = 44;
  const int64_t bytes = audio.num_elements() * 2;
  if (bytes > std::numeric_limits<int32_t>::max() - kHeader) {
    return InvalidArgumentError(StrCat("Provided ", frames, " frames, which is too large for WAV"));
  }
  std::string file = "RIFF";
  Append(&file, static_cast<uint32_t>(kHeader - 8 + bytes));
  file += "WAVEfmt ";
  Append(&file, uint32_t{kFormatBytes});
  Append(&file, uint16_t{1});
  Append(&file, static_cast<uint16_t>(channels));
  Append(&file, static_cast<uint32_t>(sample_rate));
  Append(&file, static_cast<uint32_t>(int64_t{sample_rate} * channels * 2));
  Append(&file, static_cast<uint16_t>(channels * 2));
  Append(&file, uint16_t{kBits});
  file += "data";
  Append(&file, static_cast<uint32_t>(bytes));
  for (float value : audio.flat<float>()) {
    const float scaled = std::round(std::isnan(value) ? 0 : value * 32768.0f);
    Append(&file, static_cast<int16_t>(std::clamp(scaled, -32768.0f, 32767.0f)));
  }
  return file;
}

}  // namespace slipway
