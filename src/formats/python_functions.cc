// SPDX-License-Identifier: Apache-2.0
#include "formats/python_functions.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "base/strings.h"
#include "formats/proto_values.h"
#include "proto/object_graph.pb.h"

namespace slipway::formats {
namespace tf = ::tensorflow;
namespace {

// The shortest text that is read back as the same number; the exponent begins at 1e16 and 1e-5.
std::string FloatText(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  const double size = std::fabs(value);
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
  char text[64];
  const auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
  const auto [end, error] = std::to_chars(text, text + sizeof(text), value, format);
  std::string out(text, end);
  if (plain && out.find('.') == std::string::npos) out += ".0";
  return out;
}

std::string QuotedText(const std::string& text) {
  const bool single = text.find('\'') != std::string::npos && text.find('"') == std::string::npos;
  const char quote = single ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) {
    if (c == quote || c == '\\') {
      out += {'\\', c};
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      char escaped[8];
      std::snprintf(escaped, sizeof(escaped), "\\x%02x", static_cast<unsigned>(c));
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + quote;
}

std::string DTypeText(int number) {
  const auto dtype = DTypeFromNumber(number);
  return dtype ? std::string(DTypeName(*dtype)) : "invalid";
}

std::string DimsText(const tf::TensorShapeProto& shape) {
  std::vector<std::string> dims;
  for (const auto& dim : shape.dim()) {
    dims.push_back(dim.size() < 0 ? "None" : StrCat(dim.size()));
  }
  return StrJoin(dims, ", ");
}

// As str() and as repr() have it.
std::string ShapeStr(const tf::TensorShapeProto& shape) {
  if (shape.unknown_rank()) return "<unknown>";
  return StrCat("(", DimsText(shape), shape.dim_size() == 1 ? ",)" : ")");
}
std::string ShapeRepr(const tf::TensorShapeProto& shape) {
  return shape.unknown_rank() ? "TensorShape(None)"
                              : StrCat("TensorShape([", DimsText(shape), "])");
}

template <typename Spec>
std::string SpecFields(const Spec& spec) {
  return StrCat("(shape=", ShapeStr(spec.shape()), ", dtype=tf.", DTypeText(spec.dtype()),
                ", name=", spec.name().empty() ? "None" : QuotedText(spec.name()));
}

std::string TensorText(const tf::TensorProto& proto) {
  ConstantBudget budget(1 << 20, 1 << 20);
  const auto tensor = TensorFromProto(proto, budget);
  return tensor.ok() ? tensor->ToString() : "...";
}

std::string TupleText(const tf::TupleValue& tuple) {
  std::vector<std::string> parts;
  for (const auto& element : tuple.values()) parts.push_back(PythonRepr(element));
  return StrCat("(", StrJoin(parts, ", "), parts.size() == 1 ? ",)" : ")");
}

std::string TypeSpecName(const tf::TypeSpecProto& spec) {
  const std::string& name = spec.type_spec_class_name();
  return name.empty() ? "TypeSpec" : std::string(name.substr(name.rfind('.') + 1));
}

std::string TypeSpecText(const tf::TypeSpecProto& spec) {
  const auto& state = spec.type_state();
  const bool tuple = state.kind_case() == tf::StructuredValue::kTupleValue;
  if (spec.type_spec_class() == tf::TypeSpecProto::VARIABLE_SPEC && tuple &&
      state.tuple_value().values_size() == 4) {
    const auto& fields = state.tuple_value().values();
    return StrCat(TypeSpecName(spec), "(shape=", PythonStr(fields[0]),
                  ", dtype=", PythonRepr(fields[1]), ", trainable=", PythonRepr(fields[2]),
                  ", alias_id=", PythonRepr(fields[3]), ")");
  }
  return StrCat(TypeSpecName(spec),
                tuple ? TupleText(state.tuple_value()) : StrCat("(", PythonRepr(state), ")"));
}

std::string NamedTupleText(const tf::NamedTupleValue& tuple) {
  std::vector<std::string> parts;
  for (const auto& pair : tuple.values()) {
    parts.push_back(StrCat(pair.key(), "=", PythonRepr(pair.value())));
  }
  return StrCat(tuple.name(), "(", StrJoin(parts, ", "), ")");
}

// The file does not keep the order of a dictionary.
std::vector<std::string> SortedKeys(const tf::DictValue& dict) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : dict.fields()) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::string DictText(const tf::DictValue& dict) {
  std::vector<std::string> parts;
  for (const std::string& key : SortedKeys(dict)) {
    parts.push_back(StrCat(QuotedText(key), ": ", PythonRepr(dict.fields().at(key))));
  }
  return StrCat("{", StrJoin(parts, ", "), "}");
}

std::string ListText(const tf::ListValue& list) {
  std::vector<std::string> parts;
  for (const auto& element : list.values()) parts.push_back(PythonRepr(element));
  return StrCat("[", StrJoin(parts, ", "), "]");
}

std::string TypeName(const tf::StructuredValue& value) {
  using Value = tf::StructuredValue;
  switch (value.kind_case()) {
    case Value::kNoneValue:
      return "NoneType";
    case Value::kFloat64Value:
      return "float";
    case Value::kInt64Value:
      return "int";
    case Value::kStringValue:
      return "str";
    case Value::kBoolValue:
      return "bool";
    case Value::kTensorShapeValue:
      return "TensorShape";
    case Value::kTensorDtypeValue:
      return "DType";
    case Value::kTensorSpecValue:
      return "TensorSpec";
    case Value::kBoundedTensorSpecValue:
      return "BoundedTensorSpec";
    case Value::kTypeSpecValue:
      return TypeSpecName(value.type_spec_value());
    case Value::kListValue:
      return "list";
    case Value::kTupleValue:
      return "tuple";
    case Value::kDictValue:
      return "dict";
    case Value::kNamedTupleValue:
      return value.named_tuple_value().name();
    case Value::kTensorValue:
      return "Tensor";
    case Value::kNumpyValue:
      return "ndarray";
    case Value::KIND_NOT_SET:
      return "NoneType";
  }
  return "NoneType";
}

PythonArgument ArgumentOf(const tf::StructuredValue& value) {
  PythonArgument argument;
  argument.type = TypeName(value);
  argument.value = PythonStr(value);
  const std::string* name = nullptr;
  if (value.has_tensor_spec_value()) name = &value.tensor_spec_value().name();
  if (value.has_bounded_tensor_spec_value()) name = &value.bounded_tensor_spec_value().name();
  if (name != nullptr) argument.name = name->empty() ? "None" : *name;
  return argument;
}

// A canonical signature is the pair of positional and keyword arguments.
void AddOption(const tf::SavedObjectGraph& objects, const std::string& concrete,
               PythonFunction* function) {
  const auto found = objects.concrete_functions().find(concrete);
  if (found == objects.concrete_functions().end()) return;
  const auto& pair = found->second.canonicalized_input_signature().tuple_value().values();
  PythonFunction::Option option;
  if (pair.size() > 0) {
    for (const auto& arg : pair[0].tuple_value().values()) option.args.push_back(ArgumentOf(arg));
  }
  if (pair.size() > 1) option.keywords = SortedKeys(pair[1].dict_value());
  function->options.push_back(std::move(option));
}

}  // namespace

std::string PythonStr(const tf::StructuredValue& value) {
  if (value.has_string_value()) return value.string_value();
  if (value.has_tensor_shape_value()) return ShapeStr(value.tensor_shape_value());
  if (value.has_tensor_dtype_value()) {
    return StrCat("<dtype: '", DTypeText(value.tensor_dtype_value()), "'>");
  }
  return PythonRepr(value);
}

std::string PythonRepr(const tf::StructuredValue& value) {
  using Value = tf::StructuredValue;
  switch (value.kind_case()) {
    case Value::kNoneValue:
    case Value::KIND_NOT_SET:
      return "None";
    case Value::kFloat64Value:
      return FloatText(value.float64_value());
    case Value::kInt64Value:
      return StrCat(value.int64_value());
    case Value::kStringValue:
      return QuotedText(value.string_value());
    case Value::kBoolValue:
      return value.bool_value() ? "True" : "False";
    case Value::kTensorShapeValue:
      return ShapeRepr(value.tensor_shape_value());
    case Value::kTensorDtypeValue:
      return StrCat("tf.", DTypeText(value.tensor_dtype_value()));
    case Value::kTensorSpecValue:
      return StrCat("TensorSpec", SpecFields(value.tensor_spec_value()), ")");
    case Value::kBoundedTensorSpecValue: {
      const auto& spec = value.bounded_tensor_spec_value();
      return StrCat("BoundedTensorSpec", SpecFields(spec), ", minimum=", TensorText(spec.minimum()),
                    ", maximum=", TensorText(spec.maximum()), ")");
    }
    case Value::kTypeSpecValue:
      return TypeSpecText(value.type_spec_value());
    case Value::kListValue:
      return ListText(value.list_value());
    case Value::kTupleValue:
      return TupleText(value.tuple_value());
    case Value::kDictValue:
      return DictText(value.dict_value());
    case Value::kNamedTupleValue:
      return NamedTupleText(value.named_tuple_value());
    case Value::kTensorValue:
      return TensorText(value.tensor_value());
    case Value::kNumpyValue:
      return TensorText(value.numpy_value());
  }
  return "None";
}

std::vector<PythonFunction> ListPythonFunctions(const tf::SavedObjectGraph& objects) {
  std::vector<PythonFunction> functions;
  if (objects.nodes_size() == 0) return functions;
  for (const auto& child : objects.nodes(0).children()) {
    if (child.node_id() < 0 || child.node_id() >= objects.nodes_size()) continue;
    const auto& node = objects.nodes(child.node_id());
    std::vector<std::string> concrete;
    if (node.has_function()) {
      const auto& names = node.function().concrete_functions();
      concrete.assign(names.begin(), names.end());
    } else if (node.has_bare_concrete_function()) {
      concrete.push_back(node.bare_concrete_function().concrete_function_name());
    } else {
      continue;
    }
    std::sort(concrete.begin(), concrete.end());
    PythonFunction function;
    function.name = child.local_name();
    for (const std::string& name : concrete) AddOption(objects, name, &function);
    functions.push_back(std::move(function));
  }
  std::ranges::sort(functions, {}, &PythonFunction::name);
  return functions;
}

}  // namespace slipway::formats
