// SPDX-License-Identifier: Apache-2.0
//
// Image files as tensors of pixels, rows from the top, channels last; and back. Files come from
// anywhere: sizes are checked before memory is taken (kMaxImagePixels, and what a file of its
// length can hold), and a broken file is INVALID_ARGUMENT. Options and results are those of
// TensorFlow's decoders. Thread safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "slipway/tensor.h"

namespace slipway {

enum class ImageFormat : uint8_t { kUnknown, kJpeg, kPng, kGif, kBmp };
// By the first bytes.
ImageFormat DetectImageFormat(std::string_view file);
// "JPEG", "PNG", "GIF", "BMP", "unknown".
std::string_view ImageFormatName(ImageFormat format);

inline constexpr int64_t kMaxImagePixels = int64_t{1} << 29;  // of all frames together
// INVALID_ARGUMENT for sizes that are not positive or too large.
Status CheckImageSize(int64_t width, int64_t height, int64_t frames = 1);

// INVALID_ARGUMENT if `file` bytes cannot hold `pixels`, of which a byte holds `most` at best.
Status CheckImageData(int64_t pixels, int64_t most, size_t file);

struct JpegDecodeOptions {
  int channels = 0;  // 0: as in the file (CMYK becomes RGB), 1 or 3
  int ratio = 1;     // downscaling: 1, 2, 4 or 8
  bool fancy_upscaling = true;
  bool try_recover_truncated = false;  // what is missing is grey
  float acceptable_fraction = 1;       // of lines before one that cannot be decoded
  bool fast_dct = true;                // TensorFlow's default
  // A window of the (downscaled) image.
  bool crop = false;
  int64_t crop_y = 0, crop_x = 0, crop_height = 0, crop_width = 0;
};
// uint8 [height, width, channels].
StatusOr<Tensor> DecodeJpeg(std::string_view file, const JpegDecodeOptions& options);

struct JpegShape {
  int height = 0, width = 0, channels = 0;
};
// From the header alone.
StatusOr<JpegShape> ReadJpegShape(std::string_view file);

struct JpegEncodeOptions {
  int quality = 95;  // 0 to 100
  bool progressive = false, optimize_size = false, chroma_downsampling = true;
  bool density_in_cm = false;
  int x_density = 300, y_density = 300;
  std::string xmp_metadata;
};
// image: uint8 [height, width, 1 or 3].
StatusOr<std::string> EncodeJpeg(const Tensor& image, const JpegEncodeOptions& options);

// uint8 or uint16 [height, width, channels]; channels 0: as in the file, else 1 to 4.
StatusOr<Tensor> DecodePng(std::string_view file, int channels, DType dtype);
// image: uint8 or uint16 [height, width, 1 to 4]. compression: -1 (the default), or 0 to 9.
StatusOr<std::string> EncodePng(const Tensor& image, int compression);

// uint8 [frames, height, width, 3], each frame with those before it showing through; or
// [height, width, 3] of the first.
StatusOr<Tensor> DecodeGif(std::string_view file, bool all_frames);

// uint8 [height, width, channels] of 8 (grey, whatever the palette), 24 or 32 bits a pixel;
// channels 0: as in the file, else 3 or 4.
StatusOr<Tensor> DecodeBmp(std::string_view file, int channels);

}  // namespace slipway
