// SPDX-License-Identifier: Apache-2.0
//
// Where random ops get their generator from, and what reads it word by word.
#pragma once

#include <memory>
#include <mutex>

#include "base/random.h"
#include "kernels/kernel.h"

namespace slipway::kernels {

// Words one at a time.
class WordStream {
 public:
  explicit WordStream(Philox generator) : generator_(generator) {}
  uint32_t Next() {
    if (at_ == 4) {
      block_ = generator_.Next();
      at_ = 0;
    }
    return block_[at_++];
  }

 private:
  Philox generator_;
  Philox::Block block_{};
  size_t at_ = 4;
};

// Words that TensorFlow keeps for one value whose number of draws is not known before.
inline constexpr int64_t kReservedPerValue = 256;

// A stateful op's generator, shared by all plans. Thread safe.
class GeneratorResource : public Resource {
 public:
  GeneratorResource(uint64_t seed, uint64_t seed2) : generator_(seed, seed2) {}
  std::string DebugString() const override { return "random generator"; }
  // A generator for the next `blocks` blocks, which nobody else gets.
  Philox Reserve(int64_t blocks) {
    std::lock_guard lock(mutex_);
    const Philox mine = generator_;
    generator_.Skip(static_cast<uint64_t>(blocks));
    return mine;
  }

 private:
  std::mutex mutex_;
  Philox generator_;
};

// The node's own generator, from its seed attributes (from the system if both are 0).
StatusOr<std::shared_ptr<GeneratorResource>> GeneratorOf(const BindContext& bind);
// From a seed of two numbers, scrambled so that any two seeds differ everywhere.
StatusOr<Philox> FromSeed(const Tensor& seed);
// From the inputs key, counter and alg at first, first + 1, first + 2.
StatusOr<Philox> FromKeyCounter(const KernelContext& c, int first);

// Output 0 = the rows of input 0 in an order that the words decide.
Status ShuffleRows(KernelContext& c, WordStream words);

}  // namespace slipway::kernels
