// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <functional>

#include "base/env.h"
#include "base/log.h"
#include "base/strings.h"

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

// What a run of the program prints, standard output and errors in one pipe as they come.
struct Printed {
  int exit = 0;
  std::string text;
};
Printed Capture(const std::function<int()>& run) {
  // Tests run side by side.
  const std::string file = JoinPath(testing::TempDir(), StrCat("slipway_cli_printed_", getpid()));
  std::fflush(stdout);
  const int out = dup(STDOUT_FILENO);
  const int err = dup(STDERR_FILENO);
  const int both = open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
  dup2(both, STDOUT_FILENO);
  dup2(both, STDERR_FILENO);
  Printed printed;
  printed.exit = run();
  std::fflush(stdout);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  for (const int fd : {out, err, both}) close(fd);
  printed.text = *ReadFile(Env::Default(), file);
  EXPECT_TRUE(Env::Default()->RemoveFile(file).ok());
  return printed;
}
Printed RunMain(const std::vector<std::string>& args) {
  return Capture([&] { return Main(args); });
}

TEST(HelpTest, GroupsListTheirCommands) {
  const Printed alone = RunMain({"model"});
  EXPECT_EQ(alone.exit, kWrongUsage);
  const Printed asked = RunMain({"help", "model"});
  EXPECT_EQ(asked.exit, kDone);
  for (const Printed& printed : {alone, asked, RunMain({"model", "--help"})}) {
    EXPECT_THAT(printed.text, HasSubstr("model show"));
    EXPECT_THAT(printed.text, HasSubstr("model run"));
    EXPECT_THAT(printed.text, testing::Not(HasSubstr("unknown")));
    EXPECT_THAT(printed.text, testing::Not(HasSubstr("predict")));
  }
  const Printed wrong = RunMain({"model", "shwo"});
  EXPECT_EQ(wrong.exit, kWrongUsage);
  EXPECT_THAT(wrong.text, HasSubstr("unknown command 'model shwo'; did you mean 'model show'?"));
  EXPECT_THAT(RunMain({"help", "serve"}).text, testing::StartsWith("Usage: slipway serve"));
}

TEST(ServeTest, PrintsItsVersion) {
  const Printed printed = RunMain({"serve", "--version"});
  EXPECT_EQ(printed.exit, kDone);
  EXPECT_EQ(printed.text, RunMain({"version"}).text);
}

TEST(ServeTest, RefusesNumbersOutOfRange) {
  for (const auto& [flag, wanted] :
       {std::pair{"--port=-1", "--port is -1; wanted a TCP port, 1 to 65535"},
        std::pair{"--rest_api_port=70000", "--rest_api_port is 70000; wanted a TCP port"},
        std::pair{"--loops=-3", "--loops is -3; wanted 0 to 1024"}}) {
    const Printed printed = RunMain({"serve", "--model_base_path=/none", flag});
    EXPECT_EQ(printed.exit, kWrongUsage);
    EXPECT_THAT(printed.text, HasSubstr(wanted));
  }
}

TEST(ServeTest, RefusesWhatTensorFlowServingRefuses) {
  const struct {
    std::vector<std::string> flags;
    std::string_view error;
  } cases[] = {
      {{"--tensorflow_session_parallelism=2", "--tensorflow_inter_op_parallelism=2"},
       "exclude each other"},
      {{"--batching_parameters_file=/b"}, "without --enable_batching"},
      {{"--use_alts_credentials"}, "less safe than asked for"},
      {{"--port=0", "--rest_api_port=8501"}, "--port (grpc_port) and --grpc_socket_path"},
  };
  for (const auto& c : cases) {
    std::vector<std::string> args = {"serve", "--model_base_path=/none"};
    args.insert(args.end(), c.flags.begin(), c.flags.end());
    const Printed printed = RunMain(args);
    EXPECT_EQ(printed.exit, kWrongUsage);
    EXPECT_THAT(printed.text, HasSubstr(c.error));
  }
}

TEST(FailTest, ErrorsComeBehindWhatWasPrintedBefore) {
  const Printed printed = Capture([] {
    std::fputs("first\n", stdout);
    const int exit = Fail(InternalError("second"));
    std::fputs("third\n", stdout);
    LOG_ERROR("fourth");
    return exit;
  });
  EXPECT_EQ(printed.exit, kFailed);
  EXPECT_THAT(printed.text, testing::MatchesRegex("first\nINTERNAL: second\nthird\n.*fourth\n"));
}

constexpr char kAffine[] = "--dir=tests/golden/saved_models/affine/saved_model";

TEST(ModelRunTest, TakesExpressions) {
  const Printed printed = RunMain({"model", "run", kAffine, "--input_exprs", "x=[1, 2.0, -3]"});
  EXPECT_EQ(printed.exit, kDone);
  EXPECT_EQ(printed.text, "Result for output key y:\nfloat32[3] [2.5 3 0.5]\n");
  const Printed wrong = RunMain({"model", "run", kAffine, "--input_exprs", "x=open('f')"});
  EXPECT_EQ(wrong.exit, kFailed);
  EXPECT_THAT(wrong.text, HasSubstr("--input_exprs x: at \"open('f')\": this name is not known"));
}

TEST(ModelRunTest, RefusesWhatItCannotDo) {
  for (const auto& [flag, text] :
       {std::pair{"--worker=grpc://h:1", "slipway serve"}, std::pair{"--tf_debug", "--trace"},
        std::pair{"--request=r.json", "--request holds all inputs"},
        std::pair{"--input_expr=x=1", "did you mean --input_exprs?"}}) {
    const Printed printed = RunMain({"model", "run", kAffine, "--input_exprs=x=[1]", flag});
    EXPECT_EQ(printed.exit, kWrongUsage) << printed.text;
    EXPECT_THAT(printed.text, HasSubstr(text));
  }
  const std::string pickle = JoinPath(testing::TempDir(), "slipway_pickle");
  ASSERT_TRUE(WriteFile(Env::Default(), pickle, "\x80\x04K\x01.").ok());
  const Printed printed = RunMain({"model", "run", kAffine, "--inputs=x=" + pickle});
  EXPECT_EQ(printed.exit, kFailed);
  EXPECT_THAT(printed.text, HasSubstr("is a pickle"));
}

TEST(ModelBenchTest, TellsWhichOpsTookTheTime) {
  const std::vector<std::string> args = {"model",          "bench",         kAffine,
                                         "--seconds=0.01", "--callers=1,2", "--batch=8"};
  const Printed printed = RunMain(args);
  EXPECT_EQ(printed.exit, kDone) << printed.text;
  EXPECT_THAT(printed.text, HasSubstr("p99 us"));
  EXPECT_THAT(printed.text, HasSubstr("AddV2"));
  std::vector<std::string> json = args;
  json.push_back("--format=json");
  for (const char* key : {"\"min_us\"", "\"p50_us\"", "\"p99_us\"", "\"calls_per_second\"",
                          "\"threads\"", "\"peak_fraction\""}) {
    EXPECT_THAT(RunMain(json).text, HasSubstr(key));
  }
  EXPECT_EQ(RunMain({"model", "bench", kAffine, "--callers=0"}).exit, kWrongUsage);
  EXPECT_EQ(RunMain({"model", "bench"}).exit, kWrongUsage);
}

TEST(ModelShowTest, PassesAndPicture) {
  const Printed passes = RunMain({"model", "show", kAffine, "--passes"});
  EXPECT_EQ(passes.exit, kDone) << passes.text;
  EXPECT_THAT(passes.text, HasSubstr("signature 'serving_default'"));
  EXPECT_THAT(passes.text, HasSubstr("inline"));
  const std::string svg = JoinPath(testing::TempDir(), "slipway_graph.svg");
  EXPECT_EQ(RunMain({"model", "show", kAffine, "--svg=" + svg}).exit, kDone);
  EXPECT_THAT(*ReadFile(Env::Default(), svg), testing::StartsWith("<svg "));
  const Printed unknown = RunMain({"model", "show", kAffine, "--svg=x", "--signature_def=no"});
  EXPECT_THAT(unknown.text, HasSubstr("Please choose from: serving_default"));
}

TEST(ModelRunTest, WithAndWithoutPasses) {
  const std::string folder = JoinPath(testing::TempDir(), "slipway_passes");
  for (const bool passes : {true, false}) {
    const std::string trace = JoinPath(folder, "trace.json");
    ASSERT_TRUE(Env::Default()->CreateDirectories(folder).ok());
    std::vector<std::string> args = {"model", "run", kAffine, "--input_exprs=x=[1.0,2.0]",
                                     "--trace=" + trace};
    if (!passes) args.push_back("--passes=none");
    EXPECT_THAT(RunMain(args).text, HasSubstr("[2.5 3"));
    // The read of a variable that nothing writes is what a pass takes away.
    const bool reads = ReadFile(Env::Default(), trace)->find("ReadVariableOp") != std::string::npos;
    EXPECT_EQ(reads, !passes);
  }
  const Printed wrong = RunMain({"model", "run", kAffine, "--input_exprs=x=[1]", "--passes=some"});
  EXPECT_NE(wrong.exit, kDone);
  EXPECT_THAT(wrong.text, HasSubstr("--passes is 'some'; wanted all or none"));
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
