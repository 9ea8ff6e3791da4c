// SPDX-License-Identifier: Apache-2.0
#include "serve/model_lifecycle.h"

#include "base/strings.h"
#include "gtest/gtest.h"

namespace slipway::serve {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

class ModelLifecycleTest : public ::testing::Test {
 protected:
  // "1:a 2:b": version and fingerprint.
  void See(std::string_view text) {
    std::vector<ModelLifecycle::Seen> seen;
    for (std::string_view word : StrSplit(text, ' ')) {
      if (word.empty()) continue;
      const size_t at = word.find(':');
      seen.push_back({*ParseInt64(word.substr(0, at)), std::string(word.substr(at + 1))});
    }
    book_.Observe(seen, now_);
  }
  std::string Next() {
    const VersionAction action = book_.Next(now_);
    if (action.kind == VersionAction::Kind::kNone) return "none";
    return StrCat(action.kind == VersionAction::Kind::kLoad ? "load " : "unload ", action.version);
  }
  bool Loaded(int64_t version) { return book_.LoadDone(version, OkStatus(), now_); }
  void Failed(int64_t version, Status status) {
    EXPECT_FALSE(book_.LoadDone(version, status, now_));
  }
  std::string States() {
    std::string text;
    for (const VersionStatus& row : book_.Statuses(now_)) {
      StrAppend(&text, row.version, "=", VersionStateName(row.state),
                row.status.ok() ? std::string_view() : CodeName(row.status.code()), " ");
    }
    return text;
  }

  LifecycleOptions options_;
  ModelLifecycle book_{options_};
  int64_t now_ = 100 * kSecond;
};

TEST_F(ModelLifecycleTest, SwapAndRollBack) {
  See("1:a");
  EXPECT_EQ(Next(), "load 1");
  EXPECT_EQ(Next(), "none");
  EXPECT_EQ(States(), "1=LOADING ");
  EXPECT_TRUE(Loaded(1));
  See("1: 2:b");
  EXPECT_EQ(Next(), "none") << "it was seen just now and may still be written";
  EXPECT_EQ(book_.NextWakeup(now_), now_ + options_.quiet_ns);
  now_ += options_.quiet_ns;
  EXPECT_EQ(Next(), "load 2");
  EXPECT_EQ(States(), "2=LOADING 1=AVAILABLE ");
  EXPECT_TRUE(Loaded(2));
  EXPECT_EQ(Next(), "unload 1");
  EXPECT_EQ(States(), "2=AVAILABLE 1=UNLOADING ");
  book_.UnloadDone(1, now_);
  EXPECT_EQ(Next(), "none");
  EXPECT_EQ(States(), "2=AVAILABLE 1=END ");

  See("1:a");
  EXPECT_EQ(Next(), "load 1") << "roll-back does not wait";
  EXPECT_EQ(Next(), "none");
  EXPECT_TRUE(Loaded(1));
  EXPECT_EQ(Next(), "unload 2");
  book_.UnloadDone(2, now_);
  EXPECT_EQ(States(), "2=END 1=AVAILABLE ");
}

TEST_F(ModelLifecycleTest, AnIncompleteVersionIsLookedAtWhenItChanges) {
  See("1:a");
  Next();
  Loaded(1);
  See("1: 2:half");
  now_ += options_.quiet_ns;
  EXPECT_EQ(Next(), "load 2");
  Failed(2, NotFoundError("no shard"));
  EXPECT_EQ(States(), "2=STARTNOT_FOUND 1=AVAILABLE ");
  EXPECT_EQ(Next(), "none");
  See("1: 2:more");
  EXPECT_EQ(Next(), "none");
  now_ += options_.quiet_ns / 2;
  See("1: 2:most");
  now_ += options_.quiet_ns / 2;
  EXPECT_EQ(Next(), "none") << "still being written";
  now_ += options_.quiet_ns / 2;
  EXPECT_EQ(Next(), "load 2");
  EXPECT_TRUE(Loaded(2));
  EXPECT_EQ(Next(), "unload 1");
}

TEST_F(ModelLifecycleTest, AnIncompleteVersionThatDoesNotChangeHasEnded) {
  See("2:half");
  EXPECT_EQ(Next(), "load 2") << "what is there at the start is not waited for";
  Failed(2, DataLossError("cut"));
  EXPECT_EQ(States(), "2=STARTDATA_LOSS ");
  EXPECT_TRUE(book_.GivenUp(now_).ok());
  now_ += options_.settle_ns;
  EXPECT_EQ(States(), "2=ENDDATA_LOSS ");
  EXPECT_EQ(book_.GivenUp(now_).code(), Code::kDataLoss);
  See("2:more");
  EXPECT_EQ(States(), "2=STARTDATA_LOSS ");
  EXPECT_TRUE(book_.GivenUp(now_).ok());
  now_ += options_.quiet_ns;
  EXPECT_EQ(Next(), "load 2");
  EXPECT_TRUE(Loaded(2));
  EXPECT_EQ(States(), "2=AVAILABLE ");
}

TEST_F(ModelLifecycleTest, FailedLoadsBackOff) {
  See("1:a");
  int64_t delay = options_.first_retry_ns;
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(Next(), "load 1");
    Failed(1, UnimplementedError("an op"));
    EXPECT_EQ(States(), "1=ENDUNIMPLEMENTED ");
    EXPECT_EQ(book_.NextWakeup(now_), now_ + delay);
    now_ += delay - 1;
    EXPECT_EQ(Next(), "none");
    now_ += 1;
    delay = std::min(delay * 2, options_.max_retry_ns);
  }
  See("1:changed");
  now_ += options_.quiet_ns;
  EXPECT_EQ(Next(), "load 1");
  EXPECT_TRUE(Loaded(1));
  EXPECT_EQ(States(), "1=AVAILABLE ");
}

TEST_F(ModelLifecycleTest, RetriesCanBeLimited) {
  options_.max_retries = 1;
  book_ = ModelLifecycle(options_);
  See("1:a");
  EXPECT_EQ(Next(), "load 1");
  Failed(1, InternalError("x"));
  EXPECT_TRUE(book_.GivenUp(now_).ok());
  now_ += kSecond;
  EXPECT_EQ(Next(), "load 1");
  Failed(1, InternalError("x"));
  EXPECT_EQ(book_.GivenUp(now_).code(), Code::kInternal);
  now_ += 1000 * kSecond;
  EXPECT_EQ(Next(), "none");
  EXPECT_EQ(book_.NextWakeup(now_), INT64_MAX);
}

TEST_F(ModelLifecycleTest, ABrokenVersionFallsBackToTheOneBelow) {
  See("1:a 2:b");
  EXPECT_EQ(Next(), "load 2");
  Failed(2, InternalError("x"));
  EXPECT_EQ(Next(), "load 1");
  Loaded(1);
  EXPECT_EQ(Next(), "none");
  now_ += options_.first_retry_ns;
  EXPECT_EQ(Next(), "load 2") << "and is tried again beside it";
  Loaded(2);
  EXPECT_EQ(Next(), "unload 1");
}

TEST_F(ModelLifecycleTest, RemovedWhileLoading) {
  See("1:a");
  Next();
  Loaded(1);
  See("1: 2:b");
  now_ += kSecond;
  EXPECT_EQ(Next(), "load 2");
  See("1:");
  EXPECT_FALSE(Loaded(2));
  EXPECT_EQ(Next(), "none");
  EXPECT_EQ(States(), "2=END 1=AVAILABLE ");
}

TEST_F(ModelLifecycleTest, RemovingTheOnlyVersionEndsIt) {
  See("1:a");
  Next();
  Loaded(1);
  See("");
  EXPECT_EQ(Next(), "unload 1");
  book_.UnloadDone(1, now_);
  EXPECT_EQ(States(), "1=END ");
  See("1:a");
  now_ += kSecond;
  EXPECT_EQ(Next(), "load 1");
}

TEST_F(ModelLifecycleTest, HistoryIsBounded) {
  for (int version = 1; version <= 200; ++version) {
    See(StrCat(version, ":a"));
    now_ += kSecond;
    EXPECT_EQ(Next(), StrCat("load ", version));
    EXPECT_TRUE(Loaded(version));
    if (version > 1) {
      EXPECT_EQ(Next(), StrCat("unload ", version - 1));
      book_.UnloadDone(version - 1, now_);
    }
  }
  EXPECT_EQ(book_.Statuses(now_).size(), options_.history + 1);
  EXPECT_EQ(book_.Statuses(now_)[1].version, 199);
}

TEST_F(ModelLifecycleTest, OlderDirectoriesAreNotRows) {
  See("1:a 2:b 3:c");
  EXPECT_EQ(Next(), "load 3");
  Loaded(3);
  See("1: 2: 3:");
  EXPECT_EQ(States(), "3=AVAILABLE ");
}

}  // namespace
}  // namespace slipway::serve
