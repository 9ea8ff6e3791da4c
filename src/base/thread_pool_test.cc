// SPDX-License-Identifier: Apache-2.0
#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "base/cpu_quota.h"

namespace slipway {
namespace {

using Ranges = std::set<std::pair<int64_t, int64_t>>;

Ranges SplitOf(ThreadPool& pool, int64_t total, int64_t grain) {
  std::mutex mutex;
  Ranges ranges;
  pool.ParallelFor(total, grain, [&](int64_t begin, int64_t end) {
    std::lock_guard lock(mutex);
    EXPECT_TRUE(ranges.emplace(begin, end).second);
  });
  return ranges;
}

class ThreadPoolTest : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Sizes, ThreadPoolTest, ::testing::Values(0, 1, 3));

TEST_P(ThreadPoolTest, RangesCoverEverythingOnce) {
  ThreadPool pool(GetParam());
  EXPECT_EQ(pool.size(), GetParam());
  for (int64_t total : {1, 2, 7, 64, 1000, 99'999}) {
    for (int64_t grain : {0, 1, 3, 100, 200'000}) {
      const Ranges ranges = SplitOf(pool, total, grain);
      int64_t end = 0;
      for (const auto& [first, last] : ranges) {
        ASSERT_EQ(first, end);
        ASSERT_GT(last, first);
        if (last != total) {
          ASSERT_GE(last - first, grain);
        }
        end = last;
      }
      EXPECT_EQ(end, total);
      if (total <= grain || GetParam() == 0) {
        EXPECT_EQ(ranges.size(), 1u);
      }
      EXPECT_EQ(SplitOf(pool, total, grain), ranges);
    }
  }
  pool.ParallelFor(0, 1, [](int64_t, int64_t) { FAIL() << "nothing to do"; });
}

TEST_P(ThreadPoolTest, ResultsOfTheLoopAreVisibleToTheCaller) {
  ThreadPool pool(GetParam());
  std::vector<int64_t> values(10'000);
  for (int64_t round = 0; round < 300; ++round) {
    pool.ParallelFor(static_cast<int64_t>(values.size()), 16, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) values[static_cast<size_t>(i)] += i + round;
    });
  }
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(values[i], static_cast<int64_t>(300 * i + 299 * 150));
  }
}

TEST_P(ThreadPoolTest, NestsDeeperThanItHasThreads) {
  ThreadPool pool(GetParam());
  std::atomic<int64_t> sum{0};
  pool.ParallelFor(20, 1, [&](int64_t a, int64_t b) {
    for (int64_t i = a; i < b; ++i) {
      pool.ParallelFor(20, 1, [&](int64_t c, int64_t d) {
        for (int64_t j = c; j < d; ++j) {
          pool.ParallelFor(10, 1, [&](int64_t e, int64_t f) { sum += f - e; });
        }
      });
    }
  });
  EXPECT_EQ(sum, 20 * 20 * 10);
}

TEST_P(ThreadPoolTest, ManyCallersShareIt) {
  ThreadPool pool(GetParam());
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 40; ++c) {  // more than there are slots for open loops
    callers.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        pool.ParallelFor(100, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 40 * 20 * 100);
}

TEST_P(ThreadPoolTest, DestructorRunsWhatWasScheduled) {
  std::atomic<int> ran{0};
  {
    ThreadPool pool(GetParam());
    for (int i = 0; i < 500; ++i) {
      pool.Schedule([&] {
        ran++;
        if (ran < 100) pool.Schedule([&] { ran++; });
      });
    }
  }
  EXPECT_GE(ran, 500);
}

TEST_P(ThreadPoolTest, LoopsFromTasksAndTasksFromLoops) {
  std::atomic<int64_t> sum{0};
  {
    ThreadPool pool(GetParam());
    for (int i = 0; i < 50; ++i) {
      pool.Schedule([&] {
        pool.ParallelFor(64, 1, [&](int64_t begin, int64_t end) {
          pool.Schedule([&sum, n = end - begin] { sum += n; });
        });
      });
    }
  }
  EXPECT_EQ(sum, 50 * 64);
}

TEST(ThreadPoolBasicTest, EmptyPoolRunsOnTheCaller) {
  ThreadPool pool(0);
  std::thread::id where;
  pool.Schedule([&] { where = std::this_thread::get_id(); });
  EXPECT_EQ(where, std::this_thread::get_id());
}

TEST(ThreadPoolBasicTest, ALoopEndsWhileEveryWorkerIsBusy) {
  std::promise<void> release;
  std::promise<void> started;
  ThreadPool pool(1);
  pool.Schedule([&, released = release.get_future().share()] {
    started.set_value();
    released.wait();
  });
  started.get_future().wait();
  int64_t sum = 0;  // no atomic: only the caller can be at work
  pool.ParallelFor(1000, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
  EXPECT_EQ(sum, 1000);
  release.set_value();
}

TEST(ThreadPoolBasicTest, AWorkerHelps) {
  ThreadPool pool(1);
  // The first range waits for the second: it ends only if another thread takes that.
  std::promise<void> second;
  pool.ParallelFor(2, 1, [&, future = second.get_future().share()](int64_t begin, int64_t) {
    if (begin == 0) {
      future.wait();
    } else {
      second.set_value();
    }
  });
}

TEST(ThreadPoolBasicTest, CallsTheStartHookOnEachThread) {
  std::mutex mutex;
  std::set<std::thread::id> ids;
  {
    ThreadPool pool(3, {.name = "a name far too long for a thread", .on_thread_start = [&] {
                          std::lock_guard lock(mutex);
                          ids.insert(std::this_thread::get_id());
                        }});
  }
  EXPECT_EQ(ids.size(), 3u);
  EXPECT_EQ(ids.count(std::this_thread::get_id()), 0u);
}

TEST(AvailableCpusTest, IsAtLeastOneAndAtMostWhatThereIs) {
  EXPECT_GE(AvailableCpus(), 1);
  EXPECT_LE(AvailableCpus(), static_cast<int>(std::thread::hardware_concurrency()));
}

using Files = std::map<std::string, std::string>;
std::optional<double> Quota(const Files& files) {
  return CgroupCpuQuota([&](const std::string& path) -> std::optional<std::string> {
    const auto it = files.find(path);
    if (it == files.end()) return std::nullopt;
    return it->second;
  });
}

const char kMountV2[] = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n";

TEST(CgroupCpuQuotaTest, ReadsVersion2) {
  Files files = {{"/proc/self/cgroup", "0::/a/b\n"},
                 {"/proc/self/mountinfo", kMountV2},
                 {"/sys/fs/cgroup/a/b/cpu.max", "max 100000\n"}};
  EXPECT_EQ(Quota(files), std::nullopt);
  files["/sys/fs/cgroup/a/b/cpu.max"] = "250000 100000\n";
  EXPECT_EQ(Quota(files), 2.5);
  files["/sys/fs/cgroup/a/cpu.max"] = "150000 100000\n";  // the group above is narrower
  EXPECT_EQ(Quota(files), 1.5);
}

TEST(CgroupCpuQuotaTest, ReadsVersion1InsideAContainer) {
  Files files = {
      {"/proc/self/cgroup", "4:memory:/docker/x\n2:cpu,cpuacct:/docker/x\n0::/\n"},
      {"/proc/self/mountinfo",
       "40 23 0:27 /docker/x /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
       "41 23 0:28 /docker/x /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"},
      {"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"},
      {"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"}};
  EXPECT_EQ(Quota(files), std::nullopt);
  files["/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us"] = "50000\n";
  EXPECT_EQ(Quota(files), 0.5);
}

TEST(CgroupCpuQuotaTest, SurvivesNonsense) {
  EXPECT_EQ(Quota({}), std::nullopt);
  EXPECT_EQ(Quota({{"/proc/self/cgroup", "\n::\nx"}, {"/proc/self/mountinfo", " - \n - -"}}),
            std::nullopt);
  EXPECT_EQ(Quota({{"/proc/self/cgroup", "0::/"},
                   {"/proc/self/mountinfo", kMountV2},
                   {"/sys/fs/cgroup/cpu.max", "1 0"}}),
            std::nullopt);
}

}  // namespace
}  // namespace slipway
