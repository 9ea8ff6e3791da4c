// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"
#include "exec/executable.h"
#include "ir/gradient.h"
#include "nn/loss.h"
#include "slipway/ops.h"
#include "train/graph_state.h"

namespace slipway {
namespace {

ir::AttrValue ToAttr(const Graph::Attr& attr) {
  return std::visit([](const auto& value) { return ir::AttrValue(value); }, attr);
}

}  // namespace

DType Value::dtype() const {
  return node_ == nullptr ? DType::kInvalid : static_cast<ir::Node*>(node_)->dtype(index_);
}

PartialShape Value::shape() const {
  return node_ == nullptr ? PartialShape() : static_cast<ir::Node*>(node_)->shape(index_);
}

Variable::Variable(std::string name, const Tensor& initial_value, bool trainable)
    : state_(std::make_shared<State>()) {
  state_->description = std::make_shared<nn::Variable>();
  state_->description->path = name;
  state_->description->dtype = initial_value.dtype();
  state_->description->shape = initial_value.shape();
  state_->description->trainable = trainable;
  state_->resource = std::make_shared<kernels::Variable>(std::move(name), initial_value.dtype(),
                                                         PartialShape(initial_value.shape()));
  // It fits by construction.
  state_->resource->Assign(initial_value).IgnoreError();
}

const std::string& Variable::name() const { return state_->description->path; }
DType Variable::dtype() const { return state_->description->dtype; }
Shape Variable::shape() const { return state_->description->shape; }
bool Variable::trainable() const { return state_->description->trainable; }

Tensor Variable::value() const {
  auto value = state_->resource->Read();
  return value.ok() ? *std::move(value) : Tensor();
}

Status Variable::Assign(const Tensor& value) { return state_->resource->Assign(value); }

Graph::State::State()
    : builder(&function.graph), context(&builder, false, [this](const nn::Variable& variable) {
        return builder.Op("VarHandleOp", {},
                          {{"dtype", variable.dtype},
                           {"shape", PartialShape(variable.shape)},
                           {"shared_name", variables.at(&variable).key}},
                          variable.path);
      }) {}

void Graph::State::Register(const Variable& variable) {
  const auto& shared = variable.state();
  if (variables.contains(shared->description.get())) return;
  std::string key = StrCat(variable.name(), "#", variables.size());
  variables.emplace(shared->description.get(), Entry{std::move(key), shared});
}

Graph::Graph(std::unique_ptr<State> state) : state_(std::move(state)) {}
Graph::~Graph() = default;

const Status& Graph::status() const { return state_->builder.status(); }
void Graph::Fail(Status status) { state_->builder.Fail(std::move(status)); }

Value Graph::Wrap(void* node, int index) {
  Value value;
  value.graph_ = this;
  value.node_ = node;
  value.index_ = index;
  return value;
}

namespace {

ir::Output OutputOf(const Graph& graph, const Value& value) {
  auto [node, index] = graph.Unwrap(value);
  return {static_cast<ir::Node*>(node), index};
}

}  // namespace

std::vector<Value> Graph::Ops(std::string_view op, std::vector<Value> inputs, const Attrs& attrs) {
  std::vector<ir::Output> outputs;
  for (const Value& input : inputs) {
    if (!input.valid() || input.graph() != this) {
      Fail(InvalidArgumentError(
          StrCat(op, ": input ", outputs.size(), " is not a value of this graph")));
      return {};
    }
    outputs.push_back(OutputOf(*this, input));
  }
  ir::AttrMap map;
  for (const auto& [name, attr] : attrs) map.emplace(name, ToAttr(attr));
  std::vector<Value> out;
  for (ir::Output output : state_->builder.Ops(op, std::move(outputs), std::move(map))) {
    out.push_back(Wrap(output.node, output.index));
  }
  return out;
}

Value Graph::Op(std::string_view op, std::vector<Value> inputs, const Attrs& attrs) {
  std::vector<Value> out = Ops(op, std::move(inputs), attrs);
  return out.empty() ? Value() : out[0];
}

Value Graph::Constant(const Tensor& value) {
  ir::Output output = state_->builder.Const(value);
  return Wrap(output.node, output.index);
}

Value Graph::Constant(double value, const Value& like) {
  if (!like.valid()) return {};
  ir::Output output = state_->builder.ScalarLike(value, OutputOf(*this, like));
  return Wrap(output.node, output.index);
}

Value Graph::Read(const Variable& variable) {
  state_->Register(variable);
  ir::Output output = state_->context.Read(*variable.state()->description);
  return Wrap(output.node, output.index);
}

void Graph::Assign(const Variable& variable, const Value& value) {
  state_->Register(variable);
  state_->context.Assign(*variable.state()->description, OutputOf(*this, value));
}

void Graph::AssignAdd(const Variable& variable, const Value& value) {
  state_->Register(variable);
  state_->context.AssignAdd(*variable.state()->description, OutputOf(*this, value));
}

void Graph::AssignSub(const Variable& variable, const Value& value) {
  state_->Register(variable);
  state_->context.AssignSub(*variable.state()->description, OutputOf(*this, value));
}

std::vector<Value> Graph::Gradients(const Value& y, const std::vector<Variable>& variables) {
  std::vector<Value> reads;
  for (const Variable& variable : variables) reads.push_back(Read(variable));
  return Gradients(y, reads);
}

std::vector<Value> Graph::Gradients(const Value& y, const std::vector<Value>& xs) {
  std::vector<Value> out(xs.size());
  if (!status().ok() || !y.valid()) return out;
  std::vector<ir::Output> towards;
  for (const Value& x : xs) towards.push_back(OutputOf(*this, x));
  ir::Output from = OutputOf(*this, y);
  auto gradients = ir::AddGradients(state_->builder, {&from, 1}, towards);
  if (!gradients.ok()) {
    Fail(gradients.status());
    return out;
  }
  for (size_t i = 0; i < xs.size(); ++i) {
    if (!(*gradients)[i].valid()) {
      Fail(InvalidArgumentError(StrCat("Gradients: '", from.ToString(), "' does not depend on '",
                                       towards[i].ToString(), "' in a differentiable way")));
      return out;
    }
    out[i] = Wrap((*gradients)[i].node, (*gradients)[i].index);
  }
  return out;
}

Value Graph::LossOf(const Loss& loss, const Value& y_true, const Value& y_pred) {
  if (!y_true.valid() || !y_pred.valid()) return {};
  ir::Output output = loss.impl()->Build(state_->builder, OutputOf(*this, y_true),
                                         OutputOf(*this, y_pred), ir::Output());
  return Wrap(output.node, output.index);
}

struct Function::State {
  kernels::ResourceContainer resources;
  std::unique_ptr<exec::Executable> executable;
};

Function::Function(std::unique_ptr<State> state) : state_(std::move(state)) {}
Function::Function(Function&&) noexcept = default;
Function& Function::operator=(Function&&) noexcept = default;
Function::~Function() = default;

StatusOr<Function> Function::Compile(std::vector<TensorSpec> inputs, const BuildFn& build,
                                     const Options& options) {
  Graph graph(std::make_unique<Graph::State>());
  Graph::State& building = graph.state();
  building.function.name = "function";
  std::vector<Value> arguments;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::string name = inputs[i].name.empty() ? StrCat("input_", i) : inputs[i].name;
    ASSIGN_OR_RETURN(ir::Output argument,
                     building.function.AddArg(name, inputs[i].dtype, inputs[i].shape));
    arguments.push_back(graph.Wrap(argument.node, argument.index));
  }
  std::vector<Value> results = build(graph, arguments);
  RETURN_IF_ERROR(graph.status());
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].valid() || results[i].graph() != &graph) {
      return InvalidArgumentError(StrCat("Result ", i, " is not a value of the graph"));
    }
    building.function.returns.push_back({StrCat("output_", i), OutputOf(graph, results[i])});
  }
  for (ir::Node* node : building.function.graph.nodes()) {
    if (node->effect() == ir::Effect::kWritesResource) {
      building.function.control_returns.emplace_back(node->name(), node);
    }
  }
  auto state = std::make_unique<State>();
  for (const auto& [description, entry] : building.variables) {
    auto resource = entry.variable->resource;
    RETURN_IF_ERROR(
        state->resources.FindOrCreate<kernels::Variable>(entry.key, [&] { return resource; })
            .status());
  }
  exec::CompileOptions compile;
  compile.resources = &state->resources;
  compile.deterministic = options.deterministic;
  ASSIGN_OR_RETURN(state->executable,
                   exec::Executable::Compile(std::move(building.function), compile));
  return Function(std::move(state));
}

StatusOr<std::vector<Tensor>> Function::Run(std::span<const Tensor> inputs) const {
  if (inputs.size() != state_->executable->inputs().size()) {
    return InvalidArgumentError(StrCat("The function takes ", state_->executable->inputs().size(),
                                       " inputs, got ", inputs.size()));
  }
  std::vector<Tensor> outputs(state_->executable->outputs().size());
  RETURN_IF_ERROR(state_->executable->Run(inputs, outputs));
  return outputs;
}

}  // namespace slipway
