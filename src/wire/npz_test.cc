// SPDX-License-Identifier: Apache-2.0
//
// The archives are numpy.savez's and numpy.savez_compressed's (fuzz/corpus/npz_fuzz).
#include "wire/npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipway {
namespace {

using ::testing::HasSubstr;

std::string Corpus(const std::string& name) {
  return *ReadFile(Env::Default(), "fuzz/corpus/npz_fuzz/" + name);
}

TEST(Npz, ReadsWhatNumPyWrites) {
  const std::string stored = Corpus("stored");
  EXPECT_THAT(*ListNpz(stored), testing::ElementsAre("x", "y"));
  EXPECT_EQ(DecodeNpz(stored, "x")->ToString(), "float32[3] [0 1 2]");
  EXPECT_EQ(DecodeNpz(stored, "y")->ToString(), "bool[1,1] [true]");
  EXPECT_EQ(DecodeNpz(Corpus("deflated"), "")->ToString(1), "float64[4,5] [0 ...]");
}

TEST(Npz, SaysWhichArraysThereAre) {
  const std::string stored = Corpus("stored");
  EXPECT_THAT(DecodeNpz(stored, "").status().message(), HasSubstr("name one of \"x\", \"y\""));
  const Status unknown = DecodeNpz(stored, "z").status();
  EXPECT_EQ(unknown.code(), Code::kNotFound);
  EXPECT_THAT(unknown.message(), HasSubstr("\"x\", \"y\""));
}

TEST(Npz, DamageIsFound) {
  const std::string stored = Corpus("stored");
  for (size_t length = 0; length < stored.size(); ++length) {
    EXPECT_FALSE(DecodeNpz(stored.substr(0, length), "x").ok()) << length;
  }
  std::string changed = stored;
  const size_t data = changed.find("NUMPY");
  changed[data + 123] ^= 1;  // the first array's values
  EXPECT_THAT(DecodeNpz(changed, "x").status().message(), HasSubstr("checksum"));
  EXPECT_FALSE(DecodeNpz(Corpus("damaged"), "").ok());
  EXPECT_EQ(DecodeNpz(stored, "x", {.max_member_bytes = 10}).status().code(),
            Code::kResourceExhausted);
}

}  // namespace
}  // namespace slipway
