// SPDX-License-Identifier: Apache-2.0
#include "ir/printer.h"

#include "base/strings.h"

namespace slipway::ir {
namespace {

std::string ValueName(const Output& value) {
  if (!value.valid()) return "<nothing>";
  if (value.node->op() == "_Arg" || value.index == 0) return value.node->name();
  return StrCat(value.node->name(), ":", value.index);
}

std::string AttrText(const AttrValue& value) {
  if (const auto* tensor = value.As<Tensor>()) return tensor->ToString();
  if (const auto* text = value.As<std::string>()) return *text;
  if (const auto* shape = value.As<PartialShape>()) return shape->ToString();
  if (const auto* flag = value.As<bool>()) return *flag ? "true" : "false";
  if (const auto* number = value.As<int64_t>()) return StrCat(*number);
  if (const auto* number = value.As<float>()) return StrCat(*number);
  if (const auto* function = value.As<FunctionRef>()) return function->name;
  if (const auto* texts = value.As<std::vector<std::string>>()) {
    return StrCat("[", StrJoin(*texts, ", "), "]");
  }
  return value.ToString();
}

// Whether the attribute is told by the dtypes or the number of the inputs.
bool FollowsFromInputs(const OpSchema& schema, const std::string& name) {
  for (const OpSchema::Arg& arg : schema.inputs) {
    if (name == arg.type_attr || name == arg.number_attr || name == arg.type_list_attr) return true;
  }
  return false;
}

std::string AttrsText(const Node& node) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : node.attrs()) {
    if (node.IsConst() && name == "dtype") continue;
    if (const OpSchema* schema = node.schema()) {
      const OpSchema::Attr* attr = schema->FindAttr(name);
      if (FollowsFromInputs(*schema, name)) continue;
      if (attr != nullptr && attr->has_default && attr->default_value == value) continue;
    }
    texts.push_back(StrCat(name, ": ", AttrText(value)));
  }
  return texts.empty() ? "" : StrCat(" {", StrJoin(texts, ", "), "}");
}

std::string NodeText(const Node& node) {
  std::vector<std::string> inputs;
  for (const Output& input : node.inputs()) inputs.push_back(ValueName(input));
  std::string text =
      StrCat("  ", node.name(), " = ", node.op(), "(", StrJoin(inputs, ", "), ")", AttrsText(node));
  for (size_t i = 0; i < node.control_inputs().size(); ++i) {
    StrAppend(&text, i == 0 ? " after " : ", ", node.control_inputs()[i]->name());
  }
  return text + "\n";
}

}  // namespace

std::string DebugText(const Function& function) {
  std::vector<std::string> args;
  for (const Function::Arg& arg : function.args) {
    args.push_back(StrCat(arg.node != nullptr ? arg.node->name() : arg.name, ": ",
                          DTypeName(arg.dtype), arg.shape.ToString()));
  }
  std::string text = StrCat(function.name, "(", StrJoin(args, ", "), ") {\n");
  StatusOr<std::vector<Node*>> order = function.graph.TopologicalOrder();
  // A cycle is worth printing too.
  for (const Node* node : order.ok() ? *order : function.graph.nodes()) {
    if (node->op() != "_Arg") text += NodeText(*node);
  }
  for (const Function::Return& result : function.returns) {
    StrAppend(&text, "  return ", result.name, " = ", ValueName(result.value), "\n");
  }
  for (const auto& [name, node] : function.control_returns) {
    StrAppend(&text, "  run ", node->name(), "\n");
  }
  return text + "}\n";
}

}  // namespace slipway::ir
