// SPDX-License-Identifier: Apache-2.0
//
// Histories of directories and loads on a clock and a file system that stand still in between.
#include "serve/model_manager.h"

#include <random>
#include <set>

#include "base/strings.h"
#include "gtest/gtest.h"

namespace slipway::serve {
namespace {

class ModelManagerTest : public ::testing::Test {
 protected:
  void Make(std::vector<ModelConfig> models) {
    ModelManagerOptions options;
    options.env = env_.get();
    options.clock = &clock_;
    options.metrics = &families_;
    options.load_threads = 0;
    options.load = [this](const ModelConfig& model, int64_t version,
                          const std::string&) -> StatusOr<std::unique_ptr<Servable>> {
      loads_.push_back(StrCat(model.name, version));
      if (during_load_) during_load_();
      if (broken_.contains(version)) return InternalError("broken");
      if (!env_->Exists(StrCat("/", model.name, "/", version, "/saved_model.pb")))
        return NotFoundError("no graph");
      return std::make_unique<Servable>(version, nullptr);
    };
    auto manager = ModelManager::Create(std::move(models), std::move(options));
    ASSERT_TRUE(manager.ok());
    manager_ = *std::move(manager);
  }
  void Write(const std::string& model, int64_t version) {
    const std::string directory = StrCat("/", model, "/", version);
    ASSERT_TRUE(env_->CreateDirectories(directory).ok());
    ASSERT_TRUE(WriteFile(env_.get(), JoinPath(directory, "saved_model.pb"), "x").ok());
  }
  void Remove(const std::string& model, int64_t version) {
    ASSERT_TRUE(env_->RemoveTree(StrCat("/", model, "/", version)).ok());
  }
  void Look() {
    manager_->Tick(true);
    clock_.Advance(std::chrono::seconds(1));
    manager_->Tick(true);
  }
  int64_t Serving(std::string_view model = "m") {
    const Registry::Found found = manager_->registry().Find(model);
    return found.lease ? found.lease->version() : -1;
  }
  std::string States(std::string_view model = "m") {
    const auto rows = manager_->Statuses(model);
    if (!rows.ok()) return std::string(rows.status().message());
    std::string text;
    for (const VersionStatus& row : *rows)
      StrAppend(&text, row.version, "=", static_cast<int>(row.state), " ");
    return text;
  }

  std::unique_ptr<Env> env_ = NewMemoryEnv();
  FakeClock clock_;
  MetricsRegistry metrics_;
  ServeMetrics families_{&metrics_};
  std::vector<std::string> loads_;
  std::set<int64_t> broken_;
  std::function<void()> during_load_;
  std::unique_ptr<ModelManager> manager_;
};

TEST_F(ModelManagerTest, SwapsWithTheOldOneInServiceUntilTheEnd) {
  Write("m", 1);
  Make({{"m", "/m"}});
  EXPECT_EQ(manager_->Ready().code(), Code::kUnavailable);
  Look();
  EXPECT_TRUE(manager_->Ready().ok());
  EXPECT_EQ(Serving(), 1);

  Write("m", 2);
  during_load_ = [this] { EXPECT_EQ(Serving(), 1) << "while 2 is loaded"; };
  Registry::Found held = manager_->registry().Find("m");
  Look();
  EXPECT_EQ(Serving(), 2);
  EXPECT_EQ(States(), "2=30 1=40 ") << "1 waits for its lease";
  held.lease = Lease();
  EXPECT_EQ(States(), "2=30 1=50 ");

  during_load_ = [this] { EXPECT_EQ(Serving(), 2) << "while 1 is loaded again"; };
  Remove("m", 2);
  Look();
  EXPECT_EQ(Serving(), 1);
  EXPECT_EQ(loads_, (std::vector<std::string>{"m1", "m2", "m1"}));
}

TEST_F(ModelManagerTest, BrokenAndIncompleteVersionsLeaveTheOldOneAlone) {
  Write("m", 1);
  Make({{"m", "/m"}});
  Look();
  broken_ = {2};
  Write("m", 2);
  Look();
  EXPECT_EQ(States(), "2=50 1=30 ");
  ASSERT_TRUE(env_->CreateDirectories("/m/3").ok());
  Look();
  EXPECT_EQ(States(), "3=10 2=50 1=30 ");
  EXPECT_EQ(Serving(), 1);
  Write("m", 3);
  Look();
  EXPECT_EQ(Serving(), 3);
}

TEST_F(ModelManagerTest, OneMissingBasePathIsThatModelsAffair) {
  Write("a", 1);
  Write("b", 1);
  Make({{"a", "/a"}, {"b", "/b"}});
  Look();
  ASSERT_TRUE(env_->RemoveTree("/a").ok());
  Write("b", 2);
  Look();
  EXPECT_EQ(Serving("a"), 1) << "what is loaded stays";
  EXPECT_EQ(Serving("b"), 2);
  EXPECT_EQ(States("nope"), "Could not find any versions of model nope");
}

TEST_F(ModelManagerTest, AFirstVersionThatNeverLoadsIsSaid) {
  broken_ = {7};
  Write("m", 7);
  Make({{"m", "/m"}});
  Look();
  const Status ready = manager_->Ready();
  EXPECT_EQ(ready.code(), Code::kFailedPrecondition);
  EXPECT_EQ(ready.message(),
            "1 servable(s) did not become available: {{name: m version 7: broken}}");
}

TEST_F(ModelManagerTest, StopWaitsForNothingButLeases) {
  Write("m", 1);
  Make({{"m", "/m"}});
  Look();
  manager_->Stop();
  EXPECT_EQ(Serving(), -1);
  EXPECT_EQ(manager_->Tick(true), INT64_MAX);
}

TEST_F(ModelManagerTest, NamesAreThereAndUnique) {
  ModelManagerOptions options;
  options.metrics = &families_;
  EXPECT_EQ(ModelManager::Create({{"", "/m"}}, options).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(ModelManager::Create({{"m", "/m"}, {"m", "/n"}}, options).status().message(),
            "Illegal to list model m multiple times in config; rename or remove one");
}

// Random histories, each told by its seed: directories come and go, loads break and mend. Once
// something is served, something is served at every moment for as long as a directory is there, and
// in the end the highest version that loads is.
TEST_F(ModelManagerTest, RandomHistories) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    std::mt19937 random(seed);
    env_ = NewMemoryEnv();
    broken_.clear();
    std::set<int64_t> present = {1};
    Write("m", 1);
    Make({{"m", "/m"}});
    Look();
    during_load_ = [this] { ASSERT_NE(Serving(), -1); };
    for (int step = 0; step < 40; ++step) {
      const int64_t version = 1 + random() % 6;
      switch (random() % 4) {
        case 0:
          if (present.insert(version).second) Write("m", version);
          break;
        case 1:
          if (present.size() > 1 && present.erase(version) > 0) Remove("m", version);
          break;
        case 2:
          if (Serving() != version && !broken_.erase(version)) broken_.insert(version);
          break;
        case 3:
          clock_.Advance(std::chrono::milliseconds(random() % 3000));
          break;
      }
      manager_->Tick(random() % 2 == 0);
      ASSERT_NE(Serving(), -1) << "step " << step;
    }
    during_load_ = nullptr;
    broken_.clear();
    for (int i = 0; i < 4; ++i) {
      clock_.Advance(std::chrono::seconds(120));
      manager_->Tick(true);
    }
    EXPECT_EQ(Serving(), *present.rbegin());
    manager_.reset();
  }
}

}  // namespace
}  // namespace slipway::serve
