// SPDX-License-Identifier: Apache-2.0
#include "wire/coding.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

TEST(Coding, VarintsReadBackAtEveryWidth) {
  for (int bits = 0; bits <= 64; ++bits) {
    const uint64_t value = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - (bits % 2);
    std::string bytes;
    AppendVarint(&bytes, value);
    EXPECT_EQ(bytes.size(), static_cast<size_t>(VarintSize(value)));
    std::string_view rest = bytes;
    uint64_t read = 0;
    ASSERT_TRUE(ConsumeVarint(&rest, &read));
    EXPECT_EQ(read, value);
    EXPECT_TRUE(rest.empty());
    rest = std::string_view(bytes).substr(0, bytes.size() - 1);
    EXPECT_FALSE(ConsumeVarint(&rest, &read));
  }
}

TEST(Coding, VarintOfElevenBytesIsRefused) {
  const std::string bytes(11, '\x80');
  std::string_view rest = bytes;
  uint64_t value = 0;
  EXPECT_FALSE(ConsumeVarint(&rest, &value));
}

TEST(Coding, ZigZag) {
  for (int64_t value : {int64_t{0}, int64_t{-1}, int64_t{1}, INT64_MIN, INT64_MAX}) {
    EXPECT_EQ(ZigZagDecode(ZigZagEncode(value)), value);
  }
  EXPECT_EQ(ZigZagEncode(-1), 1u);
}

TEST(Coding, Utf8) {
  EXPECT_TRUE(IsValidUtf8("plain text that is longer than a word"));
  EXPECT_TRUE(IsValidUtf8("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"));
  for (const char* bad :
       {"\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x80", "\xff"}) {
    EXPECT_FALSE(IsValidUtf8(bad)) << bad;
  }
}

TEST(ProtoReader, WalksAllTypesAndSkipsGroups) {
  std::string bytes;
  ProtoWriter writer(&bytes);
  writer.Varint(1, 300);
  AppendVarint(&bytes, ProtoTag(9, WireType::kGroup));
  writer.Bytes(2, "inside");
  AppendVarint(&bytes, 9 << 3 | 4);
  writer.Float(2, 1.5f);
  writer.Double(3, -2.5);
  writer.Bytes(4, "text");
  ProtoReader reader(bytes);
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.tag(), VarintField(1));
  EXPECT_EQ(reader.varint(), 300u);
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.type(), WireType::kGroup);
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.float32(), 1.5f);
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.float64(), -2.5);
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.bytes(), "text");
  EXPECT_FALSE(reader.Next());
  EXPECT_TRUE(reader.status("Thing").ok());
}

TEST(ProtoReader, EveryCutIsAnErrorOrAnEnd) {
  std::string bytes;
  ProtoWriter writer(&bytes);
  writer.Varint(1, 300);
  writer.Bytes(2, "abcdef");
  writer.Fixed64(3, 7);
  for (size_t n = 0; n < bytes.size(); ++n) {
    ProtoReader reader(std::string_view(bytes).substr(0, n));
    int fields = 0;
    while (reader.Next()) ++fields;
    const bool whole = n == 0 || n == 3 || n == 11;
    EXPECT_EQ(reader.ok(), whole) << n;
    EXPECT_EQ(reader.status("Thing").code(), whole ? Code::kOk : Code::kInvalidArgument);
  }
}

TEST(ProtoWriter, NestedMessagesOfAnyLength) {
  for (size_t size : {0u, 127u, 128u, 20000u}) {
    for (size_t expected : {size_t{0}, size}) {
      std::string bytes;
      ProtoWriter writer(&bytes);
      const size_t begun = writer.BeginMessage(5, expected);
      bytes.append(size, 'x');
      writer.EndMessage(begun);
      writer.Varint(6, 1);
      ProtoReader reader(bytes);
      ASSERT_TRUE(reader.Next());
      EXPECT_EQ(reader.bytes(), std::string(size, 'x'));
      ASSERT_TRUE(reader.Next());
      EXPECT_EQ(reader.varint(), 1u);
    }
  }
}

}  // namespace
}  // namespace slipway
