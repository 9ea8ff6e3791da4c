// SPDX-License-Identifier: Apache-2.0
#include "ir/op_schema_text.h"

#include <algorithm>

#include "base/strings.h"

namespace slipway::ir {
namespace {

using enum DType;
constexpr DType kNumeric[] = {kFloat,      kDouble,    kInt32,  kUInt8,   kInt16,
                              kInt8,       kComplex64, kInt64,  kQInt8,   kQUInt8,
                              kQInt32,     kBFloat16,  kQInt16, kQUInt16, kUInt16,
                              kComplex128, kHalf,      kUInt32, kUInt64};
constexpr DType kRealNumeric[] = {kFloat, kDouble,   kInt32,  kUInt8, kInt16,  kInt8,
                                  kInt64, kBFloat16, kUInt16, kHalf,  kUInt32, kUInt64};
constexpr DType kFloatingTypes[] = {kHalf, kBFloat16, kFloat, kDouble};
constexpr DType kIndexTypes[] = {kInt32, kInt64};

constexpr std::string_view kBaseTypes[] = {"int",  "float", "bool",   "string",
                                           "type", "shape", "tensor", "func"};

bool IsWordChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-' || c == '+';
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) { SkipBlanks(); }

  bool AtEnd() const { return rest_.empty(); }
  bool Accept(std::string_view token) {
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    SkipBlanks();
    return true;
  }
  Status Expect(std::string_view token) {
    return Accept(token) ? OkStatus() : Wanted(Quoted(token));
  }
  // A name, number or keyword; empty if none stands here.
  std::string_view Word() {
    size_t n = 0;
    while (n < rest_.size() && IsWordChar(rest_[n])) ++n;
    const std::string_view word = rest_.substr(0, n);
    rest_.remove_prefix(n);
    SkipBlanks();
    return word;
  }
  bool AtQuote() const { return rest_.starts_with('\''); }
  StatusOr<std::string> QuotedText() {
    const size_t end = AtQuote() ? rest_.find('\'', 1) : std::string_view::npos;
    if (end == std::string_view::npos) return Wanted("a text in single quotes");
    std::string text(rest_.substr(1, end - 1));
    if (const size_t at = text.find("\\n"); at != std::string::npos) text.replace(at, 2, "\n");
    rest_.remove_prefix(end + 1);
    SkipBlanks();
    return text;
  }
  Status Wanted(std::string_view what) const {
    return InvalidArgumentError(StrCat("wanted ", what, " at ", Quoted(rest_)));
  }

 private:
  void SkipBlanks() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  }
  std::string_view rest_;
};

template <typename T, typename Parse>
StatusOr<AttrValue> ListOf(Scanner& in, Parse parse) {
  std::vector<T> list;
  RETURN_IF_ERROR(in.Expect("["));
  while (!in.Accept("]")) {
    if (!list.empty()) RETURN_IF_ERROR(in.Expect(","));
    ASSIGN_OR_RETURN(T element, parse(in));
    list.push_back(std::move(element));
  }
  return AttrValue(std::move(list));
}

StatusOr<int64_t> IntValue(Scanner& in) {
  if (const auto n = ParseInt64(in.Word())) return *n;
  return in.Wanted("an integer before");
}
StatusOr<float> FloatValue(Scanner& in) {
  if (const auto n = ParseDouble(in.Word())) return static_cast<float>(*n);
  return in.Wanted("a number before");
}
StatusOr<bool> BoolValue(Scanner& in) {
  if (in.Accept("true")) return true;
  if (in.Accept("false")) return false;
  return in.Wanted("true or false");
}
StatusOr<std::string> StringValue(Scanner& in) { return in.QuotedText(); }
StatusOr<DType> TypeValue(Scanner& in) {
  if (const auto dtype = ParseDType(in.Word())) return *dtype;
  return in.Wanted("a dtype before");
}
StatusOr<PartialShape> ShapeValue(Scanner& in) {
  if (in.Accept("unknown")) return PartialShape::Unknown();
  ASSIGN_OR_RETURN(const AttrValue dims, ListOf<int64_t>(in, IntValue));
  return PartialShape(*dims.As<std::vector<int64_t>>());
}

template <typename T>
StatusOr<AttrValue> Lifted(StatusOr<T> value) {
  if (!value.ok()) return std::move(value).status();
  return AttrValue(*std::move(value));
}

StatusOr<AttrValue> DefaultValue(Scanner& in, std::string_view type) {
  if (type == "int") return Lifted(IntValue(in));
  if (type == "float") return Lifted(FloatValue(in));
  if (type == "bool") return Lifted(BoolValue(in));
  if (type == "string") return Lifted(StringValue(in));
  if (type == "type") return Lifted(TypeValue(in));
  if (type == "shape") return Lifted(ShapeValue(in));
  if (type == "list(int)") return ListOf<int64_t>(in, IntValue);
  if (type == "list(float)") return ListOf<float>(in, FloatValue);
  if (type == "list(bool)") return ListOf<bool>(in, BoolValue);
  if (type == "list(string)") return ListOf<std::string>(in, StringValue);
  if (type == "list(type)") return ListOf<DType>(in, TypeValue);
  if (type == "list(shape)") return ListOf<PartialShape>(in, ShapeValue);
  return in.Wanted(StrCat("no default, as ", type, " attributes have none,"));
}

// "{float32, int32}" or "{'SAME', 'VALID'}", its brace already read; the base type.
StatusOr<std::string> AllowedValues(Scanner& in, OpSchema::Attr* attr) {
  const bool strings = in.AtQuote();
  do {
    if (strings) {
      ASSIGN_OR_RETURN(std::string text, in.QuotedText());
      attr->allowed_strings.push_back(std::move(text));
    } else {
      ASSIGN_OR_RETURN(const DType dtype, TypeValue(in));
      attr->allowed_types.push_back(dtype);
    }
  } while (in.Accept(","));
  RETURN_IF_ERROR(in.Expect("}"));
  return std::string(strings ? "string" : "type");
}

StatusOr<std::string> ElementType(Scanner& in, OpSchema::Attr* attr) {
  if (in.Accept("{")) return AllowedValues(in, attr);
  const std::string_view word = in.Word();
  if (std::ranges::find(kBaseTypes, word) != std::end(kBaseTypes)) return std::string(word);
  const std::span<const DType> set = TypeSet(word);
  if (set.empty()) return in.Wanted("an attribute type or a named set of types before");
  attr->allowed_types.assign(set.begin(), set.end());
  return std::string("type");
}

StatusOr<OpSchema::Attr> ParseAttr(Scanner& in) {
  OpSchema::Attr attr;
  attr.name = std::string(in.Word());
  if (attr.name.empty()) return in.Wanted("the name of an attribute");
  RETURN_IF_ERROR(in.Expect(":"));
  if (in.Accept("list(")) {
    ASSIGN_OR_RETURN(const std::string element, ElementType(in, &attr));
    RETURN_IF_ERROR(in.Expect(")"));
    attr.type = StrCat("list(", element, ")");
  } else {
    ASSIGN_OR_RETURN(attr.type, ElementType(in, &attr));
  }
  if (in.Accept(">=")) {
    ASSIGN_OR_RETURN(attr.minimum, IntValue(in));
  }
  if (in.Accept("=")) {
    ASSIGN_OR_RETURN(attr.default_value, DefaultValue(in, attr.type));
    attr.has_default = true;
  }
  return attr;
}

StatusOr<OpSchema::Arg> ParseArg(Scanner& in, const OpSchema& schema) {
  OpSchema::Arg arg;
  arg.name = std::string(in.Word());
  if (arg.name.empty()) return in.Wanted("the name of an argument");
  RETURN_IF_ERROR(in.Expect(":"));
  std::string type(in.Word());
  if (in.Accept("*")) {
    arg.number_attr = std::move(type);
    type = std::string(in.Word());
    const OpSchema::Attr* number = schema.FindAttr(arg.number_attr);
    if (number == nullptr || number->type != "int") {
      return in.Wanted(StrCat("an int attribute, not '", arg.number_attr, "',"));
    }
  }
  const OpSchema::Attr* attr = schema.FindAttr(type);
  if (attr == nullptr) {
    const std::optional<DType> dtype = ParseDType(type);
    if (!dtype) return in.Wanted(StrCat("a dtype or a type attribute, not '", type, "',"));
    arg.dtype = *dtype;
  } else if (attr->type == "type") {
    arg.type_attr = std::move(type);
  } else if (attr->type == "list(type)" && arg.number_attr.empty()) {
    arg.type_list_attr = std::move(type);
  } else {
    return in.Wanted(StrCat("a type attribute, not '", type, "',"));
  }
  return arg;
}

template <typename T, typename Parse>
Status ParseList(std::string_view text, std::vector<T>* list, Parse parse) {
  Scanner in(text);
  while (!in.AtEnd()) {
    if (!list->empty()) RETURN_IF_ERROR(in.Expect(","));
    ASSIGN_OR_RETURN(T element, parse(in));
    list->push_back(std::move(element));
  }
  return OkStatus();
}

}  // namespace

std::span<const DType> TypeSet(std::string_view name) {
  if (name == "numeric") return kNumeric;
  if (name == "realnumeric") return kRealNumeric;
  if (name == "floating") return kFloatingTypes;
  if (name == "index") return kIndexTypes;
  return {};
}

StatusOr<OpSchema> ParseOpSchema(const OpSchemaText& text) {
  OpSchema schema;
  schema.name = text.name;
  schema.effect = text.effect;
  schema.shape = text.shape;
  const auto parse_arg = [&](Scanner& in) { return ParseArg(in, schema); };
  Status status = ParseList(text.attrs, &schema.attrs, ParseAttr);
  if (status.ok()) status = ParseList(text.inputs, &schema.inputs, parse_arg);
  if (status.ok()) status = ParseList(text.outputs, &schema.outputs, parse_arg);
  if (!status.ok()) return status.WithContext(StrCat("Schema of op ", text.name));
  return schema;
}

}  // namespace slipway::ir
