// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/strings.h"
#include "wire/coding.h"
#include "wire/tensor_proto.h"
#include "wire/tensor_proto_fields.h"

namespace slipway {
namespace {

using enum tensor_proto::Field;
using tensor_proto::HasTypedForm;
using tensor_proto::ValueField;

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

}  // namespace slipway
