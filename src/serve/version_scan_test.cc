// SPDX-License-Identifier: Apache-2.0
#include "serve/version_scan.h"

#include "base/strings.h"
#include "checkpoint/bundle.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "wire/coding.h"

namespace slipway::serve {
namespace {

using ::testing::HasSubstr;

std::string GraphBytes() {
  std::string bytes;
  ProtoWriter writer(&bytes);
  writer.Varint(1, 1);
  writer.Bytes(2, "stands for a MetaGraph");
  return bytes;
}

void WriteVariables(Env* env, const std::string& directory) {
  auto writer = BundleWriter::Create(env, JoinPath(directory, "variables/variables"));
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)->Add("w", Tensor::Vector<float>({1, 2, 3, 4})).ok());
  ASSERT_TRUE((*writer)->Finish().ok());
}

class VersionScanTest : public ::testing::Test {
 protected:
  void Directory(const std::string& path) { ASSERT_TRUE(env_->CreateDirectories(path).ok()); }
  std::unique_ptr<Env> env_ = NewMemoryEnv();
};

TEST_F(VersionScanTest, OnlyNumbersAreVersions) {
  for (const char* name : {"2", "00017", "20170111173521", "9223372036854775808", "temp-2", "3.tmp",
                           "v4", "_5", "-6", "+7", " 8"}) {
    Directory(JoinPath("/m", name));
  }
  ASSERT_TRUE(WriteFile(env_.get(), "/m/99", "a file").ok());
  const auto versions = ScanVersions(env_.get(), "/m");
  ASSERT_TRUE(versions.ok());
  std::string seen;
  for (const auto& v : *versions) StrAppend(&seen, v.version, "=", v.path, " ");
  EXPECT_EQ(seen, "2=/m/2 17=/m/00017 20170111173521=/m/20170111173521 ");
}

TEST_F(VersionScanTest, EqualNumbersAreOneVersion) {
  for (const char* name : {"1", "001", "00001"}) Directory(JoinPath("/m", name));
  const auto versions = ScanVersions(env_.get(), "/m");
  ASSERT_TRUE(versions.ok());
  EXPECT_EQ(versions->size(), 1u);
}

TEST_F(VersionScanTest, MissingBasePathIsSaid) {
  EXPECT_EQ(ScanVersions(env_.get(), "/nowhere").status().code(), Code::kNotFound);
}

TEST_F(VersionScanTest, AModelWithoutVariablesIsComplete) {
  Directory("/m/1");
  EXPECT_EQ(CheckVersionComplete(env_.get(), "/m/1").code(), Code::kNotFound);
  ASSERT_TRUE(WriteFile(env_.get(), "/m/1/saved_model.pb", GraphBytes()).ok());
  EXPECT_TRUE(CheckVersionComplete(env_.get(), "/m/1").ok());
}

TEST_F(VersionScanTest, EveryPrefixOfTheGraphIsIncomplete) {
  Directory("/m/1");
  const std::string whole = GraphBytes();
  for (size_t size = 0; size < whole.size(); ++size) {
    ASSERT_TRUE(WriteFile(env_.get(), "/m/1/saved_model.pb", whole.substr(0, size)).ok());
    EXPECT_EQ(CheckVersionComplete(env_.get(), "/m/1").code(), Code::kDataLoss) << size;
  }
}

TEST_F(VersionScanTest, CopiedIndexFirstShardLater) {
  WriteVariables(env_.get(), "/source");
  const std::string shard = BundleDataName("/source/variables/variables", 0, 1);
  const auto index = ReadFile(env_.get(), "/source/variables/variables.index");
  const auto data = ReadFile(env_.get(), shard);
  ASSERT_TRUE(index.ok() && data.ok());

  Directory("/m/1/variables");
  ASSERT_TRUE(WriteFile(env_.get(), "/m/1/saved_model.pb", GraphBytes()).ok());
  EXPECT_EQ(CheckVersionComplete(env_.get(), "/m/1").code(), Code::kNotFound);
  ASSERT_TRUE(WriteFile(env_.get(), "/m/1/variables/variables.index", *index).ok());
  EXPECT_EQ(CheckVersionComplete(env_.get(), "/m/1").code(), Code::kNotFound);

  const std::string target = JoinPath("/m/1/variables", Basename(shard));
  std::string before = VersionFingerprint(env_.get(), "/m/1");
  for (size_t size = 0; size < data->size(); ++size) {
    ASSERT_TRUE(WriteFile(env_.get(), target, data->substr(0, size)).ok());
    EXPECT_FALSE(CheckVersionComplete(env_.get(), "/m/1").ok()) << size;
    const std::string after = VersionFingerprint(env_.get(), "/m/1");
    EXPECT_NE(before, after);
    before = after;
  }
  ASSERT_TRUE(WriteFile(env_.get(), target, *data).ok());
  EXPECT_TRUE(CheckVersionComplete(env_.get(), "/m/1").ok());

  std::string flipped = *data;
  flipped[3] = static_cast<char>(flipped[3] ^ 1);
  ASSERT_TRUE(WriteFile(env_.get(), target, flipped).ok());
  const Status damaged = CheckVersionComplete(env_.get(), "/m/1");
  EXPECT_EQ(damaged.code(), Code::kDataLoss);
  EXPECT_THAT(std::string(damaged.message()), HasSubstr("variables"));
}

}  // namespace
}  // namespace slipway::serve
