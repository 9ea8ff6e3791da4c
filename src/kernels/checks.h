// SPDX-License-Identifier: Apache-2.0
//
// Checks of what a kernel is fed. Values come from models nobody vouches for: every rank, size and
// index is checked before it is used, with INVALID_ARGUMENT and both sides in the message.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "slipway/shape.h"
#include "slipway/status.h"
#include "slipway/tensor.h"

namespace slipway::kernels {

// A list of integers that allocates nothing while it is short.
class IntVec {
 public:
  static constexpr size_t kInline = 12;

  IntVec() = default;
  IntVec(size_t size, int64_t value) {
    for (size_t i = 0; i < size; ++i) push_back(value);
  }
  explicit IntVec(std::span<const int64_t> values) {
    for (int64_t v : values) push_back(v);
  }

  size_t size() const { return size_; }
  int rank() const { return static_cast<int>(size_); }
  bool empty() const { return size_ == 0; }
  int64_t* data() { return heap_.empty() ? inline_.data() : heap_.data(); }
  const int64_t* data() const { return heap_.empty() ? inline_.data() : heap_.data(); }
  int64_t& operator[](size_t i) { return data()[i]; }
  int64_t operator[](size_t i) const { return data()[i]; }
  int64_t* begin() { return data(); }
  int64_t* end() { return data() + size_; }
  const int64_t* begin() const { return data(); }
  const int64_t* end() const { return data() + size_; }
  std::span<const int64_t> span() const { return {data(), size_}; }
  void push_back(int64_t value) {
    if (heap_.empty() && size_ < kInline) {
      inline_[size_++] = value;
      return;
    }
    if (heap_.empty()) heap_.assign(inline_.begin(), inline_.end());
    heap_.push_back(value);
    ++size_;
  }

 private:
  std::array<int64_t, kInline> inline_{};
  std::vector<int64_t> heap_;
  size_t size_ = 0;
};

// The elements of an int32 or int64 tensor of any rank.
StatusOr<IntVec> ReadInts(const Tensor& tensor, std::string_view what);
// The same; rank must be 1 (or 0 if `allow_scalar`).
StatusOr<IntVec> ReadIntVector(const Tensor& tensor, std::string_view what,
                               bool allow_scalar = false);
// One integer: a scalar, or a tensor of one element.
StatusOr<int64_t> ReadInt(const Tensor& tensor, std::string_view what);
// A float, double, half or bfloat16 scalar.
StatusOr<double> ReadFloat(const Tensor& tensor, std::string_view what);
// A vector of sizes as a shape.
StatusOr<Shape> ReadShape(const Tensor& tensor, std::string_view what);

// axis in [-rank, rank) made non-negative.
StatusOr<int> NormalizeAxis(int64_t axis, int rank, std::string_view what);

Status CheckRank(const Tensor& tensor, int rank, std::string_view what);
Status CheckScalar(const Tensor& tensor, std::string_view what);
Status CheckSameShape(const Tensor& a, const Tensor& b, std::string_view what_a,
                      std::string_view what_b);
// a * b, or INVALID_ARGUMENT when it does not fit.
StatusOr<int64_t> CheckedMul(int64_t a, int64_t b, std::string_view what);

}  // namespace slipway::kernels
