// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"
#include "wire/coding.h"
#include "wire/tensor_proto.h"
#include "wire/tensor_proto_fields.h"

namespace slipway {
namespace {

using enum tensor_proto::Field;
using tensor_proto::HasTypedForm;
using tensor_proto::ValueField;

size_t VarintValueSize(uint64_t value) { return static_cast<size_t>(VarintSize(value)); }

// Calls f with each element as the varint that stands for it. Small signed integers are widened
// with their sign, as int32 fields are.
template <typename F>
void ForEachVarint(const Tensor& t, F f) {
  const auto signed_each = [&](auto tag) {
    for (auto v : t.flat<decltype(tag)>()) f(static_cast<uint64_t>(static_cast<int64_t>(v)));
  };
  const auto unsigned_each = [&](auto tag) {
    for (auto v : t.flat<decltype(tag)>()) f(static_cast<uint64_t>(v));
  };
  switch (t.dtype()) {
    case DType::kInt8:
    case DType::kQInt8:
      return signed_each(int8_t{});
    case DType::kInt16:
    case DType::kQInt16:
      return signed_each(int16_t{});
    case DType::kInt32:
    case DType::kQInt32:
      return signed_each(int32_t{});
    case DType::kInt64:
      return signed_each(int64_t{});
    case DType::kUInt8:
    case DType::kQUInt8:
      return unsigned_each(uint8_t{});
    case DType::kUInt16:
    case DType::kQUInt16:
      return unsigned_each(uint16_t{});
    case DType::kUInt32:
      return unsigned_each(uint32_t{});
    case DType::kUInt64:
      return unsigned_each(uint64_t{});
    case DType::kBool:
      return unsigned_each(bool{});
    case DType::kHalf:
      for (Half v : t.flat<Half>()) f(v.bits);
      return;
    case DType::kBFloat16:
      for (BFloat16 v : t.flat<BFloat16>()) f(v.bits);
      return;
    default:
      return;
  }
}

bool IsFixedOnWire(DType dtype) {
  return dtype == DType::kFloat || dtype == DType::kDouble || IsComplex(dtype);
}

// Bytes of the packed run of typed values.
size_t PackedSize(const Tensor& t) {
  if (IsFixedOnWire(t.dtype())) return t.byte_size();
  size_t size = 0;
  ForEachVarint(t, [&](uint64_t v) { size += VarintValueSize(v); });
  return size;
}

size_t BytesFieldSize(uint32_t field, size_t size) {
  return VarintValueSize(BytesField(field)) + VarintValueSize(size) + size;
}

size_t StringsSize(const Tensor& t) {
  size_t size = 0;
  for (const std::string& text : t.flat<std::string>()) {
    size += BytesFieldSize(kStringVal, text.size());
  }
  return size;
}

void AppendPacked(const Tensor& t, std::string* out) {
  ProtoWriter writer(out);
  const size_t size = PackedSize(t);
  writer.BytesHeader(ValueField(t.dtype()), size);
  if (IsFixedOnWire(t.dtype())) {
    out->append(static_cast<const char*>(t.raw_data()), size);
    return;
  }
  const size_t at = out->size();
  out->resize(at + size);
  char* to = out->data() + at;
  ForEachVarint(t, [&](uint64_t v) { to = WriteVarint(to, v); });
}

size_t DimSize(int64_t size) {
  return size == 0 ? 0 : 1 + VarintValueSize(static_cast<uint64_t>(size));
}

size_t DimsSize(std::span<const int64_t> dims) {
  size_t total = 0;
  for (int64_t size : dims) total += 2 + DimSize(size);
  return total;
}

void AppendDims(std::span<const int64_t> dims, std::string* out) {
  ProtoWriter writer(out);
  for (int64_t size : dims) {
    writer.BytesHeader(2, DimSize(size));
    if (size != 0) writer.Int64(1, size);
  }
}

}  // namespace

size_t ShapeProtoSize(const PartialShape& shape) {
  return shape.has_rank() ? DimsSize(shape.dims()) : 2;
}

void AppendShapeProto(const PartialShape& shape, std::string* out) {
  if (shape.has_rank()) {
    AppendDims(shape.dims(), out);
  } else {
    ProtoWriter(out).Bool(3, true);
  }
}

size_t TensorProtoSize(const Tensor& t, TensorEncoding encoding) {
  size_t size = 2 + BytesFieldSize(kShape, DimsSize(t.shape().dims()));
  if (t.num_elements() == 0 || !HasTypedForm(t.dtype())) return size;
  if (t.dtype() == DType::kString) return size + StringsSize(t);
  if (encoding == TensorEncoding::kContent) return size + BytesFieldSize(kContent, t.byte_size());
  return size + BytesFieldSize(ValueField(t.dtype()), PackedSize(t));
}

Status AppendTensorProto(const Tensor& t, TensorEncoding encoding, std::string* out) {
  if (!HasTypedForm(t.dtype())) {
    return UnimplementedError(StrCat("A tensor of type ", DTypeEnumName(t.dtype()),
                                     " has no TensorProto; only numbers and strings have"));
  }
  ProtoWriter writer(out);
  writer.Varint(kDType, static_cast<uint64_t>(t.dtype()));
  writer.BytesHeader(kShape, DimsSize(t.shape().dims()));
  AppendDims(t.shape().dims(), out);
  if (t.num_elements() == 0) return OkStatus();
  if (t.dtype() == DType::kString) {
    for (const std::string& text : t.flat<std::string>()) writer.Bytes(kStringVal, text);
  } else if (encoding == TensorEncoding::kContent) {
    writer.Bytes(kContent, {static_cast<const char*>(t.raw_data()), t.byte_size()});
  } else {
    AppendPacked(t, out);
  }
  return OkStatus();
}

}  // namespace slipway
