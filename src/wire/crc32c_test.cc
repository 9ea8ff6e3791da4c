// SPDX-License-Identifier: Apache-2.0
#include "wire/crc32c.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"

namespace slipway {
namespace {

// RFC 3720, appendix B.4.
TEST(Crc32c, KnownValues) {
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  std::string rising(32, '\0');
  for (size_t i = 0; i < rising.size(); ++i) rising[i] = static_cast<char>(i);
  EXPECT_EQ(Crc32c(rising), 0x46dd794eu);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
}

TEST(Crc32c, InstructionAgreesWithTables) {
  std::string bytes;
  Philox random(7);
  for (int i = 0; i < 10000; ++i) {
    for (uint32_t word : random.Next()) bytes.append(reinterpret_cast<const char*>(&word), 4);
  }
  for (size_t size : {0, 1, 7, 8, 767, 768, 769, 4096, 12287, 12288, 12290, 30000, 159997}) {
    for (size_t start : {0, 1, 3}) {
      const char* at = bytes.data() + start;
      EXPECT_EQ(ExtendCrc32c(5, at, size), ExtendCrc32cPortable(5, at, size)) << size;
    }
  }
}

TEST(Crc32c, ExtendsAndMasks) {
  EXPECT_EQ(ExtendCrc32c(Crc32c("hello "), "world", 5), Crc32c("hello world"));
  EXPECT_EQ(UnmaskCrc32c(MaskCrc32c(0x12345678)), 0x12345678u);
  EXPECT_NE(MaskCrc32c(0), 0u);
}

}  // namespace
}  // namespace slipway
