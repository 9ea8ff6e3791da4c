// SPDX-License-Identifier: Apache-2.0
#include "train/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/env.h"
#include "base/strings.h"

namespace slipway::train {
namespace {

using testing::HasSubstr;

class RecipeTest : public testing::Test {
 protected:
  RecipeTest() : folder_(StrCat(testing::TempDir(), "slipway_recipe_", getpid())) {
    EXPECT_TRUE(Env::Default()->RemoveTree(folder_).ok());
    EXPECT_TRUE(Env::Default()->CreateDirectories(folder_).ok());
    // Twelve images of 2 x 2 pixels; the label says which pixel is bright.
    std::string images("\0\0\x08\x03\0\0\0\x0c\0\0\0\x02\0\0\0\x02", 16);
    std::string labels("\0\0\x08\x01\0\0\0\x0c", 8);
    for (int i = 0; i < 12; ++i) {
      for (int pixel = 0; pixel < 4; ++pixel) images += pixel == i % 4 ? '\xff' : '\x10';
      labels += static_cast<char>(i % 4);
    }
    Write("images", images);
    Write("labels", labels);
  }
  ~RecipeTest() override { EXPECT_TRUE(Env::Default()->RemoveTree(folder_).ok()); }

  void Write(const std::string& name, const std::string& text) {
    EXPECT_TRUE(WriteFile(Env::Default(), Path(name), text).ok());
  }
  std::string Path(const std::string& name) const { return JoinPath(folder_, name); }

  // Line 1 is "model:".
  std::string Text(const std::string& layers, const std::string& compile) const {
    return StrCat("model:\n  seed: 1\n  layers:\n", layers,
                  "data:\n  train_images: ", Path("images"), "\n  train_labels: ", Path("labels"),
                  "\n  divide_by: 255\n", compile, "save: ", Path("saved/1"), "\n");
  }
  static constexpr const char* kLayers =
      "    - Flatten\n    - Dense: {units: 4, activation: softmax}\n";
  static constexpr const char* kCompile =
      "compile:\n  optimizer: {Adam: {learning_rate: 0.1}}\n"
      "  loss: sparse_categorical_crossentropy\n  metrics: [accuracy]\n"
      "fit: {epochs: 20, batch_size: 4}\n";

  StatusOr<RecipeResult> Run(const std::string& text, std::vector<std::string> set = {}) {
    Write("recipe.yaml", text);
    RecipeOptions options;
    options.file = Path("recipe.yaml");
    options.set = std::move(set);
    options.verbose = Verbose::kSilent;
    return RunRecipe(options);
  }
  void ExpectError(const std::string& text, const std::string& line,
                   const std::vector<std::string>& parts, std::vector<std::string> set = {}) {
    auto result = Run(text, std::move(set));
    ASSERT_FALSE(result.ok());
    std::string message = result.status().ToString();
    if (!line.empty()) {
      EXPECT_THAT(message, HasSubstr(StrCat("recipe.yaml", line)));
    }
    for (const std::string& part : parts) EXPECT_THAT(message, HasSubstr(part));
    EXPECT_FALSE(Env::Default()->Exists(Path("saved/1")));
  }

  std::string folder_;
};

TEST_F(RecipeTest, TrainsAndSaves) {
  auto result = Run(Text(kLayers, kCompile));
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->history.epochs.size(), 20u);
  EXPECT_EQ(result->history["accuracy"].back(), 1.0);
  EXPECT_TRUE(Env::Default()->Exists(Path("saved/1/saved_model.pb")));
}

TEST_F(RecipeTest, SetReplacesValues) {
  auto result = Run(Text(kLayers, kCompile), {"fit.epochs=2", "model.layers.1.Dense.units=5"});
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->history.epochs.size(), 2u);
}

TEST_F(RecipeTest, NamesTheLineOfAWrongKey) {
  ExpectError(
      Text("    - Flatten\n    - Dense: {unit: 4}\n", kCompile),
      ":5:", {"INVALID_ARGUMENT", "Dense has no key 'unit'", "did you mean 'units'", "activation"});
  ExpectError(Text("    - Flaten\n", kCompile), ":4:", {"'Flaten'", "did you mean 'Flatten'"});
  ExpectError(Text("    - Dense: {units: many}\n", kCompile),
              ":4:", {"'units' must be an integer", "many"});
  ExpectError(Text("    - Dense: {units: 4, activation: rleu}\n", kCompile),
              ":4:", {"unknown activation 'rleu'", "'relu'"});
  ExpectError(Text("    - Dropout: 1.5\n", kCompile), ":4:", {"between 0 and 1", "1.5"});
  ExpectError(Text(kLayers, "compil: 1\n"), ":10:", {"'compil'", "did you mean 'compile'"});
}

TEST_F(RecipeTest, NamesTheLineOfAWrongShape) {
  ExpectError(Text("    - Input: {shape: [3, 3]}\n    - Flatten\n"
                   "    - Dense: 4\n",
                   kCompile),
              ":", {"[?,3,3]", "[?,2,2]"});
}

TEST_F(RecipeTest, NamesWhatIsNotYaml) {
  ExpectError("model: [1, 2\ndata: {", ":", {"INVALID_ARGUMENT"});
  ExpectError("- 1\n", ":1:", {"must be a map"});
}

TEST_F(RecipeTest, AliasesThatExplodeAreRefused) {
  ExpectError("model: &a [*a, *a]\n", ":1:", {"aliases"});
  std::string bomb = "model:\n  a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c < 'k'; ++c) {
    StrAppend(&bomb, "  ", std::string(1, c), ": &", std::string(1, c), " [");
    for (int i = 0; i < 10; ++i) StrAppend(&bomb, "*", std::string(1, c - 1), ", ");
    StrAppend(&bomb, "]\n");
  }
  ExpectError(bomb, ":1:", {"aliases", "100000"});
}

TEST_F(RecipeTest, BytesThatAreNotUtf8AreNoCrash) {
  ExpectError(Text("    - Dense: {units: \xff}\n", kCompile), ":4:", {"must be an integer"});
}

TEST_F(RecipeTest, LabelsThatDoNotFitTheOutputFailBeforeTraining) {
  ExpectError(
      Text("    - Rescaling: 2\n    - Dense: {units: 4, activation: softmax}\n", kCompile), ":",
      {"SparseSoftmaxCrossEntropyWithLogits", "labels [?]", "predictions [?,2,4]", "'dense/"});
}

TEST_F(RecipeTest, LabelsOutOfRangeFailInTheFirstStep) {
  ExpectError(Text("    - Flatten\n    - Dense: {units: 3, activation: softmax}\n", kCompile), ":",
              {"sparse_categorical_crossentropy/SparseSoftmaxCrossEntropyWithLogits",
               "Received a label value of 3 which is outside the valid range of [0, 3)"});
}

TEST_F(RecipeTest, OverridesAreCheckedToo) {
  ExpectError(Text(kLayers, kCompile), "", {"'epoch'", "did you mean 'epochs'"}, {"fit.epoch=2"});
  ExpectError(Text(kLayers, kCompile), "", {"'epochs'", "32 bits"}, {"fit.epochs=4294967297"});
  auto result = Run(Text(kLayers, kCompile), {"nonsense"});
  EXPECT_THAT(result.status().ToString(), HasSubstr("key=value"));
  result = Run(Text(kLayers, kCompile), {"model.layers.7.Dense=2"});
  EXPECT_THAT(result.status().ToString(), HasSubstr("from 0 to 1"));
}

TEST_F(RecipeTest, ErrorsOfSetNameTheArgument) {
  const auto error = [&](const std::string& set) {
    return Run(Text(kLayers, kCompile), {"fit.shuffle=true", set}).status().ToString();
  };
  for (const std::string set :
       {"fit.epochs=-1", "fit.epoch=2", "model.layers.1.Dense.units=many", "compile.loss=mes",
        "model.layers=[Flaten]", "fit.epochs=[", "callbacks=[{EarlyStopping: {patience: -1}}]",
        "extra.deep.key=1", "fit.validation_split=1", "compile.optimizer.Adam.learning_rate=-1",
        "compile.optimizer.Adam.learning_rate=1e39"}) {
    EXPECT_THAT(error(set), testing::StartsWith(StrCat("INVALID_ARGUMENT: --set ", set, ": ")));
  }
  // The file's own faults keep their line.
  EXPECT_THAT(Run(Text("    - Flaten\n", kCompile), {"fit.epochs=2"}).status().ToString(),
              HasSubstr("recipe.yaml:4:"));
}

TEST_F(RecipeTest, WhereToSaveIsCheckedBeforeTraining) {
  // Data that is missing would be the error of a check that came later.
  const std::vector<std::string> no_data = {"data.train_images=none"};
  const auto error = [&](std::vector<std::string> set) {
    set.insert(set.end(), no_data.begin(), no_data.end());
    return Run(Text(kLayers, kCompile), std::move(set)).status().ToString();
  };
  EXPECT_THAT(error({StrCat("save=", folder_)}), HasSubstr("which is no part of a SavedModel"));
  EXPECT_THAT(error({StrCat("save=", Path("images/1"))}), HasSubstr("a directory is wanted"));
  for (const char* callback :
       {"ModelCheckpoint", "BackupAndRestore", "CSVLogger", "TensorBoard", "CurvesSvg"}) {
    const std::string set = StrCat("callbacks=[{", callback, ": ", Path("images/x"), "}]");
    EXPECT_THAT(error({set}), testing::AllOf(testing::StartsWith("INVALID_ARGUMENT: --set callb"),
                                             HasSubstr("a directory is wanted")));
  }
  EXPECT_THAT(error({StrCat("callbacks=[{CurvesSvg: ", folder_, "}]")}),
              HasSubstr("is a directory, the name of a file is wanted"));
  EXPECT_FALSE(Env::Default()->Exists(Path("saved")));
}

TEST_F(RecipeTest, ValuesThatMakeNoSenseNameTheirLine) {
  for (const auto& [fit, wanted] :
       {std::pair{"epochs: -1", "'epochs' must be at least 1, got -1"},
        std::pair{"initial_epoch: -2", "'initial_epoch' must be at least 0, got -2"},
        std::pair{"batch_size: 0", "'batch_size' must be at least 1, got 0"},
        std::pair{"steps_per_epoch: 0", "'steps_per_epoch' must be at least 1, got 0"},
        std::pair{"validation_split: 1.5", "at least 0 and less than 1, got 1.5"},
        std::pair{"validation_freq: 0", "'validation_freq' must be at least 1, got 0"}}) {
    const std::string compile(kCompile);
    const std::string text =
        StrCat(compile.substr(0, compile.find("fit:")), "fit:\n  shuffle: true\n  ", fit, "\n");
    ExpectError(Text(kLayers, text), ":16:", {wanted});
  }
}

TEST_F(RecipeTest, ReportsMissingFilesAndNan) {
  auto result = Run(Text(kLayers, kCompile), {StrCat("data.train_images=", Path("none"))});
  EXPECT_EQ(result.status().code(), Code::kNotFound) << result.status().ToString();
  EXPECT_THAT(result.status().ToString(), HasSubstr("none"));
  ExpectError(Text(kLayers, kCompile), ":", {"the loss became "},
              {"compile.optimizer={SGD: {learning_rate: 1.0e+38}}", "compile.loss=mse",
               "model.layers.1.Dense.activation=linear"});
}

}  // namespace
}  // namespace slipway::train
