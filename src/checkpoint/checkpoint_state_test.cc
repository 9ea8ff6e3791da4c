// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/checkpoint_state.h"

#include <gtest/gtest.h>

#include "checkpoint/bundle.h"

namespace slipway {
namespace {

TEST(CheckpointState, ReadsTensorFlows) {
  const auto state = ReadCheckpointState(Env::Default(), "tests/golden/checkpoint/object");
  ASSERT_TRUE(state.ok()) << state.status().ToString();
  EXPECT_EQ(state->model_checkpoint_path, "ckpt-2");
  EXPECT_EQ(state->all_model_checkpoint_paths, (std::vector<std::string>{"ckpt-1", "ckpt-2"}));
  EXPECT_EQ(state->all_model_checkpoint_timestamps,
            (std::vector<double>{1700000000.25, 1700000001.5}));
  EXPECT_EQ(state->last_preserved_timestamp, 1699999999.5);
  EXPECT_EQ(*LatestCheckpoint(Env::Default(), "tests/golden/checkpoint/object"),
            "tests/golden/checkpoint/object/ckpt-2");
}

TEST(CheckpointState, WritesWhatItReads) {
  const auto env = NewMemoryEnv();
  CheckpointState state;
  state.model_checkpoint_path = "odd \"name\"\\\n\x01\xc3\xa9";
  state.all_model_checkpoint_paths = {"a", state.model_checkpoint_path};
  state.all_model_checkpoint_timestamps = {1.5, 1700000001.125};
  ASSERT_TRUE(WriteCheckpointState(env.get(), ".", state).ok());
  const auto back = ReadCheckpointState(env.get(), ".");
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(back->model_checkpoint_path, state.model_checkpoint_path);
  EXPECT_EQ(back->all_model_checkpoint_paths, state.all_model_checkpoint_paths);
  EXPECT_EQ(back->all_model_checkpoint_timestamps, state.all_model_checkpoint_timestamps);
  EXPECT_FALSE(back->last_preserved_timestamp.has_value());
}

TEST(CheckpointState, BadTextIsDataLoss) {
  const auto env = NewMemoryEnv();
  for (const char* text : {"", "model_checkpoint_path", "model_checkpoint_path: \"open", "{}",
                           "model_checkpoint_path: \"a\" last_preserved_timestamp: x",
                           "model_checkpoint_path: \"\\", "model_checkpoint_path: \"\\q\""}) {
    ASSERT_TRUE(WriteFile(env.get(), "checkpoint", text).ok());
    EXPECT_EQ(ReadCheckpointState(env.get(), ".").status().code(), Code::kDataLoss) << text;
  }
  ASSERT_TRUE(env->RemoveFile("checkpoint").ok());
  EXPECT_EQ(ReadCheckpointState(env.get(), ".").status().code(), Code::kNotFound);
}

TEST(CheckpointState, LatestFallsBackAndFollowsMovedDirectories) {
  const auto env = NewMemoryEnv();
  CheckpointState state;
  state.model_checkpoint_path = "/old/place/ckpt-2";
  state.all_model_checkpoint_paths = {"ckpt-1", "/old/place/ckpt-2"};
  ASSERT_TRUE(WriteCheckpointState(env.get(), ".", state).ok());
  EXPECT_EQ(LatestCheckpoint(env.get(), ".").status().code(), Code::kNotFound);
  ASSERT_TRUE(WriteFile(env.get(), "./ckpt-1.index", "").ok());
  EXPECT_EQ(*LatestCheckpoint(env.get(), "."), "./ckpt-1");
  ASSERT_TRUE(WriteFile(env.get(), "./ckpt-2.index", "").ok());
  EXPECT_EQ(*LatestCheckpoint(env.get(), "."), "./ckpt-2");
}

}  // namespace
}  // namespace slipway
