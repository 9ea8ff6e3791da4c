// SPDX-License-Identifier: Apache-2.0
#include "train/checkpoint_manager.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <vector>

#include "base/strings.h"
#include "checkpoint/bundle.h"
#include "checkpoint/checkpoint_state.h"

namespace slipway::train {
namespace {

std::string TestFolder(const std::string& name) {
  std::string folder = StrCat(testing::TempDir(), "slipway_manager_", name);
  EXPECT_TRUE(Env::Default()->RemoveTree(folder).ok());
  return folder;
}

// A checkpoint whose tensors all hold its number.
Status WriteNumbered(Env* env, const std::string& prefix, int64_t number) {
  ASSIGN_OR_RETURN(auto writer, BundleWriter::Create(env, prefix));
  for (const char* key : {"a", "b", "c"}) {
    Tensor value(DType::kInt64, Shape({20'000}));
    for (int64_t& element : value.flat<int64_t>()) element = number;
    RETURN_IF_ERROR(writer->Add(key, value));
  }
  return writer->Finish();
}

Status SaveNumbered(CheckpointManager& manager, int64_t number) {
  return manager.Save(number, [&](const std::string& prefix) {
    return WriteNumbered(Env::Default(), prefix, number);
  });
}

// The number that the latest checkpoint holds in every element; -1 if there is no checkpoint.
StatusOr<int64_t> LatestNumber(const std::string& folder) {
  CheckpointManager manager(Env::Default(), folder, 2);
  ASSIGN_OR_RETURN(std::optional<std::string> latest, manager.Latest());
  if (!latest) return int64_t{-1};
  ASSIGN_OR_RETURN(auto reader, BundleReader::Open(Env::Default(), *latest));
  int64_t number = -1;
  for (const char* key : {"a", "b", "c"}) {
    ASSIGN_OR_RETURN(Tensor value, reader->Read(key));
    if (number < 0) number = value.flat<int64_t>()[0];
    for (int64_t element : value.flat<int64_t>()) {
      if (element != number) return DataLossError(StrCat(key, " holds ", element, " in ", number));
    }
  }
  return number;
}

TEST(CheckpointManagerTest, KeepsTheNewest) {
  std::string folder = TestFolder("keep");
  CheckpointManager manager(Env::Default(), folder, 2);
  EXPECT_FALSE(manager.Latest()->has_value());
  for (int64_t number : {10, 20, 30}) ASSERT_TRUE(SaveNumbered(manager, number).ok());
  EXPECT_EQ(*LatestNumber(folder), 30);
  EXPECT_EQ(*LatestCheckpoint(Env::Default(), folder), JoinPath(folder, "ckpt-30"));
  EXPECT_FALSE(Env::Default()->Exists(JoinPath(folder, "ckpt-10.index")));
  EXPECT_TRUE(Env::Default()->Exists(JoinPath(folder, "ckpt-20.index")));
  ASSERT_TRUE(manager.DeleteAll().ok());
  EXPECT_TRUE(Env::Default()->ListDirectory(folder)->empty());
}

TEST(CheckpointManagerTest, PassesOverADamagedOne) {
  std::string folder = TestFolder("damaged");
  CheckpointManager manager(Env::Default(), folder, 2);
  for (int64_t number : {1, 2}) ASSERT_TRUE(SaveNumbered(manager, number).ok());
  std::string data = BundleDataName(JoinPath(folder, "ckpt-2"), 0, 1);
  std::string bytes = *ReadFile(Env::Default(), data);
  bytes[bytes.size() / 2] ^= 1;
  ASSERT_TRUE(WriteFile(Env::Default(), data, bytes).ok());
  EXPECT_EQ(*LatestNumber(folder), 1);
}

TEST(CheckpointManagerTest, AFailedWriteLeavesTheLatest) {
  std::string folder = TestFolder("failed");
  CheckpointManager manager(Env::Default(), folder, 1);
  ASSERT_TRUE(SaveNumbered(manager, 1).ok());
  Status status = manager.Save(
      2, [](const std::string&) { return ResourceExhaustedError("no space left on the disk"); });
  EXPECT_EQ(status.code(), Code::kResourceExhausted);
  EXPECT_EQ(*LatestNumber(folder), 1);
}

// Each would remove what the other is about to name, and lose its entry of the state.
TEST(CheckpointManagerTest, TwoTrainingsAtOnceLeaveAWholeOne) {
  std::string folder = TestFolder("at_once");
  std::vector<std::thread> trainings;
  for (int i = 0; i < 2; ++i) {
    trainings.emplace_back([&] {
      CheckpointManager manager(Env::Default(), folder, 1);
      for (int64_t number = 1; number <= 12; ++number) {
        Status saved = SaveNumbered(manager, number);
        EXPECT_TRUE(saved.ok()) << saved.ToString();
      }
    });
  }
  for (std::thread& training : trainings) training.join();
  EXPECT_EQ(*LatestNumber(folder), 12);
  // A checkpoint that replaces one of its name has its data in files of other names.
  const auto files = Env::Default()->ListDirectory(folder);
  ASSERT_TRUE(files.ok());
  for (const std::string& file : *files) {
    EXPECT_TRUE(file == "checkpoint" || file.starts_with("ckpt-12.")) << file;
  }
}

// A child saves checkpoint after checkpoint, one under the name of the other too, and is killed
// somewhere; what is left is whole, and never older than what was reported as saved.
TEST(CheckpointManagerTest, SurvivesKillAtAnyMoment) {
  std::string folder = TestFolder("kill");
  int64_t saved_before = 0;
  for (int round = 0; round < 40; ++round) {
    int report[2];
    ASSERT_EQ(pipe(report), 0);
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      CheckpointManager manager(Env::Default(), folder, 1 + round % 2);
      for (int64_t number = saved_before + 1;; ++number) {
        auto write = [&](const std::string& prefix) {
          return WriteNumbered(Env::Default(), prefix, number);
        };
        // Every third one goes over the name of the one before.
        if (!manager.Save(number - (number % 3 == 0 ? 1 : 0), write).ok()) _exit(1);
        if (::write(report[1], &number, sizeof(number)) != sizeof(number)) _exit(2);
      }
    }
    close(report[1]);
    // The first report, then some more microseconds: a moment within a later save.
    int64_t number = 0;
    ASSERT_EQ(read(report[0], &number, sizeof(number)), static_cast<ssize_t>(sizeof(number)));
    auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(137 * round);
    while (std::chrono::steady_clock::now() < until) {
    }
    kill(child, SIGKILL);
    int exit_status = 0;
    waitpid(child, &exit_status, 0);
    ASSERT_TRUE(WIFSIGNALED(exit_status)) << "the child failed: " << exit_status;
    int64_t next = 0;
    while (read(report[0], &next, sizeof(next)) == static_cast<ssize_t>(sizeof(next)))
      number = next;
    close(report[0]);
    auto latest = LatestNumber(folder);
    ASSERT_TRUE(latest.ok()) << latest.status().ToString();
    // The save that was under way may be done.
    ASSERT_GE(*latest, number);
    ASSERT_LE(*latest, number + 1);
    saved_before = *latest;
  }
}

}  // namespace
}  // namespace slipway::train
