// SPDX-License-Identifier: Apache-2.0
#include "formats/graph_writer.h"

#include <cctype>
#include <map>

#include "base/strings.h"
#include "formats/proto_values.h"
#include "proto/graph.pb.h"

namespace slipway::formats {
namespace tf = ::tensorflow;
namespace {

// "arg:index" of a flat output: what ir::FlatOutputIndex undoes.
StatusOr<std::string> OutputArg(const ir::Node& node, int flat) {
  if (node.schema() == nullptr) {
    return InvalidArgumentError(StrCat(node.op(), " '", node.name(),
                                       "': the op is not known, so its outputs have no names"));
  }
  int64_t rest = flat;
  for (const auto& arg : node.schema()->outputs) {
    int64_t count = 1;
    if (!arg.number_attr.empty()) {
      ASSIGN_OR_RETURN(count, node.Attr<int64_t>(arg.number_attr));
    } else if (!arg.type_list_attr.empty()) {
      ASSIGN_OR_RETURN(const auto types, node.Attr<std::vector<DType>>(arg.type_list_attr));
      count = static_cast<int64_t>(types.size());
    }
    if (rest < count) return StrCat(arg.name, ":", rest);
    rest -= count;
  }
  return InvalidArgumentError(StrCat(node.op(), " '", node.name(), "' has no output ", flat));
}

void CollectFunctions(const ir::AttrValue& value, std::set<std::string>* names) {
  if (const auto* function = value.As<ir::FunctionRef>()) names->insert(function->name);
  if (const auto* functions = value.As<std::vector<ir::FunctionRef>>()) {
    for (const auto& function : *functions) names->insert(function.name);
  }
}

class FunctionWriter {
 public:
  FunctionWriter(const ir::Function& function, tf::FunctionDef* out, WriteNeeds* needs)
      : function_(function), out_(out), needs_(needs) {}

  Status Write(const std::string& name, std::span<const HandleData> handles) {
    out_->mutable_signature()->set_name(name);
    NameNodes();
    WriteArgs(handles);
    for (const ir::Node* node : function_.graph.nodes()) {
      if (node->op() != "_Arg") RETURN_IF_ERROR(WriteNode(*node));
    }
    RETURN_IF_ERROR(WriteResults());
    WriteControlResults();
    for (const auto& [key, value] : function_.attrs) {
      RETURN_IF_ERROR(AttrToProto(value, &(*out_->mutable_attr())[key]));
    }
    (*out_->mutable_attr())["_construction_context"].set_s("kEagerRuntime");
    return {};
  }

 private:
  void NameNodes();
  void WriteArgs(std::span<const HandleData> handles);
  Status WriteNode(const ir::Node& node);
  Status WriteResults();
  void WriteControlResults();
  StatusOr<std::string> Edge(const ir::Output& value) const {
    if (const auto arg = args_.find(value.node); arg != args_.end()) return arg->second;
    ASSIGN_OR_RETURN(const std::string output, OutputArg(*value.node, value.index));
    return StrCat(names_.at(value.node), ":", output);
  }

  const ir::Function& function_;
  tf::FunctionDef* out_;
  WriteNeeds* needs_;
  std::map<const ir::Node*, std::string> args_;
  std::map<const ir::Node*, std::string> names_;  // of the other nodes
  std::set<std::string> taken_;
};

// Before the arguments: one of those must not have the name of a node, which its valid form may.
void FunctionWriter::NameNodes() {
  for (const ir::Node* node : function_.graph.nodes()) {
    if (node->op() != "_Arg") names_[node] = UniqueNodeName(node->name(), &taken_);
  }
}

void FunctionWriter::WriteArgs(std::span<const HandleData> handles) {
  auto* signature = out_->mutable_signature();
  for (size_t i = 0; i < function_.args.size(); ++i) {
    const auto& arg = function_.args[i];
    auto* proto = signature->add_input_arg();
    proto->set_name(UniqueArgName(arg.name, &taken_));
    proto->set_type(static_cast<tf::DataType>(arg.dtype));
    args_[arg.node] = proto->name();
    const int index = static_cast<int>(i);
    const bool is_handle = i < handles.size() && handles[i].dtype != DType::kInvalid;
    if (is_handle) SetHandleData(handles[i], signature, index);
    DescribeArg(index, arg.name, is_handle ? nullptr : &arg.shape, out_);
  }
}

Status FunctionWriter::WriteNode(const ir::Node& node) {
  tf::NodeDef* proto = out_->add_node_def();
  proto->set_name(names_.at(&node));
  proto->set_op(node.op());
  proto->set_device(node.device());
  needs_->ops.insert(node.op());
  for (const ir::Output& input : node.inputs()) {
    if (!input.valid()) {
      return InvalidArgumentError(StrCat(node.op(), " '", node.name(), "' lacks an input"));
    }
    ASSIGN_OR_RETURN(*proto->add_input(), Edge(input));
  }
  for (const ir::Node* before : node.control_inputs()) {
    if (before->op() != "_Arg") proto->add_input(StrCat("^", names_.at(before)));
  }
  for (const auto& [key, value] : node.attrs()) {
    CollectFunctions(value, &needs_->functions);
    if (Status s = AttrToProto(value, &(*proto->mutable_attr())[key]); !s.ok()) {
      return s.WithContext(StrCat(node.op(), " '", node.name(), "', attribute '", key, "'"));
    }
  }
  return {};
}

Status FunctionWriter::WriteResults() {
  auto* signature = out_->mutable_signature();
  for (const auto& result : function_.returns) {
    if (!result.value.valid()) {
      return InvalidArgumentError(StrCat("Result '", result.name, "' has no value"));
    }
    auto* proto = signature->add_output_arg();
    proto->set_name(UniqueArgName(result.name, &taken_));
    proto->set_type(static_cast<tf::DataType>(result.value.dtype()));
    ASSIGN_OR_RETURN((*out_->mutable_ret())[proto->name()], Edge(result.value));
  }
  return {};
}

// Effects happen although no result depends on them.
void FunctionWriter::WriteControlResults() {
  std::set<std::string> names;
  auto* signature = out_->mutable_signature();
  for (const ir::Node* node : function_.graph.nodes()) {
    if (node->op() == "_Arg" || node->effect() == ir::Effect::kPure) continue;
    signature->set_is_stateful(true);
    if (node->effect() != ir::Effect::kReadsResource) names.insert(names_.at(node));
  }
  for (const auto& [name, node] : function_.control_returns) {
    if (node->op() != "_Arg") names.insert(names_.at(node));
  }
  for (const std::string& name : names) {
    signature->add_control_output(name);
    (*out_->mutable_control_ret())[name] = name;
  }
}

}  // namespace

std::string ValidArgName(std::string_view name) {
  std::string out;
  for (char c : name) {
    const bool letter = std::isalnum(static_cast<unsigned char>(c)) != 0;
    out.push_back(letter ? static_cast<char>(std::tolower(static_cast<unsigned char>(c))) : '_');
  }
  if (out.empty() || out[0] < 'a' || out[0] > 'z') out.insert(0, "arg_");
  return out;
}

std::string UniqueArgName(std::string_view name, std::set<std::string>* taken) {
  const std::string base = ValidArgName(name);
  std::string out = base;
  for (int i = 0; !taken->insert(out).second; ++i) out = StrCat(base, "_", i);
  return out;
}

std::string UniqueNodeName(std::string_view name, std::set<std::string>* taken) {
  std::string base;
  for (char c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' ||
                       c == '/' || c == '-';
    base.push_back(plain ? c : '_');
  }
  if (base.empty() || std::isalnum(static_cast<unsigned char>(base[0])) == 0) base.insert(0, "n");
  std::string out = base;
  for (int i = 1; !taken->insert(out).second; ++i) out = StrCat(base, "_", i);
  return out;
}

void SetHandleData(const HandleData& handle, tf::OpDef* signature, int arg) {
  auto* data = signature->mutable_input_arg(arg)->add_handle_data();
  data->set_dtype(static_cast<tf::DataType>(handle.dtype));
  ShapeToProto(handle.shape, data->mutable_shape());
}

void DescribeArg(int i, const std::string& user_name, const PartialShape* shape,
                 tf::FunctionDef* out) {
  auto& attrs = *(*out->mutable_arg_attr())[static_cast<uint32_t>(i)].mutable_attr();
  attrs["_user_specified_name"].set_s(user_name);
  if (shape != nullptr) ShapeToProto(*shape, attrs["_output_shapes"].mutable_list()->add_shape());
}

Status WriteFunction(const ir::Function& function, const std::string& name,
                     std::span<const HandleData> handles, tf::FunctionDef* out, WriteNeeds* needs) {
  Status status = FunctionWriter(function, out, needs).Write(name, handles);
  return status.ok() ? status : status.WithContext(StrCat("Function '", function.name, "'"));
}

Status WriteOpDef(const ir::OpSchema& schema, tf::OpDef* out) {
  out->set_name(schema.name);
  const auto write = [](const ir::OpSchema::Arg& arg, tf::OpDef::ArgDef* proto) {
    proto->set_name(arg.name);
    if (arg.dtype != DType::kInvalid) proto->set_type(static_cast<tf::DataType>(arg.dtype));
    proto->set_type_attr(arg.type_attr);
    proto->set_number_attr(arg.number_attr);
    proto->set_type_list_attr(arg.type_list_attr);
  };
  for (const auto& arg : schema.inputs) write(arg, out->add_input_arg());
  for (const auto& arg : schema.outputs) write(arg, out->add_output_arg());
  for (const auto& attr : schema.attrs) {
    auto* proto = out->add_attr();
    proto->set_name(attr.name);
    proto->set_type(attr.type);
    if (!attr.has_default) continue;
    RETURN_IF_ERROR(AttrToProto(attr.default_value, proto->mutable_default_value()));
  }
  if (schema.effect != ir::Effect::kPure) out->set_is_stateful(true);
  return {};
}

}  // namespace slipway::formats
