// SPDX-License-Identifier: Apache-2.0
#include "slipway/tensor.h"

#include <memory>

#include "base/strings.h"
#include "tensor/allocator.h"

namespace slipway {
namespace {

class AllocatedBuffer : public Buffer {
 public:
  AllocatedBuffer(void* data, size_t size, Allocator* allocator)
      : Buffer(data, size), allocator_(allocator) {}

 protected:
  ~AllocatedBuffer() override { allocator_->Deallocate(data(), size()); }

 private:
  Allocator* allocator_;
};

// Memory whose elements are C++ objects.
template <typename T>
class ObjectBuffer : public AllocatedBuffer {
 public:
  ObjectBuffer(void* data, size_t size, Allocator* allocator)
      : AllocatedBuffer(data, size, allocator) {
    std::uninitialized_value_construct_n(static_cast<T*>(data), size / sizeof(T));
  }

 protected:
  ~ObjectBuffer() override { std::destroy_n(static_cast<T*>(data()), size() / sizeof(T)); }
};

class BorrowedBuffer : public Buffer {
 public:
  using Buffer::Buffer;
  bool owns_memory() const override { return false; }
};

Buffer* NewBuffer(DType dtype, size_t size, Allocator* allocator) {
  if (allocator == nullptr) allocator = CpuAllocator();
  void* memory = allocator->Allocate(size);
  if (memory == nullptr) return nullptr;
  switch (dtype) {
    case DType::kString:
      return new ObjectBuffer<std::string>(memory, size, allocator);
    case DType::kResource:
      return new ObjectBuffer<ResourceHandle>(memory, size, allocator);
    case DType::kVariant:
      return new ObjectBuffer<Variant>(memory, size, allocator);
    default:
      return new AllocatedBuffer(memory, size, allocator);
  }
}

template <typename T>
void CopyObjects(const Tensor& from, Tensor& to) {
  std::copy(from.flat<T>().begin(), from.flat<T>().end(), to.flat<T>().begin());
}

}  // namespace

Tensor::Tensor(DType dtype, Shape shape, Allocator* allocator) {
  StatusOr<Tensor> made = Allocate(dtype, std::move(shape), allocator);
  if (made.ok()) swap(*made);
}

StatusOr<Tensor> Tensor::Allocate(DType dtype, Shape shape, Allocator* allocator) {
  int64_t size = static_cast<int64_t>(DTypeSize(dtype));
  bool overflow = false;
  bool empty = false;
  for (int64_t d : shape.dims()) {
    empty |= d == 0;
    overflow |= __builtin_mul_overflow(size, d, &size);
  }
  if (empty) size = 0;
  Buffer* buffer =
      overflow && !empty ? nullptr : NewBuffer(dtype, static_cast<size_t>(size), allocator);
  if (buffer == nullptr) {
    return ResourceExhaustedError(StrCat("Out of memory: no room for a tensor of type ",
                                         DTypeName(dtype), " and shape ", shape.ToString()));
  }
  Tensor t(dtype, std::move(shape), buffer);
  buffer->Unref();
  return t;
}

Tensor::Tensor(DType dtype, Shape shape, Buffer* buffer, size_t offset)
    : dtype_(dtype),
      shape_(std::move(shape)),
      data_(static_cast<char*>(buffer->data()) + offset),
      buffer_(buffer) {
  buffer_->Ref();
}

Tensor Tensor::Borrow(DType dtype, Shape shape, void* data) {
  const size_t size = static_cast<size_t>(shape.num_elements()) * DTypeSize(dtype);
  auto* buffer = new BorrowedBuffer(data, size);
  Tensor t(dtype, std::move(shape), buffer);
  buffer->Unref();
  return t;
}

Tensor Tensor::Clone(Allocator* allocator) const {
  if (!valid()) return Tensor();
  Tensor copy(dtype_, shape_, allocator);
  if (!copy.valid()) return copy;
  switch (dtype_) {
    case DType::kString:
      CopyObjects<std::string>(*this, copy);
      break;
    case DType::kResource:
      CopyObjects<ResourceHandle>(*this, copy);
      break;
    case DType::kVariant:
      CopyObjects<Variant>(*this, copy);
      break;
    default:
      if (byte_size() > 0) std::memcpy(copy.data_, data_, byte_size());
  }
  return copy;
}

Tensor Tensor::Reshaped(Shape shape) const {
  assert(shape.num_elements() == num_elements());
  Tensor t = *this;
  t.shape_ = std::move(shape);
  return t;
}

Tensor Tensor::Slice(int64_t begin, int64_t end) const {
  assert(rank() >= 1 && 0 <= begin && begin <= end && end <= dim(0));
  Tensor t = *this;
  const int64_t rows = dim(0);
  const size_t row_bytes = rows == 0 ? 0 : byte_size() / static_cast<size_t>(rows);
  t.shape_.set_dim(0, end - begin);
  t.data_ = static_cast<char*>(data_) + static_cast<size_t>(begin) * row_bytes;
  return t;
}

namespace {

template <typename T>
void AppendElement(std::string* out, const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    out->append(Quoted(value));
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    StrAppend(out, static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                       std::is_same_v<T, std::complex<double>>) {
    StrAppend(out, "(", value.real(), ",", value.imag(), ")");
  } else if constexpr (std::is_same_v<T, int8_t> || std::is_same_v<T, uint8_t>) {
    StrAppend(out, static_cast<int>(value));
  } else if constexpr (std::is_same_v<T, ResourceHandle> || std::is_same_v<T, Variant>) {
    out->append(value ? value->DebugString() : "null");
  } else {
    StrAppend(out, value);
  }
}

template <typename T>
void AppendElements(std::string* out, const Tensor& t, int64_t limit) {
  const auto values = t.flat<T>();
  for (int64_t i = 0; i < std::min(limit, t.num_elements()); ++i) {
    if (i > 0) out->push_back(' ');
    AppendElement(out, values[static_cast<size_t>(i)]);
  }
  if (t.num_elements() > limit) out->append(" ...");
}

void AppendAll(std::string* out, const Tensor& t, int64_t limit) {
  switch (t.dtype()) {
#define CASE(D, T)                    \
  case DType::D:                      \
    AppendElements<T>(out, t, limit); \
    break;
    CASE(kFloat, float)
    CASE(kDouble, double)
    CASE(kInt32, int32_t)
    CASE(kQInt32, int32_t)
    CASE(kUInt8, uint8_t)
    CASE(kQUInt8, uint8_t)
    CASE(kInt16, int16_t)
    CASE(kQInt16, int16_t)
    CASE(kInt8, int8_t)
    CASE(kQInt8, int8_t)
    CASE(kString, std::string)
    CASE(kComplex64, std::complex<float>)
    CASE(kComplex128, std::complex<double>)
    CASE(kInt64, int64_t)
    CASE(kBool, bool)
    CASE(kBFloat16, BFloat16)
    CASE(kUInt16, uint16_t)
    CASE(kQUInt16, uint16_t)
    CASE(kHalf, Half)
    CASE(kUInt32, uint32_t)
    CASE(kUInt64, uint64_t)
    CASE(kResource, ResourceHandle)
    CASE(kVariant, Variant)
#undef CASE
    case DType::kInvalid:
      break;
  }
}

}  // namespace

std::string Tensor::ToString(int64_t limit) const {
  if (!valid()) return "invalid";
  std::string out = StrCat(DTypeName(dtype_), shape_.ToString(), " [");
  AppendAll(&out, *this, limit);
  return out + "]";
}

}  // namespace slipway
