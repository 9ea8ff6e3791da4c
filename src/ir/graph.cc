// SPDX-License-Identifier: Apache-2.0
#include "ir/graph.h"

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "base/strings.h"
#include "ir/node_checks.h"
#include "ir/shape_inference.h"

namespace slipway::ir {

struct Graph::Impl {
  std::vector<std::unique_ptr<Node>> nodes;  // by id; null where one was removed
  int live = 0;
  std::unordered_map<std::string_view, Node*> by_name;  // keys lie in the nodes
  std::unordered_map<std::string, int> next_suffix;

  bool Owns(const Node* node) const {
    const auto id = static_cast<size_t>(node->id());
    return id < nodes.size() && nodes[id].get() == node;
  }
};

namespace {

std::string NodeLabel(const NodeSpec& spec) {
  return StrCat(spec.op, " '", spec.name.empty() ? spec.op : spec.name, "': ");
}

std::string NodeLabel(const Node& node) { return StrCat(node.op(), " '", node.name(), "': "); }

Status WithLabel(const std::string& label, const Status& status) {
  if (status.ok() || status.message().starts_with(label)) return status;
  return Status(status.code(), StrCat(label, status.message()));
}

std::vector<DType> InputDtypes(std::span<const Output> inputs) {
  std::vector<DType> dtypes;
  dtypes.reserve(inputs.size());
  for (const Output& input : inputs) dtypes.push_back(input.dtype());
  return dtypes;
}

std::string ShapesText(std::span<const Output> inputs) {
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(inputs.size(), 10); ++i) {
    StrAppend(&text, i == 0 ? "" : ", ", inputs[i].shape().ToString());
  }
  return text;
}

// Sizes that a tensor can have; guards against overflow in whoever multiplies them.
Status CheckShape(const PartialShape& shape) {
  if (!shape.has_rank()) return OkStatus();
  std::vector<int64_t> known;
  for (const int64_t dim : shape.dims()) {
    if (dim < -1) {
      return InvalidArgumentError(StrCat("shape ", shape.ToString(), " has dimension ", dim));
    }
    if (dim == std::numeric_limits<int64_t>::max()) {
      return InvalidArgumentError(StrCat("shape ", shape.ToString(), " has too many elements"));
    }
    if (dim >= 0) known.push_back(dim);
  }
  if (shape.rank() > Shape::kMaxRank) known.resize(static_cast<size_t>(shape.rank()), 1);
  return Shape::FromDims(known).status();
}

Status RunShapeFunction(const Node& node, const OpSchema& schema,
                        std::vector<PartialShape>* shapes) {
  if (schema.shape == nullptr) return OkStatus();
  shapes->assign(shapes->size(), PartialShape());
  ShapeContext context(node, shapes);
  Status status = schema.shape(context);
  for (size_t i = 0; status.ok() && i < shapes->size(); ++i) status = CheckShape((*shapes)[i]);
  if (status.ok() || node.inputs().empty()) return status;
  return Status(status.code(),
                StrCat(status.message(), " (with input shapes: ", ShapesText(node.inputs()), ")"));
}

void EraseOne(std::vector<Node*>* nodes, const Node* node) {
  const auto it = std::ranges::find(*nodes, node);
  if (it == nodes->end()) return;
  *it = nodes->back();
  nodes->pop_back();
}

const OpSchema::Attr* DefaultOf(const OpSchema* schema, std::string_view name) {
  const OpSchema::Attr* attr = schema != nullptr ? schema->FindAttr(name) : nullptr;
  return attr != nullptr && attr->has_default ? attr : nullptr;
}

}  // namespace

std::string Output::ToString() const {
  return node == nullptr ? "<none>" : StrCat(node->name(), ":", index);
}

const AttrValue* Node::FindAttr(std::string_view name) const {
  if (const auto it = attrs_.find(name); it != attrs_.end()) return &it->second;
  const OpSchema::Attr* attr = DefaultOf(schema_, name);
  return attr != nullptr ? &attr->default_value : nullptr;
}

Status Node::AttrError(std::string_view name, const AttrValue& wanted) const {
  const AttrValue* seen = FindAttr(name);
  return InvalidArgumentError(StrCat(NodeLabel(*this), "attribute '", name, "' is ",
                                     seen ? seen->ToString() : "missing",
                                     "; wanted a value of type ", wanted.TypeName()));
}

Graph::Graph() : impl_(std::make_unique<Impl>()) {}
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;
Graph::~Graph() = default;

Node* Graph::Insert(NodeSpec spec, const OpSchema* schema) {
  auto node = std::make_unique<Node>();
  node->id_ = static_cast<int>(impl_->nodes.size());
  node->name_ = UniqueName(spec.name.empty() ? spec.op : spec.name);
  node->op_ = std::move(spec.op);
  node->schema_ = schema;
  node->device_ = std::move(spec.device);
  node->inputs_ = std::move(spec.inputs);
  node->attrs_ = std::move(spec.attrs);
  for (const Output& input : node->inputs_) {
    if (input.valid()) input.node->users_.push_back(node.get());
  }
  Node* raw = node.get();
  impl_->by_name.emplace(raw->name_, raw);
  impl_->nodes.push_back(std::move(node));
  ++impl_->live;
  for (Node* before : spec.control_inputs) AddControlInput(raw, before);
  return raw;
}

StatusOr<Node*> Graph::AddNode(NodeSpec spec) {
  const std::string label = NodeLabel(spec);
  const OpSchema* schema = FindOpSchema(spec.op);
  if (schema == nullptr) {
    return InvalidArgumentError(StrCat(label, "Op type not registered '", spec.op, "'"));
  }
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    const Output& in = spec.inputs[i];
    if (in.valid() && impl_->Owns(in.node) && in.index >= 0 && in.index < in.node->num_outputs()) {
      continue;
    }
    return InvalidArgumentError(StrCat(label, "input ", i, " (", in.ToString(),
                                       ") is not an output of a node of this graph"));
  }
  const std::vector<DType> inputs = InputDtypes(spec.inputs);
  InferAttrs(*schema, inputs, &spec.attrs);
  RETURN_IF_ERROR(WithLabel(label, CheckAttrs(*schema, spec.attrs)));
  StatusOr<Dtypes> dtypes = ResolveDtypes(*schema, spec.attrs);
  RETURN_IF_ERROR(WithLabel(label, dtypes.status()));
  RETURN_IF_ERROR(WithLabel(label, CheckInputs(*schema, *dtypes, inputs)));
  Node* node = Insert(std::move(spec), schema);
  node->dtypes_ = std::move(dtypes->outputs);
  node->shapes_.resize(node->dtypes_.size());
  const Status status = WithLabel(label, RunShapeFunction(*node, *schema, &node->shapes_));
  if (!status.ok()) {
    Remove(node);
    return status;
  }
  return node;
}

StatusOr<Node*> Graph::AddOpaqueNode(NodeSpec spec, std::vector<DType> output_dtypes) {
  for (const Output& in : spec.inputs) {
    if (in.valid() && !impl_->Owns(in.node)) {
      return InvalidArgumentError(
          StrCat(NodeLabel(spec), "input ", in.ToString(), " is not a node of this graph"));
    }
  }
  Node* node = Insert(std::move(spec), nullptr);
  node->shapes_.resize(output_dtypes.size());
  node->dtypes_ = std::move(output_dtypes);
  return node;
}

std::vector<Node*> Graph::nodes() const {
  std::vector<Node*> all;
  all.reserve(static_cast<size_t>(impl_->live));
  for (const auto& node : impl_->nodes) {
    if (node) all.push_back(node.get());
  }
  return all;
}

int Graph::num_nodes() const { return impl_->live; }

Node* Graph::FindNode(std::string_view name) const {
  const auto it = impl_->by_name.find(name);
  return it == impl_->by_name.end() ? nullptr : it->second;
}

void Graph::SetInput(Node* node, int i, Output value) {
  Output& input = node->inputs_[static_cast<size_t>(i)];
  if (input.valid()) EraseOne(&input.node->users_, node);
  input = value;
  if (value.valid()) value.node->users_.push_back(node);
}

void Graph::AddControlInput(Node* node, Node* before) {
  if (before == nullptr || before == node) return;
  if (std::ranges::find(node->control_inputs_, before) != node->control_inputs_.end()) return;
  node->control_inputs_.push_back(before);
  before->users_.push_back(node);
}

void Graph::SetControlInputs(Node* node, std::vector<Node*> before) {
  for (Node* old : node->control_inputs_) EraseOne(&old->users_, node);
  node->control_inputs_ = std::move(before);
  for (Node* now : node->control_inputs_) now->users_.push_back(node);
}

void Graph::ReplaceUses(Output from, Output to) {
  if (from == to) return;
  const std::vector<Node*> users = from.node->users_;
  for (Node* user : users) {
    for (size_t i = 0; i < user->inputs_.size(); ++i) {
      if (user->inputs_[i] == from) SetInput(user, static_cast<int>(i), to);
    }
  }
}

void Graph::ReplaceControl(Node* from, Node* to) {
  if (from == to) return;
  const std::vector<Node*> users = from->users_;
  for (Node* user : users) {
    if (std::erase(user->control_inputs_, from) == 0) continue;
    EraseOne(&from->users_, user);
    AddControlInput(user, to);
  }
}

void Graph::Remove(Node* node) {
  ReplaceControl(node, nullptr);
  for (int i = 0; i < node->num_outputs(); ++i) ReplaceUses({node, i}, Output());
  for (const Output& input : node->inputs_) {
    if (input.valid()) EraseOne(&input.node->users_, node);
  }
  for (Node* before : node->control_inputs_) EraseOne(&before->users_, node);
  impl_->by_name.erase(node->name_);
  --impl_->live;
  impl_->nodes[static_cast<size_t>(node->id_)].reset();
}

std::string Graph::UniqueName(std::string_view base) {
  if (FindNode(base) == nullptr) return std::string(base);
  int& suffix = impl_->next_suffix[std::string(base)];
  std::string name;
  do {
    name = StrCat(base, "_", ++suffix);
  } while (FindNode(name) != nullptr);
  return name;
}

StatusOr<std::vector<Node*>> Graph::TopologicalOrder() const {
  enum class Mark : uint8_t { kNew, kOpen, kDone };
  std::vector<Mark> marks(impl_->nodes.size(), Mark::kNew);
  const auto mark = [&](const Node* node) -> Mark& {
    return marks[static_cast<size_t>(node->id())];
  };
  std::vector<Node*> order;
  order.reserve(static_cast<size_t>(impl_->live));
  std::vector<std::pair<Node*, size_t>> stack;  // a node and how many of its edges are done
  for (const auto& root : impl_->nodes) {
    if (!root || mark(root.get()) != Mark::kNew) continue;
    stack.emplace_back(root.get(), 0);
    mark(root.get()) = Mark::kOpen;
    while (!stack.empty()) {
      auto& [node, done] = stack.back();
      const size_t data = node->inputs_.size();
      if (done == data + node->control_inputs_.size()) {
        mark(node) = Mark::kDone;
        order.push_back(node);
        stack.pop_back();
        continue;
      }
      Node* before = done < data ? node->inputs_[done].node : node->control_inputs_[done - data];
      ++done;
      if (before == nullptr || mark(before) == Mark::kDone) continue;
      if (mark(before) == Mark::kOpen) {
        return InvalidArgumentError(StrCat(NodeLabel(*before), "lies on a cycle of the graph"));
      }
      mark(before) = Mark::kOpen;
      stack.emplace_back(before, 0);
    }
  }
  return order;
}

Status Graph::InferShapes() {
  ASSIGN_OR_RETURN(const std::vector<Node*> order, TopologicalOrder());
  for (Node* node : order) {
    if (node->schema_ == nullptr) continue;
    const std::string label = NodeLabel(*node);
    for (const Output& in : node->inputs_) {
      if (in.valid() && in.index >= 0 && in.index < in.node->num_outputs()) continue;
      return InvalidArgumentError(StrCat(label, "input ", in.ToString(), " does not exist"));
    }
    StatusOr<Dtypes> dtypes = ResolveDtypes(*node->schema_, node->attrs_);
    RETURN_IF_ERROR(WithLabel(label, dtypes.status()));
    node->dtypes_ = std::move(dtypes->outputs);
    node->shapes_.resize(node->dtypes_.size());
    RETURN_IF_ERROR(WithLabel(label, RunShapeFunction(*node, *node->schema_, &node->shapes_)));
  }
  return OkStatus();
}

Status Graph::Validate() const {
  std::unordered_set<const Node*> own;
  for (const auto& node : impl_->nodes) {
    if (node) own.insert(node.get());
  }
  for (const Node* node : nodes()) {
    const std::string label = NodeLabel(*node);
    for (size_t i = 0; i < node->inputs_.size(); ++i) {
      const Output& in = node->inputs_[i];
      if (in.valid() && own.contains(in.node) && in.index >= 0 &&
          in.index < in.node->num_outputs()) {
        continue;
      }
      return InvalidArgumentError(StrCat(label, "input ", i, " is not a value of the graph"));
    }
    for (const Node* before : node->control_inputs_) {
      if (own.contains(before)) continue;
      return InvalidArgumentError(StrCat(label, "waits for a node that is not of the graph"));
    }
    if (node->schema_ == nullptr) continue;
    RETURN_IF_ERROR(WithLabel(label, CheckAttrs(*node->schema_, node->attrs_)));
    const StatusOr<Dtypes> dtypes = ResolveDtypes(*node->schema_, node->attrs_);
    RETURN_IF_ERROR(WithLabel(label, dtypes.status()));
    RETURN_IF_ERROR(
        WithLabel(label, CheckInputs(*node->schema_, *dtypes, InputDtypes(node->inputs_))));
  }
  return TopologicalOrder().status();
}

Graph Graph::Clone(std::unordered_map<const Node*, Node*>* mapping) const {
  Graph copy;
  std::unordered_map<const Node*, Node*> local;
  std::unordered_map<const Node*, Node*>& map = mapping != nullptr ? *mapping : local;
  for (const Node* node : nodes()) {
    NodeSpec spec{
        .op = node->op_, .name = node->name_, .attrs = node->attrs_, .device = node->device_};
    Node* twin = copy.Insert(std::move(spec), node->schema_);
    twin->dtypes_ = node->dtypes_;
    twin->shapes_ = node->shapes_;
    map[node] = twin;
  }
  const auto find = [&](const Node* node) {
    const auto it = map.find(node);
    return it == map.end() ? nullptr : it->second;
  };
  for (const Node* node : nodes()) {
    Node* twin = map[node];
    twin->inputs_.resize(node->inputs_.size());
    for (size_t i = 0; i < node->inputs_.size(); ++i) {
      const Output& in = node->inputs_[i];
      if (Node* source = find(in.node)) {
        copy.SetInput(twin, static_cast<int>(i), {source, in.index});
      }
    }
    for (const Node* before : node->control_inputs_) copy.AddControlInput(twin, find(before));
  }
  copy.impl_->next_suffix = impl_->next_suffix;
  return copy;
}

Uses::Uses(const Graph& graph) {
  for (Node* node : graph.nodes()) {
    for (size_t i = 0; i < node->inputs().size(); ++i) {
      const Output& in = node->inputs()[i];
      if (!in.valid()) continue;
      auto& lists = data_[in.node];
      if (lists.size() <= static_cast<size_t>(in.index)) {
        lists.resize(static_cast<size_t>(in.index) + 1);
      }
      lists[static_cast<size_t>(in.index)].push_back({node, static_cast<int>(i)});
    }
    for (const Node* before : node->control_inputs()) control_[before].push_back(node);
  }
}

const std::vector<Uses::Use>& Uses::of(Output output) const {
  static const std::vector<Use> none;
  const auto it = data_.find(output.node);
  if (it == data_.end() || it->second.size() <= static_cast<size_t>(output.index)) return none;
  return it->second[static_cast<size_t>(output.index)];
}

const std::vector<Node*>& Uses::control_of(const Node* node) const {
  static const std::vector<Node*> none;
  const auto it = control_.find(node);
  return it == control_.end() ? none : it->second;
}

}  // namespace slipway::ir
