// SPDX-License-Identifier: Apache-2.0
//
// What requests look up: model name and version to a servable under lease. Reading takes no lock
// and allocates nothing. There is one writer, the model manager, which publishes a new table and
// waits until nobody can be reading the old one before it goes on (readers are inside for some
// ten nanoseconds: they take their lease and leave).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/metrics.h"
#include "serve/servable.h"

namespace slipway::serve {

// Thread safety: Find from any thread; Publish and the destructor from one thread at a time.
class Registry {
 public:
  struct Model {
    std::string name;
    ModelMetrics* metrics = nullptr;   // outlives the registry
    std::vector<Servable*> available;  // highest version first
    std::vector<std::pair<std::string, int64_t>> labels = {};
  };
  // Sorted by name.
  using Table = std::vector<Model>;

  struct Found {
    ModelMetrics* metrics = nullptr;  // null: no such model
    Lease lease;                      // empty: the model has no such version available
    // That was asked for, by number or by label.
    std::optional<int64_t> version = std::nullopt;
  };

  Registry();
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // No version: the highest available. A label, if not empty, stands for a version; with one that
  // the model does not have there is no lease and no version.
  Found Find(std::string_view model, std::optional<int64_t> version = std::nullopt,
             std::string_view label = {}) const;

  // When it returns, every Find that comes to an end later uses the new table, and no servable
  // that is not in it gets another lease.
  void Publish(Table table);

 private:
  // Counters of readers inside, spread over cache lines; one of the two is current.
  static constexpr size_t kShards = 16;
  struct alignas(64) Shard {
    std::atomic<int64_t> inside[2] = {0, 0};
  };
  class Reading;

  void WaitForReaders();

  mutable std::array<Shard, kShards> shards_;
  std::atomic<uint64_t> epoch_{0};
  std::atomic<const Table*> table_;
};

}  // namespace slipway::serve
