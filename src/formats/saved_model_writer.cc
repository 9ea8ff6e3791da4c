// SPDX-License-Identifier: Apache-2.0
#include "formats/saved_model_writer.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <set>

#include "base/log.h"
#include "base/strings.h"
#include "base/temporary.h"
#include "checkpoint/bundle.h"
#include "formats/graph_writer.h"
#include "formats/main_graph_writer.h"
#include "formats/object_graph.h"
#include "formats/saved_model_reader.h"
#include "proto/object_graph.pb.h"
#include "proto/saved_model.pb.h"

namespace slipway::formats {
namespace tf = ::tensorflow;
namespace {

// Maps in a fixed order, so that equal models give equal bytes.
std::string Serialize(const google::protobuf::MessageLite& message) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream out(&stream);
    out.SetSerializationDeterministic(true);
    message.SerializeToCodedStream(&out);
  }
  return bytes;
}

uint64_t Fnv1a(std::string_view bytes, uint64_t hash = 14695981039346656037u) {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

Status CheckFunction(const ModelExport& model, const ExportFunction& function, const char* which) {
  const size_t args = function.body.args.size();
  if (function.captures.size() > args) {
    return InvalidArgumentError(StrCat(which, " has ", args, " arguments, fewer than its ",
                                       function.captures.size(), " captured variables"));
  }
  for (size_t i = 0; i < function.captures.size(); ++i) {
    const auto& arg = function.body.args[args - function.captures.size() + i];
    const int capture = function.captures[i];
    if (capture < 0 || static_cast<size_t>(capture) >= model.variables.size()) {
      return InvalidArgumentError(
          StrCat(which, " captures variable ", capture, " of ", model.variables.size()));
    }
    if (arg.dtype != DType::kResource) {
      return InvalidArgumentError(StrCat(which, ": argument '", arg.name, "' is ",
                                         DTypeName(arg.dtype), ", wanted is the handle of '",
                                         model.variables[static_cast<size_t>(capture)].name, "'"));
    }
  }
  for (size_t i = 0; i < NumUserArgs(function); ++i) {
    if (function.body.args[i].dtype == DType::kResource) {
      return InvalidArgumentError(StrCat(which, ": argument '", function.body.args[i].name,
                                         "' is a resource that captures no variable"));
    }
  }
  if (function.body.returns.empty()) {
    return InvalidArgumentError(StrCat(which, " returns nothing"));
  }
  return {};
}

Status CheckNames(const std::vector<std::string>& names, size_t wanted, const std::string& what) {
  if (names.size() != wanted) {
    return InvalidArgumentError(
        StrCat(what, ": ", names.size(), " names are given, the function has ", wanted));
  }
  if (std::set<std::string>(names.begin(), names.end()).size() != names.size()) {
    return InvalidArgumentError(StrCat(what, ": a name is given twice"));
  }
  return {};
}

Status CheckVariables(const ModelExport& model) {
  std::set<std::string> names;
  for (const auto& variable : model.variables) {
    if (variable.name.empty() || !names.insert(variable.name).second) {
      return InvalidArgumentError(
          StrCat("The name of variable '", variable.name, "' is empty or used twice"));
    }
    if (!variable.value.valid() || variable.value.dtype() == DType::kResource ||
        variable.value.dtype() == DType::kVariant) {
      return InvalidArgumentError(
          StrCat("Variable '", variable.name, "' has no value that can be saved"));
    }
  }
  return {};
}

Status CheckModel(const ModelExport& model) {
  RETURN_IF_ERROR(CheckVariables(model));
  RETURN_IF_ERROR(CheckFunction(model, model.call_inference, "call_inference"));
  const size_t args = NumUserArgs(model.call_inference);
  const size_t results = model.call_inference.body.returns.size();
  if (!model.call_training.body.name.empty()) {
    RETURN_IF_ERROR(CheckFunction(model, model.call_training, "call_training"));
    if (NumUserArgs(model.call_training) != args ||
        model.call_training.body.returns.size() != results) {
      return InvalidArgumentError("call_training must take and give as many as call_inference");
    }
  }
  std::set<std::string> names;
  for (const auto& signature : model.signatures) {
    const std::string what = StrCat("Signature '", signature.name, "'");
    if (signature.name.empty() || !names.insert(signature.name).second) {
      return InvalidArgumentError(StrCat(what, ": the name is empty or used twice"));
    }
    RETURN_IF_ERROR(CheckNames(signature.inputs, args, what + ", inputs"));
    RETURN_IF_ERROR(CheckNames(signature.outputs, results, what + ", outputs"));
  }
  return {};
}

std::vector<HandleData> HandlesOf(const ModelExport& model, const ExportFunction& function) {
  std::vector<HandleData> handles(NumUserArgs(function));
  for (int capture : function.captures) {
    const Tensor& value = model.variables[static_cast<size_t>(capture)].value;
    handles.push_back({value.dtype(), value.shape()});
  }
  return handles;
}

Status WriteCalledFunctions(const ModelExport& model, WriteNeeds* needs,
                            tf::FunctionDefLibrary* library) {
  std::set<std::string> written;
  for (;;) {
    const auto next = std::find_if(needs->functions.begin(), needs->functions.end(),
                                   [&](const auto& name) { return !written.contains(name); });
    if (next == needs->functions.end()) return {};
    const std::string name = *next;
    written.insert(name);
    if (model.library == nullptr) {
      return InvalidArgumentError(StrCat("Function '", name,
                                         "' is called, but the model comes "
                                         "without a function library"));
    }
    ASSIGN_OR_RETURN(const ir::Function* function, model.library->Find(name));
    RETURN_IF_ERROR(WriteFunction(*function, name, {}, library->add_function(), needs));
  }
}

Status WriteOpList(const tf::GraphDef& graph, std::set<std::string> ops, tf::OpList* out) {
  for (const auto& node : graph.node()) ops.insert(node.op());
  for (const auto& function : graph.library().function()) {
    for (const auto& node : function.node_def()) ops.insert(node.op());
  }
  for (const auto& op : ops) {
    // The list may be incomplete; those who read it know most ops themselves.
    const ir::OpSchema* schema = ir::FindOpSchema(op);
    if (schema != nullptr) RETURN_IF_ERROR(WriteOpDef(*schema, out->add_op()));
  }
  return {};
}

// Names as TensorFlow makes them: loaders take them apart.
MainGraphNames NameFunctions(const ModelExport& model) {
  MainGraphNames names;
  names.functions.call_inference = "__inference___call___0";
  names.functions.call_training = "__inference___call___1";
  int n = 2;
  for (const auto& signature : model.signatures) {
    names.functions.signatures.push_back(
        StrCat("__inference_signature_wrapper_", ValidArgName(signature.name), "_", n++));
  }
  names.save = StrCat("__inference__traced_save_", n);
  names.restore = StrCat("__inference__traced_restore_", n + 1);
  return names;
}

Status WriteFunctions(const ModelExport& model, const std::vector<std::string>& keys,
                      const MainGraphNames& names, WriteNeeds* needs,
                      tf::FunctionDefLibrary* library) {
  const ExportFunction& training =
      model.call_training.body.name.empty() ? model.call_inference : model.call_training;
  const auto write = [&](const ExportFunction& function, const std::string& name) {
    return WriteFunction(function.body, name, HandlesOf(model, function), library->add_function(),
                         needs);
  };
  RETURN_IF_ERROR(write(model.call_inference, names.functions.call_inference));
  RETURN_IF_ERROR(write(training, names.functions.call_training));
  for (size_t i = 0; i < model.signatures.size(); ++i) {
    WriteSignatureWrapper(model, model.signatures[i], names.functions.signatures[i],
                          names.functions.call_inference, library->add_function());
  }
  WriteSaveFunction(model, keys, names.save, library->add_function());
  WriteRestoreFunction(model, keys, names.restore, library->add_function());
  return WriteCalledFunctions(model, needs, library);
}

Status BuildSavedModel(const ModelExport& model, const ObjectTree& tree,
                       const std::string& object_graph, tf::SavedModel* out) {
  out->set_saved_model_schema_version(1);
  auto* meta_graph = out->add_meta_graphs();
  auto* info = meta_graph->mutable_meta_info_def();
  info->add_tags("serve");
  info->set_tensorflow_version("2.21.0");  // whose form it has: readers branch on it
  info->set_stripped_default_attrs(true);
  auto* graph = meta_graph->mutable_graph_def();
  graph->mutable_versions()->set_producer(2474);
  graph->mutable_versions()->set_min_consumer(12);
  const MainGraphNames names = NameFunctions(model);
  WriteNeeds needs;
  RETURN_IF_ERROR(WriteFunctions(model, tree.keys(), names, &needs, graph->mutable_library()));
  WriteMainGraph(model, names, object_graph, meta_graph);
  RETURN_IF_ERROR(WriteOpList(*graph, needs.ops, info->mutable_stripped_op_list()));
  tree.WriteSavedGraph(model, names.functions, meta_graph->mutable_object_graph_def());
  return {};
}

// The hashes are ours: they tell two models apart, nobody computes them again.
std::string Fingerprint(const tf::SavedModel& model, const std::string& bytes,
                        const std::string& index) {
  const auto& meta_graph = model.meta_graphs(0);
  tf::FingerprintDef out;
  out.set_saved_model_checksum(Fnv1a(bytes));
  out.set_graph_def_program_hash(Fnv1a(Serialize(meta_graph.graph_def())));
  uint64_t signatures = Fnv1a("");
  std::set<std::string> names;
  for (const auto& [name, def] : meta_graph.signature_def()) names.insert(name);
  for (const auto& name : names) {
    signatures = Fnv1a(name, signatures);
    signatures = Fnv1a(Serialize(meta_graph.signature_def().at(name)), signatures);
  }
  out.set_signature_def_hash(signatures);
  out.set_saved_object_graph_hash(Fnv1a(Serialize(meta_graph.object_graph_def())));
  out.set_checkpoint_hash(Fnv1a(index));
  out.set_uuid(StrCat(Fnv1a(index, Fnv1a(bytes))));
  out.mutable_version()->set_producer(4);
  return Serialize(out);
}

Status WriteCheckpoint(Env* env, const std::string& prefix, const ModelExport& model,
                       const std::vector<std::string>& keys, const std::string& object_graph) {
  ASSIGN_OR_RETURN(auto writer, BundleWriter::Create(env, prefix));
  for (size_t i = 0; i < keys.size(); ++i) {
    RETURN_IF_ERROR(writer->Add(keys[i], model.variables[i].value));
  }
  RETURN_IF_ERROR(writer->Add("_CHECKPOINTABLE_OBJECT_GRAPH", Tensor::Scalar(object_graph)));
  return writer->Finish();
}

Status WriteFiles(Env* env, const std::string& dir, const ModelExport& model) {
  ASSIGN_OR_RETURN(const ObjectTree tree, ObjectTree::Build(model));
  tf::TrackableObjectGraph checkpoint_graph;
  tree.WriteCheckpointGraph(model, &checkpoint_graph);
  const std::string object_graph = Serialize(checkpoint_graph);
  tf::SavedModel proto;
  RETURN_IF_ERROR(BuildSavedModel(model, tree, object_graph, &proto));
  const std::string bytes = Serialize(proto);
  RETURN_IF_ERROR(env->CreateDirectories(JoinPath(dir, "assets")));
  RETURN_IF_ERROR(env->CreateDirectories(JoinPath(dir, "variables")));
  const std::string prefix = JoinPath(dir, "variables/variables");
  RETURN_IF_ERROR(WriteCheckpoint(env, prefix, model, tree.keys(), object_graph));
  ASSIGN_OR_RETURN(const std::string index, ReadFile(env, BundleIndexName(prefix)));
  RETURN_IF_ERROR(
      WriteFileAtomically(env, JoinPath(dir, "fingerprint.pb"), Fingerprint(proto, bytes, index)));
  RETURN_IF_ERROR(WriteFileAtomically(env, JoinPath(dir, "saved_model.pb"), bytes));
  return env->SyncDirectory(dir);
}

// A folder that is replaced is removed with all that is in it: only a SavedModel's own files may
// go.
Status CheckTarget(Env* env, const std::string& target, bool overwrite) {
  const std::string_view base = Basename(target);
  if (base.empty() || base == "." || base == "..") {
    return InvalidArgumentError(
        StrCat("'", target, "' is no name for a new folder; add one, such as '", target, "/1'"));
  }
  if (!env->Exists(target)) return OkStatus();
  if (!overwrite) {
    return AlreadyExistsError(
        StrCat(target, " exists; choose another folder or allow overwriting"));
  }
  ASSIGN_OR_RETURN(const FileInfo info, env->Stat(target));
  if (!info.is_directory) {
    return AlreadyExistsError(
        StrCat(target, " is a file, a folder was expected; choose another name"));
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> names, env->ListDirectory(target));
  static const std::set<std::string_view> own = {
      "saved_model.pb", "saved_model.pbtxt", "fingerprint.pb", "keras_metadata.pb", "variables",
      "assets",         "assets.extra",      "debug"};
  const bool model = std::any_of(names.begin(), names.end(),
                                 [](const auto& n) { return n.starts_with("saved_model.pb"); });
  for (const std::string& name : names) {
    if (model && own.contains(name)) continue;
    return AlreadyExistsError(
        StrCat(target, " holds '", name,
               "', which is no part of a SavedModel and would be lost; choose "
               "another folder, such as ",
               JoinPath(target, "1"), ", or empty this one"));
  }
  return OkStatus();
}

// A save that died between its two renames left the model under another name.
Status RestoreReplaced(Env* env, const std::string& target) {
  const std::string old = ReplacedName(target);
  if (env->Exists(target) || !env->Exists(JoinPath(old, "saved_model.pb"))) return OkStatus();
  // Unless it lives: then it holds the directory until it is done.
  ASSIGN_OR_RETURN(const auto lock, env->LockDirectory(std::string(Dirname(target))));
  if (env->Exists(target) || !env->Exists(old)) return OkStatus();
  LOG_WARNING("A save of ", target, " was interrupted; the model of before is put back");
  return env->Rename(old, target);
}

// For file systems that cannot exchange names. There is a moment without `to`; what was there goes
// to `old`, and back if `from` cannot be renamed.
Status ReplaceInTwoSteps(Env* env, const std::string& from, const std::string& to,
                         const std::string& old) {
  RETURN_IF_ERROR(env->RemoveTree(old));
  RETURN_IF_ERROR(env->Rename(to, old));
  Status status = env->Rename(from, to);
  if (!status.ok()) env->Rename(old, to).IgnoreError();  // the first error says more
  return status;
}

// Puts `from` where `to` is; what was there goes only once the new one stands.
Status Replace(Env* env, const std::string& from, const std::string& to) {
  const std::string parent(Dirname(to));
  ASSIGN_OR_RETURN(const auto lock, env->LockDirectory(parent));
  if (!env->Exists(to)) {
    RETURN_IF_ERROR(env->Rename(from, to));
    return env->SyncDirectory(parent);
  }
  std::string old = from;
  Status replaced = env->Exchange(from, to);
  if (replaced.code() == Code::kUnimplemented) {
    old = ReplacedName(to);
    replaced = ReplaceInTwoSteps(env, from, to, old);
  }
  RETURN_IF_ERROR(replaced);
  RETURN_IF_ERROR(env->SyncDirectory(parent));
  if (Status status = env->RemoveTree(old); !status.ok()) {
    LOG_WARNING("The model is saved as ", to,
                ", but what was there before could not be removed: ", status.message());
  }
  return OkStatus();
}

std::string WithoutEndSlash(std::string_view dir) {
  while (dir.size() > 1 && dir.back() == '/') dir.remove_suffix(1);
  return std::string(dir);
}

}  // namespace

Status CheckSavedModelTarget(Env* env, const std::string& dir,
                             const SavedModelWriteOptions& options) {
  const std::string target = WithoutEndSlash(dir);
  RETURN_IF_ERROR(CheckTarget(env, target, options.overwrite));
  return CheckCreatable(env, target);
}

Status WriteSavedModel(Env* env, const std::string& dir, const ModelExport& model,
                       const SavedModelWriteOptions& options) {
  RETURN_IF_ERROR(CheckModel(model).WithContext("The model cannot be saved"));
  const std::string target = WithoutEndSlash(dir);
  RETURN_IF_ERROR(RestoreReplaced(env, target));
  RETURN_IF_ERROR(CheckTarget(env, target, options.overwrite));
  RemoveAbandoned(env, std::string(Dirname(target)));
  const std::string partial = TemporaryName(target);
  RETURN_IF_ERROR(env->CreateDirectories(partial));
  Status status = WriteFiles(env, partial, model);
  if (status.ok()) status = Replace(env, partial, target);
  if (!status.ok()) env->RemoveTree(partial).IgnoreError();  // the first error says more
  return status;
}

}  // namespace slipway::formats
