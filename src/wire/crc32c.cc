// SPDX-License-Identifier: Apache-2.0
#include "wire/crc32c.h"

#include <array>

#include "wire/coding.h"

#ifdef __SSE4_2__
#include <nmmintrin.h>
#endif

namespace slipway {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // reflected

// Inside, a checksum is kept without the inversions at both ends.

// tables[k][b]: the byte b followed by k zero bytes.
struct ByteTables {
  std::array<std::array<uint32_t, 256>, 8> at;
  constexpr ByteTables() : at() {
    for (uint32_t b = 0; b < 256; ++b) {
      uint32_t crc = b;
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? kPolynomial : 0);
      at[0][b] = crc;
    }
    for (size_t k = 1; k < 8; ++k) {
      for (size_t b = 0; b < 256; ++b) at[k][b] = (at[k - 1][b] >> 8) ^ at[0][at[k - 1][b] & 0xff];
    }
  }
};
constexpr ByteTables kTables;

uint32_t UpdateByTables(uint32_t crc, const char* p, size_t n) {
  const auto& t = kTables.at;
  for (; n >= 8; n -= 8, p += 8) {
    const uint64_t word = LoadFixed64(p) ^ crc;
    crc = t[7][word & 0xff] ^ t[6][word >> 8 & 0xff] ^ t[5][word >> 16 & 0xff] ^
          t[4][word >> 24 & 0xff] ^ t[3][word >> 32 & 0xff] ^ t[2][word >> 40 & 0xff] ^
          t[1][word >> 48 & 0xff] ^ t[0][word >> 56];
  }
  for (; n > 0; --n, ++p) crc = (crc >> 8) ^ t[0][(crc ^ static_cast<uint8_t>(*p)) & 0xff];
  return crc;
}

#ifdef __SSE4_2__

// The instruction takes three cycles but one can start in each: three runs of bytes at once, then
// the first two results are moved over the zeros that stand for the bytes behind them.
struct ZerosTable {
  std::array<std::array<uint32_t, 256>, 4> at;

  // REQUIRES: bytes is a power of two. A shift is linear over the bits, so it is a matrix of 32
  // columns, and twice as many zeros are its square.
  explicit ZerosTable(size_t bytes) {
    std::array<uint32_t, 32> columns;
    for (size_t i = 0; i < 32; ++i) {
      const uint32_t bit = uint32_t{1} << i;
      columns[i] = (bit >> 8) ^ kTables.at[0][bit & 0xff];
    }
    for (; bytes > 1; bytes /= 2) {
      std::array<uint32_t, 32> squared;
      for (size_t i = 0; i < 32; ++i) squared[i] = Apply(columns, columns[i]);
      columns = squared;
    }
    for (uint32_t k = 0; k < 4; ++k) {
      for (uint32_t b = 0; b < 256; ++b) at[k][b] = Apply(columns, b << (8 * k));
    }
  }
  static uint32_t Apply(const std::array<uint32_t, 32>& columns, uint32_t value) {
    uint32_t sum = 0;
    for (size_t i = 0; value != 0; ++i, value >>= 1) {
      if (value & 1) sum ^= columns[i];
    }
    return sum;
  }
  uint32_t Shift(uint32_t crc) const {
    return at[0][crc & 0xff] ^ at[1][crc >> 8 & 0xff] ^ at[2][crc >> 16 & 0xff] ^ at[3][crc >> 24];
  }
};

template <size_t kRun>
uint32_t UpdateThreeRuns(uint32_t crc, const char** p, size_t* n) {
  static const ZerosTable zeros(kRun);
  while (*n >= 3 * kRun) {
    uint64_t a = crc;
    uint64_t b = 0;
    uint64_t c = 0;
    for (size_t i = 0; i < kRun; i += 8) {
      a = _mm_crc32_u64(a, LoadFixed64(*p + i));
      b = _mm_crc32_u64(b, LoadFixed64(*p + kRun + i));
      c = _mm_crc32_u64(c, LoadFixed64(*p + 2 * kRun + i));
    }
    crc = zeros.Shift(static_cast<uint32_t>(a)) ^ static_cast<uint32_t>(b);
    crc = zeros.Shift(crc) ^ static_cast<uint32_t>(c);
    *p += 3 * kRun;
    *n -= 3 * kRun;
  }
  return crc;
}

uint32_t Update(uint32_t crc, const char* p, size_t n) {
  crc = UpdateThreeRuns<4096>(crc, &p, &n);
  crc = UpdateThreeRuns<256>(crc, &p, &n);
  uint64_t wide = crc;
  for (; n >= 8; n -= 8, p += 8) wide = _mm_crc32_u64(wide, LoadFixed64(p));
  crc = static_cast<uint32_t>(wide);
  for (; n > 0; --n, ++p) crc = _mm_crc32_u8(crc, static_cast<uint8_t>(*p));
  return crc;
}

#else

uint32_t Update(uint32_t crc, const char* p, size_t n) { return UpdateByTables(crc, p, n); }

#endif

}  // namespace

uint32_t ExtendCrc32c(uint32_t crc, const void* data, size_t size) {
  return ~Update(~crc, static_cast<const char*>(data), size);
}

uint32_t ExtendCrc32cPortable(uint32_t crc, const void* data, size_t size) {
  return ~UpdateByTables(~crc, static_cast<const char*>(data), size);
}

}  // namespace slipway
