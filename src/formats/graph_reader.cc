// SPDX-License-Identifier: Apache-2.0
#include "formats/graph_reader.h"

#include <deque>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/strings.h"
#include "proto/graph.pb.h"

namespace slipway::formats {
namespace tf = ::tensorflow;
namespace {

using NodeDefs = google::protobuf::RepeatedPtrField<tf::NodeDef>;

// One input of a node, taken apart: "node", "node:1", "node:out_arg:0" or "^node".
struct Edge {
  std::string_view node;
  std::string_view arg;  // of functions' edges; empty in main graphs
  int64_t index = 0;
  bool control = false;
};

std::optional<Edge> ParseEdge(std::string_view text) {
  Edge edge;
  if (text.starts_with('^')) {
    edge.control = true;
    edge.node = text.substr(1);
    return edge;
  }
  const size_t last = text.rfind(':');
  if (last == std::string_view::npos) {
    edge.node = text;
    return edge;
  }
  const auto index = ParseInt64(text.substr(last + 1));
  if (!index || *index < 0) return std::nullopt;
  edge.index = *index;
  edge.node = text.substr(0, last);
  if (const size_t first = edge.node.find(':'); first != std::string_view::npos) {
    edge.arg = edge.node.substr(first + 1);
    edge.node = edge.node.substr(0, first);
  }
  return edge;
}

std::string Where(const tf::NodeDef& def) { return StrCat(def.op(), " '", def.name(), "'"); }

// Reads one list of nodes into a graph. What a name of an edge stands for is looked up among the
// arguments of the function, if it is one, and the nodes.
class NodeReader {
 public:
  NodeReader(const NodeDefs& defs, GraphContext& context, ir::Graph* graph)
      : defs_(defs), context_(context), graph_(graph) {}

  void AddArg(const std::string& name, ir::Output arg) { args_[name] = arg; }
  Status Read();
  // A tensor by the text of an edge, once all is read.
  StatusOr<ir::Output> Resolve(std::string_view text) const;
  ir::Node* Find(std::string_view name) const {
    auto it = index_.find(name);
    return it == index_.end() ? nullptr : built_[it->second];
  }

 private:
  struct Pending {
    std::vector<Edge> edges;
    int waits_for = 0;
    std::vector<size_t> users;
  };

  Status IndexNames();
  Status ParseEdges(size_t i);
  bool IsBackEdge(size_t from, size_t to) const {
    return defs_[static_cast<int>(from)].op() == "NextIteration" &&
           defs_[static_cast<int>(to)].op() == "Merge";
  }
  StatusOr<ir::AttrMap> ReadAttrs(const tf::NodeDef& def) const;
  const ir::OpSchema* FileSchema(const std::string& op) const;
  Status Build(size_t i);
  StatusOr<std::vector<ir::Output>> DataInputs(size_t i);
  StatusOr<std::vector<DType>> OpaqueOutputs(size_t i, const ir::AttrMap& attrs) const;
  DType WantedDType(size_t user, size_t input) const;
  StatusOr<ir::Output> OutputOf(const ir::Node* node, const Edge& edge) const;
  Status CycleError() const;
  Status CloseLoops();

  const NodeDefs& defs_;
  GraphContext& context_;
  ir::Graph* graph_;
  std::unordered_map<std::string_view, ir::Output> args_;
  std::unordered_map<std::string_view, size_t> index_;
  std::vector<Pending> pending_;
  std::vector<ir::Node*> built_;
  std::vector<std::pair<size_t, size_t>> back_edges_;  // node and input
};

Status NodeReader::IndexNames() {
  if (defs_.size() > context_.max_nodes) {
    return ResourceExhaustedError(
        StrCat("A graph has ", defs_.size(), " nodes, at most ", context_.max_nodes));
  }
  for (int i = 0; i < defs_.size(); ++i) {
    const std::string& name = defs_[i].name();
    if (name.empty()) return InvalidArgumentError(StrCat("Node ", i, " has no name"));
    if (args_.contains(name) || !index_.emplace(name, static_cast<size_t>(i)).second) {
      return InvalidArgumentError(StrCat("Node '", name, "' is not unique: the name is taken"));
    }
  }
  return {};
}

Status NodeReader::ParseEdges(size_t i) {
  const tf::NodeDef& def = defs_[static_cast<int>(i)];
  for (const std::string& text : def.input()) {
    const auto edge = ParseEdge(text);
    if (!edge) {
      return InvalidArgumentError(StrCat(Where(def), ": input ", Quoted(text), " is malformed"));
    }
    pending_[i].edges.push_back(*edge);
    if (args_.contains(edge->node)) continue;
    const auto source = index_.find(edge->node);
    if (source == index_.end()) {
      return InvalidArgumentError(
          StrCat(Where(def), ": input ", Quoted(text), " is not found: there is no such node"));
    }
    if (IsBackEdge(source->second, i)) {
      back_edges_.emplace_back(i, pending_[i].edges.size() - 1);
      continue;
    }
    pending_[source->second].users.push_back(i);
    ++pending_[i].waits_for;
  }
  return {};
}

Status NodeReader::Read() {
  RETURN_IF_ERROR(IndexNames());
  const auto size = static_cast<size_t>(defs_.size());
  pending_.resize(size);
  built_.resize(size);
  for (size_t i = 0; i < size; ++i) RETURN_IF_ERROR(ParseEdges(i));
  std::deque<size_t> ready;
  for (size_t i = 0; i < size; ++i) {
    if (pending_[i].waits_for == 0) ready.push_back(i);
  }
  size_t done = 0;
  while (!ready.empty()) {
    const size_t i = ready.front();
    ready.pop_front();
    RETURN_IF_ERROR(Build(i));
    ++done;
    for (size_t user : pending_[i].users) {
      if (--pending_[user].waits_for == 0) ready.push_back(user);
    }
  }
  if (done < size) return CycleError();
  return CloseLoops();
}

Status NodeReader::CycleError() const {
  std::vector<std::string> names;
  size_t count = 0;
  for (size_t i = 0; i < built_.size(); ++i) {
    if (built_[i] != nullptr) continue;
    ++count;
    if (names.size() < 5) names.push_back(defs_[static_cast<int>(i)].name());
  }
  return InvalidArgumentError(StrCat("The graph has a cycle: ", count,
                                     " nodes wait for each other, such as ", StrJoin(names, ", ")));
}

Status NodeReader::CloseLoops() {
  for (auto [i, input] : back_edges_) {
    const Edge& edge = pending_[i].edges[input];
    ASSIGN_OR_RETURN(ir::Output value, OutputOf(Find(edge.node), edge));
    graph_->SetInput(built_[i], static_cast<int>(input), value);
  }
  return {};
}

StatusOr<ir::AttrMap> NodeReader::ReadAttrs(const tf::NodeDef& def) const {
  ir::AttrMap attrs;
  const ir::OpSchema* schema = FileSchema(def.op());
  for (const auto& [name, proto] : def.attr()) {
    // Shapes are inferred anew; the hints of the writer only take memory.
    if (name == "_output_shapes") continue;
    auto value = AttrFromProto(proto, context_.budget);
    if (!value.ok()) {
      return value.status().WithContext(StrCat(Where(def), ", attribute '", name, "'"));
    }
    if (schema != nullptr) {
      if (const auto* attr = schema->FindAttr(name)) TypeEmptyList(attr->type, &*value);
    }
    attrs.emplace(name, *std::move(value));
  }
  return attrs;
}

const ir::OpSchema* NodeReader::FileSchema(const std::string& op) const {
  const auto it = context_.file_schemas.find(op);
  return it == context_.file_schemas.end() ? nullptr : &it->second;
}

StatusOr<ir::Output> NodeReader::OutputOf(const ir::Node* node, const Edge& edge) const {
  int64_t index = edge.index;
  if (!edge.arg.empty()) {
    const auto function =
        context_.function_schemas.find(defs_[static_cast<int>(index_.at(node->name()))].op());
    const ir::OpSchema* schema = node->schema();
    if (function != context_.function_schemas.end()) {
      schema = &function->second;
    } else if (schema == nullptr) {
      schema = FileSchema(node->op());
    }
    if (schema != nullptr) {
      ASSIGN_OR_RETURN(const int flat, ir::FlatOutputIndex(*schema, node->attrs(), edge.arg,
                                                           static_cast<int>(edge.index)));
      index = flat;
    }
  }
  if (index >= node->num_outputs()) {
    return InvalidArgumentError(StrCat(node->op(), " '", node->name(), "' has ",
                                       node->num_outputs(), " outputs, output ", index,
                                       " is wanted"));
  }
  return ir::Output{const_cast<ir::Node*>(node), static_cast<int>(index)};
}

StatusOr<ir::Output> NodeReader::Resolve(std::string_view text) const {
  const auto edge = ParseEdge(text);
  if (!edge || edge->control) {
    return InvalidArgumentError(StrCat(Quoted(text), " is not the name of a tensor"));
  }
  if (const auto arg = args_.find(edge->node); arg != args_.end()) return arg->second;
  const ir::Node* node = Find(edge->node);
  if (node == nullptr) return InvalidArgumentError(StrCat(Quoted(text), " is not found"));
  return OutputOf(node, *edge);
}

StatusOr<std::vector<ir::Output>> NodeReader::DataInputs(size_t i) {
  std::vector<ir::Output> inputs;
  for (const Edge& edge : pending_[i].edges) {
    if (edge.control) continue;
    if (const auto arg = args_.find(edge.node); arg != args_.end()) {
      inputs.push_back(arg->second);
      continue;
    }
    const ir::Node* node = Find(edge.node);
    if (node == nullptr) {
      // The way back of a loop, not there yet: the way in stands for it until CloseLoops.
      if (inputs.empty()) {
        return InvalidArgumentError(StrCat(Where(defs_[static_cast<int>(i)]),
                                           ": the first input must be the loop's way in"));
      }
      inputs.push_back(inputs.front());
      continue;
    }
    auto value = OutputOf(node, edge);
    if (!value.ok()) return value.status().WithContext(Where(defs_[static_cast<int>(i)]));
    inputs.push_back(*value);
  }
  return inputs;
}

DType NodeReader::WantedDType(size_t user, size_t input) const {
  const tf::NodeDef& def = defs_[static_cast<int>(user)];
  const ir::OpSchema* schema = ir::FindOpSchema(def.op());
  if (schema == nullptr) schema = FileSchema(def.op());
  if (schema == nullptr) return DType::kInvalid;
  auto attrs = ReadAttrs(def);
  if (!attrs.ok()) return DType::kInvalid;
  auto dtypes = ir::ResolveDtypes(*schema, *attrs);
  if (!dtypes.ok() || input >= dtypes->inputs.size()) return DType::kInvalid;
  return dtypes->inputs[input];
}

// What an op that nobody describes gives, as far as those who use it say.
StatusOr<std::vector<DType>> NodeReader::OpaqueOutputs(size_t i, const ir::AttrMap& attrs) const {
  const tf::NodeDef& def = defs_[static_cast<int>(i)];
  if (const ir::OpSchema* schema = FileSchema(def.op())) {
    auto dtypes = ir::ResolveDtypes(*schema, attrs);
    if (dtypes.ok()) return dtypes->outputs;
  }
  std::vector<DType> outputs;
  // Without a schema nobody tells apart "node:splits:0" and "node:values:0": users may disagree.
  std::set<size_t> disputed;
  const std::set<size_t> users(pending_[i].users.begin(), pending_[i].users.end());
  for (size_t user : users) {
    for (size_t k = 0; k < pending_[user].edges.size(); ++k) {
      const Edge& edge = pending_[user].edges[k];
      if (edge.control || edge.node != def.name()) continue;
      if (edge.index > 1000) {
        return InvalidArgumentError(
            StrCat(Where(def), " is used by its output ", edge.index, "; no op has as many"));
      }
      const auto index = static_cast<size_t>(edge.index);
      if (index >= outputs.size()) outputs.resize(index + 1, DType::kInvalid);
      const DType wanted = WantedDType(user, k);
      if (wanted == DType::kInvalid || wanted == outputs[index]) continue;
      if (outputs[index] != DType::kInvalid) disputed.insert(index);
      outputs[index] = wanted;
    }
  }
  for (const size_t index : disputed) outputs[index] = DType::kInvalid;
  // A result of a function may be the only use.
  if (outputs.empty()) outputs.push_back(DType::kInvalid);
  return outputs;
}

// A node whose op is the name of a function is a call of it.
void MakeCall(const ir::OpSchema& function, ir::NodeSpec* spec) {
  std::vector<DType> inputs, outputs;
  for (const auto& arg : function.inputs) inputs.push_back(arg.dtype);
  for (const auto& arg : function.outputs) outputs.push_back(arg.dtype);
  ir::AttrMap attrs = {{"f", ir::FunctionRef{spec->op, std::move(spec->attrs)}},
                       {"Tin", std::move(inputs)},
                       {"Tout", std::move(outputs)}};
  spec->op = function.effect == ir::Effect::kPure ? "PartitionedCall" : "StatefulPartitionedCall";
  spec->attrs = std::move(attrs);
}

// A graph under construction may leave types to be inferred, a file must say them.
Status CheckAttrsPresent(const tf::NodeDef& def, const ir::OpSchema& schema) {
  for (const auto& attr : schema.attrs) {
    if (attr.has_default || def.attr().contains(attr.name)) continue;
    return InvalidArgumentError(
        StrCat(Where(def), ": attribute '", attr.name, "' is missing and has no default"));
  }
  return {};
}

Status NodeReader::Build(size_t i) {
  const tf::NodeDef& def = defs_[static_cast<int>(i)];
  ir::NodeSpec spec{.op = def.op(), .name = def.name(), .device = def.device()};
  ASSIGN_OR_RETURN(spec.attrs, ReadAttrs(def));
  ASSIGN_OR_RETURN(spec.inputs, DataInputs(i));
  for (const Edge& edge : pending_[i].edges) {
    // Waiting for an argument is no waiting.
    if (!edge.control || args_.contains(edge.node)) continue;
    if (ir::Node* before = Find(edge.node)) spec.control_inputs.push_back(before);
  }
  StatusOr<ir::Node*> node = InternalError("not built");
  if (const auto function = context_.function_schemas.find(def.op());
      function != context_.function_schemas.end()) {
    MakeCall(function->second, &spec);
    node = graph_->AddNode(std::move(spec));
  } else if (const ir::OpSchema* schema = ir::FindOpSchema(def.op())) {
    RETURN_IF_ERROR(CheckAttrsPresent(def, *schema));
    node = graph_->AddNode(std::move(spec));
  } else {
    ASSIGN_OR_RETURN(std::vector<DType> outputs, OpaqueOutputs(i, spec.attrs));
    node = graph_->AddOpaqueNode(std::move(spec), std::move(outputs));
  }
  if (!node.ok()) return std::move(node).status();
  built_[i] = *node;
  return {};
}

StatusOr<PartialShape> ArgShape(const tf::FunctionDef& def, int i, ConstantBudget& budget) {
  const tf::AttrValue* shapes = nullptr;
  int at = 0;
  const auto arg = def.arg_attr().find(static_cast<uint32_t>(i));
  if (arg != def.arg_attr().end() && arg->second.attr().contains("_output_shapes")) {
    shapes = &arg->second.attr().at("_output_shapes");
  } else if (def.attr().contains("_input_shapes")) {
    shapes = &def.attr().at("_input_shapes");
    at = i;
  }
  if (shapes == nullptr) return PartialShape::Unknown();
  ASSIGN_OR_RETURN(ir::AttrValue value, AttrFromProto(*shapes, budget));
  const auto* list = value.As<std::vector<PartialShape>>();
  if (list == nullptr || static_cast<size_t>(at) >= list->size()) return PartialShape::Unknown();
  return (*list)[static_cast<size_t>(at)];
}

// What a resource argument holds, for the shapes of what is read from it.
Status KeepHandleData(const tf::OpDef::ArgDef& arg, ir::Node* node) {
  if (arg.handle_data_size() == 0) return {};
  std::vector<DType> dtypes;
  std::vector<PartialShape> shapes;
  for (const auto& data : arg.handle_data()) {
    ASSIGN_OR_RETURN(const DType dtype, DTypeFromProto(data.dtype()));
    ASSIGN_OR_RETURN(PartialShape shape, ShapeFromProto(data.shape()));
    dtypes.push_back(dtype);
    shapes.push_back(std::move(shape));
  }
  node->SetAttr("_handle_dtypes", std::move(dtypes));
  node->SetAttr("_handle_shapes", std::move(shapes));
  return {};
}

Status ReadArgs(const tf::FunctionDef& def, GraphContext& context, ir::Function* function,
                NodeReader* reader) {
  for (int i = 0; i < def.signature().input_arg_size(); ++i) {
    const auto& arg = def.signature().input_arg(i);
    if (!arg.type_attr().empty() || !arg.type_list_attr().empty() || !arg.number_attr().empty()) {
      return UnimplementedError(
          StrCat("Argument '", arg.name(), "' has no fixed type; such functions are not read"));
    }
    ASSIGN_OR_RETURN(const DType dtype, DTypeFromProto(arg.type()));
    ASSIGN_OR_RETURN(PartialShape shape, ArgShape(def, i, context.budget));
    ASSIGN_OR_RETURN(const ir::Output value, function->AddArg(arg.name(), dtype, std::move(shape)));
    RETURN_IF_ERROR(KeepHandleData(arg, value.node));
    reader->AddArg(arg.name(), value);
  }
  return {};
}

Status ReadResults(const tf::FunctionDef& def, const NodeReader& reader, ir::Function* function) {
  for (const auto& arg : def.signature().output_arg()) {
    const auto ret = def.ret().find(arg.name());
    if (ret == def.ret().end()) {
      return InvalidArgumentError(StrCat("Result '", arg.name(), "' is not set"));
    }
    auto value = reader.Resolve(ret->second);
    if (!value.ok()) return value.status().WithContext(StrCat("Result '", arg.name(), "'"));
    function->returns.push_back({arg.name(), *value});
  }
  const std::map<std::string, std::string> control(def.control_ret().begin(),
                                                   def.control_ret().end());
  for (const auto& [name, node] : control) {
    ir::Node* target = reader.Find(node);
    if (target == nullptr) {
      return InvalidArgumentError(StrCat("Control result ", Quoted(node), " is not found"));
    }
    function->control_returns.emplace_back(name, target);
  }
  return {};
}

Status ReadBody(const tf::FunctionDef& def, GraphContext& context, ir::Function* function) {
  NodeReader reader(def.node_def(), context, &function->graph);
  RETURN_IF_ERROR(ReadArgs(def, context, function, &reader));
  RETURN_IF_ERROR(reader.Read());
  RETURN_IF_ERROR(ReadResults(def, reader, function));
  for (const auto& [name, value] : def.attr()) {
    if (name == "_input_shapes") continue;
    ASSIGN_OR_RETURN(function->attrs[name], AttrFromProto(value, context.budget));
  }
  return {};
}

}  // namespace

StatusOr<ir::Graph> ReadGraph(const tf::GraphDef& graph, GraphContext& context) {
  ir::Graph out;
  NodeReader reader(graph.node(), context, &out);
  RETURN_IF_ERROR(reader.Read());
  return out;
}

StatusOr<ir::Function> ReadFunction(const tf::FunctionDef& def, GraphContext& context) {
  ir::Function function;
  function.name = def.signature().name();
  RETURN_IF_ERROR(ReadBody(def, context, &function));
  return function;
}

}  // namespace slipway::formats
