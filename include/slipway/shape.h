// SPDX-License-Identifier: Apache-2.0
//
// Shape: the sizes of a tensor that exists. PartialShape: what is known of one that will.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "slipway/status.h"

namespace slipway {

// Sizes of all dimensions, none negative; the empty shape is a scalar's. Up to kInlineRank
// dimensions nothing is allocated. Thread safety: as a value type.
class Shape {
 public:
  static constexpr int kInlineRank = 6;
  static constexpr int kMaxRank = 254;  // TensorFlow's limit

  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const int64_t> dims) { Assign(dims); }
  Shape(const Shape& other) { Assign(other.dims()); }
  Shape(Shape&& other) noexcept = default;
  Shape& operator=(const Shape& other) {
    if (this != &other) Assign(other.dims());
    return *this;
  }
  Shape& operator=(Shape&& other) noexcept = default;

  // For sizes that come from outside: refuses negative ones, a rank over kMaxRank and a number of
  // elements that does not fit 63 bits.
  static StatusOr<Shape> FromDims(std::span<const int64_t> dims);

  int rank() const { return rank_; }
  int64_t dim(int i) const { return data()[i]; }
  void set_dim(int i, int64_t size) { data()[i] = size; }
  std::span<const int64_t> dims() const { return {data(), static_cast<size_t>(rank_)}; }
  void AddDim(int64_t size);

  // The product of the sizes, 1 for a scalar.
  int64_t num_elements() const {
    int64_t n = 1;
    for (int64_t d : dims()) n *= d;
    return n;
  }

  // "[2,3]", "[]".
  std::string ToString() const;

  friend bool operator==(const Shape& a, const Shape& b) {
    if (a.rank_ != b.rank_) return false;
    for (int i = 0; i < a.rank_; ++i) {
      if (a.data()[i] != b.data()[i]) return false;
    }
    return true;
  }

 private:
  void Assign(std::span<const int64_t> dims);
  const int64_t* data() const { return rank_ <= kInlineRank ? inline_ : heap_.data(); }
  int64_t* data() { return rank_ <= kInlineRank ? inline_ : heap_.data(); }

  int rank_ = 0;
  int64_t inline_[kInlineRank];
  std::vector<int64_t> heap_;  // all sizes, if rank_ > kInlineRank
};

// A rank that may be unknown, and sizes each of which may be unknown (-1).
class PartialShape {
 public:
  PartialShape() = default;  // unknown rank
  PartialShape(std::initializer_list<int64_t> dims) : dims_(std::vector<int64_t>(dims)) {}
  explicit PartialShape(std::vector<int64_t> dims) : dims_(std::move(dims)) {}
  PartialShape(const Shape& shape)  // every shape is a partial one
      : dims_(std::vector<int64_t>(shape.dims().begin(), shape.dims().end())) {}
  static PartialShape Unknown() { return PartialShape(); }
  static PartialShape UnknownOfRank(int rank) {
    return PartialShape(std::vector<int64_t>(static_cast<size_t>(rank), -1));
  }

  bool has_rank() const { return dims_.has_value(); }
  int rank() const { return dims_ ? static_cast<int>(dims_->size()) : -1; }
  int64_t dim(int i) const { return (*dims_)[static_cast<size_t>(i)]; }
  void set_dim(int i, int64_t size) { (*dims_)[static_cast<size_t>(i)] = size; }
  const std::vector<int64_t>& dims() const { return *dims_; }  // REQUIRES: has_rank()

  bool IsFullyDefined() const;
  std::optional<Shape> ToShape() const;  // nothing unless fully defined
  // -1 unless fully defined.
  int64_t num_elements() const;

  // A tensor of `shape` may stand where this is declared.
  bool Admits(const Shape& shape) const;
  // What both say together; INVALID_ARGUMENT if they contradict each other.
  StatusOr<PartialShape> Merge(const PartialShape& other) const;

  // "[?,3]", "<unknown>".
  std::string ToString() const;

  friend bool operator==(const PartialShape&, const PartialShape&) = default;

 private:
  std::optional<std::vector<int64_t>> dims_;
};

}  // namespace slipway
