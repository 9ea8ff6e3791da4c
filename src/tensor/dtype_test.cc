// SPDX-License-Identifier: Apache-2.0
//
// Checksums: NumPy's float16 and ml_dtypes' bfloat16 over all 65,536 patterns, in which
// TensorFlow's Cast agrees.
#include "slipway/dtype.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

namespace slipway {
namespace {

// zlib's CRC-32 of the elements as they lie in memory.
template <typename T>
uint32_t Crc32(const std::vector<T>& values) {
  uint32_t crc = 0xffffffff;
  const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
  for (size_t i = 0; i < values.size() * sizeof(T); ++i) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320u : 0u);
  }
  return ~crc;
}

// Every NaN as one pattern: which one comes out is nobody's promise.
template <typename H>
uint32_t CrcOfFloats() {
  std::vector<uint32_t> floats;
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    H value;
    value.bits = static_cast<uint16_t>(bits);
    const auto f = static_cast<float>(value);
    floats.push_back(std::isnan(f) ? 0x7fc00000u : std::bit_cast<uint32_t>(f));
  }
  return Crc32(floats);
}

// Of all floats whose low half is `low`.
template <typename H>
uint32_t CrcOfRounded(uint32_t low, uint16_t nan) {
  std::vector<uint16_t> halves;
  for (uint32_t high = 0; high < 65536; ++high) {
    const auto f = std::bit_cast<float>((high << 16) | low);
    const H rounded(f);
    if (std::isnan(f)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(rounded))) << high << " " << low;
    }
    halves.push_back(std::isnan(f) ? nan : rounded.bits);
  }
  return Crc32(halves);
}

TEST(HalfTest, AllPatternsToFloat) { EXPECT_EQ(CrcOfFloats<Half>(), 0x3020c7a7u); }
TEST(BFloat16Test, AllPatternsToFloat) { EXPECT_EQ(CrcOfFloats<BFloat16>(), 0x28c5ed34u); }

TEST(HalfTest, RoundsFloatsToNearestEven) {
  const std::pair<uint32_t, uint32_t> cases[] = {
      {0x0000, 0xdf11ec3c}, {0x0001, 0x5c2d3120}, {0x0fff, 0x5c2d3120}, {0x1000, 0x5c2d3120},
      {0x1001, 0xa068d998}, {0x2000, 0xa068d998}, {0x3000, 0x1af990aa}, {0x7fff, 0x25fca29f},
      {0x8000, 0xa2b73175}, {0x8001, 0x9cd5e7dd}, {0xffff, 0x7e2577b9}};
  for (const auto& [low, crc] : cases) EXPECT_EQ(CrcOfRounded<Half>(low, 0x7e00), crc) << low;
}

TEST(BFloat16Test, RoundsFloatsToNearestEven) {
  const std::pair<uint32_t, uint32_t> cases[] = {{0x0000, 0xf24a613e}, {0x0001, 0xeeaa897d},
                                                 {0x7fff, 0xeeaa897d}, {0x8000, 0x58b775c1},
                                                 {0x8001, 0xc854f702}, {0xffff, 0xc854f702}};
  for (const auto& [low, crc] : cases) EXPECT_EQ(CrcOfRounded<BFloat16>(low, 0x7fc0), crc) << low;
}

template <typename H>
void ExpectRoundTrip() {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    H value;
    value.bits = static_cast<uint16_t>(bits);
    const auto f = static_cast<float>(value);
    if (std::isnan(f)) continue;
    ASSERT_EQ(H(f).bits, bits);
  }
}
TEST(HalfTest, RoundTripsThroughFloat) { ExpectRoundTrip<Half>(); }
TEST(BFloat16Test, RoundTripsThroughFloat) { ExpectRoundTrip<BFloat16>(); }

TEST(DTypeTest, NamesRoundTrip) {
  for (int number = 1; number <= 23; ++number) {
    const auto dtype = static_cast<DType>(number);
    EXPECT_EQ(ParseDType(DTypeName(dtype)), dtype);
    EXPECT_EQ(ParseDType(DTypeEnumName(dtype)), dtype);
    EXPECT_EQ(DTypeFromNumber(number), dtype);
    EXPECT_EQ(DTypeFromNumber(number + 100), dtype);  // a reference to it
    EXPECT_GT(DTypeSize(dtype), 0u);
  }
  EXPECT_EQ(ParseDType("float"), DType::kFloat);
  EXPECT_EQ(ParseDType("double"), DType::kDouble);
  EXPECT_EQ(DTypeName(DType::kHalf), "float16");
  EXPECT_EQ(DTypeEnumName(DType::kBFloat16), "DT_BFLOAT16");
}

TEST(DTypeTest, RefusesTheUnknown) {
  for (const char* name : {"", "float31", "DT_INVALID", "invalid", "FLOAT32"}) {
    EXPECT_EQ(ParseDType(name), std::nullopt) << name;
  }
  for (int64_t number : {int64_t{0}, int64_t{-1}, int64_t{24}, int64_t{100}, int64_t{124},
                         int64_t{1} << 40, INT64_MIN}) {
    EXPECT_EQ(DTypeFromNumber(number), std::nullopt) << number;
  }
  EXPECT_EQ(DTypeSize(DType::kInvalid), 0u);
  EXPECT_EQ(DTypeSize(static_cast<DType>(200)), 0u);
}

TEST(DTypeTest, SizesAndKinds) {
  EXPECT_EQ(DTypeSize(DType::kBFloat16), 2u);
  EXPECT_EQ(DTypeSize(DType::kComplex128), 16u);
  EXPECT_EQ(DTypeSize(DType::kQInt32), 4u);
  EXPECT_TRUE(IsFloating(DType::kBFloat16));
  EXPECT_FALSE(IsFloating(DType::kComplex64));
  EXPECT_TRUE(IsInteger(DType::kUInt64));
  EXPECT_FALSE(IsInteger(DType::kBool));
  EXPECT_FALSE(IsInteger(DType::kQInt8));
  EXPECT_TRUE(IsQuantized(DType::kQUInt16));
  EXPECT_TRUE(IsObject(DType::kVariant));
  EXPECT_TRUE(IsStoredAs<int8_t>(DType::kQInt8));
  EXPECT_FALSE(IsStoredAs<uint8_t>(DType::kQInt8));
  EXPECT_EQ(DTypeOf<const int64_t>(), DType::kInt64);
}

}  // namespace
}  // namespace slipway
