// SPDX-License-Identifier: Apache-2.0
//
// What files may claim and do: the numbers are in tests/golden/ops/image_files.jsonl.
#include "wire/image/image.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

namespace slipway {
namespace {

std::string Big(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}

std::string PngChunk(const std::string& name, const std::string& data) {
  const std::string body = name + data;
  const auto sum =
      crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return Big(static_cast<uint32_t>(data.size())) + body + Big(static_cast<uint32_t>(sum));
}

// A file with a good header for that size, and next to no pixels.
std::string PngOf(uint32_t width, uint32_t height) {
  const std::string kind("\x08\x02\0\0\0", 5);
  return "\x89PNG\r\n\x1a\n" + PngChunk("IHDR", Big(width) + Big(height) + kind) +
         PngChunk("IDAT", std::string(20, '\0')) + PngChunk("IEND", "");
}

Tensor Pixels(const Shape& shape) {
  Tensor image = Tensor::Allocate(DType::kUInt8, shape).value();
  uint8_t next = 0;
  for (uint8_t& value : image.flat<uint8_t>()) value = next += 37;
  return image;
}

std::string JpegOf(uint16_t width, uint16_t height) {
  std::string file = EncodeJpeg(Pixels(Shape({8, 8, 3})), {}).value();
  const size_t at = file.find("\xff\xc0");  // the frame's header: height and width
  EXPECT_NE(at, std::string::npos);
  file[at + 5] = static_cast<char>(height >> 8);
  file[at + 6] = static_cast<char>(height);
  file[at + 7] = static_cast<char>(width >> 8);
  file[at + 8] = static_cast<char>(width);
  return file;
}

std::string GifOf(uint16_t width, uint16_t height) {
  const auto little = [](uint16_t v) {
    return std::string{static_cast<char>(v & 255), static_cast<char>(v >> 8)};
  };
  const std::string size = little(width) + little(height);
  return "GIF89a" + size + std::string("\x80\0\0", 3) + std::string(6, '\x07') + "," +
         std::string(4, '\0') + size + std::string("\0\x02\x02\x44\x01\0;", 7);
}

void ExpectRefused(const StatusOr<Tensor>& image) {
  ASSERT_FALSE(image.ok());
  EXPECT_EQ(image.status().code(), Code::kInvalidArgument) << image.status().ToString();
}

// Sizes that a file of a hundred bytes cannot fill are refused before memory is taken for them.
TEST(Image, RefusesSizesThatTheFileCannotHold) {
  for (uint32_t side : {20000U, 70000U, 134217727U, 2147483647U}) {
    ExpectRefused(DecodePng(PngOf(side, 20000), 0, DType::kUInt8));
    ExpectRefused(DecodePng(PngOf(20000, side), 4, DType::kUInt16));
  }
  const auto png = DecodePng(PngOf(20000, 20000), 0, DType::kUInt8);
  EXPECT_NE(png.status().message().find("cannot hold"), std::string_view::npos)
      << png.status().ToString();
  ExpectRefused(DecodeJpeg(JpegOf(20000, 20000), {}));
  ExpectRefused(DecodeJpeg(JpegOf(65000, 65000), {}));
  JpegDecodeOptions recover;
  recover.try_recover_truncated = true;
  ExpectRefused(DecodeJpeg(JpegOf(65000, 65000), recover));
  ExpectRefused(DecodeGif(GifOf(60000, 60000), true));
  ExpectRefused(DecodeGif(GifOf(60000, 60000), false));
  ExpectRefused(DecodeGif(GifOf(20000, 20000), false));
}

// Every prefix of a file is refused or decoded, whatever it holds; the sanitizers watch.
TEST(Image, TakesFilesCutAnywhere) {
  const Tensor image = Pixels(Shape({9, 7, 3}));
  const std::string files[] = {EncodePng(image, -1).value(), EncodeJpeg(image, {}).value(),
                               GifOf(2, 1)};
  for (const std::string& file : files) {
    for (size_t n = 0; n < file.size(); ++n) {
      const std::string cut = file.substr(0, n);
      ExpectRefused(DecodePng(cut, 0, DType::kUInt8));
      ExpectRefused(DecodeJpeg(cut, {}));
      ExpectRefused(DecodeBmp(cut, 0));
      if (DecodeGif(cut, true).ok()) {
        EXPECT_EQ(&file, &files[2]) << n;  // the end of a GIF may be missing
      }
    }
  }
}

TEST(Image, RefusesAWrongChecksum) {
  std::string file = EncodePng(Pixels(Shape({3, 3, 1})), -1).value();
  ASSERT_TRUE(DecodePng(file, 0, DType::kUInt8).ok());
  file[file.find("IDAT") + 6] ^= 1;
  ExpectRefused(DecodePng(file, 0, DType::kUInt8));
}

TEST(Image, RefusesToEncodeWhatHasNoPixels) {
  for (const Shape& shape : {Shape({0, 3, 3}), Shape({3, 0, 3}), Shape({3, 3, 0})}) {
    EXPECT_FALSE(EncodePng(Pixels(shape), -1).ok());
    EXPECT_FALSE(EncodeJpeg(Pixels(shape), {}).ok());
  }
  JpegEncodeOptions options;
  options.xmp_metadata.assign(70000, 'x');
  EXPECT_FALSE(EncodeJpeg(Pixels(Shape({1, 1, 1})), options).ok());
}

TEST(Image, KnowsFormatsByTheirFirstBytes) {
  EXPECT_EQ(DetectImageFormat(PngOf(1, 1)), ImageFormat::kPng);
  EXPECT_EQ(DetectImageFormat(GifOf(1, 1)), ImageFormat::kGif);
  EXPECT_EQ(DetectImageFormat(JpegOf(1, 1)), ImageFormat::kJpeg);
  EXPECT_EQ(DetectImageFormat("BM"), ImageFormat::kBmp);
  EXPECT_EQ(DetectImageFormat(""), ImageFormat::kUnknown);
  EXPECT_EQ(DetectImageFormat("\x89PNG"), ImageFormat::kUnknown);
}

}  // namespace
}  // namespace slipway
