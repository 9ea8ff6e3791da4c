// SPDX-License-Identifier: Apache-2.0
#include "ir/op_schema.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "base/strings.h"
#include "ir/custom_schema.h"
#include "ir/op_schema_text.h"
#include "ir/ops/families.h"

namespace slipway::ir {
namespace {

using Registry = std::unordered_map<std::string_view, OpSchema>;

// A row that cannot be read is a mistake in the program, which its tests meet first.
Registry MakeRegistry() {
  Registry registry;
  for (const std::span<const OpSchemaText> family : AllOpFamilies()) {
    for (const OpSchemaText& row : family) {
      StatusOr<OpSchema> schema = ParseOpSchema(row);
      if (!schema.ok() || !registry.emplace(row.name, *std::move(schema)).second) {
        std::fprintf(stderr, "op table: %s\n",
                     schema.ok() ? StrCat("two rows for ", row.name).c_str()
                                 : schema.status().ToString().c_str());
        std::abort();
      }
    }
  }
  return registry;
}

const Registry& GetRegistry() {
  static const Registry* registry = new Registry(MakeRegistry());
  return *registry;
}

// What came while the program ran. Schemas do not move: nodes point to them.
class AddedSchemas {
 public:
  static AddedSchemas& Get() {
    static auto* added = new AddedSchemas();
    return *added;
  }
  bool Add(const OpSchema& schema) {
    const std::unique_lock lock(mutex_);
    return by_name_.emplace(schema.name, schema).second;
  }
  const OpSchema* Find(std::string_view op) const {
    const std::shared_lock lock(mutex_);
    const auto it = by_name_.find(op);
    return it == by_name_.end() ? nullptr : &it->second;
  }

 private:
  mutable std::shared_mutex mutex_;
  std::map<std::string, OpSchema, std::less<>> by_name_;
};

// More inputs or outputs than any model has; a file that asks for more is refused.
constexpr int64_t kMaxArgs = 1 << 20;

template <typename T>
StatusOr<const T*> AttrOf(const OpSchema& schema, const AttrMap& attrs, std::string_view name) {
  const AttrValue* value = nullptr;
  if (const auto it = attrs.find(name); it != attrs.end()) value = &it->second;
  if (value == nullptr) {
    const OpSchema::Attr* attr = schema.FindAttr(name);
    if (attr != nullptr && attr->has_default) value = &attr->default_value;
  }
  if (value == nullptr) {
    return InvalidArgumentError(StrCat("Op ", schema.name, " lacks attribute '", name, "'"));
  }
  if (const T* typed = value->As<T>()) return typed;
  return InvalidArgumentError(StrCat("Attribute '", name, "' of op ", schema.name, " is ",
                                     value->ToString(), "; wanted ", AttrValue(T()).TypeName()));
}

StatusOr<int64_t> ArgLength(const OpSchema& schema, const AttrMap& attrs,
                            const OpSchema::Arg& arg) {
  int64_t n = 1;
  if (!arg.type_list_attr.empty()) {
    ASSIGN_OR_RETURN(const auto* types,
                     AttrOf<std::vector<DType>>(schema, attrs, arg.type_list_attr));
    n = static_cast<int64_t>(types->size());
  } else if (!arg.number_attr.empty()) {
    ASSIGN_OR_RETURN(const int64_t* number, AttrOf<int64_t>(schema, attrs, arg.number_attr));
    n = *number;
  }
  if (n < 0 || n > kMaxArgs) {
    return InvalidArgumentError(StrCat("Argument '", arg.name, "' of op ", schema.name, " has ", n,
                                       " values; wanted 0 to ", kMaxArgs));
  }
  return n;
}

Status Flatten(const OpSchema& schema, const AttrMap& attrs, const std::vector<OpSchema::Arg>& args,
               std::vector<DType>* dtypes) {
  for (const OpSchema::Arg& arg : args) {
    ASSIGN_OR_RETURN(const int64_t n, ArgLength(schema, attrs, arg));
    if (!arg.type_list_attr.empty()) {
      ASSIGN_OR_RETURN(const auto* types,
                       AttrOf<std::vector<DType>>(schema, attrs, arg.type_list_attr));
      dtypes->insert(dtypes->end(), types->begin(), types->end());
      continue;
    }
    DType dtype = arg.dtype;
    if (!arg.type_attr.empty()) {
      ASSIGN_OR_RETURN(const DType* type, AttrOf<DType>(schema, attrs, arg.type_attr));
      dtype = *type;
    }
    dtypes->insert(dtypes->end(), static_cast<size_t>(n), dtype);
    if (dtypes->size() > static_cast<size_t>(kMaxArgs)) {
      return InvalidArgumentError(StrCat("Op ", schema.name, " has over ", kMaxArgs, " arguments"));
    }
  }
  return OkStatus();
}

}  // namespace

const OpSchema::Attr* OpSchema::FindAttr(std::string_view attr) const {
  for (const Attr& a : attrs) {
    if (a.name == attr) return &a;
  }
  return nullptr;
}

const OpSchema* FindOpSchema(std::string_view op) {
  const Registry& registry = GetRegistry();
  const auto it = registry.find(op);
  return it == registry.end() ? AddedSchemas::Get().Find(op) : &it->second;
}

Status AddOpSchema(OpSchema schema) {
  if (GetRegistry().contains(schema.name) || !AddedSchemas::Get().Add(schema)) {
    return AlreadyExistsError(StrCat("Op ", schema.name, " is there already"));
  }
  return OkStatus();
}

std::vector<const OpSchema*> AllOpSchemas() {
  std::vector<const OpSchema*> all;
  for (const auto& [name, schema] : GetRegistry()) all.push_back(&schema);
  std::sort(all.begin(), all.end(), [](auto* a, auto* b) { return a->name < b->name; });
  return all;
}

StatusOr<Dtypes> ResolveDtypes(const OpSchema& schema, const AttrMap& attrs) {
  Dtypes dtypes;
  RETURN_IF_ERROR(Flatten(schema, attrs, schema.inputs, &dtypes.inputs));
  RETURN_IF_ERROR(Flatten(schema, attrs, schema.outputs, &dtypes.outputs));
  return dtypes;
}

StatusOr<int> FlatOutputIndex(const OpSchema& schema, const AttrMap& attrs, std::string_view arg,
                              int index) {
  int64_t first = 0;
  for (const OpSchema::Arg& output : schema.outputs) {
    ASSIGN_OR_RETURN(const int64_t n, ArgLength(schema, attrs, output));
    if (output.name == arg) {
      if (index >= 0 && index < n) return static_cast<int>(first + index);
      return InvalidArgumentError(StrCat("Output '", arg, "' of op ", schema.name, " has ", n,
                                         " values; there is no number ", index));
    }
    first += n;
  }
  std::vector<std::string> names;
  for (const OpSchema::Arg& output : schema.outputs) names.push_back(output.name);
  return InvalidArgumentError(StrCat("Op ", schema.name, " has no output '", arg, "'; it has [",
                                     StrJoin(names, ", "), "]"));
}

}  // namespace slipway::ir
