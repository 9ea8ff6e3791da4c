// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "base/strings.h"
#include "wire/image/image.h"

namespace slipway {
namespace {

constexpr size_t kHeaderBytes = 32;

template <typename T>
T Little(std::string_view file, size_t at) {
  T value;
  std::memcpy(&value, file.data() + at, sizeof(T));
  return value;
}

// A pixel's bytes are blue, green, red and alpha.
void CopyLine(const uint8_t* from, int64_t width, int64_t channels, uint8_t* to) {
  if (channels == 1) {
    std::memcpy(to, from, static_cast<size_t>(width));
    return;
  }
  for (int64_t x = 0; x < width; ++x, from += channels, to += channels) {
    to[0] = from[2];
    to[1] = from[1];
    to[2] = from[0];
    if (channels == 4) to[3] = from[3];
  }
}

}  // namespace

StatusOr<Tensor> DecodeBmp(std::string_view file, int channels) {
  if (file.size() < kHeaderBytes) {
    return InvalidArgumentError(StrCat("Incomplete bmp content, requires at least ", kHeaderBytes,
                                       " bytes to find the header size, width, height, and bpp, "
                                       "got ",
                                       file.size(), " bytes"));
  }
  const int64_t start = Little<int32_t>(file, 10), width = Little<int32_t>(file, 18);
  const int64_t signed_height = Little<int32_t>(file, 22), bits = Little<int16_t>(file, 28);
  const int64_t height = signed_height < 0 ? -signed_height : signed_height, each = bits / 8;
  if (bits != 8 && bits != 24 && bits != 32) {
    return InvalidArgumentError(
        StrCat("Number of channels inherent in the image must be 1, 3 or 4, was ", each));
  }
  if (channels != 0 && channels != each) {
    return InvalidArgumentError(
        StrCat("channels attribute ", channels, " does not match bits per pixel from file ", each));
  }
  RETURN_IF_ERROR(CheckImageSize(width, height));
  const int64_t line = (each * width * 8 + 31) / 32 * 4;
  const int64_t end = start + (height - 1) * line + width * each;
  if (start < 0 || end > static_cast<int64_t>(file.size())) {
    return InvalidArgumentError(StrCat("Incomplete bmp content, requires at least ", end,
                                       " bytes, got ", file.size(), " bytes"));
  }
  ASSIGN_OR_RETURN(Tensor image, Tensor::Allocate(DType::kUInt8, Shape({height, width, each})));
  const auto* from = reinterpret_cast<const uint8_t*>(file.data()) + start;
  for (int64_t y = 0; y < height; ++y) {
    const int64_t stored = signed_height < 0 ? y : height - 1 - y;
    CopyLine(from + stored * line, width, each, image.flat<uint8_t>().data() + y * width * each);
  }
  return image;
}

}  // namespace slipway
