// SPDX-License-Identifier: Apache-2.0
#include "serve/registry.h"

#include <algorithm>
#include <thread>

namespace slipway::serve {
namespace {

size_t ShardOfThisThread() {
  static std::atomic<size_t> next{0};
  thread_local const size_t mine = next.fetch_add(1, std::memory_order_relaxed);
  return mine;
}

}  // namespace

// A reader that counts itself in before it loads the table pointer either is seen by the writer's
// wait or sees the writer's new table. All accesses are sequentially consistent for that.
class Registry::Reading {
 public:
  explicit Reading(const Registry& registry)
      : shard_(registry.shards_[ShardOfThisThread() % kShards]), side_(registry.epoch_.load() & 1) {
    shard_.inside[side_].fetch_add(1);
    table_ = registry.table_.load();
  }
  ~Reading() { shard_.inside[side_].fetch_sub(1); }
  const Table& table() const { return *table_; }

 private:
  Shard& shard_;
  const size_t side_;
  const Table* table_;
};

Registry::Registry() : table_(new Table()) {}

Registry::~Registry() { delete table_.load(); }

Registry::Found Registry::Find(std::string_view model, std::optional<int64_t> version,
                               std::string_view label) const {
  const Reading reading(*this);
  const Table& table = reading.table();
  const auto it = std::lower_bound(
      table.begin(), table.end(), model,
      [](const Model& m, std::string_view name) { return std::string_view(m.name) < name; });
  if (it == table.end() || it->name != model) return {};
  Found found;
  found.metrics = it->metrics;
  if (!label.empty()) {
    const auto named =
        std::ranges::find(it->labels, label, &std::pair<std::string, int64_t>::first);
    if (named == it->labels.end()) return found;
    version = named->second;
  }
  found.version = version;
  for (Servable* servable : it->available) {
    if (version && servable->version() != *version) continue;
    servable->Ref();
    found.lease = Lease(servable);
    break;
  }
  return found;
}

void Registry::Publish(Table table) {
  const Table* old = table_.exchange(new Table(std::move(table)));
  // Twice: a reader may have read the epoch, slept, and counted itself in on the other side.
  WaitForReaders();
  WaitForReaders();
  delete old;
}

void Registry::WaitForReaders() {
  const size_t side = epoch_.fetch_add(1) & 1;
  for (const Shard& shard : shards_) {
    while (shard.inside[side].load() != 0) std::this_thread::yield();
  }
}

}  // namespace slipway::serve
