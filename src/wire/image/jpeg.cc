// SPDX-License-Identifier: Apache-2.0
//
// JPEG through libjpeg-turbo. Its errors arrive by longjmp: every call of the library stands in a
// function of its own that holds nothing with a destructor.
#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

// Needs what stands above: size_t and FILE.
#include <jpeglib.h>
// Needs jpeglib.h.
#include <jerror.h>

#include "base/strings.h"
#include "wire/image/image.h"

namespace slipway {
namespace {

struct ErrorTrap {
  jpeg_error_mgr manager;
  bool ended;  // the file did, before the image
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
};

void OnError(j_common_ptr info) {
  auto* trap = reinterpret_cast<ErrorTrap*>(info->err);
  info->err->format_message(info, trap->message);
  std::longjmp(trap->jump, 1);
}
void OnMessage(j_common_ptr) {}
void OnEmit(j_common_ptr info, int level) {
  if (level < 0 && info->err->msg_code == JWRN_JPEG_EOF) {
    reinterpret_cast<ErrorTrap*>(info->err)->ended = true;
  }
}

void SetTrap(ErrorTrap* trap) {
  jpeg_std_error(&trap->manager);
  trap->manager.error_exit = OnError;
  trap->manager.output_message = OnMessage;
  trap->manager.emit_message = OnEmit;
  trap->ended = false;
  trap->message[0] = 0;
}

class Decoder {
 public:
  explicit Decoder(std::string_view file) : file_(file) {
    SetTrap(&trap_);
    info_.err = &trap_.manager;
    created_ = Create();
  }
  Decoder(const Decoder&) = delete;
  ~Decoder() {
    if (created_) jpeg_destroy_decompress(&info_);
  }

  // Each false after an error.
  bool ReadHeader() {
    if (!created_ || setjmp(trap_.jump) != 0) return false;
    jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(file_.data()), file_.size());
    return jpeg_read_header(&info_, TRUE) == JPEG_HEADER_OK;
  }
  bool ComputeSize() {
    if (setjmp(trap_.jump) != 0) return false;
    jpeg_calc_output_dimensions(&info_);
    return true;
  }
  bool Start() {
    if (setjmp(trap_.jump) != 0) return false;
    return jpeg_start_decompress(&info_) == TRUE;
  }
  bool ReadLine(uint8_t* line) {
    if (setjmp(trap_.jump) != 0) return false;
    JSAMPROW rows[] = {line};
    return jpeg_read_scanlines(&info_, rows, 1) == 1;
  }

  jpeg_decompress_struct& info() { return info_; }
  // Narrows lines to those columns, of which the first moves left to where a block begins: as
  // TensorFlow does, so that what is upscaled at the window's sides comes out the same.
  bool Crop(JDIMENSION* first, JDIMENSION* width) {
    if (setjmp(trap_.jump) != 0) return false;
    jpeg_crop_scanline(&info_, first, width);
    return true;
  }
  bool Skip(JDIMENSION lines) {
    if (setjmp(trap_.jump) != 0) return false;
    return jpeg_skip_scanlines(&info_, lines) == lines;
  }
  bool Finish() {
    if (setjmp(trap_.jump) != 0) return false;
    return jpeg_finish_decompress(&info_) == TRUE;
  }
  // The file ended before the image. Damage, on the other hand, is decoded as TensorFlow does.
  bool ended() const { return trap_.ended; }
  Status Error(std::string_view what) const {
    return InvalidArgumentError(StrCat("Invalid JPEG data, size ", file_.size(), ": ", what,
                                       trap_.message[0] == 0 ? "" : ": ", trap_.message));
  }

 private:
  bool Create() {
    if (setjmp(trap_.jump) != 0) return false;
    jpeg_create_decompress(&info_);
    info_.mem->max_memory_to_use = 1 << 30;
    return true;
  }

  std::string_view file_;
  ErrorTrap trap_;
  jpeg_decompress_struct info_{};
  bool created_ = false;
};

bool IsCmyk(const jpeg_decompress_struct& info) {
  return info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
}

void Configure(const JpegDecodeOptions& options, int channels, jpeg_decompress_struct* info) {
  info->out_color_space = channels == 1 ? JCS_GRAYSCALE : IsCmyk(*info) ? JCS_CMYK : JCS_RGB;
  info->do_fancy_upsampling = options.fancy_upscaling ? TRUE : FALSE;
  info->scale_num = 1;
  info->scale_denom = static_cast<unsigned int>(options.ratio);
  info->dct_method = options.fast_dct ? JDCT_IFAST : JDCT_ISLOW;
}

// A line of CMYK; Adobe's files hold it inverted.
void CmykToRgb(const uint8_t* cmyk, int64_t pixels, bool inverted, uint8_t* rgb) {
  for (int64_t i = 0; i < pixels; ++i, cmyk += 4, rgb += 3) {
    const int k = inverted ? cmyk[3] : 255 - cmyk[3];
    for (int c = 0; c < 3; ++c) {
      const int part = inverted ? cmyk[c] : 255 - cmyk[c];
      rgb[c] = static_cast<uint8_t>(k * part / 255);
    }
  }
}

struct Window {
  int64_t y, x, height, width;
};
StatusOr<Window> WindowOf(const JpegDecodeOptions& options, int64_t height, int64_t width) {
  if (!options.crop) return Window{0, 0, height, width};
  const Window w = {options.crop_y, options.crop_x, options.crop_height, options.crop_width};
  if (w.y < 0 || w.x < 0 || w.height <= 0 || w.width <= 0 || w.height > height - w.y ||
      w.width > width - w.x) {
    return InvalidArgumentError(StrCat("Invalid crop window: ", w.height, " x ", w.width, " at ",
                                       w.y, ", ", w.x, " of an image of ", height, " x ", width));
  }
  return w;
}

// The window's lines; those that cannot be had stay as they are.
Status ReadLines(Decoder& decoder, const JpegDecodeOptions& options, const Window& window,
                 int channels, uint8_t* pixels) {
  const auto& info = decoder.info();
  auto first = static_cast<JDIMENSION>(window.x), width = static_cast<JDIMENSION>(window.width);
  if (options.crop &&
      (!decoder.Crop(&first, &width) || !decoder.Skip(static_cast<JDIMENSION>(window.y)))) {
    return decoder.Error("crop window");
  }
  std::vector<uint8_t> line(static_cast<size_t>(info.output_width) *
                            static_cast<size_t>(info.output_components));
  std::vector<uint8_t> rgb(info.output_components == 4 ? line.size() / 4 * 3 : 0);
  const auto bytes = static_cast<size_t>(window.width * channels);
  for (int64_t y = window.y; y < window.y + window.height; ++y, pixels += bytes) {
    const bool read = decoder.ReadLine(line.data());
    if (!read || (decoder.ended() && !options.try_recover_truncated)) {
      const float fraction = static_cast<float>(y) / static_cast<float>(info.output_height);
      if (!options.try_recover_truncated || fraction < options.acceptable_fraction) {
        return decoder.Error(StrCat("line ", y, " of ", info.output_height));
      }
      return OkStatus();
    }
    const uint8_t* from = line.data();
    if (!rgb.empty()) {
      CmykToRgb(line.data(), info.output_width, info.saw_Adobe_marker != 0, rgb.data());
      from = rgb.data();
    }
    std::memcpy(pixels, from + (window.x - first) * channels, bytes);
  }
  if (options.crop || options.try_recover_truncated) return OkStatus();
  return decoder.Finish() && !decoder.ended() ? OkStatus() : decoder.Error("end of the image");
}

class Encoder {
 public:
  Encoder() {
    SetTrap(&trap_);
    info_.err = &trap_.manager;
    created_ = Create();
  }
  Encoder(const Encoder&) = delete;
  ~Encoder() {
    if (created_) jpeg_destroy_compress(&info_);
    std::free(memory_);
  }

  bool Start(const JpegEncodeOptions& o, unsigned height, unsigned width, int channels) {
    if (!created_ || setjmp(trap_.jump) != 0) return false;
    info_.image_width = width;
    info_.image_height = height;
    info_.input_components = channels;
    info_.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&info_);
    info_.optimize_coding = o.optimize_size ? TRUE : FALSE;
    info_.density_unit = o.density_in_cm ? 2 : 1;
    info_.X_density = static_cast<UINT16>(o.x_density);
    info_.Y_density = static_cast<UINT16>(o.y_density);
    jpeg_set_quality(&info_, o.quality, TRUE);
    if (o.progressive) jpeg_simple_progression(&info_);
    if (!o.chroma_downsampling) {
      for (int i = 0; i < info_.num_components; ++i) {
        info_.comp_info[i].h_samp_factor = info_.comp_info[i].v_samp_factor = 1;
      }
    }
    jpeg_start_compress(&info_, TRUE);
    return true;
  }
  bool WriteMarker(const char* data, unsigned size) {
    if (setjmp(trap_.jump) != 0) return false;
    jpeg_write_marker(&info_, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(data), size);
    return true;
  }
  bool WriteLine(const uint8_t* line) {
    if (setjmp(trap_.jump) != 0) return false;
    JSAMPROW rows[] = {const_cast<uint8_t*>(line)};
    return jpeg_write_scanlines(&info_, rows, 1) == 1;
  }
  bool Finish() {
    if (setjmp(trap_.jump) != 0) return false;
    jpeg_finish_compress(&info_);
    return true;
  }
  std::string Result() const { return {reinterpret_cast<const char*>(memory_), size_}; }
  Status Error() const {
    return InvalidArgumentError(StrCat("JPEG encoding failed: ", trap_.message));
  }

 private:
  bool Create() {
    if (setjmp(trap_.jump) != 0) return false;
    jpeg_create_compress(&info_);
    jpeg_mem_dest(&info_, &memory_, &size_);
    return true;
  }

  ErrorTrap trap_;
  jpeg_compress_struct info_{};
  unsigned char* memory_ = nullptr;
  unsigned long size_ = 0;
  bool created_ = false;
};

}  // namespace

StatusOr<Tensor> DecodeJpeg(std::string_view file, const JpegDecodeOptions& options) {
  if (options.ratio != 1 && options.ratio != 2 && options.ratio != 4 && options.ratio != 8) {
    return InvalidArgumentError(StrCat("ratio must be 1, 2, 4, or 8, got ", options.ratio));
  }
  Decoder decoder(file);
  auto& info = decoder.info();
  if (!decoder.ReadHeader()) return decoder.Error("header");
  const int channels = options.channels != 0 ? options.channels : std::min(info.num_components, 3);
  if (channels != 1 && channels != 3) {
    return InvalidArgumentError(StrCat("channels must be 0, 1, or 3 for JPEG, got ", channels));
  }
  Configure(options, channels, &info);
  if (!decoder.ComputeSize()) return decoder.Error("sizes");
  const int64_t height = info.output_height, width = info.output_width;
  RETURN_IF_ERROR(CheckImageSize(width, height));
  RETURN_IF_ERROR(CheckImageSize(info.image_width, info.image_height));
  if (!options.try_recover_truncated && info.arith_code == FALSE) {
    // Each block of 64 pixels takes a bit at the very least.
    const int64_t pixels = int64_t{info.image_width} * int64_t{info.image_height};
    RETURN_IF_ERROR(CheckImageData(pixels, 64 * 8, file.size()));
  }
  ASSIGN_OR_RETURN(const Window window, WindowOf(options, height, width));
  if (!decoder.Start()) return decoder.Error("start of the image");
  ASSIGN_OR_RETURN(Tensor image,
                   Tensor::Allocate(DType::kUInt8, Shape({window.height, window.width, channels})));
  if (options.try_recover_truncated) std::memset(image.raw_data(), 0, image.byte_size());
  RETURN_IF_ERROR(ReadLines(decoder, options, window, channels, image.flat<uint8_t>().data()));
  return image;
}

StatusOr<JpegShape> ReadJpegShape(std::string_view file) {
  Decoder decoder(file);
  if (!decoder.ReadHeader() || !decoder.ComputeSize()) return decoder.Error("header");
  const auto& info = decoder.info();
  return JpegShape{static_cast<int>(info.output_height), static_cast<int>(info.output_width),
                   info.num_components};
}

StatusOr<std::string> EncodeJpeg(const Tensor& image, const JpegEncodeOptions& options) {
  constexpr int64_t kMaxSide = 65500;  // of the library
  const int64_t height = image.dim(0), width = image.dim(1), channels = image.dim(2);
  if (height <= 0 || width <= 0 || height > kMaxSide || width > kMaxSide ||
      (channels != 1 && channels != 3)) {
    return InvalidArgumentError(StrCat("Cannot encode an image of shape ", image.shape().ToString(),
                                       " as JPEG: wanted [height, width, "
                                       "1 or 3] with sides of 1 to ",
                                       kMaxSide));
  }
  Encoder encoder;
  if (!encoder.Start(options, static_cast<unsigned>(height), static_cast<unsigned>(width),
                     static_cast<int>(channels))) {
    return encoder.Error();
  }
  if (!options.xmp_metadata.empty()) {
    const std::string marker =
        std::string("http://ns.adobe.com/xap/1.0/") + '\0' + options.xmp_metadata;
    if (marker.size() > 65533) return InvalidArgumentError("xmp_metadata is over 65533 bytes");
    if (!encoder.WriteMarker(marker.data(), static_cast<unsigned>(marker.size()))) {
      return encoder.Error();
    }
  }
  for (int64_t y = 0; y < height; ++y) {
    if (!encoder.WriteLine(image.flat<uint8_t>().data() + y * width * channels)) {
      return encoder.Error();
    }
  }
  if (!encoder.Finish()) return encoder.Error();
  return encoder.Result();
}

}  // namespace slipway
