// SPDX-License-Identifier: Apache-2.0
//
// A growing run of bytes that is read into from a socket. Unlike std::string it does not clear
// what it grows by, so a large body is written once, by the kernel.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace slipway::net {

// Move-only. Not thread safe.
class Bytes {
 public:
  Bytes() = default;
  explicit Bytes(std::string_view text) { Append(text); }
  Bytes(Bytes&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  Bytes& operator=(Bytes&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~Bytes();

  const char* data() const { return data_; }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  std::string_view view() const { return {data_, size_}; }

  void Append(std::string_view text);
  // At least `n` writable bytes behind the end; Commit says how many were written.
  char* Prepare(size_t n);
  void Commit(size_t n) { size_ += n; }
  // Drops the first n bytes.
  void Consume(size_t n);
  void Clear() { size_ = 0; }
  // Clear, and give back the memory if there is more than `keep` of it.
  void Recycle(size_t keep);

 private:
  char* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace slipway::net
