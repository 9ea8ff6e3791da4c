// SPDX-License-Identifier: Apache-2.0
//
// The checkpoints of a folder of SavedModels that TensorFlow exported (SLIPWAY_SHARED, ../shared
// if not set); skipped where there is none.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/strings.h"
#include "checkpoint/bundle.h"

namespace slipway {
namespace {

std::string ModelsFolder() {
  const char* shared = std::getenv("SLIPWAY_SHARED");
  return JoinPath(shared != nullptr ? shared : "../shared", "models");
}

TEST(BundleModels, AllOfTheFolderVerifyAndRead) {
  Env* env = Env::Default();
  const auto names = env->ListDirectory(ModelsFolder());
  if (!names.ok()) GTEST_SKIP() << "no models at " << ModelsFolder();
  int bundles = 0;
  int partitioned = 0;
  for (const std::string& name : *names) {
    const std::string prefix =
        JoinPath(ModelsFolder(), StrCat(name, "/saved_model/variables/variables"));
    if (!env->Exists(BundleIndexName(prefix))) continue;
    const Status status = VerifyBundle(env, prefix, {.checksums = true});
    EXPECT_TRUE(status.ok()) << name << ": " << status.ToString();
    const auto reader = BundleReader::Open(env, prefix);
    ASSERT_TRUE(reader.ok()) << name;
    for (const auto& [key, entry] : (*reader)->entries()) {
      const auto tensor = (*reader)->Read(key);
      EXPECT_TRUE(tensor.ok()) << name << ": " << key << ": " << tensor.status().ToString();
      partitioned += !entry.slices.empty();
    }
    ++bundles;
  }
  EXPECT_GT(bundles, 40);
  EXPECT_GT(partitioned, 0);
}

TEST(BundleModels, BrokenOnesAreRefused) {
  Env* env = Env::Default();
  const std::string bad = JoinPath(ModelsFolder(), "bad");
  if (!env->Exists(bad)) GTEST_SKIP() << "no models at " << bad;
  const std::pair<const char*, Code> cases[] = {
      {"corrupt_data", Code::kDataLoss},         {"corrupt_index", Code::kDataLoss},
      {"corrupt_index_footer", Code::kDataLoss}, {"missing_index", Code::kNotFound},
      {"missing_shard", Code::kNotFound},        {"short_shard", Code::kDataLoss}};
  for (const auto& [name, code] : cases) {
    const std::string prefix = JoinPath(bad, StrCat(name, "/saved_model/variables/variables"));
    const Status status = VerifyBundle(env, prefix, {.checksums = true});
    EXPECT_EQ(status.code(), code) << name << ": " << status.ToString();
    EXPECT_NE(status.message().find("variables/variables."), std::string::npos)
        << status.ToString();
  }
}

}  // namespace
}  // namespace slipway
