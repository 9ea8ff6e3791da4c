// SPDX-License-Identifier: Apache-2.0
#include "ir/node_checks.h"

#include <algorithm>

#include "base/strings.h"

namespace slipway::ir {
namespace {

// How many inputs go to the one attribute whose length is not known, or -1.
int64_t UnknownLength(const OpSchema& schema, int64_t num_inputs, const AttrMap& attrs) {
  int64_t known = 0;
  int64_t unknown_args = 0;
  std::string_view unknown;
  for (const OpSchema::Arg& arg : schema.inputs) {
    const std::string& attr = arg.type_list_attr.empty() ? arg.number_attr : arg.type_list_attr;
    if (attr.empty()) {
      ++known;
      continue;
    }
    const auto it = attrs.find(attr);
    if (it == attrs.end()) {
      if (!unknown.empty() && unknown != attr) return -1;
      unknown = attr;
      ++unknown_args;
    } else if (const auto* n = it->second.As<int64_t>()) {
      if (*n < 0 || *n > num_inputs) return -1;
      known += *n;
    } else if (const auto* types = it->second.As<std::vector<DType>>()) {
      known += static_cast<int64_t>(types->size());
    }
  }
  const int64_t rest = num_inputs - known;
  if (unknown_args == 0 || rest < 0 || rest % unknown_args != 0) return -1;
  return rest / unknown_args;
}

const AttrValue* Find(const AttrMap& attrs, const OpSchema::Attr& attr) {
  const auto it = attrs.find(attr.name);
  if (it != attrs.end()) return &it->second;
  return attr.has_default ? &attr.default_value : nullptr;
}

template <typename T>
bool AllIn(const std::vector<T>& values, const std::vector<T>& allowed) {
  return std::ranges::all_of(
      values, [&](const T& v) { return std::ranges::find(allowed, v) != allowed.end(); });
}

bool IsAllowed(const OpSchema::Attr& attr, const AttrValue& value) {
  if (!attr.allowed_types.empty()) {
    if (const auto* type = value.As<DType>()) return AllIn({*type}, attr.allowed_types);
    if (const auto* types = value.As<std::vector<DType>>()) {
      return AllIn(*types, attr.allowed_types);
    }
  }
  if (!attr.allowed_strings.empty()) {
    if (const auto* text = value.As<std::string>()) return AllIn({*text}, attr.allowed_strings);
    if (const auto* texts = value.As<std::vector<std::string>>()) {
      return AllIn(*texts, attr.allowed_strings);
    }
  }
  return true;
}

std::string AllowedText(const OpSchema::Attr& attr) {
  std::vector<std::string> names = attr.allowed_strings;
  for (const DType dtype : attr.allowed_types) names.emplace_back(DTypeName(dtype));
  return StrJoin(names, ", ");
}

int64_t LengthOrValue(const AttrValue& value) {
  return std::visit(
      [](const auto& v) -> int64_t {
        using T = std::remove_cvref_t<decltype(v)>;
        if constexpr (std::is_same_v<T, int64_t>) {
          return v;
        } else if constexpr (requires { v.begin(); } && !std::is_same_v<T, std::string>) {
          return static_cast<int64_t>(v.size());
        } else {
          return 0;
        }
      },
      value.value);
}

Status CheckAttr(const OpSchema::Attr& attr, const AttrValue* value) {
  if (value == nullptr) {
    return InvalidArgumentError(
        StrCat("attribute '", attr.name, "' (", attr.type, ") is missing and has no default"));
  }
  if (value->TypeName() != attr.type) {
    return InvalidArgumentError(StrCat("attribute '", attr.name, "' is ", value->ToString(),
                                       "; wanted a value of type ", attr.type));
  }
  if (!IsAllowed(attr, *value)) {
    return InvalidArgumentError(
        StrCat("Value for attr '", attr.name, "' of ", value->ToString(),
               " is not in the list of allowed values: ", AllowedText(attr)));
  }
  if (attr.minimum && LengthOrValue(*value) < *attr.minimum) {
    return InvalidArgumentError(StrCat("Value for attr '", attr.name, "' of ", value->ToString(),
                                       " must be at least minimum ", *attr.minimum));
  }
  return OkStatus();
}

// An empty list read from a file has no type of its own.
void SetTypeOfEmptyList(const OpSchema::Attr& attr, AttrValue* value) {
  const std::string_view seen = value->TypeName();
  if (!attr.type.starts_with("list(") || !seen.starts_with("list(") || seen == attr.type ||
      LengthOrValue(*value) != 0) {
    return;
  }
  const AttrValue empty_lists[] = {std::vector<int64_t>(), std::vector<float>(),
                                   std::vector<bool>(),    std::vector<std::string>(),
                                   std::vector<DType>(),   std::vector<PartialShape>(),
                                   std::vector<Tensor>(),  std::vector<FunctionRef>()};
  for (const AttrValue& empty : empty_lists) {
    if (empty.TypeName() == attr.type) *value = empty;
  }
}

// "input 1 ('b')" and where its dtype comes from.
Status WrongInput(const OpSchema& schema, size_t flat, DType seen, DType wanted) {
  const OpSchema::Arg* arg = schema.inputs.size() == 1 ? &schema.inputs[0] : nullptr;
  if (flat < schema.inputs.size()) arg = &schema.inputs[flat];
  const std::string why =
      arg != nullptr && !arg->type_attr.empty() ? StrCat(" (attribute ", arg->type_attr, ")") : "";
  return InvalidArgumentError(StrCat("Input ", flat, arg ? StrCat(" ('", arg->name, "')") : "",
                                     " has type ", DTypeName(seen), " that does not match type ",
                                     DTypeName(wanted), why));
}

}  // namespace

void InferAttrs(const OpSchema& schema, std::span<const DType> inputs, AttrMap* attrs) {
  for (const OpSchema::Attr& attr : schema.attrs) {
    const auto it = attrs->find(attr.name);
    if (it != attrs->end()) SetTypeOfEmptyList(attr, &it->second);
  }
  const int64_t length = UnknownLength(schema, static_cast<int64_t>(inputs.size()), *attrs);
  size_t next = 0;
  for (const OpSchema::Arg& arg : schema.inputs) {
    int64_t n = 1;
    const std::string& attr = arg.type_list_attr.empty() ? arg.number_attr : arg.type_list_attr;
    if (!attr.empty()) {
      const auto it = attrs->find(attr);
      n = it == attrs->end() ? length : LengthOrValue(it->second);
    }
    if (n < 0 || next + static_cast<size_t>(n) > inputs.size()) return;
    const std::span<const DType> own = inputs.subspan(next, static_cast<size_t>(n));
    next += own.size();
    if (!arg.number_attr.empty()) attrs->try_emplace(arg.number_attr, n);
    const bool known = !own.empty() && std::ranges::find(own, DType::kInvalid) == own.end();
    if (!arg.type_list_attr.empty() && (known || own.empty())) {
      attrs->try_emplace(arg.type_list_attr, std::vector<DType>(own.begin(), own.end()));
    } else if (!arg.type_attr.empty() && known) {
      attrs->try_emplace(arg.type_attr, own[0]);
    }
  }
}

Status CheckAttrs(const OpSchema& schema, const AttrMap& attrs) {
  for (const OpSchema::Attr& attr : schema.attrs) {
    RETURN_IF_ERROR(CheckAttr(attr, Find(attrs, attr)));
  }
  for (const auto& [name, value] : attrs) {
    if (name.starts_with('_') || schema.FindAttr(name) != nullptr) continue;
    std::vector<std::string> known;
    for (const OpSchema::Attr& attr : schema.attrs) known.push_back(attr.name);
    return InvalidArgumentError(
        StrCat("attribute '", name, "' is not one of the op's [", StrJoin(known, ", "), "]"));
  }
  return OkStatus();
}

Status CheckInputs(const OpSchema& schema, const Dtypes& wanted, std::span<const DType> inputs) {
  if (inputs.size() != wanted.inputs.size()) {
    std::vector<std::string> names;
    for (const OpSchema::Arg& arg : schema.inputs) names.push_back(arg.name);
    return InvalidArgumentError(StrCat("has ", inputs.size(), " inputs; wanted ",
                                       wanted.inputs.size(), " [", StrJoin(names, ", "), "]"));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] != wanted.inputs[i] && inputs[i] != DType::kInvalid) {
      return WrongInput(schema, i, inputs[i], wanted.inputs[i]);
    }
  }
  return OkStatus();
}

}  // namespace slipway::ir
