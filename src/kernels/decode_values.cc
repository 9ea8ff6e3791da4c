// SPDX-License-Identifier: Apache-2.0
//
// Strings that hold values: raw numbers, CSV lines, compressed bytes, tensors, examples in JSON.
#include <zlib.h>

#include <algorithm>
#include <complex>
#include <cstring>

#include "base/strings.h"
#include "kernels/attrs.h"
#include "kernels/kernel_table.h"
#include "kernels/map_strings.h"
#include "kernels/parse_number.h"
#include "kernels/types.h"
#include "wire/example.h"
#include "wire/tensor_proto.h"

namespace slipway::kernels {
namespace {

void ReverseBytes(char* at, size_t count, size_t size) {
  if (size < 2) return;
  for (size_t i = 0; i < count; ++i) std::reverse(at + i * size, at + (i + 1) * size);
}

// Elements of which each part (of a complex number) is `part` bytes, in the given order.
struct RawType {
  DType dtype;
  size_t size, part;
  bool reversed;
  explicit RawType(const ir::Node& node)
      : dtype(node.dtype(0)),
        size(DTypeSize(dtype)),
        part(IsComplex(dtype) ? size / 2 : size),
        reversed(!BoolAttr(node, "little_endian", true)) {}
  void Fix(char* at, size_t bytes) const {
    if (reversed) ReverseBytes(at, bytes / part, part);
    if (dtype != DType::kBool) return;
    for (size_t i = 0; i < bytes; ++i) at[i] = at[i] != 0;
  }
};

StatusOr<KernelFn> BindRaw(const BindContext& c) {
  return KernelFn([type = RawType(*c.node)](KernelContext& ctx) -> Status {
    const Tensor& x = ctx.input(0);
    const auto texts = x.flat<std::string>();
    const size_t bytes = texts.empty() ? 0 : texts[0].size();
    for (const std::string& text : texts) {
      if (text.size() == bytes) continue;
      return InvalidArgumentError(
          StrCat("DecodeRaw requires input strings to all be the same size, but element has size ",
                 bytes, " != ", text.size()));
    }
    if (bytes % type.size != 0) {
      return InvalidArgumentError(StrCat("Input to DecodeRaw has length ", bytes,
                                         " that is not a multiple of ", type.size, ", the size of ",
                                         DTypeName(type.dtype)));
    }
    Shape shape = x.shape();
    shape.AddDim(static_cast<int64_t>(bytes / type.size));
    ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
    char* to = static_cast<char*>(out->raw_data());
    for (const std::string& text : texts) {
      if (bytes > 0) std::memcpy(to, text.data(), bytes);
      type.Fix(to, bytes);
      to += bytes;
    }
    return OkStatus();
  });
}

StatusOr<KernelFn> BindPaddedRaw(const BindContext& c) {
  return KernelFn([type = RawType(*c.node)](KernelContext& ctx) -> Status {
    const Tensor &x = ctx.input(0), &length = ctx.input(1);
    if (length.rank() != 0) {
      return InvalidArgumentError(
          StrCat("k must be scalar, got shape ", length.shape().ToString()));
    }
    const int64_t bytes = length.flat<int32_t>()[0];
    const auto size = static_cast<int64_t>(type.size);
    if (bytes <= 0) {
      return InvalidArgumentError(StrCat("fixed_length must be greater than zero, got ", bytes));
    }
    if (bytes % size != 0) {
      return InvalidArgumentError(StrCat(
          "fixed_length (", bytes, ") must be a multiple of the size of out_type (", size, ")"));
    }
    Shape shape = x.shape();
    shape.AddDim(bytes / size);
    ASSIGN_OR_RETURN(shape, Shape::FromDims(shape.dims()));
    ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
    char* to = static_cast<char*>(out->raw_data());
    for (const std::string& text : x.flat<std::string>()) {
      const auto width = static_cast<size_t>(bytes);
      const size_t taken = std::min(text.size(), width);
      std::memset(to, 0, width);
      if (taken > 0) std::memcpy(to, text.data(), taken);
      type.Fix(to, width);
      to += width;
    }
    return OkStatus();
  });
}

// What a few bytes may unpack to, in all.
constexpr size_t kMaxUnpacked = size_t{1} << 30;

Status Unpack(const std::string& packed, int window, size_t limit, std::string* out) {
  if (packed.empty()) return OkStatus();
  z_stream stream{};
  if (inflateInit2(&stream, window) != Z_OK) {
    return ResourceExhaustedError("No memory to unpack with");
  }
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(std::min<size_t>(packed.size(), UINT32_MAX));
  std::string chunk(1 << 16, '\0');
  int code = Z_OK;
  Status status;
  while (code == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    code = inflate(&stream, Z_NO_FLUSH);
    if (code != Z_OK && code != Z_STREAM_END) {
      status = DataLossError(
          StrCat("The compressed bytes are damaged or cut off (zlib says ", code, ")"));
      break;
    }
    out->append(chunk.data(), chunk.size() - stream.avail_out);
    if (out->size() > limit) {
      status =
          ResourceExhaustedError(StrCat("Unpacked bytes are over the limit of ", kMaxUnpacked));
      break;
    }
  }
  inflateEnd(&stream);
  return status;
}

StatusOr<KernelFn> BindCompressed(const BindContext& c) {
  const std::string type = AttrOr<std::string>(*c.node, "compression_type", "");
  if (!type.empty() && type != "ZLIB" && type != "GZIP") {
    return InvalidArgumentError(
        StrCat("Only ZLIB, GZIP or NONE are supported compressions, not ", Quoted(type)));
  }
  return KernelFn([type](KernelContext& ctx) -> Status {
    size_t left = kMaxUnpacked;
    return TryMapStrings<std::string>(ctx, [&](const std::string& packed, std::string* out) {
      if (type.empty()) {
        *out = packed;
        return OkStatus();
      }
      constexpr int kZlibWindow = 15, kGzipWindow = 16 + 15;
      RETURN_IF_ERROR(Unpack(packed, type == "ZLIB" ? kZlibWindow : kGzipWindow, left, out));
      left -= out->size();
      return OkStatus();
    });
  });
}

StatusOr<KernelFn> BindParseTensor(const BindContext& c) {
  const DType dtype = c.node->dtype(0);
  return KernelFn([dtype](KernelContext& ctx) -> Status {
    const Tensor& serialized = ctx.input(0);
    if (serialized.rank() != 0) {
      return InvalidArgumentError(StrCat("Expected `serialized` to be a scalar, got shape: ",
                                         serialized.shape().ToString()));
    }
    TensorDecodeOptions options;
    options.max_splat_bytes = kMaxUnpacked;
    auto tensor = DecodeTensorProto(serialized.flat<std::string>()[0], options);
    if (!tensor.ok()) {
      return tensor.status().WithContext("Could not parse `serialized` as TensorProto");
    }
    if (tensor->dtype() != dtype) {
      return InvalidArgumentError(StrCat("Type mismatch between parsed tensor (",
                                         DTypeName(tensor->dtype()), ") and dtype (",
                                         DTypeName(dtype), ")"));
    }
    ctx.SetOutput(0, *std::move(tensor));
    return OkStatus();
  });
}

Status RunSerializeTensor(KernelContext& c) {
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, Shape()));
  std::string bytes;
  RETURN_IF_ERROR(AppendTensorProto(c.input(0), TensorEncoding::kContent, &bytes));
  out->flat<std::string>()[0] = std::move(bytes);
  return OkStatus();
}

Status RunJsonExample(KernelContext& c) {
  return TryMapStrings<std::string>(c, [](const std::string& json, std::string* out) -> Status {
    auto example = ExampleFromJson(json);
    if (!example.ok()) return std::move(example).status();
    *out = *std::move(example);
    return OkStatus();
  });
}

// ---- DecodeCSV

struct Csv {
  char delimiter = ',';
  bool quotes = true;
  std::string na_value;
  std::vector<int64_t> columns;  // to keep, ascending; empty: all

  Status Fields(const std::string& record, std::vector<std::string>* fields) const;
  Status Quoted(const std::string& record, size_t* at, std::string* field) const;
  Status Set(const std::string& field, size_t column, size_t row, const Tensor& otherwise,
             Tensor* out) const;
};

// From the opening quote at *at to behind the closing one.
Status Csv::Quoted(const std::string& record, size_t* at, std::string* field) const {
  for (size_t i = *at + 1; i < record.size(); ++i) {
    if (record[i] != '"') {
      field->push_back(record[i]);
    } else if (i + 1 == record.size() || record[i + 1] == delimiter) {
      *at = i + 1;
      return OkStatus();
    } else if (record[++i] == '"') {
      field->push_back('"');
    } else {
      return InvalidArgumentError("Quote inside a string has to be escaped by another quote");
    }
  }
  return InvalidArgumentError("Quoted field has to end with quote followed by delim or end");
}

Status Csv::Fields(const std::string& record, std::vector<std::string>* fields) const {
  if (record.empty()) return OkStatus();
  for (size_t at = 0;;) {
    std::string field;
    if (at < record.size() && quotes && record[at] == '"') {
      RETURN_IF_ERROR(Quoted(record, &at, &field));
    } else {
      for (; at < record.size() && record[at] != delimiter; ++at) {
        const char c = record[at];
        if (quotes && (c == '"' || c == '\n' || c == '\r')) {
          return InvalidArgumentError("Unquoted fields cannot have quotes/CRLFs inside");
        }
        field.push_back(c);
      }
    }
    fields->push_back(std::move(field));
    if (at >= record.size()) return OkStatus();
    if (++at == record.size()) {  // a delimiter at the end opens an empty field
      fields->emplace_back();
      return OkStatus();
    }
  }
}

using CsvNumbers = TypeList<float, double, int32_t, int64_t>;

Status Csv::Set(const std::string& field, size_t column, size_t row, const Tensor& otherwise,
                Tensor* out) const {
  const bool missing = field.empty() || field == na_value;
  if (missing && otherwise.num_elements() != 1) {
    return InvalidArgumentError(
        StrCat("Field ", column, " is required but missing in record ", row, "!"));
  }
  if (out->dtype() == DType::kString) {
    out->flat<std::string>()[row] = missing ? otherwise.flat<std::string>()[0] : field;
    return OkStatus();
  }
  return SwitchType<Status>(CsvNumbers{}, out->dtype(), [&]<typename T>() {
    if (missing) {
      out->flat<T>()[row] = otherwise.flat<T>()[0];
      return OkStatus();
    }
    if (ParseNumber(field, &out->flat<T>()[row])) return OkStatus();
    const std::string_view name = std::is_same_v<T, float>    ? "float"
                                  : std::is_same_v<T, double> ? "double"
                                                              : DTypeName(DTypeOf<T>());
    return InvalidArgumentError(
        StrCat("Field ", column, " in record ", row, " is not a valid ", name, ": ", field));
  });
}

Status RunCsv(KernelContext& c, const Csv& csv) {
  const Tensor& records = c.input(0);
  const auto count = static_cast<size_t>(c.num_inputs()) - 1;
  std::vector<Tensor*> outputs(count);
  for (size_t i = 0; i < count; ++i) {
    const Tensor& otherwise = c.input(static_cast<int>(i) + 1);
    if (otherwise.rank() > 1 || otherwise.num_elements() > 1) {
      return InvalidArgumentError(StrCat("There should only be 1 default per field but field ", i,
                                         " has ", otherwise.num_elements()));
    }
    ASSIGN_OR_RETURN(outputs[i], c.AllocateOutput(static_cast<int>(i), records.shape()));
  }
  const auto lines = records.flat<std::string>();
  for (size_t row = 0; row < lines.size(); ++row) {
    std::vector<std::string> fields;
    RETURN_IF_ERROR(csv.Fields(lines[row], &fields));
    const size_t wanted = csv.columns.empty() ? count : static_cast<size_t>(csv.columns.back()) + 1;
    if (fields.size() < wanted || (csv.columns.empty() && fields.size() != count)) {
      return InvalidArgumentError(StrCat("Expect ", csv.columns.empty() ? count : wanted,
                                         " fields but have ", fields.size(), " in record ", row));
    }
    for (size_t i = 0; i < count; ++i) {
      const size_t from = csv.columns.empty() ? i : static_cast<size_t>(csv.columns[i]);
      RETURN_IF_ERROR(csv.Set(fields[from], i, row, c.input(static_cast<int>(i) + 1), outputs[i]));
    }
  }
  return OkStatus();
}

StatusOr<KernelFn> BindCsv(const BindContext& c) {
  Csv csv;
  const std::string delimiter = AttrOr<std::string>(*c.node, "field_delim", ",");
  if (delimiter.size() != 1) return InvalidArgumentError("field_delim should be only 1 char");
  csv.delimiter = delimiter[0];
  csv.quotes = BoolAttr(*c.node, "use_quote_delim", true);
  csv.na_value = AttrOr<std::string>(*c.node, "na_value", "");
  csv.columns = AttrOr<std::vector<int64_t>>(*c.node, "select_cols", {});
  const size_t outputs = c.node->inputs().size() - 1;
  if (!csv.columns.empty() && csv.columns.size() != outputs) {
    return InvalidArgumentError(StrCat("select_cols should match output size: ", csv.columns.size(),
                                       " columns, ", outputs, " outputs"));
  }
  for (size_t i = 0; i < csv.columns.size(); ++i) {
    if (csv.columns[i] < 0 || csv.columns[i] > INT32_MAX ||
        (i > 0 && csv.columns[i] <= csv.columns[i - 1])) {
      return InvalidArgumentError("select_cols should be strictly increasing indices");
    }
  }
  return KernelFn([csv](KernelContext& ctx) { return RunCsv(ctx, csv); });
}

using RawTypes = TypeList<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t,
                          uint16_t, bool, std::complex<float>, std::complex<double>>;

}  // namespace

std::span<const KernelDef> DecodeValueKernels() {
  static const std::vector<KernelDef> table = MakeKernels({
      {"DecodeRaw", BindRaw, RawTypes::DTypes(), "out_type"},
      {"DecodePaddedRaw", BindPaddedRaw, RawTypes::DTypes(), "out_type"},
      {"DecodeCompressed", BindCompressed},
      {"ParseTensor", BindParseTensor},
      {"SerializeTensor", BindRun<RunSerializeTensor>},
      {"DecodeJSONExample", BindRun<RunJsonExample>},
      {"DecodeCSV", BindCsv},
  });
  return table;
}

}  // namespace slipway::kernels
