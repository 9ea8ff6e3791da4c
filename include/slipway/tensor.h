// SPDX-License-Identifier: Apache-2.0
//
// Tensor: a dtype, a shape and shared, reference-counted memory in row-major order.
//
// Copying a Tensor shares its memory; nothing is copied and nothing allocated. Who writes must be
// the only holder (IsUnique) or know that no other holder reads at the same time.
// Elements of strings, resources and variants are C++ objects and are constructed with the memory.
#pragma once

#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "slipway/dtype.h"
#include "slipway/shape.h"
#include "slipway/status.h"

namespace slipway {

class Allocator;

// Memory with a reference count. Subclasses say where it came from and how it goes back.
class Buffer {
 public:
  Buffer(void* data, size_t size) : data_(data), size_(size) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* data() const { return data_; }
  size_t size() const { return size_; }
  void Ref() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void Unref() {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) Release();
  }
  bool unique() const { return refs_.load(std::memory_order_acquire) == 1; }

  // False for memory that is only lent (a plan's arena, a caller's array): who keeps such a tensor
  // beyond the call must keep a Clone().
  virtual bool owns_memory() const { return true; }

 protected:
  virtual ~Buffer() = default;
  virtual void Release() { delete this; }

 private:
  std::atomic<int> refs_{1};
  void* data_;
  size_t size_;
};

class Tensor {
 public:
  static constexpr size_t kAlignment = 64;

  Tensor() = default;  // kInvalid, no memory
  // New memory from the allocator (the process's CPU allocator if null). Numbers are not set;
  // objects are default-constructed. Memory that cannot be had leaves the tensor invalid: use
  // Allocate where the size comes from outside.
  Tensor(DType dtype, Shape shape, Allocator* allocator = nullptr);
  // The same for sizes that come from outside: RESOURCE_EXHAUSTED names the size.
  static StatusOr<Tensor> Allocate(DType dtype, Shape shape, Allocator* allocator = nullptr);
  // Over existing memory at `offset` bytes into `buffer`, on which a reference is taken.
  Tensor(DType dtype, Shape shape, Buffer* buffer, size_t offset = 0);
  // Over memory that the caller keeps alive and unmoved for as long as the tensor or a copy lives.
  static Tensor Borrow(DType dtype, Shape shape, void* data);

  Tensor(const Tensor& other)
      : dtype_(other.dtype_), shape_(other.shape_), data_(other.data_), buffer_(other.buffer_) {
    if (buffer_ != nullptr) buffer_->Ref();
  }
  Tensor(Tensor&& other) noexcept
      : dtype_(std::exchange(other.dtype_, DType::kInvalid)),
        shape_(std::move(other.shape_)),
        data_(std::exchange(other.data_, nullptr)),
        buffer_(std::exchange(other.buffer_, nullptr)) {
    other.shape_ = Shape();
  }
  Tensor& operator=(const Tensor& other) {
    if (other.buffer_ != nullptr) other.buffer_->Ref();
    if (buffer_ != nullptr) buffer_->Unref();
    dtype_ = other.dtype_;
    shape_ = other.shape_;
    data_ = other.data_;
    buffer_ = other.buffer_;
    return *this;
  }
  Tensor& operator=(Tensor&& other) noexcept {
    Tensor moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~Tensor() {
    if (buffer_ != nullptr) buffer_->Unref();
  }
  void swap(Tensor& other) noexcept {
    std::swap(dtype_, other.dtype_);
    std::swap(shape_, other.shape_);
    std::swap(data_, other.data_);
    std::swap(buffer_, other.buffer_);
  }

  // From values, for tests, constants and examples.
  template <typename T>
  static Tensor Scalar(T value) {
    Tensor t(DTypeOf<T>(), Shape());
    t.flat<T>()[0] = std::move(value);
    return t;
  }
  static Tensor Scalar(const char* text) { return Scalar(std::string(text)); }
  template <typename T>
  static Tensor FromValues(std::span<const T> values, Shape shape) {
    Tensor t(DTypeOf<T>(), std::move(shape));
    assert(values.size() == static_cast<size_t>(t.num_elements()));
    std::copy(values.begin(), values.end(), t.flat<T>().begin());
    return t;
  }
  template <typename T>
  static Tensor FromValues(std::initializer_list<T> values, Shape shape) {
    return FromValues<T>(std::span<const T>(values.begin(), values.size()), std::move(shape));
  }
  template <typename T>
  static Tensor Vector(std::initializer_list<T> values) {
    return FromValues<T>(values, Shape({static_cast<int64_t>(values.size())}));
  }

  bool valid() const { return dtype_ != DType::kInvalid; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  int64_t dim(int i) const { return shape_.dim(i); }
  int64_t num_elements() const { return shape_.num_elements(); }
  size_t byte_size() const {
    return static_cast<size_t>(num_elements()) * DTypeSize(dtype_);
  }
  void* raw_data() const { return data_; }
  Buffer* buffer() const { return buffer_; }

  // All elements in row-major order. REQUIRES: T is how the dtype is stored.
  template <typename T>
  std::span<const T> flat() const {
    assert(IsStoredAs<T>(dtype_));
    return {static_cast<const T*>(data_), static_cast<size_t>(num_elements())};
  }
  template <typename T>
  std::span<T> flat() {
    assert(IsStoredAs<T>(dtype_));
    return {static_cast<T*>(data_), static_cast<size_t>(num_elements())};
  }
  template <typename T>
  const T& scalar() const {
    return flat<T>()[0];
  }

  // No other Tensor shares the memory, so it may be written.
  bool IsUnique() const { return buffer_ != nullptr && buffer_->unique(); }
  bool owns_memory() const { return buffer_ == nullptr || buffer_->owns_memory(); }
  // A copy in memory of its own.
  Tensor Clone(Allocator* allocator = nullptr) const;
  // Itself if it may outlive the call that made it, else a Clone().
  Tensor Owned() const { return owns_memory() ? *this : Clone(); }
  // The same memory under another shape. REQUIRES: as many elements.
  Tensor Reshaped(Shape shape) const;
  // Rows [begin, end) of dimension 0, sharing the memory. REQUIRES: rank >= 1.
  Tensor Slice(int64_t begin, int64_t end) const;

  // "float32[2,3] [1 2 3 ...]": at most `limit` elements.
  std::string ToString(int64_t limit = 10) const;

 private:
  DType dtype_ = DType::kInvalid;
  Shape shape_;
  void* data_ = nullptr;
  Buffer* buffer_ = nullptr;  // counted; null for an invalid tensor
};

// What a tensor must be: how signatures, placeholders and datasets describe their elements.
struct TensorSpec {
  DType dtype = DType::kInvalid;
  PartialShape shape;
  std::string name;
};

}  // namespace slipway
