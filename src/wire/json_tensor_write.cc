// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "wire/base64.h"
#include "wire/coding.h"
#include "wire/json_number.h"
#include "wire/json_tensor.h"

namespace slipway {
namespace {

// The length of the well-formed UTF-8 sequence at the front, 0 if there is none.
size_t SequenceLength(std::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  const size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  return length <= text.size() && IsValidUtf8(text.substr(0, length)) ? length : 0;
}

void AppendEscaped(char c, std::string* out) {
  constexpr std::string_view kMeant = "\"\\\b\f\n\r\t";
  constexpr std::string_view kNames = "\"\\bfnrt";
  const size_t which = kMeant.find(c);
  out->push_back('\\');
  if (which != std::string_view::npos) {
    out->push_back(kNames[which]);
    return;
  }
  constexpr std::string_view kHex = "0123456789ABCDEF";
  out->append("u00");
  out->push_back(kHex[static_cast<uint8_t>(c) >> 4]);
  out->push_back(kHex[static_cast<uint8_t>(c) & 15]);
}

bool IsPlain(char c) { return static_cast<uint8_t>(c) >= 0x20 && c != '"' && c != '\\'; }

}  // namespace

void AppendJsonString(std::string_view text, std::string* out) {
  out->push_back('"');
  const bool valid = IsValidUtf8(text);
  while (!text.empty()) {
    size_t run = 0;
    while (run < text.size() && IsPlain(text[run]) &&
           (valid || static_cast<uint8_t>(text[run]) < 0x80)) {
      ++run;
    }
    out->append(text.substr(0, run));
    text.remove_prefix(run);
    if (text.empty()) break;
    if (!IsPlain(text[0])) {
      AppendEscaped(text[0], out);
      text.remove_prefix(1);
      continue;
    }
    const size_t length = SequenceLength(text);
    out->append(length > 0 ? text.substr(0, length) : "\xef\xbf\xbd");
    text.remove_prefix(std::max<size_t>(1, length));
  }
  out->push_back('"');
}

std::string JsonErrorBody(std::string_view message) {
  std::string out = "{\n    \"error\": ";
  AppendJsonString(message, &out);
  out.append("\n}\n");
  return out;
}

namespace {

// Writes elements [begin, end) of a tensor with ", " between them.
using RunWriter = void (*)(const Tensor& tensor, int64_t begin, int64_t end, std::string* out);

template <typename T>
char* WriteNumber(T value, char* to) {
  if constexpr (std::is_same_v<T, float>) {
    return WriteJsonFloat(value, to);
  } else if constexpr (std::is_same_v<T, double>) {
    return WriteJsonDouble(value, to);
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return WriteJsonFloat(static_cast<float>(value), to);
  } else if constexpr (std::is_same_v<T, bool>) {
    const std::string_view word = value ? "true" : "false";
    return std::copy(word.begin(), word.end(), to);
  } else if constexpr (sizeof(T) == 1) {
    return std::to_chars(to, to + kMaxJsonNumberBytes, static_cast<int>(value)).ptr;
  } else {
    return std::to_chars(to, to + kMaxJsonNumberBytes, value).ptr;
  }
}

template <typename T>
void WriteNumbers(const Tensor& tensor, int64_t begin, int64_t end, std::string* out) {
  // In pieces, so that the room reserved ahead stays small.
  constexpr int64_t kPiece = 256;
  const T* values = static_cast<const T*>(tensor.raw_data());
  for (int64_t at = begin; at < end; at += kPiece) {
    const int64_t stop = std::min(end, at + kPiece);
    const size_t size = out->size();
    out->resize(size + static_cast<size_t>(stop - at) * (kMaxJsonNumberBytes + 2));
    char* to = out->data() + size;
    for (int64_t i = at; i < stop; ++i) {
      if (i > begin) {
        *to++ = ',';
        *to++ = ' ';
      }
      to = WriteNumber(values[i], to);
    }
    out->resize(static_cast<size_t>(to - out->data()));
  }
}

void WriteTexts(const Tensor& tensor, int64_t begin, int64_t end, std::string* out) {
  const auto texts = tensor.flat<std::string>();
  for (int64_t i = begin; i < end; ++i) {
    if (i > begin) out->append(", ");
    AppendJsonString(texts[static_cast<size_t>(i)], out);
  }
}

void WriteBytes(const Tensor& tensor, int64_t begin, int64_t end, std::string* out) {
  const auto texts = tensor.flat<std::string>();
  for (int64_t i = begin; i < end; ++i) {
    if (i > begin) out->append(", ");
    out->append("{\"b64\": \"");
    AppendBase64(texts[static_cast<size_t>(i)], out);
    out->append("\"}");
  }
}

RunWriter WriterFor(const NamedTensor& output) {
  switch (output.tensor.dtype()) {
    case DType::kFloat:
      return WriteNumbers<float>;
    case DType::kDouble:
      return WriteNumbers<double>;
    case DType::kHalf:
      return WriteNumbers<Half>;
    case DType::kBFloat16:
      return WriteNumbers<BFloat16>;
    case DType::kInt8:
      return WriteNumbers<int8_t>;
    case DType::kUInt8:
      return WriteNumbers<uint8_t>;
    case DType::kInt16:
      return WriteNumbers<int16_t>;
    case DType::kUInt16:
      return WriteNumbers<uint16_t>;
    case DType::kInt32:
      return WriteNumbers<int32_t>;
    case DType::kUInt32:
      return WriteNumbers<uint32_t>;
    case DType::kInt64:
      return WriteNumbers<int64_t>;
    case DType::kUInt64:
      return WriteNumbers<uint64_t>;
    case DType::kBool:
      return WriteNumbers<bool>;
    case DType::kString:
      return output.name.ends_with("_bytes") ? WriteBytes : WriteTexts;
    default:
      return nullptr;
  }
}

struct Output {
  std::string_view name;
  const Tensor* tensor;
  RunWriter write;
};

// Dimensions [first_dim, rank) of the elements from `begin` on, as nested lists. Rank is bounded,
// so the recursion is.
void WriteDense(const Output& output, int first_dim, int64_t begin, int64_t elements,
                std::string* out) {
  const int rank = output.tensor->rank();
  if (first_dim == rank) return output.write(*output.tensor, begin, begin + 1, out);
  out->push_back('[');
  const int64_t size = output.tensor->dim(first_dim);
  if (first_dim == rank - 1) {
    output.write(*output.tensor, begin, begin + size, out);
  } else if (size > 0) {
    const int64_t part = elements / size;
    for (int64_t i = 0; i < size; ++i) {
      if (i > 0) out->append(", ");
      WriteDense(output, first_dim + 1, begin + i * part, part, out);
    }
  }
  out->push_back(']');
}

void WriteWhole(const Output& output, std::string* out) {
  WriteDense(output, 0, 0, output.tensor->num_elements(), out);
}

void WriteRow(const Output& output, int64_t row, std::string* out) {
  const int64_t part = output.tensor->num_elements() / output.tensor->dim(0);
  WriteDense(output, 1, row * part, part, out);
}

StatusOr<std::vector<Output>> Outputs(std::span<const NamedTensor> tensors) {
  std::vector<Output> outputs;
  outputs.reserve(tensors.size());
  for (const NamedTensor& t : tensors) {
    const RunWriter write = WriterFor(t);
    if (write == nullptr) {
      return InvalidArgumentError(StrCat("Output ", Quoted(t.name), " is of type ",
                                         DTypeName(t.tensor.dtype()),
                                         ", which JSON has no form for; use gRPC"));
    }
    outputs.push_back({t.name, &t.tensor, write});
  }
  return outputs;
}

StatusOr<int64_t> CommonRows(std::span<const Output> outputs) {
  int64_t rows = -1;
  for (const Output& output : outputs) {
    if (output.tensor->rank() == 0) {
      return InvalidArgumentError(StrCat("Tensor name: ", output.name,
                                         " has no shape information (a scalar has no rows); send "
                                         "\"inputs\" instead of \"instances\""));
    }
    const int64_t size = output.tensor->dim(0);
    if (rows >= 0 && size != rows) {
      return InvalidArgumentError(StrCat("Tensor name: ", output.name,
                                         " has inconsistent batch size: ", size,
                                         " expecting: ", rows));
    }
    rows = size;
  }
  return rows;
}

// The members of an object, one a line, each with `indent` before it.
template <typename Write>
void WriteMembers(std::span<const Output> outputs, std::string_view indent, std::string* out,
                  Write write) {
  out->push_back('{');
  const char* separator = "";
  for (const Output& output : outputs) {
    StrAppend(out, separator, "\n", indent);
    AppendJsonString(output.name, out);
    out->append(": ");
    write(output);
    separator = ",";
  }
  StrAppend(out, "\n", indent.substr(4), "}");
}

}  // namespace

Status AppendPredictJson(JsonPredictFormat format, std::span<const NamedTensor> tensors,
                         std::string* out) {
  ASSIGN_OR_RETURN(const std::vector<Output> outputs, Outputs(tensors));
  if (format == JsonPredictFormat::kColumn) {
    out->append("{\n    \"outputs\": ");
    if (outputs.size() == 1) {
      WriteWhole(outputs[0], out);
    } else {
      WriteMembers(outputs, "        ", out, [&](const Output& o) { WriteWhole(o, out); });
    }
    out->append("\n}");
    return OkStatus();
  }
  ASSIGN_OR_RETURN(const int64_t rows, CommonRows(outputs));
  out->append("{\n    \"predictions\": ");
  if (outputs.size() == 1) {
    WriteWhole(outputs[0], out);
  } else {
    out->push_back('[');
    for (int64_t row = 0; row < rows; ++row) {
      if (row > 0) out->append(", ");
      WriteMembers(outputs, "            ", out, [&](const Output& o) { WriteRow(o, row, out); });
    }
    out->push_back(']');
  }
  out->append("\n}");
  return OkStatus();
}

}  // namespace slipway
