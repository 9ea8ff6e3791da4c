// SPDX-License-Identifier: Apache-2.0
#include "wire/base64.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

// RFC 4648, section 10.
TEST(Base64, KnownValues) {
  const std::pair<const char*, const char*> cases[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"}};
  for (const auto& [text, encoded] : cases) {
    std::string out;
    AppendBase64(text, &out);
    EXPECT_EQ(out, encoded);
    EXPECT_EQ(DecodeBase64(encoded), text);
  }
  EXPECT_EQ(DecodeBase64("AP8="), std::string("\0\xff", 2));
  EXPECT_EQ(DecodeBase64("Zg"), "f");
}

TEST(Base64, RefusesWhatIsNot) {
  for (const char* bad : {"Z", "Zm9v!", "Zg=a", "====", "Zm9vY", "-_8="}) {
    EXPECT_EQ(DecodeBase64(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace slipway
