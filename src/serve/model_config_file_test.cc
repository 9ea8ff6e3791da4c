// SPDX-License-Identifier: Apache-2.0
#include "serve/model_config_file.h"

#include "base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway::serve {
namespace {

using ::testing::HasSubstr;

TEST(ModelConfigFile, ModelsPoliciesLabels) {
  const auto list = ParseModelConfigFile(R"(
    # three models
    model_config_list {
      config { name: "a" base_path: "/models/a" model_platform: "tensorflow" }
      config: {
        name: 'b', base_path: "/models/b", model_type: TENSORFLOW
        model_version_policy { specific { versions: 5 versions: 2 } }
        version_labels { key: "stable" value: 2 }
        version_labels { key: "canary" value: 5 }
      }
      config {
        name: "c" base_path: "/models/c" model_platform: "tensorflow"
        model_version_policy { latest { num_versions: 3 } }
      }
      config {
        name: "d" base_path: "/models/d" model_platform: "tensorflow"
        model_version_policy { all {} }
      }
    })");
  ASSERT_TRUE(list.ok()) << list.status().ToString();
  ASSERT_TRUE(list->has_value());
  const std::vector<ModelConfig>& models = **list;
  ASSERT_EQ(models.size(), 4u);
  EXPECT_EQ(models[0].name, "a");
  EXPECT_EQ(models[0].base_path, "/models/a");
  EXPECT_EQ(models[0].policy.kind, VersionPolicy::Kind::kLatest);
  EXPECT_EQ(models[0].policy.latest, 1u);
  EXPECT_EQ(models[1].policy.kind, VersionPolicy::Kind::kSpecific);
  EXPECT_EQ(models[1].policy.specific, (std::vector<int64_t>{2, 5}));
  EXPECT_EQ(models[1].labels, (std::map<std::string, int64_t>{{"canary", 5}, {"stable", 2}}));
  EXPECT_EQ(models[2].policy.latest, 3u);
  EXPECT_EQ(models[3].policy.kind, VersionPolicy::Kind::kAll);
}

TEST(ModelConfigFile, NothingAndNoModels) {
  EXPECT_FALSE(ParseModelConfigFile("").value().has_value());
  EXPECT_TRUE(ParseModelConfigFile("model_config_list {}").value()->empty());
}

TEST(ModelConfigFile, Errors) {
  const auto one = [](std::string_view fields) {
    return StrCat("model_config_list { config { ", fields, " } }");
  };
  const struct {
    std::string text;
    std::string error;
  } cases[] = {
      {"improperly formatted file",
       "INVALID_ARGUMENT: Error parsing text-format tensorflow.serving.ModelServerConfig: 1:12: "},
      {"model_config_list {\n  config {\n    nmae: \"m\"\n  }\n}", "ModelServerConfig: 3:"},
      {"model_config_list {\n  config {\n    name: 7", "ModelServerConfig: 3:11: "},
      {one(R"(name: "m" base_path: "/m")"), "model_platform"},
      {one(R"(name: "m" base_path: "/m" model_platform: "other")"),
       "Illegal to change a model's platform"},
      {one(R"(name: "m" base_path: "/m" model_platform: "tensorflow" model_type: TENSORFLOW)"),
       "has both model_platform and the deprecated model_type"},
      {one(R"(name: "m" base_path: "m" model_platform: "tensorflow")"),
       "Expected model m to have an absolute path or URI; got base_path()=m"},
      {one(R"(base_path: "/m" model_platform: "tensorflow")"), "has no name"},
      {R"(model_config_list {
            config { name: "m" base_path: "/m" model_platform: "tensorflow" }
            config { name: "m" base_path: "/n" model_platform: "tensorflow" } })",
       "Illegal to list model m multiple times in config"},
      {one(R"(name: "m" base_path: "/m" model_platform: "tensorflow" logging_config {})"),
       "No request-logger-creator provided."},
      {"custom_model_config {}", "UNIMPLEMENTED: This server knows no custom_model_config"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(ParseModelConfigFile(c.text).status().ToString(), HasSubstr(c.error)) << c.text;
  }
}

}  // namespace
}  // namespace slipway::serve
