// SPDX-License-Identifier: Apache-2.0
//
// The files that docs/formats explains byte by byte are what it says they are: the model that they
// make loads and computes w x with the w of its checkpoint, and every byte that a checksum covers
// matters.
#include <gtest/gtest.h>

#include "base/strings.h"
#include "checkpoint/bundle.h"
#include "model/saved_model.h"

namespace slipway::model {
namespace {

// The bytes of docs/formats/examples/NAME.hex: everything but comments.
std::string Bytes(const std::string& name) {
  auto text = ReadFile(Env::Default(), StrCat("docs/formats/examples/", name, ".hex"));
  EXPECT_TRUE(text.ok()) << text.status().ToString();
  std::string bytes, digits;
  bool comment = false;
  for (const char c : text.ok() ? *text : "") {
    comment = c == '#' || (comment && c != '\n');
    if (comment || std::isspace(static_cast<unsigned char>(c)) != 0) continue;
    digits += c;
    if (digits.size() < 2) continue;
    bytes += static_cast<char>(std::stoi(digits, nullptr, 16));
    digits.clear();
  }
  EXPECT_TRUE(digits.empty()) << name;
  return bytes;
}

struct Example {
  std::string model = Bytes("saved_model.pb");
  std::string index = Bytes("variables.index");
  std::string data = Bytes("variables.data");

  // Written to a folder of the test's own.
  std::string Write() const {
    Env* env = Env::Default();
    const std::string folder = StrCat(::testing::TempDir(), "/format_example");
    EXPECT_TRUE(env->CreateDirectories(folder + "/variables").ok());
    EXPECT_TRUE(WriteFile(env, folder + "/saved_model.pb", model).ok());
    EXPECT_TRUE(WriteFile(env, folder + "/variables/variables.index", index).ok());
    EXPECT_TRUE(WriteFile(env, folder + "/variables/variables.data-00000-of-00001", data).ok());
    return folder;
  }
};

TEST(FormatExamples, MakeAModelThatRuns) {
  auto model = SavedModel::Load(Env::Default(), Example().Write());
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  auto signature = (*model)->FindSignature("serving_default");
  ASSERT_TRUE(signature.ok());
  auto outputs = (*signature)->Run({{"x", Tensor::Vector<float>({5, -7})}});
  ASSERT_TRUE(outputs.ok()) << outputs.status().ToString();
  const auto y = outputs->at("y").flat<float>();
  EXPECT_EQ(y[0], 10);
  EXPECT_EQ(y[1], -21);
}

TEST(FormatExamples, TheCheckpointHoldsTheVariableAndTheObjects) {
  auto bundle = BundleReader::Open(Env::Default(), Example().Write() + "/variables/variables");
  ASSERT_TRUE(bundle.ok()) << bundle.status().ToString();
  EXPECT_EQ((*bundle)->entries().size(), 2u);
  auto w = (*bundle)->Read("w/.ATTRIBUTES/VARIABLE_VALUE");
  ASSERT_TRUE(w.ok()) << w.status().ToString();
  EXPECT_EQ(w->flat<float>()[1], 3);
  EXPECT_TRUE((*bundle)->Read("_CHECKPOINTABLE_OBJECT_GRAPH").ok());
}

TEST(FormatExamples, AByteOfTheCheckpointThatIsChangedIsNoticed) {
  const Example whole;
  for (size_t i = 0; i < whole.index.size() + whole.data.size(); ++i) {
    Example changed = whole;
    const bool in_index = i < whole.index.size();
    (in_index ? changed.index[i] : changed.data[i - whole.index.size()]) ^= 1;
    const std::string prefix = changed.Write() + "/variables/variables";
    auto bundle = BundleReader::Open(Env::Default(), prefix);
    const bool noticed = !bundle.ok() || !(*bundle)->Read("w/.ATTRIBUTES/VARIABLE_VALUE").ok() ||
                         !(*bundle)->Read("_CHECKPOINTABLE_OBJECT_GRAPH").ok();
    EXPECT_TRUE(noticed || (in_index && i >= whole.index.size() - 48)) << i;
  }
}

}  // namespace
}  // namespace slipway::model
