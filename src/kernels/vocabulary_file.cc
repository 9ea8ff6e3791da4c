// SPDX-License-Identifier: Apache-2.0
#include "kernels/vocabulary_file.h"

#include <vector>

#include "base/strings.h"
#include "kernels/parse_number.h"

namespace slipway::kernels {
namespace {

using Options = VocabularyOptions;

Status CheckIndex(std::string_view what, int64_t index, DType dtype) {
  const auto wrong = [&](std::string_view source, std::string_view wanted) {
    return InvalidArgumentError(StrCat(what, " index for ", source, " requires table ",
                                       what == "Key" ? "key" : "value", " dtype of ", wanted,
                                       ", got ", DTypeName(dtype)));
  };
  if (index == Options::kLineNumber && dtype != DType::kInt64) return wrong("line number", "int64");
  if (index == Options::kWholeLine && dtype != DType::kString && !IsInteger(dtype)) {
    return wrong("whole line", "string");
  }
  return OkStatus();
}

// The lines without their ends ("\n" or "\r\n"). INVALID_ARGUMENT: an empty one.
StatusOr<std::vector<std::string_view>> Lines(std::string_view text, const std::string& path) {
  std::vector<std::string_view> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) {
      return InvalidArgumentError(StrCat("Invalid content in ", path,
                                         ": empty line found at position ",
                                         std::min(begin, text.size()), "."));
    }
    lines.push_back(line);
  }
  return lines;
}

template <typename T>
bool SetNumber(std::string_view text, Tensor* out, size_t i) {
  return ParseNumber(text, &out->flat<T>()[i]);
}

Status SetField(std::string_view field, size_t line, Tensor* out) {
  bool ok = false;
  switch (out->dtype()) {
    case DType::kString:
      out->flat<std::string>()[line] = field;
      return OkStatus();
    case DType::kInt32:
      ok = SetNumber<int32_t>(field, out, line);
      break;
    case DType::kInt64:
      ok = SetNumber<int64_t>(field, out, line);
      break;
    case DType::kFloat:
      ok = SetNumber<float>(field, out, line);
      break;
    case DType::kDouble:
      ok = SetNumber<double>(field, out, line);
      break;
    default:
      return InvalidArgumentError(StrCat("Data type ", DTypeName(out->dtype()), " not supported."));
  }
  if (ok) return OkStatus();
  const std::string_view name = out->dtype() == DType::kFloat    ? "float"
                                : out->dtype() == DType::kDouble ? "double"
                                                                 : DTypeName(out->dtype());
  return InvalidArgumentError(
      StrCat("Field ", field, " in line ", line, " is not a valid ", name, "."));
}

Status SetEntry(std::string_view line, size_t number, int64_t index, const Options& options,
                const std::string& path, Tensor* out) {
  if (index == Options::kLineNumber) {
    out->flat<int64_t>()[number] = static_cast<int64_t>(number) + options.offset;
    return OkStatus();
  }
  if (index == Options::kWholeLine) return SetField(line, number, out);
  const auto fields = StrSplit(line, options.delimiter);
  const int64_t wanted = std::max(options.key_index, options.value_index) + 1;
  if (static_cast<int64_t>(fields.size()) < wanted) {
    return InvalidArgumentError(StrCat("Invalid number of columns in ", path, " line ", number,
                                       " (", line, ") : expected at least ", wanted, " got ",
                                       fields.size()));
  }
  return SetField(fields[static_cast<size_t>(index)], number, out);
}

}  // namespace

StatusOr<Vocabulary> ReadVocabulary(Env* env, const std::string& path, DType key_dtype,
                                    DType value_dtype, const Options& options) {
  RETURN_IF_ERROR(CheckIndex("Key", options.key_index, key_dtype));
  RETURN_IF_ERROR(CheckIndex("Value", options.value_index, value_dtype));
  ASSIGN_OR_RETURN(const std::string text, ReadFile(env, path));
  if (text.empty()) {
    return OutOfRangeError(StrCat("Read less bytes than requested: ", path, " is empty"));
  }
  ASSIGN_OR_RETURN(std::vector<std::string_view> lines, Lines(text, path));
  if (options.vocab_size == 0) {
    return OutOfRangeError(StrCat("Finished reading 0 of lines from ", path));
  }
  if (options.vocab_size > 0) {
    const auto size = static_cast<size_t>(options.vocab_size);
    if (lines.size() < size) {
      return InvalidArgumentError(StrCat("Invalid vocab_size in ", path, ": expected ",
                                         options.vocab_size, " but got ", lines.size()));
    }
    lines.resize(size);
  }
  const Shape shape({static_cast<int64_t>(lines.size())});
  Vocabulary vocabulary;
  ASSIGN_OR_RETURN(vocabulary.keys, Tensor::Allocate(key_dtype, shape));
  ASSIGN_OR_RETURN(vocabulary.values, Tensor::Allocate(value_dtype, shape));
  for (size_t i = 0; i < lines.size(); ++i) {
    RETURN_IF_ERROR(SetEntry(lines[i], i, options.key_index, options, path, &vocabulary.keys));
    RETURN_IF_ERROR(SetEntry(lines[i], i, options.value_index, options, path, &vocabulary.values));
  }
  return vocabulary;
}

}  // namespace slipway::kernels
