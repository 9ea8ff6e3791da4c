// SPDX-License-Identifier: Apache-2.0
#include "serve/warmup.h"

#include "gmock/gmock.h"
#include "serve/test_models.h"
#include "wire/coding.h"
#include "wire/record.h"

namespace slipway::serve {
namespace {

using ::testing::HasSubstr;

// A PredictionLog with a predict_log for the signature.
std::string PredictLog(std::string_view signature) {
  std::string request, log, record;
  const NamedTensor x{"x", Tensor::Vector<float>({2.0f})};
  ModelSpecView spec;
  spec.name = "m";
  spec.signature_name = signature;
  EXPECT_TRUE(AppendPredictRequest(spec, {&x, 1}, {}, TensorEncoding::kTyped, &request).ok());
  ProtoWriter(&log).Bytes(1, request);
  ProtoWriter(&record).Bytes(6, log);
  return record;
}

class WarmupTest : public ServeTestBase {
 protected:
  void SetUp() override { WriteVersion(1); }
  // "COUNT records", or the error.
  std::string Replay(std::string_view file, const WarmupOptions& options = {}) {
    Env* env = Env::Default();
    const std::string directory = JoinPath(base_, "1");
    const std::string extra = JoinPath(directory, "assets.extra");
    EXPECT_TRUE(env->CreateDirectories(extra).ok());
    EXPECT_TRUE(WriteFile(env, JoinPath(extra, "tf_serving_warmup_requests"), file).ok());
    auto servable = LoadServable(env, 1, directory, {});
    EXPECT_TRUE(servable.ok());
    const auto records = ReplayWarmup(env, directory, options, servable->get());
    return records.ok() ? StrCat(*records, " records") : records.status().ToString();
  }
  static std::string Records(const std::vector<std::string>& records) {
    std::string file;
    for (const std::string& record : records) AppendRecord(record, &file);
    return file;
  }
};

TEST_F(WarmupTest, ReplaysWhatThereIs) {
  EXPECT_EQ(Replay(""), "0 records");
  EXPECT_EQ(Replay(Records({PredictLog(""), PredictLog("serving_default")})), "2 records");
  EXPECT_EQ(Replay("garbage", {.replay = false}), "0 records");
}

TEST_F(WarmupTest, Errors) {
  EXPECT_THAT(Replay(std::string(100, 'g')),
              testing::AllOf(HasSubstr("DATA_LOSS: Please verify your warmup data is in TFRecord"),
                             HasSubstr("tf_serving_warmup_requests")));
  EXPECT_THAT(Replay(Records({PredictLog(""), PredictLog("nope")})),
              testing::AllOf(HasSubstr("FAILED_PRECONDITION: Warm-up record 1 of "),
                             HasSubstr("Serving signature key \"nope\" not found.")));
  EXPECT_THAT(Replay(Records(std::vector<std::string>(1001, PredictLog("")))),
              HasSubstr("Number of warmup records exceeds the maximum (1000)"));
  std::string session_run;
  ProtoWriter(&session_run).Bytes(5, "");
  EXPECT_THAT(Replay(Records({session_run})), HasSubstr("Unsupported log_type for warmup"));
  EXPECT_THAT(Replay(Records({"\x32\x7f"})), HasSubstr("INVALID_ARGUMENT"));
}

}  // namespace
}  // namespace slipway::serve
