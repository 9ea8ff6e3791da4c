// SPDX-License-Identifier: Apache-2.0
//
// PersistentVector: a list whose copies share what they have in common. Changing one element, or
// adding one, makes a new list in O(log n) and leaves the old one as it was: what a loop that fills
// a tensor list needs, whoever else holds the list.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace slipway::kernels {

// Elements that were never set are T() and take no memory, however many there are.
// Thread safety: as a value: a list that nobody assigns to may be read from any thread.
template <typename T>
class PersistentVector {
 public:
  PersistentVector() = default;
  // `size` elements T().
  explicit PersistentVector(int64_t size) { Grow(size); }

  int64_t size() const { return size_; }
  // REQUIRES: 0 <= i < size().
  const T& operator[](int64_t i) const {
    static const T kUnset{};
    const Node* node = root_.get();
    for (int level = levels_; level > 0 && node != nullptr; --level) {
      node = node->children[Digit(i, level)].get();
    }
    return node == nullptr ? kUnset : node->items[Digit(i, 0)];
  }

  // REQUIRES: 0 <= i < size().
  void Set(int64_t i, T value) { SetIn(root_, levels_, i, std::move(value)); }
  void PushBack(T value) {
    Grow(size_ + 1);
    Set(size_ - 1, std::move(value));
  }
  // Adds elements T(), or drops those at the end.
  void Resize(int64_t size) {
    if (size < size_) Drop(root_, levels_, size, size_ - 1);
    if (size < size_) {
      size_ = size;
    } else {
      Grow(size);
    }
  }

 private:
  static constexpr int kBits = 4;
  static constexpr int64_t kWidth = 1 << kBits;
  // A leaf has items, all others children.
  struct Node {
    std::array<std::shared_ptr<Node>, kWidth> children;
    std::unique_ptr<T[]> items;
    Node() = default;
    Node(const Node& other) : children(other.children) {
      if (other.items == nullptr) return;
      items = std::make_unique<T[]>(kWidth);
      for (int64_t i = 0; i < kWidth; ++i) items[i] = other.items[i];
    }
  };

  static size_t Digit(int64_t i, int level) {
    return static_cast<size_t>(i >> (level * kBits)) % static_cast<size_t>(kWidth);
  }

  void Grow(int64_t size) {
    size_ = size;
    while (size > 0 && (size - 1) >> ((levels_ + 1) * kBits) != 0) {
      if (root_ != nullptr) {
        auto above = std::make_shared<Node>();
        above->children[0] = std::move(root_);
        root_ = std::move(above);
      }
      ++levels_;
    }
  }

  // A node that only this list holds.
  static Node& Own(std::shared_ptr<Node>& place) {
    if (place == nullptr) {
      place = std::make_shared<Node>();
    } else if (place.use_count() != 1) {
      place = std::make_shared<Node>(*place);
    } else {
      // Whoever let go of it last has read what it wanted.
      std::atomic_thread_fence(std::memory_order_acquire);
    }
    return *place;
  }

  static void SetIn(std::shared_ptr<Node>& place, int level, int64_t i, T value) {
    Node& node = Own(place);
    if (level > 0) return SetIn(node.children[Digit(i, level)], level - 1, i, std::move(value));
    if (node.items == nullptr) node.items = std::make_unique<T[]>(kWidth);
    node.items[Digit(i, 0)] = std::move(value);
  }

  // Forgets elements [first, last], counted within the node.
  static void Drop(std::shared_ptr<Node>& place, int level, int64_t first, int64_t last) {
    if (place == nullptr) return;
    if (first == 0) {
      place = nullptr;
      return;
    }
    Node& node = Own(place);
    if (level == 0) {
      for (int64_t i = first; i <= last && node.items != nullptr; ++i) node.items[i] = T();
      return;
    }
    const int64_t width = int64_t{1} << (level * kBits);
    for (int64_t child = first / width; child <= last / width; ++child) {
      const int64_t from = child == first / width ? first % width : 0;
      const int64_t to = child == last / width ? last % width : width - 1;
      Drop(node.children[static_cast<size_t>(child)], level - 1, from, to);
    }
  }

  std::shared_ptr<Node> root_;
  int levels_ = 0;
  int64_t size_ = 0;
};

}  // namespace slipway::kernels
