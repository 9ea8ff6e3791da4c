// SPDX-License-Identifier: Apache-2.0
#include "serve/registry.h"

#include <thread>

#include "gtest/gtest.h"

namespace slipway::serve {
namespace {

struct TestMetrics {
  MetricsRegistry registry;
  ServeMetrics families{&registry};
  std::unique_ptr<ModelMetrics> model = families.ForModel("m");
};

TEST(Registry, FindsLatestAndSpecific) {
  TestMetrics metrics;
  Servable one(1, nullptr), two(2, nullptr);
  Registry registry;
  EXPECT_EQ(registry.Find("m").metrics, nullptr);
  Registry::Table table;
  table.push_back({"m", metrics.model.get(), {&two, &one}});
  table.push_back({"other", metrics.model.get(), {}});
  registry.Publish(std::move(table));
  EXPECT_EQ(registry.Find("m").lease->version(), 2);
  EXPECT_EQ(registry.Find("m", 1).lease->version(), 1);
  EXPECT_FALSE(registry.Find("m", 3).lease);
  EXPECT_NE(registry.Find("m", 3).metrics, nullptr);
  EXPECT_FALSE(registry.Find("other").lease);
  EXPECT_EQ(registry.Find("nope").metrics, nullptr);
}

TEST(Registry, AServableDrainsWithItsLastLease) {
  TestMetrics metrics;
  Servable one(1, nullptr);
  Registry registry;
  registry.Publish({{"m", metrics.model.get(), {&one}}});
  Registry::Found found = registry.Find("m");
  registry.Publish({});
  bool drained = false;
  one.Retire([&] { drained = true; });
  EXPECT_FALSE(drained);
  found.lease = Lease();
  EXPECT_TRUE(drained);
}

// Readers run while versions are replaced; each servable is destroyed as soon as it is drained.
// A lease on a destroyed one is what the sanitizers would see.
TEST(Registry, SwapsUnderReaders) {
  TestMetrics metrics;
  Registry registry;
  auto* current = new Servable(1, nullptr);
  registry.Publish({{"m", metrics.model.get(), {current}}});
  std::atomic<bool> stop{false};
  std::atomic<int64_t> reads{0}, destroyed{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      int64_t last = 0;
      while (!stop) {
        const Registry::Found found = registry.Find("m");
        ASSERT_TRUE(found.lease);
        ASSERT_GE(found.lease->version(), last);
        last = found.lease->version();
        reads.fetch_add(1);
      }
    });
  }
  constexpr int kSwaps = 500;
  for (int version = 2; version <= kSwaps; ++version) {
    auto* next = new Servable(version, nullptr);
    registry.Publish({{"m", metrics.model.get(), {next}}});
    Servable* old = std::exchange(current, next);
    old->Retire([old, &destroyed] {
      delete old;
      destroyed.fetch_add(1);
    });
    // The readers see some of every version.
    for (const int64_t before = reads; reads < before + 3;) std::this_thread::yield();
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(destroyed, kSwaps - 1);
  registry.Publish({});
  current->Retire([&] { delete current; });
}

}  // namespace
}  // namespace slipway::serve
