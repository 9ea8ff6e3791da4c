// SPDX-License-Identifier: Apache-2.0
#include "wire/image/image.h"

#include "base/strings.h"

namespace slipway {

ImageFormat DetectImageFormat(std::string_view file) {
  if (file.starts_with("\xff\xd8\xff")) return ImageFormat::kJpeg;
  if (file.starts_with("\x89PNG\r\n\x1a\n")) return ImageFormat::kPng;
  if (file.starts_with("GIF8")) return ImageFormat::kGif;
  if (file.starts_with("BM")) return ImageFormat::kBmp;
  return ImageFormat::kUnknown;
}

std::string_view ImageFormatName(ImageFormat format) {
  static constexpr std::string_view kNames[] = {"unknown", "JPEG", "PNG", "GIF", "BMP"};
  return kNames[static_cast<size_t>(format)];
}

Status CheckImageSize(int64_t width, int64_t height, int64_t frames) {
  constexpr int64_t kMaxSide = int64_t{1} << 27;
  const bool fits = width > 0 && width < kMaxSide && height > 0 && height < kMaxSide &&
                    frames > 0 && width * height < kMaxImagePixels &&
                    frames <= kMaxImagePixels / (width * height);
  if (fits) return OkStatus();
  return InvalidArgumentError(StrCat("Image size ", width, " x ", height, " with ", frames,
                                     " frames; wanted at least one pixel and less than ",
                                     kMaxImagePixels));
}

Status CheckImageData(int64_t pixels, int64_t most, size_t file) {
  if (pixels / most <= static_cast<int64_t>(file)) return OkStatus();
  return InvalidArgumentError(StrCat("Image of ", pixels, " pixels in a file of ", file,
                                     " bytes, which cannot hold more than ", most,
                                     " a byte: the header is wrong or the file ends early"));
}

}  // namespace slipway
