// SPDX-License-Identifier: Apache-2.0
#include "wire/json_leaf.h"

#include <limits>
#include <optional>

#include "base/strings.h"
#include "tensor/dtype_message.h"
#include "wire/base64.h"
#include "wire/json_number.h"

namespace slipway {
namespace {

Status WrongType(const JsonCursor& cursor, DType dtype) {
  return InvalidArgumentError(StrCat("JSON Value: ", cursor.ValueText(),
                                     " Type: ", cursor.TypeName(),
                                     " is not of expected type: ", DTypeMessageName(dtype)));
}

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
  if (!IsFloating(dtype) && number.kind != JsonNumber::Kind::kInt) {
    return WrongType(*cursor, dtype);
  }
  cursor->MoveTo(after);
  return number;
}

template <typename T>
Status ReadReal(JsonCursor* cursor, DType dtype, void* slot) {
  ASSIGN_OR_RETURN(const JsonNumber number, ReadNumber(cursor, dtype));
  if constexpr (std::is_arithmetic_v<T>) {
    *static_cast<T*>(slot) = static_cast<T>(number.value);
  } else {
    *static_cast<T*>(slot) = T(static_cast<float>(number.value));
  }
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

}  // namespace

JsonLeafReader JsonLeafReaderFor(DType dtype) {
  switch (dtype) {
    case DType::kFloat:
      return ReadReal<float>;
    case DType::kDouble:
      return ReadReal<double>;
    case DType::kHalf:
      return ReadReal<Half>;
    case DType::kBFloat16:
      return ReadReal<BFloat16>;
    case DType::kInt8:
      return ReadInteger<int8_t>;
    case DType::kUInt8:
      return ReadInteger<uint8_t>;
    case DType::kInt16:
      return ReadInteger<int16_t>;
    case DType::kUInt16:
      return ReadInteger<uint16_t>;
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

}  // namespace slipway
