// SPDX-License-Identifier: Apache-2.0
//
// Expected words: TensorFlow's StatelessRandomUniformFullIntV2 (algorithm 1) with the same key and
// counter, and RandomUniform with the same two seeds.
#include "base/random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipway {
namespace {

using ::testing::ElementsAre;

TEST(PhiloxTest, GivesTensorFlowsWords) {
  Philox philox(0x0123456789abcdef, 0xfedcba9876543210);
  EXPECT_THAT(philox.Next(), ElementsAre(0xaef2adf7, 0xf69b5950, 0x3ceb44f4, 0x89b6573a));
  EXPECT_THAT(philox.Next(), ElementsAre(0xec2ab39f, 0x4671fd85, 0x74decae0, 0x4b77ec76));
  EXPECT_THAT(philox.Next(), ElementsAre(0xd7bb4a2f, 0xb8f76c27, 0x51cdda28, 0x48cc01cd));
}

TEST(PhiloxTest, CarriesIntoTheUpperHalfOfTheCounter) {
  Philox philox({0xffffffff, 0xffffffff, 7, 0}, {42, 0});
  EXPECT_THAT(philox.Next(), ElementsAre(0x88aef304, 0xd5e23e15, 0x0445b71a, 0x8a783a9c));
  EXPECT_THAT(philox.counter(), ElementsAre(0, 0, 8, 0));
  EXPECT_THAT(philox.Next(), ElementsAre(0x84d69b0c, 0x13847338, 0xb6304e11, 0x7122e8e2));
}

TEST(PhiloxTest, SkipsBlocks) {
  Philox philox(42, 7);
  philox.Skip(1'000'000);
  EXPECT_THAT(philox.Next(), ElementsAre(0xa9d0cf96, 0x01791c24, 0x7c39e138, 0xbf70a984));
  Philox stepped(42, 7);
  for (int i = 0; i < 100; ++i) stepped.Next();
  Philox skipped(42, 7);
  skipped.Skip(100);
  EXPECT_EQ(stepped.counter(), skipped.counter());
}

TEST(UniformTest, FloatsAreTensorFlows) {
  Philox philox(87654321, 12345);
  const float wanted[] = {0x1.594304p-1f, 0x1.e32a2p-3f, 0x1.a4e598p-1f, 0x1.dc33c8p-2f,
                          0x1.7bd5ap-4f,  0x1.5a952p-2f, 0x1.7675c8p-2f, 0x1.24adap-1f};
  for (int i = 0; i < 2; ++i) {
    const Philox::Block words = philox.Next();
    for (int j = 0; j < 4; ++j) EXPECT_EQ(UniformFloat(words[j]), wanted[4 * i + j]);
  }
}

TEST(UniformTest, DoublesAreTensorFlows) {
  Philox philox(1, 0);
  const double wanted[] = {0x1.00ce1ca141d78p-1, 0x1.11605b0ad5138p-3, 0x1.02837bf8b997cp-1,
                           0x1.e91e9fd9824c0p-6};
  for (int i = 0; i < 2; ++i) {
    const Philox::Block words = philox.Next();
    EXPECT_EQ(UniformDouble(words[0], words[1]), wanted[2 * i]);
    EXPECT_EQ(UniformDouble(words[2], words[3]), wanted[2 * i + 1]);
  }
}

TEST(UniformTest, StaysBelowOne) {
  EXPECT_EQ(UniformFloat(0), 0.0f);
  EXPECT_LT(UniformFloat(0xffffffff), 1.0f);
  EXPECT_LT(UniformDouble(0xffffffff, 0xffffffff), 1.0);
}

TEST(RandomSeedTest, Differs) { EXPECT_NE(RandomSeed(), RandomSeed()); }

}  // namespace
}  // namespace slipway
