// SPDX-License-Identifier: Apache-2.0
#include "formats/saved_model_reader.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/strings.h"
#include "formats/graph_reader.h"
#include "proto/saved_model.pb.h"

namespace slipway::formats {
namespace tf = ::tensorflow;
namespace {

constexpr char kInitOp[] = "__saved_model_init_op";
constexpr char kTrainOp[] = "__saved_model_train_op";

// The first complaint of the text parser; it would go to standard error otherwise.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string& message) override {
    if (text_.empty()) text_ = StrCat("line ", line + 1, ", column ", column + 1, ": ", message);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

Status ParseBinary(std::string_view bytes, const std::string& name, const ReadLimits& limits,
                   tf::SavedModel* proto) {
  // What is wrong is our caller's to say, and standard error not protobuf's.
  google::protobuf::LogSilencer quiet;
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  stream.SetRecursionLimit(limits.max_nesting);
  if (proto->ParseFromCodedStream(&stream) && stream.ConsumedEntireMessage()) return {};
  return DataLossError(StrCat("Cannot parse ", name, ": ", bytes.size(),
                              " bytes that are not a SavedModel message (cut off, damaged, or "
                              "nested deeper than ",
                              limits.max_nesting, " messages)"));
}

Status ParseText(const std::string& text, const std::string& name, const ReadLimits& limits,
                 tf::SavedModel* proto) {
  FirstError errors;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.SetRecursionLimit(limits.max_nesting);
  parser.AllowUnknownField(true);
  if (parser.ParseFromString(text, proto)) return {};
  return DataLossError(StrCat("Cannot parse ", name, ": ", errors.text()));
}

template <typename Map>
auto SortedByKey(const Map& map) {
  std::vector<std::pair<std::string_view, const typename Map::mapped_type*>> sorted;
  for (const auto& [key, value] : map) sorted.emplace_back(key, &value);
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

StatusOr<SignatureTensor> ReadTensorInfo(std::string_view name, const tf::TensorInfo& info) {
  SignatureTensor tensor;
  tensor.name = name;
  if (info.dtype() != tf::DT_INVALID) {
    ASSIGN_OR_RETURN(tensor.dtype, DTypeFromProto(info.dtype()));
    tensor.is_reference = info.dtype() != static_cast<int>(tensor.dtype);
  }
  // Without the field nothing is known; a scalar's shape is a message without dimensions.
  if (info.has_tensor_shape()) {
    ASSIGN_OR_RETURN(tensor.shape, ShapeFromProto(info.tensor_shape()));
  }
  switch (info.encoding_case()) {
    case tf::TensorInfo::kName:
      tensor.tensor_name = info.name();
      break;
    case tf::TensorInfo::kCooSparse:
      tensor.components = {info.coo_sparse().values_tensor_name(),
                           info.coo_sparse().indices_tensor_name(),
                           info.coo_sparse().dense_shape_tensor_name()};
      break;
    case tf::TensorInfo::kCompositeTensor:
      for (const auto& part : info.composite_tensor().components()) {
        tensor.components.push_back(part.name());
      }
      break;
    case tf::TensorInfo::ENCODING_NOT_SET:
      return InvalidArgumentError("no tensor is named");
  }
  return tensor;
}

StatusOr<SignatureDef> ReadSignature(const tf::SignatureDef& proto, ConstantBudget& budget) {
  SignatureDef signature;
  signature.method_name = proto.method_name();
  const auto read = [](const auto& map, const char* kind,
                       std::vector<SignatureTensor>* out) -> Status {
    for (auto [name, info] : SortedByKey(map)) {
      auto tensor = ReadTensorInfo(name, *info);
      if (!tensor.ok()) return tensor.status().WithContext(StrCat(kind, " '", name, "'"));
      out->push_back(*std::move(tensor));
    }
    return {};
  };
  RETURN_IF_ERROR(read(proto.inputs(), "input", &signature.inputs));
  RETURN_IF_ERROR(read(proto.outputs(), "output", &signature.outputs));
  for (auto [name, value] : SortedByKey(proto.defaults())) {
    auto tensor = TensorFromProto(*value, budget);
    if (!tensor.ok()) return tensor.status().WithContext(StrCat("default of '", name, "'"));
    signature.defaults.emplace(name, *std::move(tensor));
  }
  return signature;
}

// "node:0", "node" or "^node" → "node".
std::string NodeOf(std::string_view tensor) {
  if (tensor.starts_with('^')) tensor.remove_prefix(1);
  return std::string(tensor.substr(0, tensor.rfind(':')));
}

std::string FindInitOp(const tf::MetaGraphDef& proto) {
  if (const auto it = proto.signature_def().find(kInitOp); it != proto.signature_def().end()) {
    const auto& outputs = it->second.outputs();
    if (const auto op = outputs.find(kInitOp); op != outputs.end()) {
      return NodeOf(op->second.name());
    }
  }
  for (const char* key : {"saved_model_main_op", "legacy_init_op"}) {
    const auto it = proto.collection_def().find(key);
    if (it == proto.collection_def().end()) continue;
    if (it->second.node_list().value_size() > 0) return NodeOf(it->second.node_list().value(0));
  }
  return "";
}

// Names come from the file; one that leads out of assets/ would have us read any file.
Status CheckAssetName(const std::string& name) {
  bool bad = name.empty() || name.front() == '/' || name.find('\0') != std::string::npos ||
             name.find("://") != std::string::npos || name.find('\\') != std::string::npos;
  for (std::string_view part : StrSplit(name, '/')) bad = bad || part == "..";
  if (!bad) return {};
  return InvalidArgumentError(StrCat("The asset file ", Quoted(name),
                                     " does not lie in the model's folder assets; such a model is "
                                     "refused"));
}

Status ReadAssets(const tf::MetaGraphDef& proto, std::vector<AssetFile>* assets) {
  std::vector<tf::AssetFileDef> defs(proto.asset_file_def().begin(), proto.asset_file_def().end());
  // TensorFlow 1 kept them in a collection.
  const auto old = proto.collection_def().find("saved_model_assets");
  if (defs.empty() && old != proto.collection_def().end()) {
    for (const auto& any : old->second.any_list().value()) {
      tf::AssetFileDef def;
      if (!any.UnpackTo(&def)) return InvalidArgumentError("An asset is not an AssetFileDef");
      defs.push_back(std::move(def));
    }
  }
  for (const auto& def : defs) {
    RETURN_IF_ERROR(CheckAssetName(def.filename()));
    assets->push_back({def.tensor_info().name(), def.filename()});
  }
  return {};
}

Status ReadVariables(const tf::SavedObjectGraph& objects, std::vector<VariableInfo>* out) {
  for (const auto& object : objects.nodes()) {
    if (!object.has_variable()) continue;
    const auto& variable = object.variable();
    ASSIGN_OR_RETURN(const DType dtype, DTypeFromProto(variable.dtype()));
    ASSIGN_OR_RETURN(PartialShape shape, ShapeFromProto(variable.shape()));
    out->push_back({variable.name(), dtype, std::move(shape), variable.trainable()});
  }
  return {};
}

// Takes the functions out of the message: each is kept until it is parsed, and no longer.
Status ReadLibrary(tf::FunctionDefLibrary* library, const std::shared_ptr<GraphContext>& context,
                   ir::FunctionLibrary* functions) {
  for (auto& def : *library->mutable_function()) {
    auto schema = SchemaFromOpDef(def.signature(), context->budget);
    if (!schema.ok()) continue;  // said again, and in full, when the function is reached
    context->function_schemas.emplace(def.signature().name(), *std::move(schema));
  }
  for (auto& def : *library->mutable_function()) {
    auto kept = std::make_shared<tf::FunctionDef>();
    kept->Swap(&def);
    const std::string name = kept->signature().name();
    RETURN_IF_ERROR(
        functions->AddLazily(name, [kept, context] { return ReadFunction(*kept, *context); }));
  }
  return {};
}

// As saved_model_cli lists them: what calls reach, branches and loops left out.
std::set<std::string> ListOps(const tf::GraphDef& graph) {
  std::map<std::string_view, const tf::FunctionDef*> functions;
  for (const auto& f : graph.library().function()) functions.emplace(f.signature().name(), &f);
  std::set<std::string> used;
  std::vector<const tf::FunctionDef*> reached;
  const auto use = [&](const std::string& op) {
    const auto function = functions.find(op);
    if (used.insert(op).second && function != functions.end()) reached.push_back(function->second);
  };
  const auto visit = [&](const tf::NodeDef& node) {
    use(node.op());
    if (node.op() != "PartitionedCall" && node.op() != "StatefulPartitionedCall") return;
    const auto f = node.attr().find("f");
    if (f != node.attr().end()) use(f->second.func().name());
  };
  for (const auto& node : graph.node()) visit(node);
  while (!reached.empty()) {
    const tf::FunctionDef* function = reached.back();
    reached.pop_back();
    for (const auto& node : function->node_def()) visit(node);
  }
  std::erase_if(used, [&](const std::string& op) { return functions.contains(op); });
  return used;
}

void ReadFileSchemas(const tf::OpList& ops, GraphContext* context) {
  for (const auto& op : ops.op()) {
    auto schema = SchemaFromOpDef(op, context->budget);
    if (schema.ok()) context->file_schemas.emplace(op.name(), *std::move(schema));
  }
}

// A variable without a shared name goes by the name of its node, which inlining may change.
void NameResources(ir::Graph* graph) {
  for (ir::Node* node : graph->nodes()) {
    if (node->op() != "VarHandleOp") continue;
    const ir::AttrValue* name = node->FindAttr("shared_name");
    const auto* text = name != nullptr ? name->As<std::string>() : nullptr;
    if (text == nullptr || text->empty()) node->SetAttr("shared_name", node->name());
  }
}

Status ReadSignatures(const tf::MetaGraphDef& proto, ConstantBudget& budget, MetaGraph* out) {
  for (auto [name, def] : SortedByKey(proto.signature_def())) {
    const bool pseudo = name == kInitOp || name == kTrainOp;
    auto signature = ReadSignature(*def, budget);
    if (!signature.ok()) return signature.status().WithContext(StrCat("Signature '", name, "'"));
    auto& signatures = pseudo ? out->pseudo_signatures : out->signatures;
    signatures.emplace(name, *std::move(signature));
  }
  return {};
}

StatusOr<MetaGraph> MetaGraphFromProto(tf::MetaGraphDef* proto, const ReadLimits& limits,
                                       uint64_t file_bytes) {
  MetaGraph out;
  const auto& info = proto->meta_info_def();
  out.tags.assign(info.tags().begin(), info.tags().end());
  out.tensorflow_version = info.tensorflow_version();
  auto context = std::make_shared<GraphContext>(
      limits.max_constant_bytes, limits.max_constant_bytes + 2 * file_bytes, limits.max_nodes);
  ReadFileSchemas(info.stripped_op_list(), context.get());
  out.ops = ListOps(proto->graph_def());
  out.functions = std::make_shared<ir::FunctionLibrary>();
  RETURN_IF_ERROR(
      ReadLibrary(proto->mutable_graph_def()->mutable_library(), context, out.functions.get()));
  ASSIGN_OR_RETURN(out.graph, ReadGraph(proto->graph_def(), *context));
  NameResources(&out.graph);
  RETURN_IF_ERROR(ReadSignatures(*proto, context->budget, &out));
  const auto& saver = proto->saver_def();
  out.saver = {saver.filename_tensor_name(), saver.save_tensor_name(),
               NodeOf(saver.restore_op_name()), saver.version() != tf::SaverDef::V2};
  out.init_op = FindInitOp(*proto);
  RETURN_IF_ERROR(ReadAssets(*proto, &out.assets));
  out.has_object_graph = proto->has_object_graph_def();
  RETURN_IF_ERROR(ReadVariables(proto->object_graph_def(), &out.variables));
  out.python_functions = ListPythonFunctions(proto->object_graph_def());
  return out;
}

// A file as it was parsed, and what it is called in messages.
struct ParsedFile {
  std::string name;
  uint64_t bytes = 0;
  tf::SavedModel proto;
};

Status ParseBytes(std::string bytes, const ReadLimits& limits, ParsedFile* file) {
  file->bytes = bytes.size();
  if (file->bytes > limits.max_file_bytes || file->bytes > uint64_t{INT32_MAX}) {
    return ResourceExhaustedError(StrCat(file->name, " has ", file->bytes, " bytes, at most ",
                                         limits.max_file_bytes, " are read"));
  }
  return ParseBinary(bytes, file->name, limits, &file->proto);
}

StatusOr<SavedModelFile> FromProto(ParsedFile* parsed, const ReadLimits& limits) {
  SavedModelFile file;
  for (auto& meta_graph : *parsed->proto.mutable_meta_graphs()) {
    auto read = MetaGraphFromProto(&meta_graph, limits, parsed->bytes);
    if (!read.ok()) return read.status().WithContext(parsed->name);
    file.meta_graphs.push_back(*std::move(read));
  }
  return file;
}

std::string TagSet(const tf::MetaGraphDef& proto) {
  return StrJoin(proto.meta_info_def().tags(), ", ");
}
std::string TagSet(const MetaGraph& meta_graph) { return StrJoin(meta_graph.tags, ", "); }

bool HasTags(const tf::MetaGraphDef& proto, const std::set<std::string>& wanted) {
  const auto& tags = proto.meta_info_def().tags();
  return std::set<std::string>(tags.begin(), tags.end()) == wanted;
}
bool HasTags(const MetaGraph& meta_graph, const std::set<std::string>& wanted) {
  return std::set<std::string>(meta_graph.tags.begin(), meta_graph.tags.end()) == wanted;
}

template <typename MetaGraphs>
auto FindTags(MetaGraphs& meta_graphs, std::span<const std::string> tags)
    -> StatusOr<decltype(&*meta_graphs.begin())> {
  const std::set<std::string> wanted(tags.begin(), tags.end());
  std::string there;
  for (auto& meta_graph : meta_graphs) {
    if (HasTags(meta_graph, wanted)) return &meta_graph;
    StrAppend(&there, there.empty() ? "{" : ", {", TagSet(meta_graph), "}");
  }
  return NotFoundError(StrCat("MetaGraphDef with tags {", StrJoin(wanted, ", "),
                              "} could not be found in the SavedModel; tag sets there are: ",
                              there.empty() ? "none" : there));
}

}  // namespace

StatusOr<MetaGraph*> SavedModelFile::Find(std::span<const std::string> tags) {
  return FindTags(meta_graphs, tags);
}

StatusOr<SavedModelFile> ParseSavedModel(std::string bytes, const std::string& name,
                                         const ReadLimits& limits) {
  ParsedFile file;
  file.name = name;
  RETURN_IF_ERROR(ParseBytes(std::move(bytes), limits, &file));
  return FromProto(&file, limits);
}

std::string ReplacedName(std::string_view dir) {
  while (dir.size() > 1 && dir.back() == '/') dir.remove_suffix(1);
  return JoinPath(Dirname(dir), StrCat(".", Basename(dir), ".replaced"));
}

namespace {

Status ReadProto(Env* env, const std::string& dir, const ReadLimits& limits, ParsedFile* file) {
  const std::string binary = JoinPath(dir, "saved_model.pb");
  const std::string text = JoinPath(dir, "saved_model.pbtxt");
  if (env->Exists(binary)) {
    ASSIGN_OR_RETURN(std::string bytes, ReadFile(env, binary, limits.max_file_bytes));
    file->name = binary;
    return ParseBytes(std::move(bytes), limits, file);
  }
  if (!env->Exists(text)) {
    const std::string replaced = ReplacedName(dir);
    const bool interrupted = !env->Exists(dir) && env->Exists(replaced);
    return NotFoundError(StrCat("There is no SavedModel at ", dir,
                                ": neither saved_model.pb nor saved_model.pbtxt is there",
                                interrupted ? "; an interrupted save left it as " : "",
                                interrupted ? replaced + ", rename it to have it back" : ""));
  }
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(env, text, limits.max_file_bytes));
  file->name = text;
  file->bytes = bytes.size();
  return ParseText(bytes, text, limits, &file->proto);
}

}  // namespace

StatusOr<SavedModelFile> ReadSavedModel(Env* env, const std::string& dir,
                                        const ReadLimits& limits) {
  ParsedFile file;
  RETURN_IF_ERROR(ReadProto(env, dir, limits, &file));
  return FromProto(&file, limits);
}

StatusOr<MetaGraph> ReadMetaGraph(Env* env, const std::string& dir,
                                  std::span<const std::string> tags, const ReadLimits& limits) {
  ParsedFile file;
  RETURN_IF_ERROR(ReadProto(env, dir, limits, &file));
  ASSIGN_OR_RETURN(tf::MetaGraphDef * wanted, FindTags(*file.proto.mutable_meta_graphs(), tags));
  auto read = MetaGraphFromProto(wanted, limits, file.bytes);
  return read.ok() ? std::move(read) : read.status().WithContext(file.name);
}

StatusOr<ir::Output> FindTensor(const ir::Graph& graph, std::string_view tensor_name) {
  std::string_view name = tensor_name;
  int64_t index = 0;
  if (const size_t colon = name.rfind(':'); colon != std::string_view::npos) {
    const auto number = ParseInt64(name.substr(colon + 1));
    if (!number || *number < 0) {
      return InvalidArgumentError(StrCat(Quoted(tensor_name), " is not the name of a tensor"));
    }
    index = *number;
    name = name.substr(0, colon);
  }
  ir::Node* node = graph.FindNode(name);
  if (node == nullptr) {
    return InvalidArgumentError(
        StrCat("Tensor ", Quoted(tensor_name), " was not found in the graph"));
  }
  if (index >= node->num_outputs()) {
    return OutOfRangeError(StrCat("Node '", name, "' (op ", node->op(), ") has ",
                                  node->num_outputs(), " outputs, not output ", index));
  }
  return ir::Output{node, static_cast<int>(index)};
}

}  // namespace slipway::formats
