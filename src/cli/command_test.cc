// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/env.h"
#include "base/log.h"

namespace slipway::cli {
namespace {

using testing::HasSubstr;

TEST(LogLevelTest, TheEnvironmentSaysWhatIsLogged) {
  EXPECT_TRUE(ApplyLogLevel("debug").ok());
  EXPECT_TRUE(LogEnabled(LogLevel::kDebug));
  EXPECT_TRUE(ApplyLogLevel("error").ok());
  EXPECT_FALSE(LogEnabled(LogLevel::kWarning));
  EXPECT_TRUE(LogEnabled(LogLevel::kError));
  EXPECT_TRUE(ApplyLogLevel("info").ok());
  EXPECT_FALSE(LogEnabled(LogLevel::kDebug));
  EXPECT_TRUE(ApplyLogLevel(nullptr).ok());
  EXPECT_TRUE(LogEnabled(LogLevel::kInfo));
  const Status wrong = ApplyLogLevel("loud");
  EXPECT_EQ(wrong.code(), Code::kInvalidArgument);
  EXPECT_THAT(wrong.ToString(), HasSubstr("debug, info, warning or error, got \"loud\""));
}

TEST(ModelRunTest, TraceHasTheOpsOfTheLastCall) {
  const std::string folder = JoinPath(testing::TempDir(), "slipway_trace");
  ASSERT_TRUE(Env::Default()->CreateDirectories(folder).ok());
  const std::string request = JoinPath(folder, "request.json");
  ASSERT_TRUE(
      WriteFile(Env::Default(), request,
                R"({"inputs": {"x": {"dtype": "DT_FLOAT", "shape": [2], "values": [1, 2]}}})")
          .ok());
  const std::string trace = JoinPath(folder, "trace.json");
  const std::vector<std::string> args = {"model",
                                         "run",
                                         "--dir=tests/golden/saved_models/affine/saved_model",
                                         "--request=" + request,
                                         "--response=" + JoinPath(folder, "response.json"),
                                         "--trace=" + trace};
  ASSERT_EQ(Main(args), kDone);
  auto text = ReadFile(Env::Default(), trace, 1 << 20);
  ASSERT_TRUE(text.ok()) << text.status().ToString();
  EXPECT_THAT(*text, HasSubstr("traceEvents"));
  EXPECT_THAT(*text, HasSubstr("AddV2"));
}

}  // namespace
}  // namespace slipway::cli
