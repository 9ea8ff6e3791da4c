// SPDX-License-Identifier: Apache-2.0
#include "base/env.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>
#include <vector>

#include "base/fault_env.h"
#include "base/random.h"
#include "base/strings.h"
#include "base/temporary.h"

namespace slipway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// What every Env owes its callers, asked of the local one and of the one in memory.
class EnvTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) {
      memory_ = NewMemoryEnv();
      env_ = memory_.get();
      root_ = "/root";
    } else {
      env_ = Env::Default();
      root_ = StrCat(::testing::TempDir(), "slipway_env_test_", RandomSeed());
    }
    ASSERT_TRUE(env_->CreateDirectories(root_).ok());
  }
  void TearDown() override { EXPECT_TRUE(env_->RemoveTree(root_).ok()); }

  std::string Path(std::string_view name) const { return JoinPath(root_, name); }
  std::string MustRead(std::string_view name) {
    StatusOr<std::string> bytes = ReadFile(env_, Path(name));
    EXPECT_TRUE(bytes.ok()) << bytes.status().ToString();
    return bytes.ok() ? *bytes : "";
  }
  void MustWrite(std::string_view name, std::string_view bytes) {
    const Status status = WriteFile(env_, Path(name), bytes);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }

  std::unique_ptr<Env> memory_;
  Env* env_ = nullptr;
  std::string root_;
};

INSTANTIATE_TEST_SUITE_P(All, EnvTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Memory" : "Local"; });

TEST_P(EnvTest, WritesAndReads) {
  const std::string large(200'000, 'x');
  MustWrite("a", StrCat("head", large));
  EXPECT_EQ(MustRead("a"), StrCat("head", large));
  MustWrite("a", "short");
  EXPECT_EQ(MustRead("a"), "short");
  MustWrite("empty", "");
  EXPECT_EQ(MustRead("empty"), "");
}

TEST_P(EnvTest, Appends) {
  MustWrite("a", "one");
  {
    auto file = env_->OpenForAppending(Path("a"));
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE((*file)->Append(" two").ok());
    ASSERT_TRUE((*file)->Flush().ok());
    EXPECT_EQ(MustRead("a"), "one two");
    ASSERT_TRUE((*file)->Append(" three").ok());
    ASSERT_TRUE((*file)->Sync().ok());
    ASSERT_TRUE((*file)->Close().ok());
  }
  EXPECT_EQ(MustRead("a"), "one two three");
  EXPECT_TRUE(env_->OpenForAppending(Path("new")).ok());
  EXPECT_TRUE(env_->Exists(Path("new")));
}

TEST_P(EnvTest, ReadsInTheMiddleAndNotBehindTheEnd) {
  MustWrite("a", "0123456789");
  auto file = env_->OpenForReading(Path("a"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->size(), 10u);
  char out[4] = {};
  ASSERT_TRUE((*file)->Read(6, 4, out).ok());
  EXPECT_EQ(std::string_view(out, 4), "6789");
  EXPECT_TRUE((*file)->Read(10, 0, out).ok());
  EXPECT_EQ((*file)->Read(7, 4, out).code(), Code::kOutOfRange);
  EXPECT_EQ((*file)->Read(UINT64_MAX, 1, out).code(), Code::kOutOfRange);
  EXPECT_THAT((*file)->Read(7, 4, out).message(), HasSubstr(Path("a")));
}

TEST_P(EnvTest, ReadFileHasALimit) {
  MustWrite("a", "0123456789");
  EXPECT_TRUE(ReadFile(env_, Path("a"), 10).ok());
  EXPECT_EQ(ReadFile(env_, Path("a"), 9).status().code(), Code::kResourceExhausted);
}

TEST_P(EnvTest, NamesTheMissingFile) {
  const Status status = ReadFile(env_, Path("missing")).status();
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr(Path("missing")));
  EXPECT_EQ(env_->Stat(Path("missing")).status().code(), Code::kNotFound);
  EXPECT_EQ(env_->ListDirectory(Path("missing")).status().code(), Code::kNotFound);
  EXPECT_EQ(env_->RemoveFile(Path("missing")).code(), Code::kNotFound);
  EXPECT_EQ(env_->Rename(Path("missing"), Path("b")).code(), Code::kNotFound);
  EXPECT_EQ(WriteFile(env_, Path("no/directory"), "x").code(), Code::kNotFound);
}

TEST_P(EnvTest, TellsFilesFromDirectories) {
  MustWrite("file", "x");
  ASSERT_TRUE(env_->CreateDirectories(Path("dir")).ok());
  EXPECT_EQ(env_->OpenForReading(Path("dir")).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(env_->OpenForWriting(Path("dir")).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(env_->ListDirectory(Path("file")).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(env_->CreateDirectories(Path("file")).code(), Code::kInvalidArgument);
  EXPECT_EQ(env_->CreateDirectories(Path("file/below")).code(), Code::kInvalidArgument);
  EXPECT_EQ(env_->OpenForReading(Path("file/below")).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(env_->RemoveFile(Path("dir")).code(), Code::kInvalidArgument);
}

TEST_P(EnvTest, StatsFilesAndDirectories) {
  MustWrite("file", "12345");
  auto file = env_->Stat(Path("file"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->size, 5u);
  EXPECT_FALSE(file->is_directory);
  EXPECT_GT(file->modified_ns, int64_t{1'600'000'000} * 1'000'000'000);
  auto directory = env_->Stat(root_);
  ASSERT_TRUE(directory.ok());
  EXPECT_TRUE(directory->is_directory);
}

TEST_P(EnvTest, ListsSortedChildrenOnly) {
  ASSERT_TRUE(env_->CreateDirectories(Path("b/c/d")).ok());
  ASSERT_TRUE(env_->CreateDirectories(Path("b/c")).ok());
  MustWrite("c", "");
  MustWrite("a", "");
  auto names = env_->ListDirectory(root_ + "/");
  ASSERT_TRUE(names.ok());
  EXPECT_THAT(*names, ElementsAre("a", "b", "c"));
  names = env_->ListDirectory(Path("b/c/d"));
  ASSERT_TRUE(names.ok());
  EXPECT_THAT(*names, IsEmpty());
}

TEST_P(EnvTest, RenamesFilesAndDirectories) {
  MustWrite("a", "new");
  MustWrite("b", "old");
  ASSERT_TRUE(env_->Rename(Path("a"), Path("b")).ok());
  EXPECT_FALSE(env_->Exists(Path("a")));
  EXPECT_EQ(MustRead("b"), "new");

  ASSERT_TRUE(env_->CreateDirectories(Path("dir/sub")).ok());
  MustWrite("dir/sub/file", "x");
  MustWrite("dirt", "beside");
  ASSERT_TRUE(env_->Rename(Path("dir"), Path("moved")).ok());
  EXPECT_EQ(MustRead("moved/sub/file"), "x");
  EXPECT_EQ(MustRead("dirt"), "beside");
  EXPECT_EQ(env_->Rename(Path("dirt"), Path("moved")).code(), Code::kInvalidArgument);
  EXPECT_EQ(env_->Rename(Path("moved"), Path("moved/sub/deeper")).code(), Code::kInvalidArgument);
}

TEST_P(EnvTest, ExchangesTwoNames) {
  ASSERT_TRUE(env_->CreateDirectories(Path("old/below")).ok());
  MustWrite("old/a", "old");
  MustWrite("old/below/b", "old below");
  ASSERT_TRUE(env_->CreateDirectories(Path("new")).ok());
  MustWrite("new/a", "new");
  const Status status = env_->Exchange(Path("new"), Path("old"));
  if (status.code() == Code::kUnimplemented) GTEST_SKIP() << status.ToString();
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(MustRead("old/a"), "new");
  EXPECT_EQ(MustRead("new/a"), "old");
  EXPECT_EQ(MustRead("new/below/b"), "old below");
  EXPECT_FALSE(env_->Exists(Path("old/below")));
  EXPECT_EQ(env_->Exchange(Path("new"), Path("none")).code(), Code::kNotFound);
  EXPECT_EQ(MustRead("new/a"), "old");
}

TEST_P(EnvTest, LocksKeepOthersOut) {
  // Atomic because a lock of the file system is none that the language knows.
  std::atomic<int> together = 0;
  std::atomic<bool> met = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        const auto lock = env_->LockDirectory(root_);
        ASSERT_TRUE(lock.ok() && *lock != nullptr);
        if (++together != 1) met = true;
        std::this_thread::yield();
        --together;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(met);
  EXPECT_FALSE(env_->LockDirectory(Path("none")).ok());
}

TEST_P(EnvTest, SaysWhatCouldBeMade) {
  MustWrite("file", "");
  EXPECT_TRUE(CheckCreatable(env_, Path("new")).ok());
  EXPECT_TRUE(CheckCreatable(env_, Path("a/b/c")).ok());
  EXPECT_FALSE(env_->Exists(Path("a")));
  EXPECT_THAT(*env_->ListDirectory(root_), ElementsAre("file"));
  for (const char* below : {"file/x", "file/x/y"}) {
    const Status status = CheckCreatable(env_, Path(below));
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << status.ToString();
    EXPECT_THAT(status.message(), HasSubstr(Path("file")));
  }
}

// The number of a process that has ended.
pid_t DeadProcess() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  return child;
}

TEST_P(EnvTest, WhatDeadWritersLeftIsRemoved) {
  const std::string mine(Basename(TemporaryName(Path("data"))));
  EXPECT_THAT(mine, HasSubstr(StrCat("-", getpid(), "-")));
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string name = mine;
    return name.replace(name.find(from), from.size(), to);
  };
  const std::string process = StrCat("-", getpid(), "-");
  const std::string dead = with(process, StrCat("-", DeadProcess(), "-"));
  const std::string parents = with(process, StrCat("-", getppid(), "-"));  // alive
  const std::string elsewhere = with(".partial-", ".partial-f");           // another machine
  std::string before = mine;  // another run, same number
  before.replace(before.find(process) + process.size(), 1, "g");
  for (const std::string& name : {mine, dead, parents, elsewhere, before}) MustWrite(name, "x");
  MustWrite(".x.partial-1", "no name of ours");
  ASSERT_TRUE(env_->RemoveFile(Path(dead)).ok());
  ASSERT_TRUE(env_->CreateDirectories(Path(dead + "/below")).ok());
  ASSERT_TRUE(WriteFileAtomically(env_, Path("data"), "whole").ok());
  std::vector<std::string> left = {".x.partial-1", "data", elsewhere, mine, parents};
  EXPECT_THAT(*env_->ListDirectory(root_), ::testing::UnorderedElementsAreArray(left));
}

TEST_P(EnvTest, RemovesTrees) {
  ASSERT_TRUE(env_->CreateDirectories(Path("dir/sub")).ok());
  MustWrite("dir/sub/file", "x");
  MustWrite("dirt", "beside");
  ASSERT_TRUE(env_->RemoveTree(Path("dir")).ok());
  EXPECT_FALSE(env_->Exists(Path("dir")));
  EXPECT_EQ(MustRead("dirt"), "beside");
  EXPECT_TRUE(env_->RemoveTree(Path("dir")).ok());
}

TEST_P(EnvTest, OpenFileOutlivesItsName) {
  MustWrite("a", "first");
  auto file = env_->OpenForReading(Path("a"));
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(WriteFileAtomically(env_, Path("a"), "second").ok());
  char out[5];
  ASSERT_TRUE((*file)->Read(0, 5, out).ok());
  EXPECT_EQ(std::string_view(out, 5), "first");
  EXPECT_EQ(MustRead("a"), "second");
}

// A root that writes its report to /dev/null must have a /dev/null afterwards.
TEST(LocalEnvTest, DevicesAndPipesAreWrittenIntoNotReplaced) {
  Env* env = Env::Default();
  const std::string path = StrCat(::testing::TempDir(), "slipway_env_pipe_", RandomSeed());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  EXPECT_TRUE(env->Stat(path)->is_special);
  EXPECT_TRUE(WriteFileAtomically(env, path, "report").ok());
  char out[16];
  ASSERT_EQ(read(reader, out, sizeof out), 6);
  EXPECT_EQ(std::string_view(out, 6), "report");
  EXPECT_TRUE(env->Stat(path)->is_special);
  close(reader);
  EXPECT_TRUE(env->RemoveFile(path).ok());
}

TEST_P(EnvTest, AtomicWriteIsOldOrNewWhereverItStops) {
  FaultEnv counting(env_);
  MustWrite("a", "old");
  ASSERT_TRUE(WriteFileAtomically(&counting, Path("a"), "new").ok());
  const int64_t writes = counting.writes();
  ASSERT_GE(writes, 4);
  int old_seen = 0;
  for (int64_t n = 0; n < writes; ++n) {
    MustWrite("a", "old");
    FaultEnv crashing(env_);
    crashing.CrashAtWrite(n);
    EXPECT_EQ(WriteFileAtomically(&crashing, Path("a"), "new").code(), Code::kUnavailable);
    const std::string seen = MustRead("a");
    EXPECT_TRUE(seen == "old" || seen == "new") << seen;
    old_seen += seen == "old" ? 1 : 0;
  }
  EXPECT_EQ(old_seen, writes - 1);  // all but the directory's sync come before the rename
}

TEST_P(EnvTest, AtomicWriteOnAFullDiskLeavesNothingBehind) {
  MustWrite("a", "old");
  FaultEnv full(env_);
  full.LimitBytes(3);
  EXPECT_EQ(WriteFileAtomically(&full, Path("a"), "newer").code(), Code::kResourceExhausted);
  EXPECT_EQ(MustRead("a"), "old");
  EXPECT_THAT(*env_->ListDirectory(root_), ElementsAre("a"));
  full.Heal();
  EXPECT_TRUE(WriteFileAtomically(&full, Path("a"), "newer").ok());
  EXPECT_EQ(MustRead("a"), "newer");
}

TEST(FaultEnvTest, FailsOneWriteOnly) {
  const auto memory = NewMemoryEnv();
  FaultEnv env(memory.get());
  env.FailWrite(1, PermissionDeniedError("no"));
  auto file = env.OpenForWriting("/a");
  ASSERT_TRUE(file.ok());
  const Status status = (*file)->Append("x");
  EXPECT_EQ(status.code(), Code::kPermissionDenied);
  EXPECT_EQ(status.message(), "/a: no");
  EXPECT_TRUE((*file)->Append("y").ok());
  EXPECT_EQ(*ReadFile(memory.get(), "/a"), "y");
}

TEST(EnvSchemeTest, RoutesBySchemes) {
  auto memory = NewMemoryEnv();
  const std::string scheme = StrCat("envtest", RandomSeed());  // one registration a process
  const std::string box = StrCat(scheme, "://box");
  ASSERT_TRUE(memory->CreateDirectories(box).ok());
  ASSERT_TRUE(Env::Register(scheme, std::move(memory)).ok());
  EXPECT_EQ(Env::Register(scheme, NewMemoryEnv()).code(), Code::kAlreadyExists);
  Env* env = Env::Default();
  ASSERT_TRUE(WriteFile(env, box + "/a", "x").ok());
  EXPECT_EQ(*ReadFile(env, box + "/a"), "x");
  EXPECT_EQ(env->Rename(box + "/a", "/tmp/a").code(), Code::kInvalidArgument);

  const Status unknown = ReadFile(env, "nosuch://bucket/a").status();
  EXPECT_EQ(unknown.code(), Code::kUnimplemented);
  EXPECT_EQ(unknown.message(),
            "File system scheme 'nosuch' not implemented (file: 'nosuch://bucket/a')");

  const std::string path = StrCat(::testing::TempDir(), "slipway_env_test_", RandomSeed());
  ASSERT_TRUE(WriteFile(env, "file://" + path, "x").ok());
  EXPECT_EQ(*ReadFile(env, path), "x");
  EXPECT_TRUE(env->RemoveFile(path).ok());
}

TEST(EnvLocalTest, RefusesWhatIsNoFile) {
  Env* env = Env::Default();
  EXPECT_EQ(ReadFile(env, "").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(ReadFile(env, std::string("/etc\0x", 6)).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(ReadFile(env, "/dev/zero").status().code(), Code::kInvalidArgument);
  const std::string fifo = StrCat(::testing::TempDir(), "slipway_env_test_", RandomSeed());
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(ReadFile(env, fifo).status().code(), Code::kInvalidArgument);
  EXPECT_TRUE(env->RemoveFile(fifo).ok());
}

TEST(EnvLocalTest, LooksUpAFileDatedBeyondWhatNanosecondsCount) {
  Env* env = Env::Default();
  const std::string path = StrCat(::testing::TempDir(), "slipway_env_test_", RandomSeed());
  ASSERT_TRUE(WriteFile(env, path, "x").ok());
  const timespec year_2400[2] = {{13'569'465'600, 0}, {13'569'465'600, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), year_2400, 0), 0);
  struct stat seen;
  ASSERT_EQ(stat(path.c_str(), &seen), 0);
  if (seen.st_mtim.tv_sec != year_2400[1].tv_sec) GTEST_SKIP() << "no such dates on this disk";
  const int64_t before = env->Stat(path)->modified_ns;
  const timespec later[2] = {{13'569'465'600, 1000}, {13'569'465'600, 1000}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), later, 0), 0);
  EXPECT_NE(env->Stat(path)->modified_ns, before);
  EXPECT_TRUE(env->RemoveFile(path).ok());
}

TEST(EnvLocalTest, SaysThatTheDiskIsFull) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  EXPECT_EQ(WriteFile(Env::Default(), "/dev/full", "x").code(), Code::kResourceExhausted);
}

TEST(PathTest, JoinsAndSplits) {
  EXPECT_EQ(JoinPath("a", "b"), "a/b");
  EXPECT_EQ(JoinPath("a/", "/b"), "a/b");
  EXPECT_EQ(JoinPath("", "b"), "b");
  EXPECT_EQ(JoinPath("a", ""), "a");
  EXPECT_EQ(JoinPath("/", "b"), "/b");
  EXPECT_EQ(Basename("/a/b"), "b");
  EXPECT_EQ(Basename("b"), "b");
  EXPECT_EQ(Dirname("/a/b"), "/a");
  EXPECT_EQ(Dirname("/a"), "/");
  EXPECT_EQ(Dirname("a"), ".");
  EXPECT_EQ(Dirname("gs://bucket/a"), "gs://bucket");
  EXPECT_EQ(Dirname("gs://bucket"), "gs://");
}

}  // namespace
}  // namespace slipway
