// SPDX-License-Identifier: Apache-2.0
//
// GIF through giflib, in two passes: sizes and number of frames, then lines into memory that is
// known to suffice. (DGifSlurp would take memory for whatever a frame's header claims.)
#include <gif_lib.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/strings.h"
#include "wire/image/image.h"

namespace slipway {
namespace {

struct Source {
  std::string_view rest;
};
int ReadSource(GifFileType* gif, GifByteType* to, int size) {
  auto* source = static_cast<Source*>(gif->UserData);
  const size_t n = std::min(source->rest.size(), static_cast<size_t>(std::max(size, 0)));
  std::memcpy(to, source->rest.data(), n);
  source->rest.remove_prefix(n);
  return static_cast<int>(n);
}

Status GifError(std::string_view what, int code) {
  const char* text = GifErrorString(code);
  return InvalidArgumentError(
      StrCat("Invalid GIF data, ", what, ": ", text == nullptr ? "no such code" : text));
}

class Reader {
 public:
  explicit Reader(std::string_view file) : source_{file} {
    gif_ = DGifOpen(&source_, ReadSource, &open_error_);
  }
  Reader(const Reader&) = delete;
  ~Reader() {
    int error = 0;
    if (gif_ != nullptr) DGifCloseFile(gif_, &error);
  }
  Status status() const { return gif_ == nullptr ? GifError("header", open_error_) : OkStatus(); }
  GifFileType* gif() { return gif_; }
  Status Error(std::string_view what) const { return GifError(what, gif_->Error); }

  // Moves to the next frame's description. False at the end.
  StatusOr<bool> NextFrame() {
    transparent_ = NO_TRANSPARENT_COLOR;
    while (true) {
      GifRecordType type = UNDEFINED_RECORD_TYPE;
      if (DGifGetRecordType(gif_, &type) == GIF_ERROR) return Error("record");
      if (type == TERMINATE_RECORD_TYPE) return false;
      if (type == IMAGE_DESC_RECORD_TYPE) {
        if (DGifGetImageDesc(gif_) == GIF_ERROR) return Error("description of a frame");
        return true;
      }
      if (type == EXTENSION_RECORD_TYPE) RETURN_IF_ERROR(ReadExtension());
    }
  }
  Status SkipPixels() {
    int code_size = 0;
    GifByteType* block = nullptr;
    if (DGifGetCode(gif_, &code_size, &block) == GIF_ERROR) return Error("pixels");
    while (block != nullptr) {
      if (DGifGetCodeNext(gif_, &block) == GIF_ERROR) return Error("pixels");
    }
    return OkStatus();
  }
  int transparent() const { return transparent_; }

 private:
  Status ReadExtension() {
    int code = 0;
    GifByteType* block = nullptr;
    if (DGifGetExtension(gif_, &code, &block) == GIF_ERROR) return Error("extension");
    while (block != nullptr) {
      GraphicsControlBlock control;
      if (code == GRAPHICS_EXT_FUNC_CODE &&
          DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK) {
        transparent_ = control.TransparentColor;
      }
      if (DGifGetExtensionNext(gif_, &block) == GIF_ERROR) return Error("extension");
    }
    return OkStatus();
  }

  Source source_;
  GifFileType* gif_ = nullptr;
  int open_error_ = 0;
  int transparent_ = NO_TRANSPARENT_COLOR;
};

// Of the largest frame, as TensorFlow takes it, not of the screen.
struct GifSize {
  int64_t frames = 0, height = 0, width = 0;
};
StatusOr<GifSize> Measure(std::string_view file, bool all_frames) {
  Reader reader(file);
  RETURN_IF_ERROR(reader.status());
  GifSize size;
  while (all_frames || size.frames == 0) {
    auto more = reader.NextFrame();
    // What precedes damage is still shown.
    if (!more.ok() && size.frames > 0) break;
    RETURN_IF_ERROR(more.status());
    if (!*more) break;
    const GifImageDesc& frame = reader.gif()->Image;
    const int64_t height = std::max<int64_t>(size.height, frame.Height);
    const int64_t width = std::max<int64_t>(size.width, frame.Width);
    if (all_frames) {
      const Status skipped = reader.SkipPixels();
      if (!skipped.ok() && size.frames > 0) break;
      RETURN_IF_ERROR(skipped);
    }
    // A code of 12 bits stands for 4096 pixels at most.
    RETURN_IF_ERROR(CheckImageData(int64_t{frame.Height} * frame.Width, 4096, file.size()));
    size = {size.frames + 1, height, width};
    RETURN_IF_ERROR(CheckImageSize(size.width, size.height, size.frames));
  }
  if (size.frames == 0) return InvalidArgumentError("Invalid GIF data: no frames");
  return size;
}

// The order in which an interlaced frame's lines come.
std::vector<int> LineOrder(int height, bool interlaced) {
  std::vector<int> order;
  if (!interlaced) {
    for (int y = 0; y < height; ++y) order.push_back(y);
    return order;
  }
  for (const auto& [first, step] : {std::pair(0, 8), {4, 8}, {2, 4}, {1, 2}}) {
    for (int y = first; y < height; y += step) order.push_back(y);
  }
  return order;
}

// Draws the reader's frame over what the canvas holds.
Status DrawFrame(Reader& reader, const GifSize& size, uint8_t* canvas) {
  GifFileType* gif = reader.gif();
  const GifImageDesc frame = gif->Image;
  const ColorMapObject* colours = frame.ColorMap != nullptr ? frame.ColorMap : gif->SColorMap;
  if (colours == nullptr) return InvalidArgumentError("Invalid GIF data: missing color map");
  std::vector<GifPixelType> line(static_cast<size_t>(std::max(frame.Width, 0)));
  for (int y : LineOrder(frame.Height, frame.Interlace)) {
    if (DGifGetLine(gif, line.data(), frame.Width) == GIF_ERROR) return reader.Error("line");
    const int64_t row = int64_t{frame.Top} + y;
    if (row < 0 || row >= size.height) continue;
    for (int x = 0; x < frame.Width; ++x) {
      const int64_t column = int64_t{frame.Left} + x;
      const int index = line[static_cast<size_t>(x)];
      if (column < 0 || column >= size.width || index == reader.transparent()) continue;
      if (index >= colours->ColorCount) {
        return InvalidArgumentError(StrCat("Invalid GIF data: found color index ", index,
                                           " outside of color map range ", colours->ColorCount));
      }
      const GifColorType& colour = colours->Colors[index];
      uint8_t* pixel = canvas + (row * size.width + column) * 3;
      pixel[0] = colour.Red;
      pixel[1] = colour.Green;
      pixel[2] = colour.Blue;
    }
  }
  return OkStatus();
}

}  // namespace

StatusOr<Tensor> DecodeGif(std::string_view file, bool all_frames) {
  ASSIGN_OR_RETURN(const GifSize size, Measure(file, all_frames));
  const Shape shape = all_frames ? Shape({size.frames, size.height, size.width, 3})
                                 : Shape({size.height, size.width, 3});
  ASSIGN_OR_RETURN(Tensor images, Tensor::Allocate(DType::kUInt8, shape));
  Reader reader(file);
  RETURN_IF_ERROR(reader.status());
  const int64_t bytes = size.height * size.width * 3;
  uint8_t* canvas = images.flat<uint8_t>().data();
  for (int64_t i = 0; i < size.frames; ++i, canvas += bytes) {
    ASSIGN_OR_RETURN(const bool more, reader.NextFrame());
    if (!more) return InvalidArgumentError("Invalid GIF data: a frame is missing");
    if (i == 0) {
      std::memset(canvas, 0, static_cast<size_t>(bytes));
    } else {
      std::memcpy(canvas, canvas - bytes, static_cast<size_t>(bytes));
    }
    RETURN_IF_ERROR(DrawFrame(reader, size, canvas));
  }
  return images;
}

}  // namespace slipway
