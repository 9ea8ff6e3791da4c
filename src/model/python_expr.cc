// SPDX-License-Identifier: Apache-2.0
#include "model/python_expr.h"

#include <cctype>
#include <limits>
#include <utility>

#include "base/strings.h"
#include "model/numpy_calls.h"

namespace slipway::model {
namespace {

using Kind = PythonValue::Kind;

PythonValue Of(Kind kind) {
  PythonValue value;
  value.kind = kind;
  return value;
}

bool IsNameChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

void AppendUtf8(uint32_t code, std::string* out) {
  if (code < 0x80) {
    *out += static_cast<char>(code);
  } else if (code < 0x800) {
    *out += static_cast<char>(0xc0 | (code >> 6));
    *out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    *out += static_cast<char>(0xe0 | (code >> 12));
    *out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    *out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    *out += static_cast<char>(0xf0 | (code >> 18));
    *out += static_cast<char>(0x80 | ((code >> 12) & 0x3f));
    *out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    *out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

class Parser {
 public:
  Parser(std::string_view text, const PythonExprOptions& options)
      : text_(text), options_(options) {}

  StatusOr<PythonValue> Parse() {
    ASSIGN_OR_RETURN(PythonValue value, Expression());
    SkipBlanks();
    if (at_ < text_.size()) return Wrong("operators and names are not evaluated");
    return value;
  }

 private:
  Status Wrong(std::string_view why) const {
    return InvalidArgumentError(
        StrCat(at_ < text_.size() ? StrCat("at ", Quoted(text_.substr(at_), 20)) : "at its end",
               ": ", why, "; what is evaluated: Python literals",
               options_.numpy ? StrCat(", ", kNumpyFunctions) : ""));
  }
  void SkipBlanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool Take(char c) {
    SkipBlanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  char Next() {
    SkipBlanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  std::string_view Name() {
    SkipBlanks();
    const size_t begin = at_;
    while (at_ < text_.size() && IsNameChar(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  StatusOr<PythonValue> Expression() {
    if (depth_ >= options_.max_depth) return Wrong("it is nested too deep");
    ++depth_;
    StatusOr<PythonValue> value = Signed();
    --depth_;
    return value;
  }

  StatusOr<PythonValue> Signed() {
    const char sign = Next();
    if (sign == '-' || sign == '+') {
      ++at_;
      ASSIGN_OR_RETURN(PythonValue value, Expression());
      return sign == '-' ? Negated(std::move(value)) : std::move(value);
    }
    ASSIGN_OR_RETURN(PythonValue value, Primary());
    return Methods(std::move(value));
  }

  StatusOr<PythonValue> Negated(PythonValue value) const {
    if (value.kind == Kind::kInt) {
      value.integer = -value.integer;
    } else if (value.kind == Kind::kFloat || value.kind == Kind::kComplex) {
      value.real = -value.real;
      // Of "-1+2j" the sign belongs to the real part only.
      if (value.text == "j") value.imaginary = -value.imaginary;
    } else {
      return Wrong("a sign stands before something that is no plain number");
    }
    return value;
  }

  StatusOr<PythonValue> Primary() {
    const char c = Next();
    if (c == '[') return Sequence('[', ']', Kind::kList);
    if (c == '(') return Sequence('(', ')', Kind::kTuple);
    if (c == '{') return Dict();
    if (c == '"' || c == '\'') return Text(false, false);
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.') return Number();
    if (!IsNameChar(c)) return Wrong("a value is missing");
    const std::string_view name = Name();
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
      const std::string prefix = AsciiLower(name);
      const bool bytes = prefix.find('b') != std::string::npos;
      const bool raw = prefix.find('r') != std::string::npos;
      if (prefix.find_first_not_of("bru") == std::string::npos) return Text(bytes, raw);
    }
    return Named(name);
  }

  StatusOr<PythonValue> Named(std::string_view name) {
    if (name == "True" || name == "False") {
      PythonValue value = Of(Kind::kBool);
      value.integer = name == "True" ? 1 : 0;
      return value;
    }
    if (name == "None") return PythonValue();
    if (options_.numpy && (name == "np" || name == "numpy") && Take('.')) {
      const std::string function(Name());
      if (Next() != '(') return NumpyConstant(function);
      ASSIGN_OR_RETURN(const NumpyCall call, Arguments());
      return CallNumpy(function, call, options_.max_elements);
    }
    at_ -= name.size();
    return Wrong("this name is not known");
  }

  // x.astype(…), x.reshape(…)
  StatusOr<PythonValue> Methods(PythonValue value) {
    while (options_.numpy && Next() == '.') {
      ++at_;
      const std::string method(Name());
      if (Next() != '(') return Wrong("attributes are not read");
      ASSIGN_OR_RETURN(const NumpyCall call, Arguments());
      ASSIGN_OR_RETURN(value, CallMethod(value, method, call));
    }
    return value;
  }

  StatusOr<NumpyCall> Arguments() {
    NumpyCall call;
    Take('(');
    while (!Take(')')) {
      const size_t before = at_;
      const std::string name(Name());
      if (!name.empty() && Take('=')) {
        ASSIGN_OR_RETURN(PythonValue value, Expression());
        call.keywords.emplace_back(name, std::move(value));
      } else {
        at_ = before;
        ASSIGN_OR_RETURN(PythonValue value, Expression());
        call.args.push_back(std::move(value));
      }
      if (!Take(',') && Next() != ')') return Wrong("wanted ',' or ')'");
    }
    return call;
  }

  StatusOr<PythonValue> Sequence(char open, char close, Kind kind) {
    Take(open);
    PythonValue value = Of(kind);
    bool comma = false;
    while (!Take(close)) {
      ASSIGN_OR_RETURN(PythonValue item, Expression());
      value.items.push_back(std::move(item));
      comma = Take(',');
      if (!comma && Next() != close) {
        return Wrong("operators are not evaluated; wanted ',' or the closing bracket");
      }
    }
    // (1) is a number in brackets, (1,) a tuple.
    if (kind == Kind::kTuple && value.items.size() == 1 && !comma) {
      PythonValue inner = std::move(value.items[0]);
      return inner;
    }
    return value;
  }

  StatusOr<PythonValue> Dict() {
    Take('{');
    PythonValue value = Of(Kind::kDict);
    while (!Take('}')) {
      ASSIGN_OR_RETURN(PythonValue key, Expression());
      if (!Take(':')) return Wrong("wanted ':' behind a key");
      ASSIGN_OR_RETURN(PythonValue entry, Expression());
      value.items.push_back(std::move(key));
      value.items.push_back(std::move(entry));
      if (!Take(',') && Next() != '}') return Wrong("wanted ',' or '}'");
    }
    return value;
  }

  StatusOr<PythonValue> Number() {
    const size_t begin = at_;
    bool is_float = false;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool exponent = c == 'e' || c == 'E';
      if (exponent || c == '.') is_float = true;
      if (std::isdigit(static_cast<unsigned char>(c)) == 0 && !exponent && c != '.' && c != '_') {
        const bool sign = (c == '-' || c == '+') && at_ > begin &&
                          (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
        if (!sign) break;
      }
      ++at_;
    }
    std::string digits(text_.substr(begin, at_ - begin));
    std::erase(digits, '_');
    const bool imaginary = at_ < text_.size() && (text_[at_] == 'j' || text_[at_] == 'J');
    if (imaginary) ++at_;
    if (at_ < text_.size() && IsNameChar(text_[at_])) return Wrong("a number goes on strangely");
    return imaginary || is_float ? Float(digits, imaginary) : Integer(digits);
  }

  StatusOr<PythonValue> Float(std::string digits, bool imaginary) {
    if (digits.ends_with('.')) digits += '0';
    if (digits.starts_with('.')) digits = "0" + digits;
    const auto number = ParseDouble(digits);
    if (!number) return Wrong(StrCat("'", digits, "' is no number"));
    PythonValue value = Of(imaginary ? Kind::kComplex : Kind::kFloat);
    (imaginary ? value.imaginary : value.real) = *number;
    if (imaginary) value.text = "j";
    return imaginary ? value : WithImaginary(std::move(value));
  }

  StatusOr<PythonValue> Integer(const std::string& digits) {
    const auto number = ParseInt64(digits);
    if (!number) return Wrong(StrCat("'", digits, "' is no integer of 64 bits"));
    PythonValue value = Of(Kind::kInt);
    value.integer = *number;
    return WithImaginary(std::move(value));
  }

  // A number, and "+2j" if that follows.
  StatusOr<PythonValue> WithImaginary(PythonValue value) {
    const size_t before = at_;
    const char sign = Next();
    if (sign != '+' && sign != '-') return value;
    ++at_;
    SkipBlanks();
    size_t end = at_;
    while (end < text_.size() && (IsNameChar(text_[end]) || text_[end] == '.')) ++end;
    const std::string_view digits = text_.substr(at_, end - at_);
    if (!digits.ends_with('j') && !digits.ends_with('J')) {
      at_ = before;
      return Wrong("operators are not evaluated");
    }
    const auto part = ParseDouble(digits.substr(0, digits.size() - 1));
    if (!part) return Wrong("this is no imaginary number");
    at_ = end;
    PythonValue complex = Of(Kind::kComplex);
    complex.real = value.kind == Kind::kInt ? static_cast<double>(value.integer) : value.real;
    complex.imaginary = sign == '-' ? -*part : *part;
    return complex;
  }

  StatusOr<PythonValue> Text(bool bytes, bool raw) {
    const char quote = text_[at_++];
    PythonValue value = Of(bytes ? Kind::kBytes : Kind::kText);
    while (at_ < text_.size() && text_[at_] != quote) {
      const char c = text_[at_++];
      if (c != '\\' || raw || at_ >= text_.size()) {
        value.text += c;
      } else {
        RETURN_IF_ERROR(Escape(bytes, &value.text));
      }
    }
    if (at_ >= text_.size()) return Wrong("a text has no end");
    ++at_;
    return value;
  }

  Status Escape(bool bytes, std::string* out) {
    static constexpr std::pair<char, char> kPlain[] = {
        {'n', '\n'}, {'t', '\t'}, {'r', '\r'}, {'0', '\0'}, {'\\', '\\'}, {'\'', '\''},
        {'"', '"'},  {'a', '\a'}, {'b', '\b'}, {'f', '\f'}, {'v', '\v'}};
    const char c = text_[at_++];
    for (const auto& [name, meant] : kPlain) {
      if (name == c) return out->push_back(meant), OkStatus();
    }
    const size_t digits = c == 'x' ? 2 : c == 'u' && !bytes ? 4 : c == 'U' && !bytes ? 8 : 0;
    if (digits == 0) {  // Python keeps what it does not know
      *out += {'\\', c};
      return OkStatus();
    }
    uint32_t code = 0;
    const char* begin = text_.data() + at_;
    const char* end = begin + std::min(digits, text_.size() - at_);
    const auto [stop, error] = std::from_chars(begin, end, code, 16);
    if (stop != begin + digits || code > 0x10ffff) return Wrong("an escape is wrong");
    at_ += digits;
    if (bytes) {
      *out += static_cast<char>(code);
    } else {
      AppendUtf8(code, out);
    }
    return OkStatus();
  }

  std::string_view text_;
  const PythonExprOptions& options_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

StatusOr<PythonValue> ParsePython(std::string_view text, const PythonExprOptions& options) {
  return Parser(text, options).Parse();
}

}  // namespace slipway::model
