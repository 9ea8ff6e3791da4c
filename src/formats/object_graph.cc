// SPDX-License-Identifier: Apache-2.0
#include "formats/object_graph.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "base/strings.h"
#include "formats/graph_writer.h"
#include "formats/proto_values.h"
#include "proto/object_graph.pb.h"

namespace slipway::formats {
namespace tf = ::tensorflow;
namespace {

// Attribute names in keys: "." stands before S (for "/") and for itself.
std::string EscapeLocalName(const std::string& name) {
  std::string out;
  for (char c : name) {
    if (c == '.') {
      out += "..";
    } else if (c == '/') {
      out += ".S";
    } else {
      out.push_back(c);
    }
  }
  return out;
}

std::vector<std::string> PathOf(const ExportVariable& variable) {
  if (!variable.object_path.empty()) return variable.object_path;
  std::vector<std::string> path;
  for (std::string_view part : StrSplit(variable.name, '/')) path.emplace_back(part);
  return path;
}

void SetTensorSpec(const std::string& name, DType dtype, const PartialShape& shape,
                   tf::StructuredValue* out) {
  auto* spec = out->mutable_tensor_spec_value();
  spec->set_name(name);
  spec->set_dtype(static_cast<tf::DataType>(dtype));
  ShapeToProto(shape, spec->mutable_shape());
}

template <typename NodeProto>
void WriteChildren(const std::vector<std::pair<std::string, int>>& children, NodeProto* proto) {
  for (const auto& [name, id] : children) {
    auto* child = proto->add_children();
    child->set_local_name(name);
    child->set_node_id(id);
  }
}

// One field of a Python FullArgSpec.
tf::StructuredValue* AddField(tf::NamedTupleValue* tuple, const char* name) {
  auto* field = tuple->add_values();
  field->set_key(name);
  return field->mutable_value();
}

// The Python signature f(*args, training=False), or f(*, kwonly...) where `args` is empty.
void WriteFunctionSpec(const std::vector<std::string>& args, bool has_training,
                       const std::vector<std::string>& kwonly, tf::FunctionSpec* out) {
  auto* tuple = out->mutable_fullargspec()->mutable_named_tuple_value();
  tuple->set_name("FullArgSpec");
  auto* list = AddField(tuple, "args")->mutable_list_value();
  for (const auto& arg : args) list->add_values()->set_string_value(arg);
  if (has_training) list->add_values()->set_string_value("training");
  AddField(tuple, "varargs")->mutable_none_value();
  AddField(tuple, "varkw")->mutable_none_value();
  auto* defaults = AddField(tuple, "defaults");
  if (has_training) {
    defaults->mutable_tuple_value()->add_values()->set_bool_value(false);
  } else {
    defaults->mutable_none_value();
  }
  auto* keywords = AddField(tuple, "kwonlyargs")->mutable_list_value();
  for (const auto& arg : kwonly) keywords->add_values()->set_string_value(arg);
  AddField(tuple, "kwonlydefaults")->mutable_none_value();
  AddField(tuple, "annotations")->mutable_dict_value();
  out->mutable_input_signature()->mutable_none_value();
}

std::vector<std::string> UserArgNames(const ExportFunction& function) {
  std::vector<std::string> names;
  for (size_t i = 0; i < NumUserArgs(function); ++i) names.push_back(function.body.args[i].name);
  return names;
}

void WriteUserObject(const char* identifier, tf::SavedObject* out) {
  auto* object = out->mutable_user_object();
  object->set_identifier(identifier);
  object->mutable_version()->set_producer(1);
  object->mutable_version()->set_min_consumer(1);
}

void WriteVariable(const ExportVariable& variable, tf::SavedVariable* out) {
  out->set_dtype(static_cast<tf::DataType>(variable.value.dtype()));
  ShapeToProto(variable.value.shape(), out->mutable_shape());
  out->set_trainable(variable.trainable);
  out->set_name(variable.name);
}

}  // namespace

size_t NumUserArgs(const ExportFunction& function) {
  return function.body.args.size() - function.captures.size();
}

std::vector<size_t> SortedOrder(const std::vector<std::string>& names) {
  std::vector<size_t> order(names.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return names[a] < names[b]; });
  return order;
}

int ObjectTree::FindChild(int parent, const std::string& name) const {
  for (const auto& [child, id] : objects_[static_cast<size_t>(parent)].children) {
    if (child == name) return id;
  }
  return -1;
}

int ObjectTree::AddChild(int parent, const std::string& name, Kind kind, int index) {
  const int id = static_cast<int>(objects_.size());
  objects_.push_back({kind, {}, index});
  objects_[static_cast<size_t>(parent)].children.emplace_back(name, id);
  return id;
}

Status ObjectTree::AddVariable(const ModelExport& model, int variable) {
  const ExportVariable& v = model.variables[static_cast<size_t>(variable)];
  const std::vector<std::string> path = PathOf(v);
  int at = 0;
  std::string key;
  for (size_t i = 0; i < path.size(); ++i) {
    const bool last = i + 1 == path.size();
    if (path[i].empty() || path[i] == "__call__" || path[i] == "signatures") {
      return InvalidArgumentError(StrCat("Variable '", v.name, "': ", Quoted(path[i]),
                                         " cannot be the name of an attribute"));
    }
    const int child = FindChild(at, path[i]);
    const bool in_the_way =
        child >= 0 && (last || objects_[static_cast<size_t>(child)].kind == Kind::kVariable);
    if (in_the_way) {
      return InvalidArgumentError(StrCat("Variable '", v.name, "': its path ", StrJoin(path, "/"),
                                         " is taken by another variable"));
    }
    at = child >= 0 ? child
                    : AddChild(at, path[i], last ? Kind::kVariable : Kind::kObject, variable);
    StrAppend(&key, EscapeLocalName(path[i]), "/");
  }
  variable_objects_.push_back(at);
  keys_.push_back(key + ".ATTRIBUTES/VARIABLE_VALUE");
  return {};
}

void ObjectTree::AddVariableList(const ModelExport& model, const std::string& name,
                                 bool trainable_only) {
  if (FindChild(0, name) >= 0) return;  // the model has an attribute of that name itself
  const int list = AddChild(0, name, Kind::kList);
  int n = 0;
  for (size_t i = 0; i < model.variables.size(); ++i) {
    if (trainable_only && !model.variables[i].trainable) continue;
    objects_[static_cast<size_t>(list)].children.emplace_back(StrCat(n++), variable_objects_[i]);
  }
}

void ObjectTree::AddFunctions(const ModelExport& model) {
  const int call = AddChild(0, "__call__", Kind::kCall);
  AddChild(call, "trace_0", Kind::kTrace, 0);
  AddChild(call, "trace_1", Kind::kTrace, 1);
  const int signatures = AddChild(0, "signatures", Kind::kSignatures);
  for (size_t i = 0; i < model.signatures.size(); ++i) {
    AddChild(signatures, model.signatures[i].name, Kind::kTrace, static_cast<int>(i) + 2);
  }
}

// An object whose attributes are "0", "1"… was a list.
void ObjectTree::MarkLists() {
  for (size_t id = 1; id < objects_.size(); ++id) {
    Object& object = objects_[id];
    if (object.kind != Kind::kObject) continue;
    std::set<std::string> names;
    for (const auto& child : object.children) names.insert(child.first);
    bool list = !names.empty();
    for (size_t i = 0; i < names.size(); ++i) list = list && names.contains(StrCat(i));
    if (list) object.kind = Kind::kList;
  }
}

StatusOr<ObjectTree> ObjectTree::Build(const ModelExport& model) {
  ObjectTree tree;
  for (size_t i = 0; i < model.variables.size(); ++i) {
    RETURN_IF_ERROR(tree.AddVariable(model, static_cast<int>(i)));
  }
  tree.MarkLists();
  tree.AddVariableList(model, "variables", false);
  tree.AddVariableList(model, "trainable_variables", true);
  tree.AddFunctions(model);
  return tree;
}

void ObjectTree::WriteCheckpointGraph(const ModelExport& model,
                                      tf::TrackableObjectGraph* out) const {
  for (const Object& object : objects_) {
    auto* proto = out->add_nodes();
    WriteChildren(object.children, proto);
    const bool holds_values = object.kind == Kind::kObject || object.kind == Kind::kList ||
                              object.kind == Kind::kVariable;
    proto->mutable_has_checkpoint_values()->set_value(holds_values);
    if (object.kind != Kind::kVariable) continue;
    const auto index = static_cast<size_t>(object.index);
    auto* attribute = proto->add_attributes();
    attribute->set_name("VARIABLE_VALUE");
    attribute->set_full_name(model.variables[index].name);
    attribute->set_checkpoint_key(keys_[index]);
  }
}

void ObjectTree::WriteSavedGraph(const ModelExport& model, const FunctionNames& names,
                                 tf::SavedObjectGraph* out) const {
  for (const Object& object : objects_) {
    auto* proto = out->add_nodes();
    WriteChildren(object.children, proto);
    WriteKind(model, names, object, proto);
  }
  WriteConcreteFunctions(model, names, out);
}

void ObjectTree::WriteKind(const ModelExport& model, const FunctionNames& names,
                           const Object& object, tf::SavedObject* proto) {
  switch (object.kind) {
    case Kind::kObject:
      return WriteUserObject("_generic_user_object", proto);
    case Kind::kList:
      return WriteUserObject("trackable_list_wrapper", proto);
    case Kind::kSignatures:
      return WriteUserObject("signature_map", proto);
    case Kind::kVariable:
      return WriteVariable(model.variables[static_cast<size_t>(object.index)],
                           proto->mutable_variable());
    case Kind::kCall:
      proto->mutable_function()->add_concrete_functions(names.call_inference);
      proto->mutable_function()->add_concrete_functions(names.call_training);
      WriteFunctionSpec(UserArgNames(model.call_inference), true, {},
                        proto->mutable_function()->mutable_function_spec());
      *proto->mutable_dependencies() = proto->children();
      return;
    case Kind::kTrace:
      return WriteTrace(model, names, object.index, proto->mutable_bare_concrete_function());
  }
}

void ObjectTree::WriteTrace(const ModelExport& model, const FunctionNames& names, int index,
                            tf::SavedBareConcreteFunction* function) {
  std::vector<std::string> args;
  if (index < 2) {
    args = UserArgNames(model.call_inference);
    function->set_concrete_function_name(index == 0 ? names.call_inference : names.call_training);
    WriteFunctionSpec(args, true, {}, function->mutable_function_spec());
  } else {
    const auto at = static_cast<size_t>(index - 2);
    args = model.signatures[at].inputs;
    std::sort(args.begin(), args.end());
    function->set_concrete_function_name(names.signatures[at]);
    WriteFunctionSpec({}, false, args, function->mutable_function_spec());
  }
  for (const auto& arg : args) function->add_argument_keywords(arg);
  function->set_allowed_positional_arguments(static_cast<int64_t>(args.size()));
}

namespace {

void WriteCallSignature(const ExportFunction& function, bool training,
                        tf::SavedConcreteFunction* out) {
  auto* inputs = out->mutable_canonicalized_input_signature()->mutable_tuple_value();
  auto* positional = inputs->add_values()->mutable_tuple_value();
  for (size_t i = 0; i < NumUserArgs(function); ++i) {
    const auto& arg = function.body.args[i];
    SetTensorSpec(arg.name, arg.dtype, arg.shape, positional->add_values());
  }
  positional->add_values()->set_bool_value(training);
  inputs->add_values()->mutable_dict_value();
  const auto& results = function.body.returns;
  auto* outputs = out->mutable_output_signature();
  if (results.size() == 1) {
    SetTensorSpec(results[0].name, results[0].value.dtype(), results[0].value.shape(), outputs);
    return;
  }
  auto* tuple = outputs->mutable_tuple_value();
  for (const auto& result : results) {
    SetTensorSpec(result.name, result.value.dtype(), result.value.shape(), tuple->add_values());
  }
}

void WriteSignatureSignature(const ExportFunction& function, const ExportSignature& signature,
                             tf::SavedConcreteFunction* out) {
  auto* inputs = out->mutable_canonicalized_input_signature()->mutable_tuple_value();
  inputs->add_values()->mutable_tuple_value();
  auto& named = *inputs->add_values()->mutable_dict_value()->mutable_fields();
  for (size_t i = 0; i < signature.inputs.size(); ++i) {
    const auto& arg = function.body.args[i];
    SetTensorSpec(signature.inputs[i], arg.dtype, arg.shape, &named[signature.inputs[i]]);
  }
  auto& outputs = *out->mutable_output_signature()->mutable_dict_value()->mutable_fields();
  for (size_t i = 0; i < signature.outputs.size(); ++i) {
    const auto& value = function.body.returns[i].value;
    SetTensorSpec(signature.outputs[i], value.dtype(), value.shape(),
                  &outputs[signature.outputs[i]]);
  }
}

}  // namespace

void ObjectTree::WriteConcreteFunctions(const ModelExport& model, const FunctionNames& names,
                                        tf::SavedObjectGraph* out) const {
  auto& functions = *out->mutable_concrete_functions();
  const auto bind = [&](const ExportFunction& function, tf::SavedConcreteFunction* proto) {
    for (int capture : function.captures) {
      proto->add_bound_inputs(variable_objects_[static_cast<size_t>(capture)]);
    }
  };
  const ExportFunction& training =
      model.call_training.body.name.empty() ? model.call_inference : model.call_training;
  WriteCallSignature(model.call_inference, false, &functions[names.call_inference]);
  bind(model.call_inference, &functions[names.call_inference]);
  WriteCallSignature(training, true, &functions[names.call_training]);
  bind(training, &functions[names.call_training]);
  for (size_t i = 0; i < model.signatures.size(); ++i) {
    auto* proto = &functions[names.signatures[i]];
    WriteSignatureSignature(model.call_inference, model.signatures[i], proto);
    bind(model.call_inference, proto);
  }
}

}  // namespace slipway::formats
