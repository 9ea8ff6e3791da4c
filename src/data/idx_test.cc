// SPDX-License-Identifier: Apache-2.0
#include "data/idx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "slipway/data.h"

namespace slipway::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Gzip(const std::string& bytes) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(bytes.size() + 200, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string Bytes(std::initializer_list<int> values) {
  std::string out;
  for (int v : values) out.push_back(static_cast<char>(v));
  return out;
}

const std::string kMatrix = Bytes({0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6});

TEST(IdxTest, ReadsPlainAndGzipped) {
  for (const std::string& bytes : {kMatrix, Gzip(kMatrix)}) {
    auto t = ParseIdx(bytes, "m");
    ASSERT_TRUE(t.ok()) << t.status().ToString();
    EXPECT_EQ(t->shape(), Shape({2, 3}));
    EXPECT_THAT(t->flat<uint8_t>(), ElementsAre(1, 2, 3, 4, 5, 6));
  }
}

TEST(IdxTest, ElementsAreBigEndian) {
  auto t = ParseIdx(Bytes({0, 0, 12, 1, 0, 0, 0, 2, 0, 0, 1, 2, 255, 255, 255, 255}), "m");
  ASSERT_TRUE(t.ok());
  EXPECT_THAT(t->flat<int32_t>(), ElementsAre(258, -1));
  auto f = ParseIdx(Bytes({0, 0, 13, 1, 0, 0, 0, 1, 0x3f, 0x80, 0, 0}), "m");
  ASSERT_TRUE(f.ok());
  EXPECT_THAT(f->flat<float>(), ElementsAre(1.0f));
}

void ExpectDataLoss(const std::string& bytes, const char* words) {
  const Status status = ParseIdx(bytes, "images.idx").status();
  EXPECT_EQ(status.code(), Code::kDataLoss) << status.ToString();
  EXPECT_THAT(std::string(status.message()), HasSubstr("images.idx"));
  EXPECT_THAT(std::string(status.message()), HasSubstr(words));
}

TEST(IdxTest, DamagedFilesSayWhatIsWrong) {
  ExpectDataLoss("", "truncated");
  ExpectDataLoss("PK\x03\x04 and so on", "no IDX file");
  ExpectDataLoss(Bytes({0, 0, 7, 1, 0, 0, 0, 0}), "no IDX file");
  ExpectDataLoss(kMatrix.substr(0, 9), "truncated in the sizes");
  ExpectDataLoss(kMatrix.substr(0, 15), "3 of the 6 bytes");
  ExpectDataLoss(kMatrix + "x", "goes on");
  ExpectDataLoss(Bytes({0, 0, 8, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}),
                 "claims the shape");
  ExpectDataLoss(Bytes({0, 0, 8, 1, 64, 0, 0, 0}), "cannot hold");
  const std::string packed = Gzip(kMatrix);
  ExpectDataLoss(packed.substr(0, packed.size() / 2), "cut off");
}

TEST(IdxTest, GzipIsCheckedToItsEnd) {
  const std::string packed = Gzip(kMatrix);
  for (size_t n = 2; n < packed.size(); ++n) ExpectDataLoss(packed.substr(0, n), "cut off");
  for (size_t back : {1, 5}) {  // its length and its checksum
    std::string flipped = packed;
    flipped[flipped.size() - back] = static_cast<char>(flipped[flipped.size() - back] ^ 1);
    ExpectDataLoss(flipped, "incorrect");
  }
  ExpectDataLoss(packed + "and more", "followed by 8 bytes");
  ExpectDataLoss(packed + packed, "goes on");
  auto parts =
      ParseIdx(Gzip(kMatrix.substr(0, 14)) + Gzip(kMatrix.substr(14)) + std::string(2, '\0'), "m");
  ASSERT_TRUE(parts.ok()) << parts.status().ToString();
  EXPECT_THAT(parts->flat<uint8_t>(), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(IdxTest, EveryTruncationAndEveryFlippedByteIsHandled) {
  const std::string packed = Gzip(kMatrix);
  for (const std::string& bytes : {kMatrix, packed}) {
    for (size_t n = 0; n < bytes.size(); ++n) {
      ParseIdx(bytes.substr(0, n), "m").status().IgnoreError();
      std::string flipped = bytes;
      flipped[n] = static_cast<char>(flipped[n] ^ 0x80);
      ParseIdx(flipped, "m", 1 << 20).status().IgnoreError();
    }
  }
}

TEST(FashionMnistTest, MissingFilesAreNamed) {
  const Status status = FashionMnist("/nonexistent").status();
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("train-images-idx3-ubyte"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("dataset-fashion-mnist"));
}

}  // namespace
}  // namespace slipway::data
