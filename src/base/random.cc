// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

#include <cstring>
#include <random>

namespace slipway {

Philox::Block PhiloxBlock(Philox::Block counter, Philox::Key key) {
  constexpr uint32_t kMulA = 0xD2511F53, kMulB = 0xCD9E8D57;
  constexpr uint32_t kWeylA = 0x9E3779B9, kWeylB = 0xBB67AE85;
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{kMulA} * counter[0];
    const uint64_t b = uint64_t{kMulB} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += kWeylA;
    key[1] += kWeylB;
  }
  return counter;
}

Philox::Block Philox::Next() {
  const Block block = PhiloxBlock(counter_, key_);
  Skip(1);
  return block;
}

void Philox::Skip(uint64_t blocks) {
  uint64_t low = counter_[0] | (uint64_t{counter_[1]} << 32);
  uint64_t high = counter_[2] | (uint64_t{counter_[3]} << 32);
  low += blocks;
  if (low < blocks) ++high;
  counter_ = {static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32),
              static_cast<uint32_t>(high), static_cast<uint32_t>(high >> 32)};
}

float UniformFloat(uint32_t word) {
  const uint32_t bits = 0x3f800000u | (word & 0x7fffffu);
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value - 1.0f;
}

double UniformDouble(uint32_t low, uint32_t high) {
  const uint64_t bits = 0x3ff0000000000000u | (uint64_t{low & 0xfffffu} << 32) | high;
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  return value - 1.0;
}

uint64_t RandomSeed() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

}  // namespace slipway
