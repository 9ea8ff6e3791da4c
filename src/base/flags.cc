// SPDX-License-Identifier: Apache-2.0
#include "base/flags.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/strings.h"

namespace slipway {
namespace {

constexpr size_t kColumns = 80;
constexpr size_t kHelpIndent = 6;

std::string Underscored(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

struct TypeText {
  std::string_view wanted;       // in messages
  std::string_view placeholder;  // in the help
};
TypeText TextOf(const Flag& flag) {
  static constexpr TypeText kTexts[] = {{"true or false", ""},     {"an integer", "INTEGER"},
                                        {"an integer", "INTEGER"}, {"a number", "NUMBER"},
                                        {"a text", "TEXT"},        {"a text", "TEXT"}};
  return kTexts[flag.target.index()];
}

bool IsBool(const Flag& flag) { return std::holds_alternative<bool*>(flag.target); }

// One overload a type: false if the text is not such a value.
bool Assign(std::string_view text, bool* target) {
  const std::string lower = AsciiLower(text);
  if (lower != "true" && lower != "1" && lower != "false" && lower != "0") return false;
  *target = lower == "true" || lower == "1";
  return true;
}
bool Assign(std::string_view text, int64_t* target) {
  const std::optional<int64_t> value = ParseInt64(text);
  if (value) *target = *value;
  return value.has_value();
}
bool Assign(std::string_view text, int32_t* target) {
  const std::optional<int64_t> value = ParseInt64(text);
  if (!value || *value < std::numeric_limits<int32_t>::min() ||
      *value > std::numeric_limits<int32_t>::max()) {
    return false;
  }
  *target = static_cast<int32_t>(*value);
  return true;
}
bool Assign(std::string_view text, double* target) {
  const std::optional<double> value = ParseDouble(text);
  if (value) *target = *value;
  return value.has_value();
}
bool Assign(std::string_view text, std::string* target) {
  *target = text;
  return true;
}
bool Assign(std::string_view text, std::vector<std::string>* target) {
  target->emplace_back(text);
  return true;
}

Status SetFlag(const Flag& flag, std::string_view text) {
  const bool good = std::visit([&](auto* target) { return Assign(text, target); }, flag.target);
  if (good) return OkStatus();
  return InvalidArgumentError(
      StrCat("flag --", flag.name, " has the value ", Quoted(text), "; ", TextOf(flag).wanted,
             std::holds_alternative<int32_t*>(flag.target) ? " of 32 bits" : "", " is wanted"));
}

std::string DefaultText(const Flag& flag) {
  struct Visitor {
    std::string operator()(const bool* value) const { return *value ? "true" : "false"; }
    std::string operator()(const int32_t* value) const { return StrCat(*value); }
    std::string operator()(const int64_t* value) const { return StrCat(*value); }
    std::string operator()(const double* value) const { return StrCat(*value); }
    std::string operator()(const std::string* value) const {
      return value->empty() ? "" : Quoted(*value);
    }
    std::string operator()(const std::vector<std::string>*) const { return ""; }
  };
  return std::visit(Visitor(), flag.target);
}

// Words of `text` on lines that begin with `indent` blanks; line breaks in the text are kept.
std::string Wrapped(std::string_view text, size_t indent) {
  std::string out;
  for (std::string_view line : StrSplit(text, '\n')) {
    size_t column = 0;
    for (std::string_view word : StrSplit(line, ' ')) {
      if (word.empty()) continue;
      if (column > 0 && column + 1 + word.size() > kColumns) {
        out += '\n';
        column = 0;
      }
      if (column == 0) {
        out.append(indent, ' ');
        column = indent;
      } else {
        out += ' ';
        ++column;
      }
      out += word;
      column += word.size();
    }
    out += '\n';
  }
  return out;
}

}  // namespace

// What "--name=value" says.
struct FlagSet::Seen {
  std::string_view typed;  // the name as it was written
  std::string name;        // with '_'
  std::optional<std::string_view> value;

  // Nothing if the argument is positional: "-" (standard input) and negative numbers are.
  static std::optional<Seen> Of(std::string_view arg) {
    if (arg.size() < 2 || arg[0] != '-') return std::nullopt;
    if (arg[1] != '-' && ParseDouble(arg)) return std::nullopt;
    arg.remove_prefix(arg[1] == '-' ? 2 : 1);
    Seen seen;
    const size_t equals = arg.find('=');
    seen.typed = arg.substr(0, equals);
    seen.name = Underscored(seen.typed);
    if (equals != std::string_view::npos) seen.value = arg.substr(equals + 1);
    return seen;
  }
};

FlagSet::FlagSet(std::string usage, std::string description, std::vector<Flag> flags)
    : usage_(std::move(usage)), description_(std::move(description)), flags_(std::move(flags)) {
  for (const Flag& flag : flags_) defaults_.push_back(DefaultText(flag));
}

const Flag* FlagSet::Find(std::string_view name) const {
  for (const Flag& flag : flags_) {
    if (flag.name == name) return &flag;
  }
  return nullptr;
}

// The bool that "noflag" or "no_flag" turns off.
const Flag* FlagSet::FindNegated(std::string_view name) const {
  if (!name.starts_with("no")) return nullptr;
  name.remove_prefix(name.starts_with("no_") ? 3 : 2);
  const Flag* flag = Find(name);
  return flag != nullptr && IsBool(*flag) ? flag : nullptr;
}

Status FlagSet::UnknownFlag(const Seen& seen) const {
  std::vector<std::string> names = {"help"};
  for (const Flag& flag : flags_) names.push_back(flag.name);
  const std::optional<std::string> nearest = NearestWord(seen.name, names);
  return InvalidArgumentError(StrCat("unknown flag --", seen.typed,
                                     nearest ? StrCat("; did you mean --", *nearest, "?")
                                             : std::string("; --help lists the flags")));
}

Status FlagSet::ParseOne(const Seen& seen, const std::string* next, bool* used_next) {
  const Flag* flag = Find(seen.name);
  if (flag == nullptr) {
    const Flag* negated = FindNegated(seen.name);
    if (negated == nullptr) return UnknownFlag(seen);
    if (seen.value) {
      return InvalidArgumentError(StrCat("flag --", seen.typed, " takes no value, but has ",
                                         Quoted(*seen.value), "; write --", negated->name,
                                         "=true or --", negated->name, "=false"));
    }
    return SetFlag(*negated, "false");
  }
  if (seen.value) return SetFlag(*flag, *seen.value);
  if (IsBool(*flag)) return SetFlag(*flag, "true");
  if (next == nullptr) {
    return InvalidArgumentError(
        StrCat("flag --", flag->name, " has no value; ", TextOf(*flag).wanted, " is wanted"));
  }
  *used_next = true;
  return SetFlag(*flag, *next);
}

StatusOr<std::vector<std::string>> FlagSet::Parse(std::span<const std::string> args) {
  std::vector<std::string> positional;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i] == "--") {
      positional.insert(positional.end(), args.begin() + static_cast<ptrdiff_t>(i) + 1, args.end());
      break;
    }
    const std::optional<Seen> seen = Seen::Of(args[i]);
    if (!seen) {
      positional.push_back(args[i]);
      continue;
    }
    if ((seen->name == "help" || seen->name == "h") && Find(seen->name) == nullptr) {
      help_wanted_ = true;
      break;
    }
    bool used_next = false;
    const std::string* next = i + 1 < args.size() ? &args[i + 1] : nullptr;
    RETURN_IF_ERROR(ParseOne(*seen, next, &used_next));
    if (used_next) ++i;
  }
  return positional;
}

StatusOr<std::vector<std::string>> FlagSet::Parse(int argc, const char* const* argv) {
  return Parse(std::vector<std::string>(argv, argv + argc));
}

std::string FlagSet::Help() const {
  std::string out = StrCat("Usage: ", usage_, "\n");
  if (!description_.empty()) StrAppend(&out, "\n", Wrapped(description_, 0));
  if (!flags_.empty()) out += "\nFlags:\n";
  for (size_t i = 0; i < flags_.size(); ++i) {
    const Flag& flag = flags_[i];
    if (IsBool(flag)) {
      StrAppend(&out, "  --[no]", flag.name, "\n");
    } else {
      StrAppend(&out, "  --", flag.name, "=", TextOf(flag).placeholder, "\n");
    }
    std::string text = flag.help;
    if (std::holds_alternative<std::vector<std::string>*>(flag.target)) {
      text += " (may be repeated)";
    } else if (!defaults_[i].empty()) {
      StrAppend(&text, " (default: ", defaults_[i], ")");
    }
    out += Wrapped(text, kHelpIndent);
  }
  return out;
}

}  // namespace slipway
