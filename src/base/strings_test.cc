// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace slipway {
namespace {

using ::testing::ElementsAre;

TEST(StrCatTest, TakesTextNumbersAndBools) {
  EXPECT_EQ(StrCat("a", std::string("b"), std::string_view("c"), 'd', 1, -2L, 3u, true, 0.5),
            "abcd1-23true0.5");
  EXPECT_EQ(StrCat(), "");
  EXPECT_EQ(StrCat(0.1, " ", 0.1f, " ", 1e300, " ", std::numeric_limits<int64_t>::min()),
            "0.1 0.1 1e+300 -9223372036854775808");
  EXPECT_EQ(StrCat(std::numeric_limits<double>::infinity(), std::nan("")), "infnan");
  EXPECT_EQ(StrCat(std::numeric_limits<long double>::max()), "1.189731495357231765e+4932");
  std::string out = "x";
  StrAppend(&out, 1, 'y');
  EXPECT_EQ(out, "x1y");
}

TEST(StrJoinTest, PutsSeparatorsBetween) {
  EXPECT_EQ(StrJoin(std::vector<int>{1, 2, 3}, ", "), "1, 2, 3");
  EXPECT_EQ(StrJoin(std::vector<std::string>{"a"}, ","), "a");
  EXPECT_EQ(StrJoin(std::vector<std::string>{}, ","), "");
}

TEST(StrSplitTest, KeepsEmptyPieces) {
  EXPECT_THAT(StrSplit("a,,b", ','), ElementsAre("a", "", "b"));
  EXPECT_THAT(StrSplit("", ','), ElementsAre(""));
  EXPECT_THAT(StrSplit(",", ','), ElementsAre("", ""));
}

TEST(StringsTest, StripsAndLowers) {
  EXPECT_EQ(StripWhitespace(" \t a b\r\n"), "a b");
  EXPECT_EQ(StripWhitespace(" \n "), "");
  EXPECT_EQ(AsciiLower("AbZ\xc3\x84"), "abz\xc3\x84");
}

TEST(ParseTest, TakesWholeNumbersOnly) {
  EXPECT_EQ(ParseInt64("-42"), -42);
  EXPECT_EQ(ParseInt64("9223372036854775807"), std::numeric_limits<int64_t>::max());
  for (const char* bad : {"", " 1", "1 ", "1x", "+1", "0x10", "9223372036854775808", "1.0"}) {
    EXPECT_EQ(ParseInt64(bad), std::nullopt) << bad;
  }
  EXPECT_EQ(ParseDouble("-1.5e3"), -1500);
  EXPECT_TRUE(std::isinf(ParseDouble("inf").value_or(0)));
  for (const char* bad : {"", " 1", "1,5", "1e400", "1.5f", "--1"}) {
    EXPECT_EQ(ParseDouble(bad), std::nullopt) << bad;
  }
}

TEST(QuotedTest, EscapesWhatCannotBeShown) {
  EXPECT_EQ(Quoted("plain"), "\"plain\"");
  EXPECT_EQ(Quoted("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(Quoted(std::string_view("\0\n\x7f", 3)), R"("\x00\x0a\x7f")");
  EXPECT_EQ(Quoted("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x9a\xa2"),
            "\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x9a\xa2\"");
  // Broken, overlong, surrogate, too large, control character.
  EXPECT_EQ(Quoted("\xc3"), R"("\xc3")");
  EXPECT_EQ(Quoted("\xc3("), R"("\xc3(")");
  EXPECT_EQ(Quoted("\xc0\xaf"), R"("\xc0\xaf")");
  EXPECT_EQ(Quoted("\xe0\x80\xaf"), R"("\xe0\x80\xaf")");
  EXPECT_EQ(Quoted("\xed\xa0\x80"), R"("\xed\xa0\x80")");
  EXPECT_EQ(Quoted("\xf4\x90\x80\x80"), R"("\xf4\x90\x80\x80")");
  EXPECT_EQ(Quoted("\xc2\x85"), R"("\xc2\x85")");
}

TEST(QuotedTest, CutsBetweenCharacters) {
  EXPECT_EQ(Quoted("abcdef", 3), "\"abc\"...");
  EXPECT_EQ(Quoted("abc", 3), "\"abc\"");
  EXPECT_EQ(Quoted("ab\xe2\x82\xac", 4), "\"ab\"...");
}

TEST(NearestWordTest, SuggestsOnlyWhatIsNear) {
  const std::vector<std::string> words = {"port", "rest_api_port", "model_name"};
  EXPECT_EQ(NearestWord("prot", words), "port");
  EXPECT_EQ(NearestWord("rest_api_prt", words), "rest_api_port");
  EXPECT_EQ(NearestWord("model-name", words), "model_name");
  EXPECT_EQ(NearestWord("completely_else", words), std::nullopt);
  EXPECT_EQ(NearestWord("x", {}), std::nullopt);
}

}  // namespace
}  // namespace slipway
