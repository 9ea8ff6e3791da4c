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

// A pixel's bytes are grey; or blue, green, red and, of four, alpha.
void CopyLine(const uint8_t* from, int64_t width, int64_t stored, int64_t channels, uint8_t* to) {
  for (int64_t x = 0; x < width; ++x, from += stored, to += channels) {
    const bool grey = stored == 1;
    to[0] = from[grey ? 0 : 2];
    if (channels < 3) continue;
    to[1] = from[grey ? 0 : 1];
    to[2] = from[0];
    if (channels == 4) to[3] = stored == 4 ? from[3] : 255;
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
  if (channels != 0 && channels != 3 && channels != 4) {
    return InvalidArgumentError(StrCat("`channels` must be 0, 3 or 4 for BMP, but got ", channels));
  }
  if (width <= 0) return InvalidArgumentError(StrCat("Width must be positive, but is ", width));
  if (start < 0) {
    return InvalidArgumentError(StrCat("header size must be nonnegative, but is ", start));
  }
  RETURN_IF_ERROR(CheckImageSize(width, height));
  const int64_t line = (each * width * 8 + 31) / 32 * 4;
  const int64_t surplus = static_cast<int64_t>(file.size()) - start - line * height;
  if (surplus != 0) {
    return InvalidArgumentError(
        StrCat("Input size should match (header_size + row_size * "
               "abs_height) but they differ by ",
               surplus));
  }
  const int64_t made = channels == 0 ? each : channels;
  ASSIGN_OR_RETURN(Tensor image, Tensor::Allocate(DType::kUInt8, Shape({height, width, made})));
  const auto* from = reinterpret_cast<const uint8_t*>(file.data()) + start;
  for (int64_t y = 0; y < height; ++y) {
    const int64_t stored = signed_height < 0 ? y : height - 1 - y;
    CopyLine(from + stored * line, width, each, made,
             image.flat<uint8_t>().data() + y * width * made);
  }
  return image;
}

}  // namespace slipway
