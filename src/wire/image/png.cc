// SPDX-License-Identifier: Apache-2.0
//
// PNG through libpng. Its errors arrive by longjmp: every call of the library stands in a function
// of its own that holds nothing with a destructor.
#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <memory>
#include <vector>

#include "base/strings.h"
#include "wire/image/image.h"

namespace slipway {
namespace {

struct ErrorText {
  char text[128] = {};
};
void OnError(png_structp png, png_const_charp message) {
  auto* error = static_cast<ErrorText*>(png_get_error_ptr(png));
  std::strncpy(error->text, message, sizeof(error->text) - 1);
  png_longjmp(png, 1);
}
void OnWarning(png_structp, png_const_charp) {}

class Decoder {
 public:
  explicit Decoder(std::string_view file) : rest_(file), size_(file.size()) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &error_, OnError, OnWarning);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
  }
  Decoder(const Decoder&) = delete;
  ~Decoder() { png_destroy_read_struct(&png_, &info_, nullptr); }

  // Each false after an error.
  bool ReadHeader() {
    if (info_ == nullptr || setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_read_fn(png_, this, Read);
    png_set_user_limits(png_, (1 << 27) - 1, (1 << 27) - 1);
    png_set_chunk_malloc_max(png_, 16 << 20);
    png_read_info(png_, info_);
    return true;
  }
  bool Configure(int channels, bool wide) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    const int colour = png_get_color_type(png_, info_), depth = png_get_bit_depth(png_, info_);
    const bool transparent = png_get_valid(png_, info_, PNG_INFO_tRNS) != 0;
    const bool alpha = (colour & PNG_COLOR_MASK_ALPHA) != 0;
    const bool grey = (colour & PNG_COLOR_MASK_COLOR) == 0;
    if (channels % 2 == 0) {
      if (transparent) {
        png_set_tRNS_to_alpha(png_);
      } else if (!alpha) {
        png_set_add_alpha(png_, (1U << depth) - 1, PNG_FILLER_AFTER);
      }
    } else if (alpha || transparent) {
      png_set_strip_alpha(png_);
    }
    if (depth > 8 && !wide) png_set_strip_16(png_);
    png_set_packing(png_);
    passes_ = png_set_interlace_handling(png_);
    if (wide) png_set_swap(png_);
    if (colour == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png_);
    if (grey && depth < 8) png_set_expand_gray_1_2_4_to_8(png_);
    // The weights that TensorFlow gives, for the same numbers.
    if (channels < 3 && !grey) png_set_rgb_to_gray(png_, 1, 0.299, 0.587);
    if (channels >= 3 && grey) png_set_gray_to_rgb(png_);
    png_read_update_info(png_, info_);
    return true;
  }
  bool ReadToEnd(uint8_t* const* lines, unsigned count) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    for (int pass = 0; pass < passes_; ++pass) {
      for (unsigned y = 0; y < count; ++y) png_read_row(png_, lines[y], nullptr);
    }
    png_read_end(png_, nullptr);  // which checks the last sums
    return true;
  }

  int64_t width() const { return png_get_image_width(png_, info_); }
  int64_t height() const { return png_get_image_height(png_, info_); }
  int depth() const { return png_get_bit_depth(png_, info_); }
  size_t row_bytes() const { return png_get_rowbytes(png_, info_); }
  int FileChannels() const {
    if (png_get_color_type(png_, info_) != PNG_COLOR_TYPE_PALETTE) {
      return png_get_channels(png_, info_);
    }
    return png_get_valid(png_, info_, PNG_INFO_tRNS) != 0 ? 4 : 3;
  }
  Status Error(std::string_view what) const {
    return InvalidArgumentError(
        StrCat("Invalid PNG data, size ", size_, ": ", what, ": ", error_.text));
  }

 private:
  static void Read(png_structp png, png_bytep to, png_size_t size) {
    auto* self = static_cast<Decoder*>(png_get_io_ptr(png));
    if (size > self->rest_.size()) png_error(png, "the file ends early");
    std::memcpy(to, self->rest_.data(), size);
    self->rest_.remove_prefix(size);
  }

  std::string_view rest_;
  size_t size_;
  ErrorText error_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  int passes_ = 1;
};

class Encoder {
 public:
  Encoder() {
    png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, &error_, OnError, OnWarning);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
  }
  Encoder(const Encoder&) = delete;
  ~Encoder() { png_destroy_write_struct(&png_, &info_); }

  bool Write(uint8_t* const* lines, unsigned width, unsigned height, int colour, int depth,
             int compression) {
    if (info_ == nullptr || setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_write_fn(png_, this, Append, nullptr);
    png_set_IHDR(png_, info_, width, height, depth, colour, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (compression >= 0) png_set_compression_level(png_, compression);
    png_write_info(png_, info_);
    if (depth == 16) png_set_swap(png_);
    for (unsigned y = 0; y < height; ++y) png_write_row(png_, lines[y]);
    png_write_end(png_, nullptr);
    return true;
  }
  std::string Take() { return std::move(file_); }
  Status Error() const {
    return InvalidArgumentError(StrCat("PNG encoding failed: ", error_.text));
  }

 private:
  static void Append(png_structp png, png_bytep from, png_size_t size) {
    auto* self = static_cast<Encoder*>(png_get_io_ptr(png));
    self->file_.append(reinterpret_cast<const char*>(from), size);
  }

  std::string file_;
  ErrorText error_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

std::vector<uint8_t*> LinesOf(uint8_t* pixels, int64_t height, size_t bytes) {
  std::vector<uint8_t*> lines(static_cast<size_t>(height));
  for (size_t y = 0; y < lines.size(); ++y) lines[y] = pixels + y * bytes;
  return lines;
}

}  // namespace

StatusOr<Tensor> DecodePng(std::string_view file, int channels, DType dtype) {
  Decoder decoder(file);
  if (!decoder.ReadHeader()) return decoder.Error("header");
  RETURN_IF_ERROR(CheckImageSize(decoder.width(), decoder.height()));
  // Deflate packs 1032 bytes into one at best, and a byte is up to eight pixels.
  RETURN_IF_ERROR(CheckImageData(decoder.width() * decoder.height(), 1032 * 8, file.size()));
  if (channels == 0) channels = decoder.FileChannels();
  const bool wide = dtype == DType::kUInt16, widen = wide && decoder.depth() <= 8;
  if (!decoder.Configure(channels, wide && !widen)) return decoder.Error("format");
  const int64_t width = decoder.width(), height = decoder.height();
  const size_t row = static_cast<size_t>(width * channels) * (wide && !widen ? 2 : 1);
  if (decoder.row_bytes() != row) return decoder.Error("size of a line");
  ASSIGN_OR_RETURN(Tensor image, Tensor::Allocate(dtype, Shape({height, width, channels})));
  auto* pixels = static_cast<uint8_t*>(image.raw_data());
  const auto lines = LinesOf(pixels, height, row);
  if (!decoder.ReadToEnd(lines.data(), static_cast<unsigned>(height))) {
    return decoder.Error("pixels");
  }
  if (widen) {  // from the end, in place
    uint16_t* to = image.flat<uint16_t>().data();
    for (int64_t i = image.num_elements(); i-- > 0;) {
      const unsigned value = pixels[i];
      to[i] = static_cast<uint16_t>(value << 8 | value);
    }
  }
  return image;
}

StatusOr<std::string> EncodePng(const Tensor& image, int compression) {
  static constexpr int kColours[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                                     PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
  const int64_t height = image.dim(0), width = image.dim(1), channels = image.dim(2);
  RETURN_IF_ERROR(CheckImageSize(width, height));
  if (channels < 1 || channels > 4) {
    return InvalidArgumentError(StrCat("image must have 1, 2, 3, or 4 channels, got ", channels));
  }
  if (compression < -1 || compression > 9) {
    return InvalidArgumentError(StrCat("compression should be in [-1,9], got ", compression));
  }
  const bool wide = image.dtype() == DType::kUInt16;
  const auto lines = LinesOf(static_cast<uint8_t*>(image.raw_data()), height,
                             static_cast<size_t>(width * channels) * (wide ? 2 : 1));
  Encoder encoder;
  if (!encoder.Write(lines.data(), static_cast<unsigned>(width), static_cast<unsigned>(height),
                     kColours[channels - 1], wide ? 16 : 8, compression)) {
    return encoder.Error();
  }
  return encoder.Take();
}

}  // namespace slipway
