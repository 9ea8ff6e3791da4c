// SPDX-License-Identifier: Apache-2.0
//
// Philox 4x32-10 (Salmon et al. 2011), the counter-based generator behind TensorFlow's random
// ops and Keras's initialisers: the same key and counter give the same words everywhere.
#pragma once

#include <array>
#include <cstdint>

namespace slipway {

class Philox {
 public:
  using Block = std::array<uint32_t, 4>;
  using Key = std::array<uint32_t, 2>;

  // TensorFlow's layout: the low seed word is the key, the high one the upper half of the counter.
  explicit Philox(uint64_t seed_lo, uint64_t seed_hi = 0)
      : key_{static_cast<uint32_t>(seed_lo), static_cast<uint32_t>(seed_lo >> 32)},
        counter_{0, 0, static_cast<uint32_t>(seed_hi), static_cast<uint32_t>(seed_hi >> 32)} {}
  Philox(Block counter, Key key) : key_(key), counter_(counter) {}

  // The next four words.
  Block Next();
  // Moves on by `blocks` blocks of four words.
  void Skip(uint64_t blocks);

  const Block& counter() const { return counter_; }
  const Key& key() const { return key_; }

 private:
  Key key_;
  Block counter_;
};

// The block that belongs to one counter value; Next() is this plus an increment.
Philox::Block PhiloxBlock(Philox::Block counter, Philox::Key key);

// [0, 1) from one word, as TensorFlow makes it (23 bits of mantissa).
float UniformFloat(uint32_t word);
// [0, 1) from two words (52 bits).
double UniformDouble(uint32_t low, uint32_t high);

// A word from the operating system, for seeds nobody chose.
uint64_t RandomSeed();

}  // namespace slipway
