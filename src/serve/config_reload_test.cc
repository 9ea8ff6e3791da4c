// SPDX-License-Identifier: Apache-2.0
//
// Several models, labels and reloads on a running server.
#include "gmock/gmock.h"
#include "proto/model_server_config.pb.h"
#include "serve/test_models.h"

namespace slipway::serve {
namespace {

using ::testing::HasSubstr;

class ConfigReloadTest : public ServeTestBase {
 protected:
  // Version v of any model answers x / 2 + v.
  void Publish(std::string_view model, int64_t version) {
    const std::string directory = JoinPath(root_, StrCat(model, "/", version));
    const auto written = formats::WriteSavedModel(Env::Default(), directory,
                                                  AffineModel(0.5f, static_cast<float>(version)));
    ASSERT_TRUE(written.ok()) << written.ToString();
  }
  std::string Config(std::string_view name, std::string_view more = "") const {
    return StrCat("config { name: \"", name, "\" base_path: \"", root_, "/", name,
                  "\" model_platform: \"tensorflow\" ", more, "} ");
  }
  void WriteConfig(std::string_view configs) {
    const auto written =
        WriteFile(Env::Default(), file_, StrCat("model_config_list {", configs, "}"));
    ASSERT_TRUE(written.ok());
  }
  void Start(double poll_seconds = 0) {
    ServerOptions options = Options();
    options.model_base_path.clear();
    options.model_config_file = file_;
    options.model_config_file_poll_wait_seconds = poll_seconds;
    StartServer(options);
  }
  std::string Reload(const std::vector<std::pair<std::string, std::map<std::string, int64_t>>>& all,
                     bool every_version = false) {
    tensorflow::serving::ReloadConfigRequest request;
    auto* list = request.mutable_config()->mutable_model_config_list();
    for (const auto& [name, labels] : all) {
      auto* config = list->add_config();
      config->set_name(name);
      config->set_base_path(JoinPath(root_, name));
      config->set_model_platform("tensorflow");
      if (every_version) config->mutable_model_version_policy()->mutable_all();
      config->mutable_version_labels()->insert(labels.begin(), labels.end());
    }
    return Grpc()
        ->Call("/tensorflow.serving.ModelService/HandleReloadConfigRequest",
               request.SerializeAsString())
        .status()
        .ToString();
  }
  // What a version answers to 0, which is its number; or the error.
  std::string Ask(std::string_view target) {
    const auto answer = Rest()->Request("POST", StrCat("/v1/models/", target, ":predict"),
                                        R"({"instances": [0.0]})");
    return answer.ok() ? answer->body : answer.status().ToString();
  }
  bool WaitFor(std::string_view target, std::string_view text) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < end) {
      if (Ask(target).find(text) != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }

  const std::string file_ = JoinPath(root_, "models.config");
};

TEST_F(ConfigReloadTest, SeveralModelsWithPoliciesAndLabels) {
  for (const int64_t version : {1, 2, 3}) Publish("a", version);
  Publish("b", 7);
  WriteConfig(Config("a",
                     "model_version_policy { specific { versions: 1 versions: 2 } } "
                     "version_labels { key: \"stable\" value: 1 }") +
              Config("b"));
  Start();
  EXPECT_THAT(Ask("a"), HasSubstr("[2.0]"));
  EXPECT_THAT(Ask("a/labels/stable"), HasSubstr("[1.0]"));
  EXPECT_THAT(Ask("a/labels/nope"), HasSubstr("Unrecognized servable version label: nope"));
  EXPECT_THAT(Ask("a/versions/3"), HasSubstr("Servable not found for request: Specific(a, 3)"));
  EXPECT_THAT(Ask("b"), HasSubstr("[7.0]"));
  const auto status = Rest()->Request("GET", "/v1/models/a/labels/stable");
  ASSERT_TRUE(status.ok());
  EXPECT_THAT(status->body, HasSubstr("\"version\": \"1\""));
  EXPECT_EQ(status->body.find("\"version\": \"2\""), std::string::npos);
}

TEST_F(ConfigReloadTest, ReloadAddsDropsAndBringsBack) {
  Publish("a", 1);
  Publish("b", 1);
  Publish("c", 4);
  WriteConfig(Config("a") + Config("b"));
  Start();
  EXPECT_EQ(Reload({{"b", {}}, {"c", {}}}), "OK");
  EXPECT_THAT(Ask("c"), HasSubstr("[4.0]"));
  EXPECT_TRUE(WaitFor("a", "Servable not found"));
  EXPECT_EQ(Reload({{"a", {}}}), "OK");
  EXPECT_THAT(Ask("a"), HasSubstr("[1.0]"));
  EXPECT_EQ(Reload({}), "OK");
  EXPECT_TRUE(WaitFor("a", "Servable not found"));
}

TEST_F(ConfigReloadTest, AReloadThatFailsSaysWhy) {
  Publish("a", 1);
  WriteConfig(Config("a"));
  Start();
  EXPECT_EQ(Reload({{"a", {}}, {"c", {}}}),
            "UNKNOWN: 1 model(s) did not become available: {{name: c has no available version}}");
  EXPECT_THAT(Ask("a"), HasSubstr("[1.0]"));
  EXPECT_THAT(Reload({{"a", {}}, {"a", {}}}), HasSubstr("Illegal to list model a multiple times"));
  EXPECT_THAT(Grpc()
                  ->Call("/tensorflow.serving.ModelService/HandleReloadConfigRequest", "")
                  .status()
                  .ToString(),
              HasSubstr("INVALID_ARGUMENT: ReloadConfigRequest must contain a ModelConfigList"));
}

TEST_F(ConfigReloadTest, LabelsMoveAllOrNone) {
  Publish("a", 1);
  Publish("a", 2);
  WriteConfig(Config("a", "model_version_policy { all {} }"));
  Start();
  EXPECT_EQ(Reload({{"a", {{"stable", 1}, {"canary", 2}}}}, true), "OK");
  EXPECT_THAT(Ask("a/labels/stable"), HasSubstr("[1.0]"));
  EXPECT_THAT(Reload({{"a", {{"canary", 1}, {"stable", 9}}}}, true),
              HasSubstr("FAILED_PRECONDITION: Request to assign label to version 9 of model a, "
                        "which is not currently available for inference"));
  EXPECT_THAT(Ask("a/labels/stable"), HasSubstr("[1.0]"));
  EXPECT_THAT(Ask("a/labels/canary"), HasSubstr("[2.0]"));
  EXPECT_EQ(Reload({{"a", {{"stable", 2}}}}, true), "OK");
  EXPECT_THAT(Ask("a/labels/stable"), HasSubstr("[2.0]"));
  EXPECT_THAT(Ask("a/labels/canary"), HasSubstr("Unrecognized servable version label: canary"));
}

TEST_F(ConfigReloadTest, TheFileIsLookedAtAgain) {
  Publish("a", 1);
  Publish("b", 2);
  WriteConfig(Config("a"));
  Start(/*poll_seconds=*/0.02);
  ASSERT_TRUE(WriteFile(Env::Default(), file_, "no config").ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_THAT(Ask("a"), HasSubstr("[1.0]")) << "a file that is broken changes nothing";
  WriteConfig(Config("b"));
  EXPECT_TRUE(WaitFor("b", "[2.0]"));
  EXPECT_TRUE(WaitFor("a", "Servable not found"));
}

}  // namespace
}  // namespace slipway::serve
