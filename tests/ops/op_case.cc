// SPDX-License-Identifier: Apache-2.0
#include "op_case.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/env.h"
#include "ir/op_schema.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

using Json = nlohmann::json;

DType ReadDType(const Json& json) {
  return ParseDType(json.get<std::string>()).value_or(DType::kInvalid);
}

// The number that stands as a key.
StatusOr<size_t> Slot(const std::string& key, size_t count) {
  size_t slot = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), slot);
  if (error != std::errc() || end != key.data() + key.size() || slot >= count) {
    return InvalidArgumentError("input '" + key + "' of " + std::to_string(count));
  }
  return slot;
}

template <typename T>
std::vector<T> ListOf(const Json& json) {
  std::vector<T> values;
  for (const Json& element : json) values.push_back(element.get<T>());
  return values;
}

ir::AttrValue ReadAttr(const std::string& type, const Json& json) {
  if (type == "type") return ReadDType(json);
  if (type == "int") return json.get<int64_t>();
  if (type == "float") return json.get<float>();
  if (type == "bool") return json.get<bool>();
  if (type == "shape") return PartialShape(ListOf<int64_t>(json));
  if (type == "list(type)") {
    std::vector<DType> dtypes;
    for (const Json& element : json) dtypes.push_back(ReadDType(element));
    return dtypes;
  }
  if (type == "list(shape)") {
    std::vector<PartialShape> shapes;
    for (const Json& element : json) shapes.emplace_back(ListOf<int64_t>(element));
    return shapes;
  }
  if (type == "list(string)") return ListOf<std::string>(json);
  if (type == "list(int)") return ListOf<int64_t>(json);
  if (type == "list(float)") return ListOf<float>(json);
  return json.get<std::string>();
}

StatusOr<TensorMap> ReadTensors(const ParsedOpCase& parsed, const std::string& key) {
  if (!parsed.json.contains(key)) return TensorMap();
  const auto env = NewMemoryEnv();
  RETURN_IF_ERROR(WriteFile(env.get(), "case", parsed.json.dump()));
  return ReadTensorJsonMap(env.get(), "case", key);
}

}  // namespace

StatusOr<ParsedOpCase> ParseOpCase(std::string_view line) {
  ParsedOpCase parsed;
  parsed.json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!parsed.json.is_object()) return InvalidArgumentError("an op case is a JSON object");
  ASSIGN_OR_RETURN(TensorMap inputs, ReadTensors(parsed, "inputs"));
  ASSIGN_OR_RETURN(TensorMap variables, ReadTensors(parsed, "variables"));
  ASSIGN_OR_RETURN(TensorMap outputs, ReadTensors(parsed, "outputs"));
  parsed.outputs.resize(outputs.size());
  for (auto& [key, tensor] : outputs) {
    ASSIGN_OR_RETURN(const size_t slot, Slot(key, outputs.size()));
    parsed.outputs[slot] = std::move(tensor);
  }
  ASSIGN_OR_RETURN(parsed.after, ReadTensors(parsed, "after"));
  const size_t count = inputs.size() + variables.size();
  parsed.inputs.resize(count);
  for (auto& [key, tensor] : inputs) {
    ASSIGN_OR_RETURN(const size_t slot, Slot(key, count));
    parsed.inputs[slot] = std::move(tensor);
  }
  for (auto& [key, tensor] : variables) {
    ASSIGN_OR_RETURN(const size_t slot, Slot(key, count));
    auto variable =
        std::make_shared<Variable>("v" + key, tensor.dtype(), PartialShape(tensor.shape()));
    RETURN_IF_ERROR(variable->Assign(tensor));
    parsed.variables[slot] = variable;
    parsed.inputs[slot] = Tensor::Scalar<ResourceHandle>(variable);
  }
  for (const Tensor& input : parsed.inputs) {
    if (!input.valid()) return InvalidArgumentError("an input is missing");
  }
  return parsed;
}

StatusOr<ir::Node*> BuildOpCaseNode(ir::Graph* graph, const ParsedOpCase& parsed,
                                    bool with_shapes) {
  ir::NodeSpec spec;
  spec.op = parsed.json["op"].get<std::string>();
  const ir::OpSchema* schema = ir::FindOpSchema(spec.op);
  if (schema == nullptr) return NotFoundError("no schema for " + spec.op);
  for (const Tensor& input : parsed.inputs) {
    ir::NodeSpec placeholder;
    placeholder.op = "Placeholder";
    placeholder.attrs = {{"dtype", input.dtype()}};
    if (with_shapes) placeholder.attrs.emplace("shape", PartialShape(input.shape()));
    ASSIGN_OR_RETURN(ir::Node * node, graph->AddNode(std::move(placeholder)));
    spec.inputs.push_back({node, 0});
  }
  const Json attrs = parsed.json.value("attrs", Json::object());
  for (const auto& [name, value] : attrs.items()) {
    const auto* attr = schema->FindAttr(name);
    if (attr != nullptr) spec.attrs[name] = ReadAttr(attr->type, value);
  }
  if (!parsed.variables.empty()) {  // what the handles' dtype would say
    const DType dtype = ReadDType(parsed.json["variables"].begin()->at("dtype"));
    for (const char* name : {"dtype", "T"}) {
      if (schema->FindAttr(name) != nullptr && !spec.attrs.contains(name)) spec.attrs[name] = dtype;
    }
  }
  return graph->AddNode(std::move(spec));
}

}  // namespace slipway::kernels
