// SPDX-License-Identifier: Apache-2.0
#include "base/directory_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <filesystem>

#include "base/env.h"
#include "base/random.h"
#include "base/strings.h"

namespace slipway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DirectoryWatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = StrCat(::testing::TempDir(), "slipway_watch_test_", RandomSeed());
    a_ = root_ + "/a";
    b_ = root_ + "/b";
    ASSERT_TRUE(env_->CreateDirectories(a_).ok());
    ASSERT_TRUE(env_->CreateDirectories(b_).ok());
    watch_.Add(a_);
    watch_.Add(b_);
    if (watch_.PollingNeeded()) GTEST_SKIP() << root_ << " cannot be watched here";
  }
  void TearDown() override { EXPECT_TRUE(env_->RemoveTree(root_).ok()); }

  bool Readable() const {
    pollfd entry = {watch_.fd(), POLLIN, 0};
    return poll(&entry, 1, 0) == 1;
  }

  Env* env_ = Env::Default();
  std::string root_, a_, b_;
  DirectoryWatch watch_;
};

TEST_F(DirectoryWatchTest, TellsWhichDirectoryChanged) {
  EXPECT_FALSE(Readable());
  EXPECT_THAT(watch_.Drain(), IsEmpty());
  ASSERT_TRUE(env_->CreateDirectories(a_ + "/1").ok());
  EXPECT_TRUE(Readable());
  EXPECT_THAT(watch_.Drain(), ElementsAre(a_));
  EXPECT_FALSE(Readable());
  ASSERT_TRUE(WriteFile(env_, b_ + "/file", "x").ok());
  ASSERT_TRUE(env_->Rename(b_ + "/file", a_ + "/file").ok());
  EXPECT_THAT(watch_.Drain(), ElementsAre(a_, b_));
  ASSERT_TRUE(env_->RemoveFile(a_ + "/file").ok());
  EXPECT_THAT(watch_.Drain(), ElementsAre(a_));
}

TEST_F(DirectoryWatchTest, StopsWatching) {
  watch_.Remove(a_);
  ASSERT_TRUE(env_->CreateDirectories(a_ + "/1").ok());
  EXPECT_THAT(watch_.Drain(), IsEmpty());
  watch_.Remove(a_);
  watch_.Add(a_);
  ASSERT_TRUE(env_->CreateDirectories(a_ + "/2").ok());
  EXPECT_THAT(watch_.Drain(), ElementsAre(a_));
}

TEST_F(DirectoryWatchTest, WaitsForADirectoryThatComesLater) {
  const std::string c = root_ + "/c";
  watch_.Add(c);
  EXPECT_TRUE(watch_.PollingNeeded());
  EXPECT_THAT(watch_.Drain(), IsEmpty());
  ASSERT_TRUE(env_->CreateDirectories(c).ok());
  EXPECT_THAT(watch_.Drain(), ElementsAre(c));
  EXPECT_FALSE(watch_.PollingNeeded());
  ASSERT_TRUE(WriteFile(env_, c + "/file", "x").ok());
  EXPECT_THAT(watch_.Drain(), ElementsAre(c));
}

TEST_F(DirectoryWatchTest, SurvivesRemovalAndReplacement) {
  ASSERT_TRUE(env_->RemoveTree(a_).ok());
  EXPECT_THAT(watch_.Drain(), ElementsAre(a_));
  EXPECT_TRUE(watch_.PollingNeeded());
  ASSERT_TRUE(env_->Rename(b_, a_).ok());
  EXPECT_THAT(watch_.Drain(), ElementsAre(a_, b_));
  ASSERT_TRUE(env_->CreateDirectories(a_ + "/1").ok());
  EXPECT_THAT(watch_.Drain(), ElementsAre(a_));
}

TEST_F(DirectoryWatchTest, TwoNamesOfOneDirectoryBothChange) {
  const std::string link = root_ + "/link";
  std::filesystem::create_directory_symlink(a_, link);
  watch_.Add(link);
  ASSERT_TRUE(env_->CreateDirectories(a_ + "/1").ok());
  EXPECT_THAT(watch_.Drain(), ElementsAre(a_, link));
}

TEST_F(DirectoryWatchTest, AsksForPollingWhereItCannotWatch) {
  ASSERT_TRUE(WriteFile(env_, root_ + "/file", "x").ok());
  for (const std::string& path : {root_ + "/file", std::string("gs://bucket/models")}) {
    DirectoryWatch watch;
    watch.Add(path);
    EXPECT_TRUE(watch.PollingNeeded()) << path;
    watch.Remove(path);
    EXPECT_FALSE(watch.PollingNeeded()) << path;
  }
}

}  // namespace
}  // namespace slipway
