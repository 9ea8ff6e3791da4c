// SPDX-License-Identifier: Apache-2.0
#include "slipway/shape.h"

#include <algorithm>

#include "base/strings.h"

namespace slipway {

void Shape::Assign(std::span<const int64_t> dims) {
  rank_ = static_cast<int>(dims.size());
  if (rank_ <= kInlineRank) {
    std::copy(dims.begin(), dims.end(), inline_);
  } else {
    heap_.assign(dims.begin(), dims.end());
  }
}

StatusOr<Shape> Shape::FromDims(std::span<const int64_t> dims) {
  if (dims.size() > static_cast<size_t>(kMaxRank)) {
    return InvalidArgumentError(
        StrCat("A shape of rank ", dims.size(), "; at most ", kMaxRank, " is allowed"));
  }
  int64_t n = 1;
  bool overflow = false;
  for (int64_t d : dims) {
    if (d < 0) {
      return InvalidArgumentError(
          StrCat("Shape [", StrJoin(dims, ","), "] has a negative dimension"));
    }
    overflow |= __builtin_mul_overflow(n, d, &n);
  }
  // A zero behind the overflow does not help: num_elements() multiplies in this order too.
  if (overflow) {
    return InvalidArgumentError(StrCat("Shape [", StrJoin(dims, ","), "] has too many elements"));
  }
  return Shape(dims);
}

void Shape::AddDim(int64_t size) {
  if (rank_ < kInlineRank) {
    inline_[rank_++] = size;
    return;
  }
  if (rank_ == kInlineRank) heap_.assign(inline_, inline_ + kInlineRank);
  heap_.push_back(size);
  ++rank_;
}

std::string Shape::ToString() const { return StrCat("[", StrJoin(dims(), ","), "]"); }

bool PartialShape::IsFullyDefined() const {
  return dims_ && std::all_of(dims_->begin(), dims_->end(), [](int64_t d) { return d >= 0; });
}

std::optional<Shape> PartialShape::ToShape() const {
  if (!IsFullyDefined()) return std::nullopt;
  return Shape(std::span<const int64_t>(*dims_));
}

int64_t PartialShape::num_elements() const {
  const std::optional<Shape> shape = ToShape();
  return shape ? shape->num_elements() : -1;
}

bool PartialShape::Admits(const Shape& shape) const {
  if (!dims_) return true;
  if (rank() != shape.rank()) return false;
  for (int i = 0; i < shape.rank(); ++i) {
    if (dim(i) >= 0 && dim(i) != shape.dim(i)) return false;
  }
  return true;
}

StatusOr<PartialShape> PartialShape::Merge(const PartialShape& other) const {
  if (!dims_) return other;
  if (!other.dims_) return *this;
  const Status mismatch = InvalidArgumentError(
      StrCat("Shapes ", ToString(), " and ", other.ToString(), " are incompatible"));
  if (rank() != other.rank()) return mismatch;
  PartialShape merged = *this;
  for (int i = 0; i < rank(); ++i) {
    if (dim(i) < 0) {
      merged.set_dim(i, other.dim(i));
    } else if (other.dim(i) >= 0 && other.dim(i) != dim(i)) {
      return mismatch;
    }
  }
  return merged;
}

std::string PartialShape::ToString() const {
  if (!dims_) return "<unknown>";
  std::string out = "[";
  for (size_t i = 0; i < dims_->size(); ++i) {
    if (i > 0) out += ',';
    if ((*dims_)[i] < 0) {
      out += '?';
    } else {
      StrAppend(&out, (*dims_)[i]);
    }
  }
  return out + "]";
}

}  // namespace slipway
