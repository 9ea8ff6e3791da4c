// SPDX-License-Identifier: Apache-2.0
#include "kernels/persistent_vector.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace slipway::kernels {
namespace {

TEST(PersistentVectorTest, ElementsThatWereNeverSetTakeNoMemory) {
  PersistentVector<int> v(int64_t{1} << 40);
  EXPECT_EQ(v[(int64_t{1} << 40) - 1], 0);
  v.Set(12345678901, 7);
  EXPECT_EQ(v[12345678901], 7);
  EXPECT_EQ(v[12345678900], 0);
}

// Random changes of many versions, each beside a plain vector; old versions stay as they were.
TEST(PersistentVectorTest, VersionsAreIndependent) {
  std::mt19937 random(1);
  std::vector<std::pair<PersistentVector<int>, std::vector<int>>> versions(1);
  const auto check = [](const auto& version) {
    ASSERT_EQ(version.first.size(), static_cast<int64_t>(version.second.size()));
    for (size_t i = 0; i < version.second.size(); ++i) {
      ASSERT_EQ(version.first[static_cast<int64_t>(i)], version.second[i]) << i;
    }
  };
  for (int step = 0; step < 2000; ++step) {
    auto version = versions[random() % versions.size()];
    auto& [list, plain] = version;
    const int value = static_cast<int>(random());
    if (const uint32_t what = random() % 8; what < 4 || plain.empty()) {
      for (uint32_t n = random() % 40; n-- > 0;) {
        list.PushBack(value);
        plain.push_back(value);
      }
    } else if (what < 6) {
      const auto i = random() % plain.size();
      list.Set(static_cast<int64_t>(i), value);
      plain[i] = value;
    } else {
      const auto size = random() % (plain.size() + 20);
      list.Resize(static_cast<int64_t>(size));
      plain.resize(size);
    }
    check(version);
    if (versions.size() < 30) {
      versions.push_back(std::move(version));
    } else {
      versions[random() % versions.size()] = std::move(version);
    }
  }
  for (const auto& version : versions) check(version);
}

}  // namespace
}  // namespace slipway::kernels
