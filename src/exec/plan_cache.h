// SPDX-License-Identifier: Apache-2.0
//
// A small set of entries, the least recently used of which gives way when it is full. Looking up
// takes no lock and writes nothing shared but two counters. Internal to exec.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace slipway::exec {

template <typename Entry>
class PlanCache {
  struct Node;

 public:
  explicit PlanCache(int capacity) : places_(static_cast<size_t>(std::max(capacity, 1))) {}
  ~PlanCache() {
    for (auto& place : places_) delete place.load();
    for (Node* node : retired_) delete node;
  }

  // Keeps the entry alive while it lives.
  class Lease {
   public:
    Lease() = default;
    Lease(Lease&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
    Lease& operator=(Lease&& other) noexcept {
      std::swap(node_, other.node_);
      return *this;
    }
    ~Lease() {
      if (node_ != nullptr) node_->users.fetch_sub(1, std::memory_order_release);
    }
    explicit operator bool() const { return node_ != nullptr; }
    Entry* operator->() const { return node_->entry.get(); }
    Entry& operator*() const { return *node_->entry; }

   private:
    friend class PlanCache;
    explicit Lease(Node* node) : node_(node) {}
    Node* node_ = nullptr;
  };

  // The entry for which matches(entry) holds, or an empty lease.
  template <typename Matches>
  Lease Find(Matches&& matches) {
    Lease found;
    readers_.fetch_add(1, std::memory_order_seq_cst);
    for (auto& place : places_) {
      Node* node = place.load(std::memory_order_seq_cst);
      if (node == nullptr || !matches(*node->entry)) continue;
      node->users.fetch_add(1, std::memory_order_relaxed);
      node->last_used.store(misses_.load(std::memory_order_relaxed), std::memory_order_relaxed);
      found = Lease(node);
      break;
    }
    readers_.fetch_sub(1, std::memory_order_release);
    return found;
  }

  // Adds an entry, or returns one that somebody else added meanwhile.
  template <typename Matches>
  Lease Insert(std::unique_ptr<Entry> entry, Matches&& matches) {
    std::lock_guard lock(mutex_);
    if (Lease found = Find(matches)) return found;
    auto* node = new Node{.entry = std::move(entry)};
    node->users.store(1);
    node->last_used.store(misses_.fetch_add(1) + 1);
    std::atomic<Node*>* place = &places_.front();
    for (auto& candidate : places_) {
      Node* other = candidate.load();
      if (other == nullptr) {
        place = &candidate;
        break;
      }
      if (other->last_used.load() < place->load()->last_used.load()) place = &candidate;
    }
    if (Node* old = place->exchange(node, std::memory_order_seq_cst)) retired_.push_back(old);
    FreeRetired();
    return Lease(node);
  }

  int size() const {
    int n = 0;
    for (auto& place : places_) n += place.load() != nullptr ? 1 : 0;
    return n;
  }

 private:
  struct Node {
    std::unique_ptr<Entry> entry;
    std::atomic<int> users{0};
    std::atomic<int64_t> last_used{0};
  };

  // An entry taken out can gain users only from a look-up that began before. While one runs, the
  // entries stay for the next insertion.
  void FreeRetired() {
    if (readers_.load(std::memory_order_seq_cst) != 0) return;
    std::erase_if(retired_, [](Node* node) {
      if (node->users.load(std::memory_order_acquire) != 0) return false;
      delete node;
      return true;
    });
  }

  std::vector<std::atomic<Node*>> places_;
  std::atomic<int> readers_{0};
  std::atomic<int64_t> misses_{0};
  std::mutex mutex_;  // of writers
  std::vector<Node*> retired_;
};

}  // namespace slipway::exec
