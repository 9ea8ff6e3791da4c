// SPDX-License-Identifier: Apache-2.0
#include "serve/version_policy.h"

#include <string>
#include <vector>

#include "base/strings.h"
#include "gtest/gtest.h"

namespace slipway::serve {
namespace {

// "3+idle" is present, "3-avail" is not.
std::vector<VersionView> Parse(std::string_view text) {
  std::vector<VersionView> views;
  for (std::string_view word : StrSplit(text, ' ')) {
    if (word.empty()) continue;
    const size_t at = word.find_first_of("+-");
    const std::string_view stage = word.substr(at + 1);
    VersionView view{*ParseInt64(word.substr(0, at)), VersionStage::kIdle, word[at] == '+'};
    if (stage == "blocked") view.stage = VersionStage::kBlocked;
    if (stage == "loading") view.stage = VersionStage::kLoading;
    if (stage == "avail") view.stage = VersionStage::kAvailable;
    if (stage == "unloading") view.stage = VersionStage::kUnloading;
    views.push_back(view);
  }
  return views;
}

std::string Action(std::string_view text, const VersionPolicy& policy = {}) {
  const VersionAction action = NextVersionAction(policy, Parse(text));
  switch (action.kind) {
    case VersionAction::Kind::kNone:
      return "none";
    case VersionAction::Kind::kLoad:
      return StrCat("load ", action.version);
    case VersionAction::Kind::kUnload:
      return StrCat("unload ", action.version);
  }
  return "?";
}

TEST(VersionPolicy, Table) {
  const struct {
    const char* why;
    const char* versions;
    const char* wanted;
  } cases[] = {
      {"nothing there", "", "none"},
      {"the first version", "1+idle", "load 1"},
      {"the latest of several", "17+idle 42+idle 3+idle", "load 42"},
      {"wait for the load", "1+loading", "none"},
      {"served", "1+avail", "none"},
      {"a new one is loaded beside the old one", "1+avail 2+idle", "load 2"},
      {"the old one stays while the new one loads", "1+avail 2+loading", "none"},
      {"and goes when it answers", "1+avail 2+avail", "unload 1"},
      {"the lowest goes first", "2+avail 1+avail 3+avail", "unload 1"},
      {"one load at a time", "1+loading 2+idle", "none"},
      {"an incomplete one is no reason to let the old one go", "1+avail 2+blocked", "none"},
      {"the latest that can be loaded", "1+idle 2+blocked", "load 1"},
      {"a blocked one alone", "2+blocked", "none"},
      {"roll-back: the lower one is loaded first", "1+idle 2-avail", "load 1"},
      {"roll-back: both answer", "1+avail 2-avail", "unload 2"},
      {"roll-back to one that fails keeps what answers", "1+blocked 2-avail", "none"},
      {"the only directory was removed", "1-avail", "unload 1"},
      {"all directories were removed", "1-avail 2-avail", "unload 2"},
      {"removed while it loads", "1+avail 2-loading", "none"},
      {"came back while it unloads", "1+unloading", "none"},
      {"an old one still unloads", "1-unloading 2+avail", "none"},
      {"zero is a version", "0+idle", "load 0"},
  };
  for (const auto& c : cases) EXPECT_EQ(Action(c.versions), c.wanted) << c.why;
}

TEST(VersionPolicy, SeveralVersions) {
  const VersionPolicy two{.latest = 2};
  const VersionPolicy all{.kind = VersionPolicy::Kind::kAll};
  const VersionPolicy some{.kind = VersionPolicy::Kind::kSpecific, .specific = {2, 5}};
  const VersionPolicy none{.kind = VersionPolicy::Kind::kSpecific};
  const struct {
    const VersionPolicy* policy;
    const char* versions;
    const char* wanted;
  } cases[] = {
      {&two, "1+idle 2+idle 3+idle", "load 3"},
      {&two, "1+idle 2+idle 3+avail", "load 2"},
      {&two, "1+idle 2+avail 3+avail", "none"},
      {&two, "1+avail 2+avail 3+idle", "load 3"},
      {&two, "1+avail 2+avail 3+avail", "unload 1"},
      {&two, "1+idle 2+blocked 3+avail", "load 1"},
      {&two, "1+avail 2+loading 3+avail", "none"},
      {&all, "1+idle 2+avail 3+idle", "load 3"},
      {&all, "1+idle 2+avail 3+avail", "load 1"},
      {&all, "1+avail 2-avail 3+avail", "unload 2"},
      {&some, "1+idle 2+idle 5+idle 7+idle", "load 5"},
      {&some, "2+idle 5+avail 7+idle", "load 2"},
      {&some, "2+avail 5+avail 7+avail", "unload 7"},
      {&some, "2+idle 7+avail", "load 2"},
      {&some, "2+blocked 7+avail", "none"},
      {&some, "7+avail 8+avail", "unload 8"},
      {&none, "1+idle 2+idle", "none"},
      {&none, "1+avail 2+avail", "unload 2"},
  };
  for (const auto& c : cases) EXPECT_EQ(Action(c.versions, *c.policy), c.wanted) << c.versions;
}

// Whatever happens to the directories, once a version answers there is always one that does, as
// long as any directory is there: all histories of a few steps.
TEST(VersionPolicy, NeverWithoutAVersionWhileOneIsPresent) {
  constexpr int kSteps = 7;
  constexpr int kMoves = 5;
  int64_t histories = 1;
  for (int i = 0; i < kSteps; ++i) histories *= kMoves;
  for (int64_t history = 0; history < histories; ++history) {
    std::vector<VersionView> views = {{1, VersionStage::kAvailable, true},
                                      {2, VersionStage::kIdle, false},
                                      {3, VersionStage::kIdle, false}};
    int64_t rest = history;
    for (int step = 0; step < kSteps; ++step, rest /= kMoves) {
      // A move: a directory comes or goes, or a load ends well or badly.
      const int move = static_cast<int>(rest % kMoves);
      if (move < 3) {
        views[static_cast<size_t>(move)].present ^= true;
      } else {
        for (VersionView& view : views) {
          if (view.stage != VersionStage::kLoading) continue;
          view.stage = move == 3 ? VersionStage::kAvailable : VersionStage::kBlocked;
        }
      }
      bool present = false;
      for (const VersionView& view : views) present |= view.present;
      for (int i = 0; i < 10; ++i) {
        const VersionAction action = NextVersionAction({}, views);
        if (action.kind == VersionAction::Kind::kNone) break;
        VersionView& view = views[static_cast<size_t>(action.version - 1)];
        const bool load = action.kind == VersionAction::Kind::kLoad;
        ASSERT_EQ(view.stage, load ? VersionStage::kIdle : VersionStage::kAvailable);
        view.stage = load ? VersionStage::kLoading : VersionStage::kIdle;
        bool available = false;
        for (const VersionView& v : views) available |= v.stage == VersionStage::kAvailable;
        ASSERT_TRUE(load || !present || available) << "history " << history;
      }
    }
  }
}

}  // namespace
}  // namespace slipway::serve
