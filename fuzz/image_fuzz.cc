// SPDX-License-Identifier: Apache-2.0
//
// An image file from any bytes: by its format, with options from the last byte. Small images are
// encoded and must decode again to their size.
#include <cstdlib>

#include "wire/image/image.h"

namespace {

using namespace slipway;

StatusOr<Tensor> Decode(std::string_view file, unsigned options) {
  static constexpr int kChannels[] = {0, 1, 3, 4};
  const int channels = kChannels[options % 4];
  switch (DetectImageFormat(file)) {
    case ImageFormat::kPng:
      return DecodePng(file, channels, options & 4 ? DType::kUInt16 : DType::kUInt8);
    case ImageFormat::kGif:
      return DecodeGif(file, (options & 4) != 0);
    case ImageFormat::kBmp:
      return DecodeBmp(file, channels);
    default: {
      JpegDecodeOptions jpeg;
      jpeg.channels = channels;
      jpeg.ratio = options & 4 ? 2 : 1;
      jpeg.fancy_upscaling = (options & 8) != 0;
      jpeg.try_recover_truncated = (options & 16) != 0;
      jpeg.acceptable_fraction = 0;
      if (options & 32) {  // a window somewhere
        jpeg.crop = true;
        jpeg.crop_y = options >> 6;
        jpeg.crop_x = 3 * jpeg.crop_y;
        jpeg.crop_height = jpeg.crop_width = 5;
      }
      return DecodeJpeg(file, jpeg);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto image = Decode({reinterpret_cast<const char*>(data), size - 1}, data[size - 1]);
  if (!image.ok() || image->rank() != 3 || image->num_elements() > 4096) return 0;
  const auto file = EncodePng(*image, 1);
  if (!file.ok()) std::abort();
  const auto back = DecodePng(*file, 0, image->dtype());
  if (!back.ok() || back->shape() != image->shape()) std::abort();
  return 0;
}
