// SPDX-License-Identifier: Apache-2.0
#include "wire/json_examples.h"

#include <vector>

#include "base/strings.h"
#include "wire/coding.h"
#include "wire/inference.h"
#include "wire/json_cursor.h"
#include "wire/json_leaf.h"
#include "wire/json_tensor.h"

namespace slipway {
namespace {

// The kinds of a Feature, by field number.
enum Kind : uint32_t { kNone = 0, kBytes = 1, kFloat = 2, kInt64 = 3 };

std::string_view KindName(Kind kind) {
  constexpr std::string_view kNames[] = {"none", "string", "float", "int"};
  return kNames[kind];
}

// kNone: nothing a feature may hold.
Kind KindOf(JsonCursor cursor) {
  const char first = cursor.Peek();
  if (first == '"' || (first == '{' && cursor.IsBase64Object())) return kBytes;
  if (first == 't' || first == 'f') return kInt64;
  if (first == 'N' || first == 'I') return kFloat;
  if (first != '-' && (first < '0' || first > '9')) return kNone;
  for (const char* at = cursor.at() + 1; at != cursor.end(); ++at) {
    if (*at == '.' || *at == 'e' || *at == 'E' || *at == 'I') return kFloat;
    if (*at < '0' || *at > '9') break;
  }
  return kInt64;
}

Status ReadLeaf(JsonCursor* cursor, DType dtype, void* slot) {
  return JsonLeafReaderFor(dtype)(cursor, dtype, slot);
}

Status AppendValue(JsonCursor* cursor, Kind kind, ProtoWriter* list) {
  if (kind == kBytes) {
    std::string text;
    RETURN_IF_ERROR(ReadLeaf(cursor, DType::kString, &text));
    list->Bytes(1, text);
  } else if (kind == kFloat) {
    float value = 0;
    RETURN_IF_ERROR(ReadLeaf(cursor, DType::kFloat, &value));
    list->Float(1, value);
  } else if (cursor->Peek() == 't' || cursor->Peek() == 'f') {
    bool value = false;
    RETURN_IF_ERROR(ReadLeaf(cursor, DType::kBool, &value));
    list->Int64(1, value ? 1 : 0);
  } else {
    int64_t value = 0;
    RETURN_IF_ERROR(ReadLeaf(cursor, DType::kInt64, &value));
    list->Int64(1, value);
  }
  return OkStatus();
}

// One value of feature `name`; the first one decides about the kind.
Status ReadElement(JsonCursor* cursor, std::string_view name, Kind* kind, ProtoWriter* list) {
  const Kind found = KindOf(*cursor);
  if (found == kNone) {
    JsonCursor look = *cursor;
    RETURN_IF_ERROR(look.SkipValue());
    return InvalidArgumentError(
        StrCat("Feature: ", name, " has element with unexpected JSON type: ", cursor->TypeName()));
  }
  if (*kind == kNone) *kind = found;
  if (*kind != found) {
    return InvalidArgumentError(StrCat("Unexpected element type in feature: ", name,
                                       " expecting type: ", KindName(*kind), ", got ",
                                       KindName(found)));
  }
  return AppendValue(cursor, found, list);
}

Status ReadFeature(JsonCursor* cursor, std::string_view name, std::string* feature) {
  std::string values;
  ProtoWriter list(&values);
  Kind kind = kNone;
  if (cursor->Take('[')) {
    bool more = !cursor->Take(']');
    while (more) {
      cursor->SkipBlanks();
      RETURN_IF_ERROR(ReadElement(cursor, name, &kind, &list));
      ASSIGN_OR_RETURN(more, cursor->TakeSeparator(']'));
    }
  } else {
    cursor->SkipBlanks();
    RETURN_IF_ERROR(ReadElement(cursor, name, &kind, &list));
  }
  if (kind != kNone) ProtoWriter(feature).Bytes(kind, values);
  return OkStatus();
}

// An Example in its wire form.
StatusOr<std::string> ReadExample(JsonCursor* cursor) {
  if (cursor->Peek() != '{') {
    JsonCursor look = *cursor;
    RETURN_IF_ERROR(look.SkipValue());
    return InvalidArgumentError(
        StrCat("Example must be JSON object but got JSON ", cursor->TypeName()));
  }
  std::string features;
  std::string scratch;
  std::string_view key;
  cursor->Take('{');
  bool more = !cursor->Take('}');
  while (more) {
    RETURN_IF_ERROR(cursor->ReadKey(&scratch, &key));
    const std::string name(key);
    std::string feature;
    RETURN_IF_ERROR(ReadFeature(cursor, name, &feature));
    ProtoWriter writer(&features);
    const size_t entry = writer.BeginMessage(1, name.size() + feature.size());
    writer.Bytes(1, name);
    writer.Bytes(2, feature);
    writer.EndMessage(entry);
    ASSIGN_OR_RETURN(more, cursor->TakeSeparator('}'));
  }
  std::string example;
  ProtoWriter(&example).Bytes(1, features);
  return example;
}

// Where the values of the keys that matter lie: the context may stand behind the examples.
struct Keys {
  std::string signature_name{kDefaultSignature};
  const char* context = nullptr;
  const char* examples = nullptr;
};

Status ReadSignatureName(JsonCursor* cursor, Keys* keys) {
  if (cursor->Peek() != '"') {
    RETURN_IF_ERROR(cursor->SkipValue());
    return InvalidArgumentError("'signature_name' key must be a string value.");
  }
  std::string scratch;
  std::string_view name;
  RETURN_IF_ERROR(cursor->ReadString(&scratch, &name));
  if (!name.empty()) keys->signature_name = name;
  return OkStatus();
}

StatusOr<Keys> FindKeys(JsonCursor* cursor) {
  if (cursor->Peek() == '\0' && cursor->at() == cursor->end())
    return cursor->Error("The document is empty.");
  if (cursor->Peek() != '{') {
    JsonCursor look = *cursor;
    RETURN_IF_ERROR(look.SkipUnread());
    return InvalidArgumentError(StrCat("Is not object: a request must be a JSON object, not ",
                                       cursor->TypeName(), ": ", cursor->ValueText()));
  }
  Keys keys;
  std::string scratch;
  std::string_view key;
  cursor->Take('{');
  bool more = !cursor->Take('}');
  while (more) {
    RETURN_IF_ERROR(cursor->ReadKey(&scratch, &key));
    cursor->SkipBlanks();
    if (key == "signature_name") {
      RETURN_IF_ERROR(ReadSignatureName(cursor, &keys));
    } else if (key == "context" || key == "examples") {
      (key == "context" ? keys.context : keys.examples) = cursor->at();
      RETURN_IF_ERROR(cursor->SkipUnread());
    } else {
      RETURN_IF_ERROR(cursor->SkipValue());
    }
    ASSIGN_OR_RETURN(more, cursor->TakeSeparator('}'));
  }
  return keys;
}

StatusOr<std::vector<std::string>> ReadExamples(JsonCursor* cursor, std::string_view context) {
  if (!cursor->Take('[')) {
    return InvalidArgumentError(
        StrCat("Expecting 'examples' value to be an list/array, not ", cursor->TypeName()));
  }
  std::vector<std::string> examples;
  bool more = !cursor->Take(']');
  while (more) {
    cursor->SkipBlanks();
    ASSIGN_OR_RETURN(const std::string example, ReadExample(cursor));
    examples.push_back(StrCat(context, example));
    ASSIGN_OR_RETURN(more, cursor->TakeSeparator(']'));
  }
  if (examples.empty()) return InvalidArgumentError("'examples' value is an empty array");
  return examples;
}

}  // namespace

StatusOr<JsonExamplesRequest> ParseExamplesJson(std::string_view body) {
  JsonCursor cursor(body);
  ASSIGN_OR_RETURN(Keys keys, FindKeys(&cursor));
  if (keys.examples == nullptr) {
    return InvalidArgumentError(
        "When method is classify/regress, key 'examples' is expected and was not found");
  }
  JsonCursor value(body.substr(0, static_cast<size_t>(cursor.at() - body.data())));
  std::string context;
  if (keys.context != nullptr) {
    value.MoveTo(keys.context);
    ASSIGN_OR_RETURN(context, ReadExample(&value));
  }
  value.MoveTo(keys.examples);
  ASSIGN_OR_RETURN(std::vector<std::string> examples, ReadExamples(&value, context));
  JsonExamplesRequest request;
  request.signature_name = std::move(keys.signature_name);
  ASSIGN_OR_RETURN(request.examples, StringVector(std::move(examples)));
  return request;
}

}  // namespace slipway
