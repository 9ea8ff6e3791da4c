// SPDX-License-Identifier: Apache-2.0
#include "net/grpc.h"

#include <limits>

#include "gtest/gtest.h"

namespace slipway::net {
namespace {

TEST(GrpcTimeout, ReadsUnitsAndRefusesTheRest) {
  EXPECT_EQ(ParseGrpcTimeout("100m"), 100'000'000);
  EXPECT_EQ(ParseGrpcTimeout("1n"), 1);
  EXPECT_EQ(ParseGrpcTimeout("2u"), 2'000);
  EXPECT_EQ(ParseGrpcTimeout("3S"), 3'000'000'000);
  EXPECT_EQ(ParseGrpcTimeout("4M"), 240'000'000'000);
  EXPECT_EQ(ParseGrpcTimeout("1H"), 3'600'000'000'000);
  EXPECT_EQ(ParseGrpcTimeout("99999999H"), std::numeric_limits<int64_t>::max());
  for (const char* bad : {"", "m", "5", "5x", "-5m", "+5m", " 5m", "5m ", "123456789m", "1.5S"})
    EXPECT_EQ(ParseGrpcTimeout(bad), std::nullopt) << bad;
}

TEST(GrpcTimeout, IsWrittenRoundedUpInEightDigits) {
  EXPECT_EQ(FormatGrpcTimeout(1), "1n");
  EXPECT_EQ(FormatGrpcTimeout(-5), "1n");
  EXPECT_EQ(FormatGrpcTimeout(99'999'999), "99999999n");
  EXPECT_EQ(FormatGrpcTimeout(100'000'001), "100001u");
  EXPECT_EQ(FormatGrpcTimeout(60'000'000'000), "60000000u");
}

TEST(GrpcMessageText, IsPercentEncoded) {
  const std::string text = "50% of \xc3\xa4\n";
  EXPECT_EQ(EncodeGrpcMessage(text), "50%25 of %C3%A4%0A");
  EXPECT_EQ(DecodeGrpcMessage(EncodeGrpcMessage(text)), text);
  EXPECT_EQ(DecodeGrpcMessage("100%"), "100%");
  EXPECT_EQ(DecodeGrpcMessage("%zz%4"), "%zz%4");
}

std::string Framed(std::string_view message) {
  char prefix[5];
  PutGrpcPrefix(static_cast<uint32_t>(message.size()), prefix);
  return std::string(prefix, 5).append(message);
}

TEST(GrpcMessageReader, TakesOneMessageInAnyPieces) {
  const std::string framed = Framed("hello");
  for (size_t step = 1; step <= framed.size(); ++step) {
    GrpcMessageReader reader(100);
    for (size_t at = 0; at < framed.size(); at += step)
      ASSERT_TRUE(reader.Append(std::string_view(framed).substr(at, step)).ok());
    EXPECT_EQ(reader.Take()->view(), "hello");
  }
  GrpcMessageReader empty(100);
  ASSERT_TRUE(empty.Append(Framed("")).ok());
  EXPECT_EQ(empty.Take()->view(), "");
}

TEST(GrpcMessageReader, RefusesBadFrames) {
  EXPECT_EQ(GrpcMessageReader(4).Append(Framed("hello")).code(), Code::kResourceExhausted);
  EXPECT_EQ(GrpcMessageReader(100).Append(Framed("a") + Framed("b")).code(), Code::kUnimplemented);
  EXPECT_EQ(GrpcMessageReader(100).Append(std::string("\1\0\0\0\0", 5)).code(),
            Code::kUnimplemented);
  EXPECT_EQ(GrpcMessageReader(100).Take().status().code(), Code::kInternal);
  GrpcMessageReader cut(100);
  ASSERT_TRUE(cut.Append(Framed("hello").substr(0, 7)).ok());
  EXPECT_EQ(cut.Take().status().code(), Code::kInternal);
}

}  // namespace
}  // namespace slipway::net
