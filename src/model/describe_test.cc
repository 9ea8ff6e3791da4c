// SPDX-License-Identifier: Apache-2.0
#include "model/describe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace slipway::model {
namespace {

using ::testing::HasSubstr;

formats::SavedModelFile Read(const std::string& name) {
  auto file =
      formats::ReadSavedModel(Env::Default(), "tests/golden/saved_models/" + name + "/saved_model");
  EXPECT_TRUE(file.ok()) << file.status().ToString();
  return *std::move(file);
}

TEST(Describe, ListsTagSets) {
  EXPECT_EQ(*DescribeText(Read("tags"), {}),
            "The given SavedModel contains the following tag-sets:\n'serve'\n'int8, serve'\n");
}

TEST(Describe, ListsSignatures) {
  EXPECT_EQ(*DescribeText(Read("counter"), {.tags = {"serve"}}),
            "The given SavedModel MetaGraphDef contains SignatureDefs with the following keys:\n"
            "SignatureDef key: \"__saved_model_init_op\"\n"
            "SignatureDef key: \"add\"\n"
            "SignatureDef key: \"get\"\n");
}

TEST(Describe, ShowsOneSignature) {
  EXPECT_EQ(*DescribeText(Read("affine"), {.tags = {"serve"}, .signature = "serving_default"}),
            "The given SavedModel SignatureDef contains the following input(s):\n"
            "  inputs['x'] tensor_info:\n"
            "      dtype: DT_FLOAT\n"
            "      shape: (-1)\n"
            "      name: serving_default_x:0\n"
            "The given SavedModel SignatureDef contains the following output(s):\n"
            "  outputs['y'] tensor_info:\n"
            "      dtype: DT_FLOAT\n"
            "      shape: (-1)\n"
            "      name: StatefulPartitionedCall:0\n"
            "Method name is: tensorflow/serving/predict\n");
}

TEST(Describe, SaysWhatThereIs) {
  const auto file = Read("affine");
  EXPECT_THAT(DescribeText(file, {.tags = {"gpu"}}).status().message(), HasSubstr("'serve'"));
  EXPECT_THAT(DescribeText(file, {.tags = {"serve"}, .signature = "nope"}).status().message(),
              HasSubstr("serving_default"));
}

TEST(Describe, Json) {
  const auto json = nlohmann::json::parse(*DescribeJson(Read("affine"), {.all = true}));
  const auto& meta_graph = json["meta_graphs"][0];
  EXPECT_EQ(meta_graph["signatures"]["serving_default"]["inputs"]["x"]["shape"][0], -1);
  EXPECT_EQ(meta_graph["variables"][1]["name"], "b");
}

}  // namespace
}  // namespace slipway::model
