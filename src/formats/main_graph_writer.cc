// SPDX-License-Identifier: Apache-2.0
#include "formats/main_graph_writer.h"

#include <set>

#include "base/strings.h"
#include "formats/graph_writer.h"
#include "formats/proto_values.h"
#include "proto/saved_model.pb.h"

namespace slipway::formats {
namespace tf = ::tensorflow;
namespace {

constexpr char kCall[] = "StatefulPartitionedCall";

tf::DataType ProtoType(DType dtype) { return static_cast<tf::DataType>(dtype); }

tf::AttrValue& Attr(tf::NodeDef* node, const char* name) { return (*node->mutable_attr())[name]; }

tf::NodeDef* AddNode(tf::FunctionDef* function, const std::string& name, const char* op) {
  auto* node = function->add_node_def();
  node->set_name(name);
  node->set_op(op);
  return node;
}

tf::NodeDef* AddNode(tf::GraphDef* graph, const std::string& name, const char* op) {
  auto* node = graph->add_node();
  node->set_name(name);
  node->set_op(op);
  return node;
}

void SetStrings(const std::vector<std::string>& values, bool scalar, tf::NodeDef* node) {
  Attr(node, "dtype").set_type(tf::DT_STRING);
  auto* tensor = Attr(node, "value").mutable_tensor();
  tensor->set_dtype(tf::DT_STRING);
  auto* shape = tensor->mutable_tensor_shape();
  if (!scalar) shape->add_dim()->set_size(static_cast<int64_t>(values.size()));
  for (const auto& value : values) tensor->add_string_val(value);
}

void SetCall(const std::string& function, tf::NodeDef* node) {
  node->set_op(kCall);
  Attr(node, "f").mutable_func()->set_name(function);
  Attr(node, "config_proto").set_s("");
  Attr(node, "Tin").mutable_list();
  Attr(node, "Tout").mutable_list();
}

void AddCallInput(const std::string& input, DType dtype, tf::NodeDef* call) {
  call->add_input(input);
  Attr(call, "Tin").mutable_list()->add_type(ProtoType(dtype));
}

std::string AddArg(const std::string& user_name, DType dtype, const PartialShape& shape,
                   std::set<std::string>* taken, tf::FunctionDef* out) {
  auto* arg = out->mutable_signature()->add_input_arg();
  arg->set_name(UniqueArgName(user_name, taken));
  arg->set_type(ProtoType(dtype));
  DescribeArg(out->signature().input_arg_size() - 1, user_name, &shape, out);
  return arg->name();
}

std::string AddHandleArg(const ExportVariable& variable, std::set<std::string>* taken,
                         tf::FunctionDef* out) {
  auto* arg = out->mutable_signature()->add_input_arg();
  arg->set_name(UniqueArgName(variable.name, taken));
  arg->set_type(tf::DT_RESOURCE);
  const int index = out->signature().input_arg_size() - 1;
  SetHandleData({variable.value.dtype(), variable.value.shape()}, out->mutable_signature(), index);
  DescribeArg(index, variable.name, nullptr, out);
  return arg->name();
}

void AddResult(const std::string& name, DType dtype, const std::string& value,
               tf::FunctionDef* out) {
  auto* arg = out->mutable_signature()->add_output_arg();
  arg->set_name(name);
  arg->set_type(ProtoType(dtype));
  (*out->mutable_ret())[name] = value;
}

void AddEffect(const std::string& node, tf::FunctionDef* out) {
  out->mutable_signature()->set_is_stateful(true);
  out->mutable_signature()->add_control_output(node);
  (*out->mutable_control_ret())[node] = node;
}

void StartFunction(const std::string& name, tf::FunctionDef* out) {
  out->mutable_signature()->set_name(name);
  (*out->mutable_attr())["_construction_context"].set_s("kEagerRuntime");
}

}  // namespace

void WriteSignatureWrapper(const ModelExport& model, const ExportSignature& signature,
                           const std::string& name, const std::string& callee,
                           tf::FunctionDef* out) {
  StartFunction(name, out);
  const ExportFunction& function = model.call_inference;
  std::set<std::string> taken = {kCall};
  std::vector<std::string> args(signature.inputs.size());
  for (size_t i : SortedOrder(signature.inputs)) {
    const auto& arg = function.body.args[i];
    args[i] = AddArg(signature.inputs[i], arg.dtype, arg.shape, &taken, out);
  }
  auto* call = out->add_node_def();
  call->set_name(kCall);
  SetCall(callee, call);
  for (size_t i = 0; i < args.size(); ++i) {
    AddCallInput(args[i], function.body.args[i].dtype, call);
  }
  for (int capture : function.captures) {
    const auto& variable = model.variables[static_cast<size_t>(capture)];
    AddCallInput(AddHandleArg(variable, &taken, out), DType::kResource, call);
  }
  for (const auto& result : function.body.returns) {
    Attr(call, "Tout").mutable_list()->add_type(ProtoType(result.value.dtype()));
  }
  for (size_t i : SortedOrder(signature.outputs)) {
    AddResult(UniqueArgName(signature.outputs[i], &taken), function.body.returns[i].value.dtype(),
              StrCat(kCall, ":output:", i), out);
  }
  AddEffect(kCall, out);
}

void WriteSaveFunction(const ModelExport& model, const std::vector<std::string>& keys,
                       const std::string& name, tf::FunctionDef* out) {
  StartFunction(name, out);
  std::set<std::string> taken;
  const std::string prefix = AddArg("file_prefix", DType::kString, Shape(), &taken, out);
  auto* save = AddNode(out, "SaveV2", "SaveV2");
  save->add_input(prefix);
  save->add_input("SaveV2/tensor_names:output:0");
  save->add_input("SaveV2/shape_and_slices:output:0");
  auto* dtypes = Attr(save, "dtypes").mutable_list();
  for (size_t i = 0; i < model.variables.size(); ++i) {
    const auto& variable = model.variables[i];
    const std::string handle = AddHandleArg(variable, &taken, out);
    const std::string read = StrCat("Read_", i, "/ReadVariableOp");
    auto* node = AddNode(out, read, "ReadVariableOp");
    node->add_input(handle);
    Attr(node, "dtype").set_type(ProtoType(variable.value.dtype()));
    save = out->mutable_node_def(0);
    save->add_input(read + ":value:0");
    dtypes->add_type(ProtoType(variable.value.dtype()));
  }
  save->add_input(AddArg("object_graph", DType::kString, Shape(), &taken, out));
  dtypes->add_type(tf::DT_STRING);
  std::vector<std::string> names = keys;
  names.push_back("_CHECKPOINTABLE_OBJECT_GRAPH");
  SetStrings(names, false, AddNode(out, "SaveV2/tensor_names", "Const"));
  SetStrings(std::vector<std::string>(names.size()), false,
             AddNode(out, "SaveV2/shape_and_slices", "Const"));
  auto* result = AddNode(out, "Identity", "Identity");
  result->add_input(prefix);
  result->add_input("^SaveV2");
  Attr(result, "T").set_type(tf::DT_STRING);
  AddResult("identity", DType::kString, "Identity:output:0", out);
  AddEffect("SaveV2", out);
}

namespace {

void AddRestoreOp(const ModelExport& model, const std::vector<std::string>& keys,
                  const std::string& prefix, tf::FunctionDef* out) {
  SetStrings(keys, false, AddNode(out, "RestoreV2/tensor_names", "Const"));
  SetStrings(std::vector<std::string>(keys.size()), false,
             AddNode(out, "RestoreV2/shape_and_slices", "Const"));
  auto* restore = AddNode(out, "RestoreV2", "RestoreV2");
  restore->add_input(prefix);
  restore->add_input("RestoreV2/tensor_names:output:0");
  restore->add_input("RestoreV2/shape_and_slices:output:0");
  auto* dtypes = Attr(restore, "dtypes").mutable_list();
  for (const auto& variable : model.variables) dtypes->add_type(ProtoType(variable.value.dtype()));
}

}  // namespace

void WriteRestoreFunction(const ModelExport& model, const std::vector<std::string>& keys,
                          const std::string& name, tf::FunctionDef* out) {
  StartFunction(name, out);
  std::set<std::string> taken;
  const std::string prefix = AddArg("file_prefix", DType::kString, Shape(), &taken, out);
  if (!model.variables.empty()) AddRestoreOp(model, keys, prefix, out);
  std::vector<std::string> assigns;
  for (size_t i = 0; i < model.variables.size(); ++i) {
    const auto& variable = model.variables[i];
    const DType dtype = variable.value.dtype();
    const std::string handle = AddHandleArg(variable, &taken, out);
    auto* value = AddNode(out, StrCat("Identity_", i), "Identity");
    value->add_input(StrCat("RestoreV2:tensors:", i));
    Attr(value, "T").set_type(ProtoType(dtype));
    assigns.push_back(StrCat("AssignVariableOp_", i));
    auto* assign = AddNode(out, assigns.back(), "AssignVariableOp");
    assign->add_input(handle);
    assign->add_input(StrCat("Identity_", i, ":output:0"));
    Attr(assign, "dtype").set_type(ProtoType(dtype));
    Attr(assign, "validate_shape").set_b(true);
  }
  auto* result = AddNode(out, "Identity", "Identity");
  result->add_input(prefix);
  for (const auto& assign : assigns) result->add_input("^" + assign);
  Attr(result, "T").set_type(tf::DT_STRING);
  AddResult("identity", DType::kString, "Identity:output:0", out);
  for (const auto& assign : assigns) AddEffect(assign, out);
}

namespace {

// Names in the main graph; those that loaders know are taken from the start.
class NodeNames {
 public:
  std::string Unique(std::string_view wanted) { return UniqueNodeName(wanted, &taken_); }

 private:
  std::set<std::string> taken_;
};

std::vector<std::string> AddVariables(const ModelExport& model, NodeNames* names,
                                      tf::GraphDef* graph) {
  std::vector<std::string> handles;
  for (const auto& variable : model.variables) {
    handles.push_back(names->Unique(variable.name));
    auto* handle = AddNode(graph, handles.back(), "VarHandleOp");
    Attr(handle, "shared_name").set_s(variable.name);
    Attr(handle, "dtype").set_type(ProtoType(variable.value.dtype()));
    ShapeToProto(variable.value.shape(), Attr(handle, "shape").mutable_shape());
    auto* read =
        AddNode(graph, names->Unique(handles.back() + "/Read/ReadVariableOp"), "ReadVariableOp");
    read->add_input(handles.back());
    Attr(read, "dtype").set_type(ProtoType(variable.value.dtype()));
  }
  return handles;
}

void SetTensorInfo(const std::string& tensor, DType dtype, const PartialShape& shape,
                   tf::TensorInfo* out) {
  out->set_name(tensor);
  out->set_dtype(ProtoType(dtype));
  ShapeToProto(shape, out->mutable_tensor_shape());
}

void AddSignature(const ModelExport& model, const ExportSignature& signature,
                  const std::string& function, const std::vector<std::string>& handles,
                  NodeNames* names, tf::MetaGraphDef* out) {
  auto* graph = out->mutable_graph_def();
  const ir::Function& body = model.call_inference.body;
  auto& def = (*out->mutable_signature_def())[signature.name];
  def.set_method_name("tensorflow/serving/predict");
  std::vector<std::string> placeholders;
  for (size_t i : SortedOrder(signature.inputs)) {
    const std::string& input = signature.inputs[i];
    const auto& arg = body.args[i];
    placeholders.push_back(names->Unique(StrCat(signature.name, "_", input)));
    auto* node = AddNode(graph, placeholders.back(), "Placeholder");
    Attr(node, "dtype").set_type(ProtoType(arg.dtype));
    ShapeToProto(arg.shape, Attr(node, "shape").mutable_shape());
    SetTensorInfo(placeholders.back() + ":0", arg.dtype, arg.shape,
                  &(*def.mutable_inputs())[input]);
  }
  auto* call = AddNode(graph, names->Unique(kCall), kCall);
  SetCall(function, call);
  const std::vector<size_t> in = SortedOrder(signature.inputs);
  for (size_t i = 0; i < in.size(); ++i) {
    AddCallInput(placeholders[i], body.args[in[i]].dtype, call);
  }
  for (int capture : model.call_inference.captures) {
    AddCallInput(handles[static_cast<size_t>(capture)], DType::kResource, call);
  }
  const std::vector<size_t> results = SortedOrder(signature.outputs);
  for (size_t i = 0; i < results.size(); ++i) {
    const ir::Output& value = body.returns[results[i]].value;
    Attr(call, "Tout").mutable_list()->add_type(ProtoType(value.dtype()));
    SetTensorInfo(StrCat(call->name(), ":", i), value.dtype(), value.shape(),
                  &(*def.mutable_outputs())[signature.outputs[results[i]]]);
  }
}

std::string AddSaverCall(const std::string& function, const std::vector<std::string>& handles,
                         const std::string& object_graph, NodeNames* names, tf::GraphDef* graph) {
  auto* call = AddNode(graph, names->Unique(kCall), kCall);
  SetCall(function, call);
  AddCallInput("saver_filename", DType::kString, call);
  for (const auto& handle : handles) AddCallInput(handle, DType::kResource, call);
  if (!object_graph.empty()) AddCallInput(object_graph, DType::kString, call);
  Attr(call, "Tout").mutable_list()->add_type(tf::DT_STRING);
  return call->name();
}

}  // namespace

void WriteMainGraph(const ModelExport& model, const MainGraphNames& names,
                    const std::string& object_graph, tf::MetaGraphDef* out) {
  auto* graph = out->mutable_graph_def();
  NodeNames nodes;
  const std::string filename = nodes.Unique("saver_filename");
  const std::string init = nodes.Unique("NoOp");
  const std::string constant = nodes.Unique("Const");
  const std::vector<std::string> handles = AddVariables(model, &nodes, graph);
  for (size_t i = 0; i < model.signatures.size(); ++i) {
    AddSignature(model, model.signatures[i], names.functions.signatures[i], handles, &nodes, out);
  }
  AddNode(graph, init, "NoOp");
  SetStrings({object_graph}, true, AddNode(graph, constant, "Const"));
  auto* placeholder = AddNode(graph, filename, "Placeholder");
  Attr(placeholder, "dtype").set_type(tf::DT_STRING);
  Attr(placeholder, "shape").mutable_shape();
  auto* saver = out->mutable_saver_def();
  saver->set_filename_tensor_name(filename + ":0");
  saver->set_save_tensor_name(AddSaverCall(names.save, handles, constant, &nodes, graph) + ":0");
  saver->set_restore_op_name(AddSaverCall(names.restore, handles, "", &nodes, graph));
  saver->set_version(tf::SaverDef::V2);
  (*out->mutable_collection_def())["saved_model_main_op"].mutable_node_list()->add_value(init);
  auto& initialiser = (*out->mutable_signature_def())["__saved_model_init_op"];
  auto& info = (*initialiser.mutable_outputs())["__saved_model_init_op"];
  info.set_name(init);
  info.mutable_tensor_shape()->set_unknown_rank(true);
}

}  // namespace slipway::formats
