// SPDX-License-Identifier: Apache-2.0
#include "base/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"

namespace slipway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FlagsTest : public ::testing::Test {
 protected:
  FlagSet Flags() {
    return FlagSet("slipway test [flags] FILE...", "Tests the flags.",
                   {{"port", &port_, "TCP port"},
                    {"big_number", &big_, "A big number"},
                    {"rate", &rate_, "Requests a second"},
                    {"model_name", &name_, "Name of the model"},
                    {"enable_batching", &batching_, "Put requests together"},
                    {"set", &settings_, "A setting, KEY=VALUE"}});
  }
  std::vector<std::string> MustParse(std::vector<std::string> args) {
    auto positional = Flags().Parse(args);
    EXPECT_TRUE(positional.ok()) << positional.status().ToString();
    return positional.ok() ? *positional : std::vector<std::string>();
  }
  std::string ErrorOf(std::vector<std::string> args) {
    const Status status = Flags().Parse(args).status();
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    return std::string(status.message());
  }

  int32_t port_ = 8500;
  int64_t big_ = 0;
  double rate_ = 0.5;
  std::string name_ = "default";
  bool batching_ = false;
  std::vector<std::string> settings_;
};

TEST_F(FlagsTest, TakesEverySpelling) {
  EXPECT_THAT(MustParse({"--port=1", "-big_number", "-9000000000", "--model-name", "a=b",
                         "--enable-batching", "--rate=1e3"}),
              IsEmpty());
  EXPECT_EQ(port_, 1);
  EXPECT_EQ(big_, -9'000'000'000);
  EXPECT_EQ(name_, "a=b");
  EXPECT_EQ(rate_, 1000);
  EXPECT_TRUE(batching_);
  MustParse({"-model_name="});
  EXPECT_EQ(name_, "");
}

TEST_F(FlagsTest, TurnsBoolsOnAndOff) {
  MustParse({"--enable_batching=True"});
  EXPECT_TRUE(batching_);
  MustParse({"--noenable_batching"});
  EXPECT_FALSE(batching_);
  MustParse({"--enable_batching=1"});
  EXPECT_TRUE(batching_);
  MustParse({"--no-enable-batching"});
  EXPECT_FALSE(batching_);
  EXPECT_THAT(MustParse({"--enable_batching", "false"}), ElementsAre("false"));
  EXPECT_TRUE(batching_);
}

TEST_F(FlagsTest, ReturnsPositionalArguments) {
  EXPECT_THAT(MustParse({"a", "--port", "2", "-", "-5", "-.5", "b", "--", "--port", "3"}),
              ElementsAre("a", "-", "-5", "-.5", "b", "--port", "3"));
  EXPECT_EQ(port_, 2);
}

TEST_F(FlagsTest, LastUseWinsAndListsCollect) {
  MustParse({"--port=1", "--set", "a=1", "--port=2", "--set=b=2"});
  EXPECT_EQ(port_, 2);
  EXPECT_THAT(settings_, ElementsAre("a=1", "b=2"));
}

TEST_F(FlagsTest, SuggestsTheNearestFlag) {
  EXPECT_EQ(ErrorOf({"--prot=1"}), "unknown flag --prot; did you mean --port?");
  EXPECT_EQ(ErrorOf({"-enable-batch"}),
            "unknown flag --enable-batch; did you mean --enable_batching?");
  EXPECT_EQ(ErrorOf({"--something_else"}), "unknown flag --something_else; --help lists the flags");
  EXPECT_EQ(ErrorOf({"--noport"}), "unknown flag --noport; did you mean --port?");
}

TEST_F(FlagsTest, BadValuesNameFlagValueAndType) {
  EXPECT_EQ(ErrorOf({"--port=http"}),
            "flag --port has the value \"http\"; an integer of 32 bits is wanted");
  EXPECT_EQ(ErrorOf({"--port=3000000000"}),
            "flag --port has the value \"3000000000\"; an integer of 32 bits is wanted");
  EXPECT_EQ(ErrorOf({"--big-number", "1.5"}),
            "flag --big_number has the value \"1.5\"; an integer is wanted");
  EXPECT_EQ(ErrorOf({"--rate="}), "flag --rate has the value \"\"; a number is wanted");
  EXPECT_EQ(ErrorOf({"--enable_batching=maybe"}),
            "flag --enable_batching has the value \"maybe\"; true or false is wanted");
  EXPECT_EQ(ErrorOf({"--noenable_batching=true"}),
            "flag --noenable_batching takes no value, but has \"true\"; write "
            "--enable_batching=true or --enable_batching=false");
  EXPECT_EQ(ErrorOf({"--port"}), "flag --port has no value; an integer is wanted");
  EXPECT_EQ(port_, 8500);
}

TEST_F(FlagsTest, AsksForHelp) {
  for (const char* arg : {"--help", "-h", "-help"}) {
    FlagSet flags = Flags();
    const char* argv[] = {"x", arg, "--nonsense"};
    EXPECT_TRUE(flags.Parse(3, argv).ok());
    EXPECT_TRUE(flags.help_wanted());
  }
  FlagSet flags = Flags();
  EXPECT_TRUE(flags.Parse(std::vector<std::string>{"--", "--help"}).ok());
  EXPECT_FALSE(flags.help_wanted());
}

TEST_F(FlagsTest, PrintsHelp) {
  MustParse({"--port=1"});
  port_ = 8500;
  EXPECT_EQ(Flags().Help(),
            "Usage: slipway test [flags] FILE...\n"
            "\n"
            "Tests the flags.\n"
            "\n"
            "Flags:\n"
            "  --port=INTEGER\n"
            "      TCP port (default: 8500)\n"
            "  --big_number=INTEGER\n"
            "      A big number (default: 0)\n"
            "  --rate=NUMBER\n"
            "      Requests a second (default: 0.5)\n"
            "  --model_name=TEXT\n"
            "      Name of the model (default: \"default\")\n"
            "  --[no]enable_batching\n"
            "      Put requests together (default: false)\n"
            "  --set=TEXT\n"
            "      A setting, KEY=VALUE (may be repeated)\n");
}

TEST_F(FlagsTest, WrapsAt80Columns) {
  std::string help;
  for (int i = 0; i < 60; ++i) help += "wordy ";
  FlagSet flags("x", help, {{"f", &name_, help}});
  size_t longest = 0;
  for (std::string_view line : StrSplit(flags.Help(), '\n'))
    longest = std::max(longest, line.size());
  EXPECT_LE(longest, 80u);
  EXPECT_GE(longest, 75u);
}

}  // namespace
}  // namespace slipway
