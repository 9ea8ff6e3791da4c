// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>

#include "base/strings.h"
#include "wire/base64.h"
#include "wire/json_cursor.h"
#include "wire/json_number.h"
#include "wire/json_tensor.h"

namespace slipway {
namespace {

constexpr std::string_view kParseError = "JSON Parse error";

// The names TensorFlow uses in these messages.
std::string_view ShortName(DType dtype) {
  if (dtype == DType::kFloat) return "float";
  if (dtype == DType::kDouble) return "double";
  if (dtype == DType::kHalf) return "half";
  return DTypeName(dtype);
}

Status WrongType(const JsonCursor& cursor, DType dtype) {
  return InvalidArgumentError(StrCat("JSON Value: ", cursor.ValueText(),
                                     " Type: ", cursor.TypeName(),
                                     " is not of expected type: ", ShortName(dtype)));
}

// Reads one value into the element at `slot`; the cursor stands on its first character.
using LeafReader = Status (*)(JsonCursor* cursor, DType dtype, void* slot);

StatusOr<JsonNumber> ReadNumber(JsonCursor* cursor, DType dtype) {
  JsonNumber number;
  const char* after = ReadJsonNumber(cursor->at(), cursor->end(), &number);
  if (number.kind == JsonNumber::Kind::kTooLarge) {
    return cursor->Error("Number too big to be stored in double.");
  }
  if (number.kind == JsonNumber::Kind::kInvalid) {
    JsonCursor look = *cursor;
    RETURN_IF_ERROR(look.SkipUnread());
    return WrongType(*cursor, dtype);
  }
  if (dtype != DType::kFloat && dtype != DType::kDouble && number.kind != JsonNumber::Kind::kInt) {
    return WrongType(*cursor, dtype);
  }
  cursor->MoveTo(after);
  return number;
}

template <typename T>
Status ReadReal(JsonCursor* cursor, DType dtype, void* slot) {
  ASSIGN_OR_RETURN(const JsonNumber number, ReadNumber(cursor, dtype));
  *static_cast<T*>(slot) = static_cast<T>(number.value);
  return OkStatus();
}

template <typename T>
Status ReadInteger(JsonCursor* cursor, DType dtype, void* slot) {
  const char* start = cursor->at();
  ASSIGN_OR_RETURN(const JsonNumber number, ReadNumber(cursor, dtype));
  const auto most = static_cast<uint64_t>(std::numeric_limits<T>::max());
  const uint64_t least = std::is_signed_v<T> ? most + 1 : 0;
  if (number.magnitude > (number.negative ? least : most)) {
    cursor->MoveTo(start);
    return WrongType(*cursor, dtype);
  }
  const uint64_t value = number.negative ? 0 - number.magnitude : number.magnitude;
  *static_cast<T*>(slot) = static_cast<T>(value);
  return OkStatus();
}

Status ReadBool(JsonCursor* cursor, DType dtype, void* slot) {
  const bool yes = cursor->TakeWord("true");
  if (yes || cursor->TakeWord("false")) {
    *static_cast<bool*>(slot) = yes;
    return OkStatus();
  }
  JsonCursor look = *cursor;
  RETURN_IF_ERROR(look.SkipUnread());
  return WrongType(*cursor, dtype);
}

Status ReadText(JsonCursor* cursor, DType dtype, void* slot) {
  auto* out = static_cast<std::string*>(slot);
  std::string scratch;
  std::string_view text;
  if (cursor->Peek() == '"') {
    RETURN_IF_ERROR(cursor->ReadString(&scratch, &text));
    out->assign(text);
    return OkStatus();
  }
  if (!cursor->IsBase64Object()) {
    JsonCursor look = *cursor;
    RETURN_IF_ERROR(look.SkipUnread());
    return WrongType(*cursor, dtype);
  }
  cursor->Take('{');
  RETURN_IF_ERROR(cursor->ReadKey(&scratch, &text));
  cursor->SkipBlanks();
  RETURN_IF_ERROR(cursor->ReadString(&scratch, &text));
  cursor->Take('}');
  std::optional<std::string> bytes = DecodeBase64(text);
  if (!bytes) {
    return InvalidArgumentError(StrCat("Unable to base64 decode: ", Quoted(text, 256)));
  }
  *out = *std::move(bytes);
  return OkStatus();
}

LeafReader ReaderFor(DType dtype) {
  switch (dtype) {
    case DType::kFloat:
      return ReadReal<float>;
    case DType::kDouble:
      return ReadReal<double>;
    case DType::kInt8:
      return ReadInteger<int8_t>;
    case DType::kUInt8:
      return ReadInteger<uint8_t>;
    case DType::kInt16:
      return ReadInteger<int16_t>;
    case DType::kInt32:
      return ReadInteger<int32_t>;
    case DType::kUInt32:
      return ReadInteger<uint32_t>;
    case DType::kInt64:
      return ReadInteger<int64_t>;
    case DType::kUInt64:
      return ReadInteger<uint64_t>;
    case DType::kBool:
      return ReadBool;
    case DType::kString:
      return ReadText;
    default:
      return nullptr;
  }
}

// Collects the elements of one input as they are read. What is one value of the body (an element
// of "instances", or all of an input in column form) is an item here; items have equal shapes.
class TensorBuilder {
 public:
  TensorBuilder(const TensorSpec& spec, LeafReader read, const TensorDecodeOptions& options)
      : name_(spec.name), dtype_(spec.dtype), read_(read), options_(options) {}

  const std::string& name() const { return name_; }
  int64_t items() const { return items_; }
  Status ReadItem(JsonCursor* cursor);
  // Items that are plain numbers, as many as come; 0 if the next one is something else.
  StatusOr<int64_t> ReadScalarItems(JsonCursor* cursor);
  // With the number of items as first dimension, or the one item itself.
  StatusOr<Tensor> Finish(bool rows);

 private:
  Status ReadLeaves(JsonCursor* cursor, bool in_list, int64_t* read);
  Status Open(JsonCursor* cursor);
  Status Close();
  Status FinishItem();
  Status Grow(const JsonCursor& cursor);

  std::string name_;
  DType dtype_;
  LeafReader read_;
  TensorDecodeOptions options_;

  Tensor storage_;  // rank 1, grown as needed
  int64_t capacity_ = 0;
  int64_t count_ = 0;
  const char* first_byte_ = nullptr;

  int64_t items_ = 0;
  std::vector<int64_t> first_dims_;  // of the first item
  int64_t item_elements_ = 0;

  // The item being read.
  std::vector<int64_t> dims_;    // -1: no list of that level has ended yet
  std::vector<int64_t> counts_;  // of the lists that are open
  int rank_ = -1;                // unknown until the first leaf or empty list
};

Status TensorBuilder::Grow(const JsonCursor& cursor) {
  if (first_byte_ == nullptr) first_byte_ = cursor.at();
  const int64_t left = cursor.end() - cursor.at();
  const int64_t used = cursor.at() - first_byte_;
  // As many more as the rest of the body holds, if it goes on as it did so far. Every element
  // takes two bytes of the body at least, itself and what divides it from the next.
  int64_t wanted = 16;
  if (count_ > 0) {
    const auto estimate =
        static_cast<double>(left) / static_cast<double>(std::max<int64_t>(used, 1));
    wanted = static_cast<int64_t>(static_cast<double>(count_) * std::min(estimate, 1e6)) + 16;
  }
  wanted = std::max(count_, std::min(wanted, left / 2 + 1)) + count_;
  const auto size = static_cast<int64_t>(DTypeSize(dtype_));
  const auto most = static_cast<int64_t>(options_.max_bytes) / size;
  wanted = std::min(wanted, most);
  if (wanted <= count_) {
    return ResourceExhaustedError(
        StrCat("Input ", Quoted(name_), " is over the limit of ", options_.max_bytes, " bytes"));
  }
  ASSIGN_OR_RETURN(Tensor larger, Tensor::Allocate(dtype_, Shape({wanted}), options_.allocator));
  if (dtype_ == DType::kString) {
    auto* from = static_cast<std::string*>(storage_.raw_data());
    std::move(from, from + count_, static_cast<std::string*>(larger.raw_data()));
  } else if (count_ > 0) {
    std::memcpy(larger.raw_data(), storage_.raw_data(), static_cast<size_t>(count_ * size));
  }
  storage_ = std::move(larger);
  capacity_ = wanted;
  return OkStatus();
}

// One value, or within a list of floats as many plain ones as come.
Status TensorBuilder::ReadLeaves(JsonCursor* cursor, bool in_list, int64_t* read) {
  if (count_ == capacity_) RETURN_IF_ERROR(Grow(*cursor));
  *read = 0;
  if (in_list && dtype_ == DType::kFloat) {
    float* to = static_cast<float*>(storage_.raw_data()) + count_;
    cursor->MoveTo(ReadJsonFloats(cursor->at(), cursor->end(), to, capacity_ - count_, read));
  }
  if (*read == 0) {
    char* slot =
        static_cast<char*>(storage_.raw_data()) + static_cast<size_t>(count_) * DTypeSize(dtype_);
    RETURN_IF_ERROR(read_(cursor, dtype_, slot));
    *read = 1;
  }
  count_ += *read;
  return OkStatus();
}

Status TensorBuilder::Open(JsonCursor* cursor) {
  const auto level = static_cast<int>(counts_.size());
  const int limit = rank_ < 0 ? Shape::kMaxRank - 1 : rank_;
  if (level >= limit) {
    return InvalidArgumentError(
        StrCat("Encountered list at unexpected level: ", level, " expected < ", limit));
  }
  cursor->Take('[');
  counts_.push_back(0);
  if (dims_.size() < counts_.size()) dims_.push_back(-1);
  return OkStatus();
}

Status TensorBuilder::Close() {
  const int64_t size = counts_.back();
  counts_.pop_back();
  int64_t& dim = dims_[counts_.size()];
  if (dim < 0) dim = size;
  if (dim == size) return OkStatus();
  return InvalidArgumentError(StrCat("Encountered list at unexpected size: ", size,
                                     " at level: ", counts_.size(), " expected size: ", dim));
}

Status TensorBuilder::FinishItem() {
  if (++items_ == 1) {
    first_dims_ = dims_;
    item_elements_ = count_;
    return OkStatus();
  }
  const int64_t elements = count_ - (items_ - 1) * item_elements_;
  if (elements != item_elements_) {
    return InvalidArgumentError(
        StrCat("Expecting tensor size: ", item_elements_, " but got: ", elements));
  }
  if (dims_ == first_dims_) return OkStatus();
  return InvalidArgumentError(StrCat("Expecting shape ", Shape(first_dims_).ToString(),
                                     " but got: ", Shape(dims_).ToString()));
}

Status TensorBuilder::ReadItem(JsonCursor* cursor) {
  dims_.clear();
  counts_.clear();
  rank_ = -1;
  while (true) {
    bool empty = false;
    if (cursor->Peek() == '[') {
      RETURN_IF_ERROR(Open(cursor));
      if (cursor->Peek() != ']') continue;
      // An empty list tells the rank as a leaf would.
      if (rank_ < 0) rank_ = static_cast<int>(counts_.size());
      empty = true;
    } else {
      const auto level = static_cast<int>(counts_.size());
      if (rank_ < 0) rank_ = level;
      if (level != rank_) {
        return InvalidArgumentError(StrCat("JSON Value: ", cursor->ValueText(),
                                           " found at incorrect level: ", level + 1,
                                           " in the JSON DOM. Expected at level: ", rank_));
      }
      int64_t read = 0;
      RETURN_IF_ERROR(ReadLeaves(cursor, level > 0, &read));
      if (level == 0) return FinishItem();
      counts_.back() += read - 1;  // the last one is counted below
    }
    while (true) {
      // Behind a value, or in an empty list.
      bool more = false;
      if (empty) {
        cursor->Take(']');
        empty = false;
      } else {
        ++counts_.back();
        ASSIGN_OR_RETURN(more, cursor->TakeSeparator(']'));
      }
      if (more) break;
      RETURN_IF_ERROR(Close());
      if (counts_.empty()) return FinishItem();
    }
  }
}

StatusOr<int64_t> TensorBuilder::ReadScalarItems(JsonCursor* cursor) {
  if (dtype_ != DType::kFloat || items_ == 0 || !first_dims_.empty()) return 0;
  const char c = cursor->Peek();
  if (c != '-' && (c < '0' || c > '9')) return 0;
  int64_t read = 0;
  RETURN_IF_ERROR(ReadLeaves(cursor, true, &read));
  items_ += read;
  return read;
}

StatusOr<Tensor> TensorBuilder::Finish(bool rows) {
  Shape shape;
  if (rows) shape.AddDim(items_);
  for (int64_t dim : first_dims_) shape.AddDim(std::max<int64_t>(0, dim));
  if (count_ == 0) return Tensor::Allocate(dtype_, shape, options_.allocator);
  return storage_.Slice(0, count_).Reshaped(shape);
}

// Reads the value of "instances" or "inputs".
class BodyReader {
 public:
  static StatusOr<BodyReader> Make(std::span<const TensorSpec> specs,
                                   const TensorDecodeOptions& options);
  Status ReadRows(JsonCursor* cursor);
  Status ReadColumns(JsonCursor* cursor);
  Status Finish(bool rows, JsonPredictRequest* request);

 private:
  Status ReadRow(JsonCursor* cursor, bool as_object, int64_t index);
  Status ReadRowObject(JsonCursor* cursor, int64_t index);
  TensorBuilder* Find(std::string_view name);
  std::string Names() const;

  std::vector<TensorBuilder> inputs_;
  std::unordered_map<std::string, size_t> by_name_;  // only if there are many
};

StatusOr<BodyReader> BodyReader::Make(std::span<const TensorSpec> specs,
                                      const TensorDecodeOptions& options) {
  BodyReader reader;
  reader.inputs_.reserve(specs.size());
  for (const TensorSpec& spec : specs) {
    const LeafReader read = ReaderFor(spec.dtype);
    if (read == nullptr) {
      return UnimplementedError(StrCat("Input ", Quoted(spec.name), " is of type ",
                                       ShortName(spec.dtype),
                                       ", which JSON has no form for; use gRPC"));
    }
    reader.inputs_.emplace_back(spec, read, options);
  }
  if (specs.size() > 8) {
    for (size_t i = 0; i < specs.size(); ++i) reader.by_name_.emplace(specs[i].name, i);
  }
  return reader;
}

TensorBuilder* BodyReader::Find(std::string_view name) {
  if (!by_name_.empty()) {
    const auto it = by_name_.find(std::string(name));
    return it == by_name_.end() ? nullptr : &inputs_[it->second];
  }
  const auto it = std::ranges::find(inputs_, name, &TensorBuilder::name);
  return it == inputs_.end() ? nullptr : &*it;
}

std::string BodyReader::Names() const {
  std::vector<std::string> names;
  for (const TensorBuilder& input : inputs_) names.push_back(input.name());
  std::ranges::sort(names);
  return StrJoin(names, ",");
}

bool IsParseError(const Status& status) { return status.message().starts_with(kParseError); }

// Which element failed; a text that is not JSON stays its own error.
Status InElement(const Status& status, int64_t index, std::string_view key) {
  if (IsParseError(status) || status.code() == Code::kResourceExhausted) return status;
  return Status(status.code(), StrCat("Failed to process element: ", index,
                                      key.empty() ? std::string() : StrCat(" key: ", key),
                                      " of 'instances' list. Error: ", status.ToString()));
}

Status BodyReader::ReadRowObject(JsonCursor* cursor, int64_t index) {
  const JsonCursor start = *cursor;
  std::string scratch;
  std::string_view key;
  size_t keys = 0;
  cursor->Take('{');
  bool more = !cursor->Take('}');
  while (more) {
    RETURN_IF_ERROR(cursor->ReadKey(&scratch, &key));
    TensorBuilder* input = Find(key);
    Status status;
    if (input == nullptr) {
      status = InvalidArgumentError(StrCat("JSON object: does not have named input: ", key));
    } else if (input->items() > index) {
      status = InvalidArgumentError("the key stands there twice");
    } else {
      status = input->ReadItem(cursor);
    }
    if (!status.ok()) return InElement(status, index, key);
    ++keys;
    ASSIGN_OR_RETURN(more, cursor->TakeSeparator('}'));
  }
  if (keys == inputs_.size()) return OkStatus();
  return InvalidArgumentError(StrCat("Failed to process element: ", index,
                                     " of 'instances' list. JSON object: ", start.ValueText(),
                                     " keys must be equal to: ", Names()));
}

Status BodyReader::ReadRow(JsonCursor* cursor, bool as_object, int64_t index) {
  const bool is_object = cursor->Peek() == '{' && !cursor->IsBase64Object();
  if (is_object != as_object) {
    return InvalidArgumentError(StrCat("Expecting ", as_object ? "object" : "value/list",
                                       " but got ", as_object ? "list" : "object", " at item ",
                                       index, ". JSON Value: ", cursor->ValueText()));
  }
  if (as_object) return ReadRowObject(cursor, index);
  const Status status = inputs_[0].ReadItem(cursor);
  return status.ok() ? status : InElement(status, index, "");
}

Status BodyReader::ReadRows(JsonCursor* cursor) {
  if (cursor->Peek() != '[') {
    return InvalidArgumentError("Expecting 'instances' to be an list/array");
  }
  cursor->Take('[');
  if (cursor->Peek() == ']') return InvalidArgumentError("No values in 'instances' array");
  const bool objects = cursor->Peek() == '{' && !cursor->IsBase64Object();
  if (!objects && inputs_.size() != 1) {
    return InvalidArgumentError(
        StrCat("instances is a plain list, but expecting list of objects as ", inputs_.size(),
               " input tensors are required: ", Names()));
  }
  int64_t index = 0;
  bool more = true;
  while (more) {
    int64_t read = 0;
    if (!objects) {
      ASSIGN_OR_RETURN(read, inputs_[0].ReadScalarItems(cursor));
    }
    if (read == 0) {
      RETURN_IF_ERROR(ReadRow(cursor, objects, index));
      read = 1;
    }
    index += read;
    ASSIGN_OR_RETURN(more, cursor->TakeSeparator(']'));
  }
  return OkStatus();
}

Status BodyReader::ReadColumns(JsonCursor* cursor) {
  if (cursor->Peek() != '{' || cursor->IsBase64Object()) {
    if (inputs_.size() == 1) return inputs_[0].ReadItem(cursor);
    return InvalidArgumentError(StrCat("inputs is a plain value/list, but expecting an object as ",
                                       inputs_.size(), " input tensors are required: ", Names()));
  }
  std::string scratch;
  std::string_view key;
  cursor->Take('{');
  bool more = !cursor->Take('}');
  while (more) {
    RETURN_IF_ERROR(cursor->ReadKey(&scratch, &key));
    TensorBuilder* input = Find(key);
    const std::string name(key);
    if (input == nullptr) {
      RETURN_IF_ERROR(cursor->SkipValue());
    } else if (input->items() > 0) {
      return InvalidArgumentError(StrCat("Named input: ", name, " stands in 'inputs' twice"));
    } else {
      const Status status = input->ReadItem(cursor);
      if (IsParseError(status)) return status;
      RETURN_IF_ERROR(status.WithContext(StrCat("Input ", Quoted(name))));
    }
    ASSIGN_OR_RETURN(more, cursor->TakeSeparator('}'));
  }
  for (const TensorBuilder& input : inputs_) {
    if (input.items() == 0) {
      return InvalidArgumentError(
          StrCat("Missing named input: ", input.name(), " in 'inputs' object."));
    }
  }
  return OkStatus();
}

Status BodyReader::Finish(bool rows, JsonPredictRequest* request) {
  for (TensorBuilder& input : inputs_) {
    ASSIGN_OR_RETURN(Tensor tensor, input.Finish(rows));
    request->inputs.emplace_back(input.name(), std::move(tensor));
  }
  return OkStatus();
}

// Where the values of the keys that matter lie; their signature may only be named behind them.
struct Body {
  std::string signature_name{kDefaultSignature};
  const char* instances = nullptr;
  const char* inputs = nullptr;
};

Status ReadSignatureName(JsonCursor* cursor, Body* body) {
  if (cursor->Peek() != '"') {
    RETURN_IF_ERROR(cursor->SkipValue());
    return InvalidArgumentError("'signature_name' key must be a string value.");
  }
  std::string scratch;
  std::string_view name;
  RETURN_IF_ERROR(cursor->ReadString(&scratch, &name));
  body->signature_name = name;
  return OkStatus();
}

StatusOr<Body> FindKeys(JsonCursor* cursor) {
  Body body;
  if (cursor->Peek() == '\0' && cursor->at() == cursor->end()) {
    return cursor->Error("The document is empty.");
  }
  if (cursor->Peek() != '{') {
    JsonCursor look = *cursor;
    RETURN_IF_ERROR(look.SkipUnread());
    return InvalidArgumentError(StrCat("Is not object: a request must be a JSON object, not ",
                                       cursor->TypeName(), ": ", cursor->ValueText()));
  }
  std::string scratch;
  std::string_view key;
  cursor->Take('{');
  bool more = !cursor->Take('}');
  while (more) {
    RETURN_IF_ERROR(cursor->ReadKey(&scratch, &key));
    cursor->SkipBlanks();
    if (key == "signature_name") {
      RETURN_IF_ERROR(ReadSignatureName(cursor, &body));
    } else if (key == "instances" || key == "inputs") {
      (key == "inputs" ? body.inputs : body.instances) = cursor->at();
      RETURN_IF_ERROR(cursor->SkipUnread());
    } else {
      RETURN_IF_ERROR(cursor->SkipValue());
    }
    ASSIGN_OR_RETURN(more, cursor->TakeSeparator('}'));
  }
  return body;
}

}  // namespace

StatusOr<JsonPredictRequest> ParsePredictJson(std::string_view text, const SignatureInputs& inputs,
                                              const TensorDecodeOptions& options) {
  JsonCursor cursor(text);
  ASSIGN_OR_RETURN(Body body, FindKeys(&cursor));
  if (body.instances == nullptr && body.inputs == nullptr) {
    return InvalidArgumentError("Missing 'inputs' or 'instances' key");
  }
  if (body.instances != nullptr && body.inputs != nullptr) {
    return InvalidArgumentError(
        "Not formatted correctly expecting only one of 'inputs' or 'instances' keys to exist");
  }
  JsonPredictRequest request;
  const bool rows = body.instances != nullptr;
  request.format = rows ? JsonPredictFormat::kRow : JsonPredictFormat::kColumn;
  request.signature_name = std::move(body.signature_name);
  ASSIGN_OR_RETURN(const std::span<const TensorSpec> specs, inputs(request.signature_name));
  ASSIGN_OR_RETURN(BodyReader reader, BodyReader::Make(specs, options));
  // Between here and the end that FindKeys saw all brackets are balanced, so the value cannot run
  // past it.
  JsonCursor value(text.substr(0, static_cast<size_t>(cursor.at() - text.data())));
  value.MoveTo(rows ? body.instances : body.inputs);
  RETURN_IF_ERROR(rows ? reader.ReadRows(&value) : reader.ReadColumns(&value));
  RETURN_IF_ERROR(reader.Finish(rows, &request));
  return request;
}

}  // namespace slipway
