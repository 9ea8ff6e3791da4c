// SPDX-License-Identifier: Apache-2.0
#include "wire/tensor_proto.h"

#include <algorithm>
#include <vector>

#include "base/strings.h"
#include "wire/coding.h"

namespace slipway {
namespace {

// Field numbers of tensorflow.TensorProto.
enum Field : uint32_t {
  kDType = 1,
  kShape = 2,
  kContent = 4,
  kFloatVal = 5,
  kDoubleVal = 6,
  kIntVal = 7,
  kStringVal = 8,
  kSComplexVal = 9,
  kInt64Val = 10,
  kBoolVal = 11,
  kDComplexVal = 12,
  kHalfVal = 13,
  kUInt32Val = 16,
  kUInt64Val = 17,
};

uint32_t ValueField(DType dtype) {
  switch (dtype) {
    case DType::kFloat:
      return kFloatVal;
    case DType::kDouble:
      return kDoubleVal;
    case DType::kString:
      return kStringVal;
    case DType::kComplex64:
      return kSComplexVal;
    case DType::kComplex128:
      return kDComplexVal;
    case DType::kInt64:
      return kInt64Val;
    case DType::kBool:
      return kBoolVal;
    case DType::kHalf:
    case DType::kBFloat16:
      return kHalfVal;
    case DType::kUInt32:
      return kUInt32Val;
    case DType::kUInt64:
      return kUInt64Val;
    default:
      return kIntVal;
  }
}

bool HasTypedForm(DType dtype) {
  return dtype != DType::kInvalid && dtype != DType::kResource && dtype != DType::kVariant;
}

// What the first walk over the message finds.
struct Parsed {
  DType dtype = DType::kInvalid;
  std::vector<int64_t> dims;
  bool unknown_rank = false;
  std::string_view content;
};

Status ParseDims(std::string_view bytes, std::vector<int64_t>* dims, bool* unknown_rank) {
  // One allocation for what is usual; a dimension takes two bytes at least.
  dims->reserve(std::min<size_t>(bytes.size() / 2, 8));
  ProtoReader reader(bytes);
  while (reader.Next()) {
    if (reader.tag() == VarintField(3)) {
      *unknown_rank = reader.boolean();
    } else if (reader.tag() == BytesField(2)) {
      int64_t size = 0;
      ProtoReader dim(reader.bytes());
      while (dim.Next()) {
        if (dim.tag() == VarintField(1)) size = dim.int64();
      }
      RETURN_IF_ERROR(dim.status("TensorShapeProto.Dim"));
      if (dims->size() == static_cast<size_t>(Shape::kMaxRank)) {
        return InvalidArgumentError(
            StrCat("A shape has more than ", Shape::kMaxRank, " dimensions"));
      }
      dims->push_back(size);
    }
  }
  return reader.status("TensorShapeProto");
}

StatusOr<Parsed> ParseHeader(std::string_view bytes) {
  Parsed parsed;
  int64_t number = 0;
  ProtoReader reader(bytes);
  while (reader.Next()) {
    switch (reader.tag()) {
      case VarintField(kDType):
        number = reader.int64();
        break;
      case BytesField(kShape):
        RETURN_IF_ERROR(ParseDims(reader.bytes(), &parsed.dims, &parsed.unknown_rank));
        break;
      case BytesField(kContent):
        parsed.content = reader.bytes();
        break;
      default:
        break;
    }
  }
  RETURN_IF_ERROR(reader.status("TensorProto"));
  const std::optional<DType> dtype = DTypeFromNumber(number);
  if (!dtype || *dtype == DType::kInvalid) {
    return InvalidArgumentError(
        StrCat("A TensorProto has data type ", number, ", which is not one of TensorFlow's"));
  }
  parsed.dtype = *dtype;
  return parsed;
}

Status TooManyValues(int64_t n) {
  return InvalidArgumentError(
      StrCat("A TensorProto holds more values than the ", n, " elements of its shape"));
}

// Fixed-size values: packed runs are copied as they lie. W is the value on the wire; an element
// may consist of several (complex numbers). REQUIRES: `out` has room for n.
template <typename W>
Status ReadFixed(std::string_view bytes, uint32_t field, W* out, int64_t n, int64_t* count) {
  constexpr WireType kType = sizeof(W) == 4 ? WireType::kFixed32 : WireType::kFixed64;
  ProtoReader reader(bytes);
  while (reader.Next()) {
    if (reader.tag() == BytesField(field)) {
      const std::string_view run = reader.bytes();
      const auto more = static_cast<int64_t>(run.size() / sizeof(W));
      if (run.size() % sizeof(W) != 0) {
        return InvalidArgumentError(StrCat("A packed field of a TensorProto has ", run.size(),
                                           " bytes, not a multiple of ", sizeof(W)));
      }
      if (more > n - *count) return TooManyValues(n);
      if (more > 0) std::memcpy(out + *count, run.data(), run.size());
      *count += more;
    } else if (reader.tag() == ProtoTag(field, kType)) {
      if (*count == n) return TooManyValues(n);
      const uint64_t raw = reader.fixed64();
      std::memcpy(out + (*count)++, &raw, sizeof(W));
    }
  }
  return OkStatus();
}

template <typename T>
T FromVarint(uint64_t raw) {
  if constexpr (std::is_same_v<T, bool>) {
    return raw != 0;
  } else {
    return static_cast<T>(raw);
  }
}

template <typename T>
Status ReadVarints(std::string_view bytes, uint32_t field, T* out, int64_t n, int64_t* count) {
  ProtoReader reader(bytes);
  while (reader.Next()) {
    if (reader.tag() == BytesField(field)) {
      const char* at = reader.bytes().data();
      const char* end = at + reader.bytes().size();
      while (at != end) {
        uint64_t raw = static_cast<uint8_t>(*at);
        if (raw < 0x80) {
          ++at;
        } else if (!ReadVarint(&at, end, &raw)) {
          return InvalidArgumentError("A packed field of a TensorProto ends within a number");
        }
        if (*count == n) return TooManyValues(n);
        out[(*count)++] = FromVarint<T>(raw);
      }
    } else if (reader.tag() == VarintField(field)) {
      if (*count == n) return TooManyValues(n);
      out[(*count)++] = FromVarint<T>(reader.varint());
    }
  }
  return OkStatus();
}

Status ReadStrings(std::string_view bytes, std::string* out, int64_t n, int64_t* count) {
  ProtoReader reader(bytes);
  while (reader.Next()) {
    if (reader.tag() != BytesField(kStringVal)) continue;
    if (*count == n) return TooManyValues(n);
    out[(*count)++].assign(reader.bytes());
  }
  return OkStatus();
}

// Numbers of T: read, then the last one repeated over the rest.
template <typename T, typename Read>
Status Fill(Tensor* tensor, int values_per_element, Read read) {
  T* out = static_cast<T*>(tensor->raw_data());
  const int64_t n = tensor->num_elements();
  int64_t count = 0;
  RETURN_IF_ERROR(read(n * values_per_element, &count));
  if (count % values_per_element != 0) {
    return InvalidArgumentError("A TensorProto holds half of a complex number");
  }
  count /= values_per_element;
  std::fill(out + count, out + n, count == 0 ? T() : out[count - 1]);
  return OkStatus();
}

template <typename T>
Status FillVarints(std::string_view bytes, uint32_t field, Tensor* tensor) {
  return Fill<T>(tensor, 1, [&](int64_t n, int64_t* count) {
    return ReadVarints(bytes, field, static_cast<T*>(tensor->raw_data()), n, count);
  });
}

template <typename T, typename W>
Status FillFixed(std::string_view bytes, uint32_t field, Tensor* tensor) {
  return Fill<T>(tensor, sizeof(T) / sizeof(W), [&](int64_t n, int64_t* count) {
    return ReadFixed(bytes, field, static_cast<W*>(tensor->raw_data()), n, count);
  });
}

Status FillStrings(std::string_view bytes, uint64_t max_bytes, Tensor* tensor) {
  auto out = tensor->flat<std::string>();
  const auto n = static_cast<int64_t>(out.size());
  int64_t count = 0;
  RETURN_IF_ERROR(ReadStrings(bytes, out.data(), n, &count));
  if (count == 0 || count == n) return OkStatus();
  const std::string& last = out[static_cast<size_t>(count - 1)];
  if (last.size() > max_bytes / static_cast<uint64_t>(n - count)) {
    return ResourceExhaustedError(StrCat("A TensorProto repeats a string of ", last.size(),
                                         " bytes ", n - count, " times; the limit is ", max_bytes,
                                         " bytes"));
  }
  std::fill(out.begin() + count, out.end(), std::string(last));
  return OkStatus();
}

Status FillTyped(std::string_view bytes, uint64_t max_bytes, Tensor* t) {
  const uint32_t field = ValueField(t->dtype());
  switch (t->dtype()) {
    case DType::kFloat:
      return FillFixed<float, float>(bytes, field, t);
    case DType::kDouble:
      return FillFixed<double, double>(bytes, field, t);
    case DType::kComplex64:
      return FillFixed<std::complex<float>, float>(bytes, field, t);
    case DType::kComplex128:
      return FillFixed<std::complex<double>, double>(bytes, field, t);
    case DType::kString:
      return FillStrings(bytes, max_bytes, t);
    case DType::kBool:
      return FillVarints<bool>(bytes, field, t);
    case DType::kInt8:
    case DType::kUInt8:
    case DType::kQInt8:
    case DType::kQUInt8:
      return FillVarints<uint8_t>(bytes, field, t);
    case DType::kInt16:
    case DType::kUInt16:
    case DType::kQInt16:
    case DType::kQUInt16:
    case DType::kHalf:
    case DType::kBFloat16:
      return FillVarints<uint16_t>(bytes, field, t);
    case DType::kInt32:
    case DType::kQInt32:
    case DType::kUInt32:
      return FillVarints<uint32_t>(bytes, field, t);
    default:
      return FillVarints<uint64_t>(bytes, field, t);
  }
}

Status WrongContent(std::string_view content, const Tensor& t) {
  return InvalidArgumentError(StrCat("A TensorProto of type ", DTypeName(t.dtype()), " and shape ",
                                     t.shape().ToString(), " has ", content.size(),
                                     " bytes of tensor_content that do not fit it"));
}

// Strings in tensor_content: the lengths of all as varints, then their bytes.
Status FillStringContent(std::string_view content, Tensor* t) {
  auto out = t->flat<std::string>();
  if (out.size() > content.size()) return WrongContent(content, *t);
  std::string_view lengths = content;
  std::string_view rest = content;
  uint64_t total = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    uint64_t length = 0;
    if (!ConsumeVarint(&rest, &length) || length > content.size()) return WrongContent(content, *t);
    total += length;
    if (total > content.size()) return WrongContent(content, *t);
  }
  if (total != rest.size()) return WrongContent(content, *t);
  for (std::string& text : out) {
    uint64_t length = 0;
    ConsumeVarint(&lengths, &length);
    text.assign(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  return OkStatus();
}

Status FillContent(std::string_view content, Tensor* t) {
  if (t->dtype() == DType::kString) return FillStringContent(content, t);
  if (content.size() != t->byte_size()) return WrongContent(content, *t);
  std::memcpy(t->raw_data(), content.data(), content.size());
  if (t->dtype() == DType::kBool) {
    // A bool that is neither 0 nor 1 must not come to be.
    auto* bytes = static_cast<uint8_t*>(t->raw_data());
    for (size_t i = 0; i < content.size(); ++i) bytes[i] = bytes[i] != 0;
  }
  return OkStatus();
}

// ---- Encoding ----

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

}  // namespace

uint64_t TensorSplatBytes(uint64_t decoded, uint64_t encoded) {
  // A string takes two bytes at least, a number one.
  constexpr uint64_t kLargestGrowth = std::max(sizeof(std::string) / 2, sizeof(uint64_t));
  return decoded / kLargestGrowth <= encoded ? 0 : decoded - encoded * kLargestGrowth;
}

StatusOr<Tensor> DecodeTensorProto(std::string_view bytes, const TensorDecodeOptions& options) {
  ASSIGN_OR_RETURN(const Parsed parsed, ParseHeader(bytes));
  if (!HasTypedForm(parsed.dtype)) {
    return UnimplementedError(StrCat("A TensorProto of type ", DTypeEnumName(parsed.dtype),
                                     " cannot be read; only numbers and strings can"));
  }
  if (parsed.unknown_rank) {
    return InvalidArgumentError("A TensorProto has a shape of unknown rank; give its dimensions");
  }
  ASSIGN_OR_RETURN(Shape shape, Shape::FromDims(parsed.dims));
  const auto n = static_cast<uint64_t>(shape.num_elements());
  if (n > options.max_bytes / DTypeSize(parsed.dtype)) {
    return ResourceExhaustedError(StrCat("A TensorProto declares shape ", shape.ToString(),
                                         " of type ", DTypeName(parsed.dtype),
                                         ", over the limit of ", options.max_bytes, " bytes"));
  }
  if (TensorSplatBytes(n * DTypeSize(parsed.dtype), bytes.size()) > options.max_splat_bytes) {
    return ResourceExhaustedError(
        StrCat("A TensorProto of ", bytes.size(), " bytes declares shape ", shape.ToString(),
               " of type ", DTypeName(parsed.dtype), ", of which at most ", options.max_splat_bytes,
               " bytes may be repeated values; send the values themselves"));
  }
  ASSIGN_OR_RETURN(Tensor tensor,
                   Tensor::Allocate(parsed.dtype, std::move(shape), options.allocator));
  if (!parsed.content.empty()) {
    RETURN_IF_ERROR(FillContent(parsed.content, &tensor));
  } else {
    RETURN_IF_ERROR(
        FillTyped(bytes, std::min(options.max_bytes, options.max_splat_bytes), &tensor));
  }
  return tensor;
}

StatusOr<PartialShape> DecodeShapeProto(std::string_view bytes) {
  std::vector<int64_t> dims;
  bool unknown_rank = false;
  RETURN_IF_ERROR(ParseDims(bytes, &dims, &unknown_rank));
  if (unknown_rank) return PartialShape::Unknown();
  for (int64_t size : dims) {
    if (size < -1) {
      return InvalidArgumentError(
          StrCat("A shape has a dimension of ", size, "; -1 stands for an unknown one"));
    }
  }
  return PartialShape(std::move(dims));
}

namespace {

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
