// SPDX-License-Identifier: Apache-2.0
//
// Image and sound files.
#include "base/strings.h"
#include "ir/op_schema.h"
#include "ir/ops/shape_helpers.h"
#include "ir/shape_inference.h"

namespace slipway::ir {
namespace {

using enum Effect;

int64_t ChannelsAttr(const ShapeContext& c) {
  const int64_t channels = AttrOf<int64_t>(c, "channels");
  return channels > 0 ? channels : -1;
}

Status DecodedShape(ShapeContext& c) {
  RETURN_IF_ERROR(CheckScalar(c, 0));
  c.set_output(0, {-1, -1, ChannelsAttr(c)});
  return OkStatus();
}

// Of rank 3, or of rank 4 for GIF.
Status DecodedImageShape(ShapeContext& c) {
  RETURN_IF_ERROR(CheckScalar(c, 0));
  c.set_output(0, AttrOf<bool>(c, "expand_animations") ? PartialShape::Unknown()
                                                       : PartialShape({-1, -1, ChannelsAttr(c)}));
  return OkStatus();
}

Status GifShape(ShapeContext& c) {
  RETURN_IF_ERROR(CheckScalar(c, 0));
  c.set_output(0, {-1, -1, -1, 3});
  return OkStatus();
}

Status CroppedShape(ShapeContext& c) {
  RETURN_IF_ERROR(CheckScalar(c, 0));
  const auto window = ConstIntegers(c, 1);
  const bool known =
      window.has_value() && window->size() == 4 && (*window)[2] >= 0 && (*window)[3] >= 0;
  c.set_output(0, {known ? (*window)[2] : -1, known ? (*window)[3] : -1, ChannelsAttr(c)});
  return OkStatus();
}

Status JpegShapeShape(ShapeContext& c) {
  c.set_output(0, {3});
  return OkStatus();
}

Status EncodedPngShape(ShapeContext& c) {
  RETURN_IF_ERROR(CheckMinRank(c, 0, 3));
  const PartialShape& images = c.input(0);
  c.set_output(
      0, images.has_rank() ? PartialShape(SubDims(images, 0, images.rank() - 3)) : PartialShape());
  return OkStatus();
}

Status DecodedWavShape(ShapeContext& c) {
  RETURN_IF_ERROR(CheckScalar(c, 0));
  const int64_t samples = AttrOf<int64_t>(c, "desired_samples");
  const int64_t channels = AttrOf<int64_t>(c, "desired_channels");
  c.set_output(0, {samples >= 0 ? samples : -1, channels >= 0 ? channels : -1});
  c.set_output(1, PartialShape(Shape()));
  return OkStatus();
}

Status SpectrogramShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(const PartialShape input, c.InputOfRank(0, 2));
  const int64_t window = AttrOf<int64_t>(c, "window_size"), stride = AttrOf<int64_t>(c, "stride");
  if (window < 2 || window > (1 << 24) || stride < 1) {
    return c.Error(StrCat("Spectrogram initialization failed for window size ", window,
                          " and stride ", stride, "; wanted at least 2 and 1"));
  }
  int64_t fft = 1;
  while (fft < window) fft *= 2;
  const int64_t samples = input.has_rank() ? input.dim(0) : -1;
  const int64_t frames = samples < 0 ? -1 : samples < window ? 0 : 1 + (samples - window) / stride;
  c.set_output(0, {input.has_rank() ? input.dim(1) : -1, frames, 1 + fft / 2});
  return OkStatus();
}

Status MfccShape(ShapeContext& c) {
  ASSIGN_OR_RETURN(const PartialShape input, c.InputOfRank(0, 3));
  const bool known = input.has_rank();
  c.set_output(0, {known ? input.dim(0) : -1, known ? input.dim(1) : -1,
                   std::max<int64_t>(-1, AttrOf<int64_t>(c, "dct_coefficient_count"))});
  return OkStatus();
}

// clang-format off
constexpr OpSchemaText kOps[] = {
    {"AudioSpectrogram", "input: float32", "spectrogram: float32",
     "window_size: int, stride: int, magnitude_squared: bool = false", kPure, SpectrogramShape},
    {"DecodeAndCropJpeg", "contents: string, crop_window: int32", "image: uint8",
     "channels: int = 0, ratio: int = 1, fancy_upscaling: bool = true, try_recover_truncated:"
     " bool = false, acceptable_fraction: float = 1, dct_method: string = ''", kPure, CroppedShape},
    {"DecodeBmp", "contents: string", "image: uint8", "channels: int = 0", kPure, DecodedShape},
    {"DecodeGif", "contents: string", "image: uint8", "", kPure, GifShape},
    {"DecodeImage", "contents: string", "image: dtype",
     "channels: int = 0, dtype: {float32, uint16, uint8} = uint8, expand_animations: bool = true",
     kPure, DecodedImageShape},
    {"DecodeJpeg", "contents: string", "image: uint8",
     "channels: int = 0, ratio: int = 1, fancy_upscaling: bool = true, try_recover_truncated:"
     " bool = false, acceptable_fraction: float = 1, dct_method: string = ''", kPure, DecodedShape},
    {"DecodePng", "contents: string", "image: dtype",
     "channels: int = 0, dtype: {uint16, uint8} = uint8", kPure, DecodedShape},
    {"DecodeWav", "contents: string", "audio: float32, sample_rate: int32",
     "desired_channels: int = -1, desired_samples: int = -1", kPure, DecodedWavShape},
    {"EncodeJpeg", "image: uint8", "contents: string",
     "format: {'', 'grayscale', 'rgb'} = '', quality: int = 95, progressive: bool = false,"
     " optimize_size: bool = false, chroma_downsampling: bool = true, density_unit: {'cm', 'in'}"
     " = 'in', x_density: int = 300, y_density: int = 300, xmp_metadata: string = ''",
     kPure, ScalarShape},
    {"EncodeJpegVariableQuality", "images: uint8, quality: int32", "contents: string", "", kPure,
     ScalarShape},
    {"EncodePng", "image: T", "contents: string",
     "compression: int = -1, T: {uint16, uint8} = uint8", kPure, EncodedPngShape},
    {"EncodeWav", "audio: float32, sample_rate: int32", "contents: string", "", kPure, ScalarShape},
    {"ExtractJpegShape", "contents: string", "image_shape: output_type",
     "output_type: index = int32", kPure, JpegShapeShape},
    {"Mfcc", "spectrogram: float32, sample_rate: int32", "output: float32",
     "upper_frequency_limit: float = 4000, lower_frequency_limit: float = 20,"
     " filterbank_channel_count: int = 40, dct_coefficient_count: int = 13", kPure, MfccShape},
};
// clang-format on

}  // namespace

std::span<const OpSchemaText> MediaOps() { return kOps; }

}  // namespace slipway::ir
