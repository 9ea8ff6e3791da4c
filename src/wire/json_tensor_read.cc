// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>

#include "base/strings.h"
#include "tensor/dtype_message.h"
#include "wire/json_cursor.h"
#include "wire/json_leaf.h"
#include "wire/json_tensor.h"
#include "wire/json_tensor_builder.h"

namespace slipway {
namespace {

constexpr std::string_view kParseError = "JSON Parse error";

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
  JsonTensorBuilder* Find(std::string_view name);
  std::string Names() const;

  std::vector<JsonTensorBuilder> inputs_;
  std::unordered_map<std::string, size_t> by_name_;  // only if there are many
};

StatusOr<BodyReader> BodyReader::Make(std::span<const TensorSpec> specs,
                                      const TensorDecodeOptions& options) {
  BodyReader reader;
  reader.inputs_.reserve(specs.size());
  for (const TensorSpec& spec : specs) {
    const JsonLeafReader read = JsonLeafReaderFor(spec.dtype);
    if (read == nullptr) {
      return UnimplementedError(StrCat("Input ", Quoted(spec.name), " is of type ",
                                       DTypeMessageName(spec.dtype),
                                       ", which JSON has no form for; use gRPC"));
    }
    reader.inputs_.emplace_back(spec, read, options);
  }
  if (specs.size() > 8) {
    for (size_t i = 0; i < specs.size(); ++i) reader.by_name_.emplace(specs[i].name, i);
  }
  return reader;
}

JsonTensorBuilder* BodyReader::Find(std::string_view name) {
  if (!by_name_.empty()) {
    const auto it = by_name_.find(std::string(name));
    return it == by_name_.end() ? nullptr : &inputs_[it->second];
  }
  const auto it = std::ranges::find(inputs_, name, &JsonTensorBuilder::name);
  return it == inputs_.end() ? nullptr : &*it;
}

std::string BodyReader::Names() const {
  std::vector<std::string> names;
  for (const JsonTensorBuilder& input : inputs_) names.push_back(input.name());
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
    JsonTensorBuilder* input = Find(key);
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
    JsonTensorBuilder* input = Find(key);
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
  for (const JsonTensorBuilder& input : inputs_) {
    if (input.items() == 0) {
      return InvalidArgumentError(
          StrCat("Missing named input: ", input.name(), " in 'inputs' object."));
    }
  }
  return OkStatus();
}

Status BodyReader::Finish(bool rows, JsonPredictRequest* request) {
  for (JsonTensorBuilder& input : inputs_) {
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
