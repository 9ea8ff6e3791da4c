// SPDX-License-Identifier: Apache-2.0
//
// What is left of a checkpoint when the program or the disk fails while it is written.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/fault_env.h"
#include "base/strings.h"
#include "checkpoint/bundle.h"

namespace slipway {
namespace {

Status Save(Env* env, float value) {
  ASSIGN_OR_RETURN(auto writer, BundleWriter::Create(env, "dir/ckpt"));
  Tensor w(DType::kFloat, Shape({5000}));
  std::ranges::fill(w.flat<float>(), value);
  RETURN_IF_ERROR(writer->Add("w", w));
  RETURN_IF_ERROR(writer->Add("name", Tensor::Scalar(StrCat("value ", value))));
  return writer->Finish();
}

StatusOr<float> Saved(Env* env) {
  RETURN_IF_ERROR(VerifyBundle(env, "dir/ckpt", {.checksums = true}));
  ASSIGN_OR_RETURN(const auto reader, BundleReader::Open(env, "dir/ckpt"));
  ASSIGN_OR_RETURN(const Tensor w, reader->Read("w"));
  ASSIGN_OR_RETURN(const Tensor name, reader->Read("name"));
  EXPECT_EQ(name.scalar<std::string>(), StrCat("value ", w.flat<float>()[0]));
  return w.flat<float>()[0];
}

// `saves` good ones first, so that both numbers of shards are overwritten.
void CrashEverywhere(int saves) {
  int64_t crashes = 0;
  for (int64_t n = 0;; ++n) {
    const auto memory = NewMemoryEnv();
    for (int i = 1; i <= saves; ++i) ASSERT_TRUE(Save(memory.get(), static_cast<float>(i)).ok());
    FaultEnv faulty(memory.get());
    faulty.CrashAtWrite(n);
    const Status status = Save(&faulty, 100);
    const StatusOr<float> saved = Saved(memory.get());
    if (saves == 0 && !saved.ok()) {
      EXPECT_EQ(saved.status().code(), Code::kNotFound) << n << " " << saved.status().ToString();
    } else {
      ASSERT_TRUE(saved.ok()) << "crash at write " << n << ": " << saved.status().ToString();
      EXPECT_TRUE(*saved == 100 || *saved == static_cast<float>(saves)) << n;
      if (status.ok()) {
        EXPECT_EQ(*saved, 100) << n;
      }
    }
    // The next program that saves is not hindered by what the dead one left.
    ASSERT_TRUE(Save(memory.get(), 7).ok());
    EXPECT_EQ(*Saved(memory.get()), 7);
    // Of a process that lives, such as this one, nothing is removed.
    int left = 0;
    const std::vector<std::string> names = *memory->ListDirectory("dir");
    for (const std::string& name : names) left += name[0] != '.' ? 1 : 0;
    EXPECT_LE(left, 3);
    if (n >= faulty.writes()) break;
    ++crashes;
  }
  EXPECT_GT(crashes, 8);
}

TEST(BundleFault, KilledAnywhereTheFirstTime) { CrashEverywhere(0); }
TEST(BundleFault, KilledAnywhereOverAnOldOne) { CrashEverywhere(1); }
TEST(BundleFault, KilledAnywhereOverASecondOne) { CrashEverywhere(2); }

// Both would have used one temporary file, and one name for the data.
TEST(BundleFault, WritersAtOnceLeaveOneWholeBundle) {
  const auto memory = NewMemoryEnv();
  ASSERT_TRUE(Save(memory.get(), 1).ok());
  const auto value = [](float v) {
    Tensor w(DType::kFloat, Shape({5000}));
    std::ranges::fill(w.flat<float>(), v);
    return w;
  };
  auto first = BundleWriter::Create(memory.get(), "dir/ckpt");
  auto second = BundleWriter::Create(memory.get(), "dir/ckpt");
  ASSERT_TRUE(first.ok() && second.ok());
  ASSERT_TRUE((*first)->Add("w", value(2)).ok());
  ASSERT_TRUE((*second)->Add("w", value(3)).ok());
  ASSERT_TRUE((*first)->Add("name", Tensor::Scalar(std::string("value 2"))).ok());
  ASSERT_TRUE((*first)->Finish().ok());
  EXPECT_EQ(*Saved(memory.get()), 2);
  ASSERT_TRUE((*second)->Add("name", Tensor::Scalar(std::string("value 3"))).ok());
  ASSERT_TRUE((*second)->Finish().ok());
  EXPECT_EQ(*Saved(memory.get()), 3);
}

TEST(BundleFault, ThreadsAtOnceLeaveOneWholeBundle) {
  const auto memory = NewMemoryEnv();
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i) {
    writers.emplace_back([&, i] {
      for (int round = 0; round < 25; ++round) {
        EXPECT_TRUE(Save(memory.get(), static_cast<float>(i)).ok());
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_TRUE(Saved(memory.get()).ok()) << Saved(memory.get()).status().ToString();
  EXPECT_LE(memory->ListDirectory("dir")->size(), 3u);
}

TEST(BundleFault, FullDiskKeepsTheOldOneAndSaysSo) {
  const auto memory = NewMemoryEnv();
  ASSERT_TRUE(Save(memory.get(), 1).ok());
  int failures = 0;
  for (uint64_t bytes = 0; bytes < 21000; bytes += 50) {
    FaultEnv faulty(memory.get());
    faulty.LimitBytes(bytes);
    const Status status = Save(&faulty, 2);
    if (status.ok()) break;
    ++failures;
    EXPECT_EQ(status.code(), Code::kResourceExhausted) << status.ToString();
    ASSERT_EQ(*Saved(memory.get()), 1);
  }
  EXPECT_GT(failures, 400);
}

TEST(BundleFault, AnyOneFailedWriteIsReported) {
  const auto memory = NewMemoryEnv();
  ASSERT_TRUE(Save(memory.get(), 1).ok());
  for (int64_t n = 0; n < 8; ++n) {
    FaultEnv faulty(memory.get());
    faulty.FailWrite(n);
    EXPECT_EQ(Save(&faulty, 2).code(), Code::kUnavailable) << n;
    EXPECT_TRUE(Saved(memory.get()).ok());
  }
}

}  // namespace
}  // namespace slipway
