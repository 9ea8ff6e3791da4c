// SPDX-License-Identifier: Apache-2.0
#include "ir/builder.h"

#include "base/strings.h"
#include "ir/effect.h"

namespace slipway::ir {
namespace {

// TensorFlow's shared_name of handles that share nothing.
constexpr std::string_view kAnonymousName = "cd2c89b7-88b7-44c8-ad83-06c2a9158347";

bool HasOrder(const Node& node) {
  return node.effect() == Effect::kReadsResource || HasEffect(node);
}

// A scalar of `dtype`; invalid if it is not a number's.
Tensor NumberScalar(double value, DType dtype) {
  switch (dtype) {
    case DType::kFloat:
      return Tensor::Scalar(static_cast<float>(value));
    case DType::kDouble:
      return Tensor::Scalar(value);
    case DType::kHalf:
      return Tensor::Scalar(Half(static_cast<float>(value)));
    case DType::kBFloat16:
      return Tensor::Scalar(BFloat16(static_cast<float>(value)));
    case DType::kInt8:
      return Tensor::Scalar(static_cast<int8_t>(value));
    case DType::kInt16:
      return Tensor::Scalar(static_cast<int16_t>(value));
    case DType::kInt32:
      return Tensor::Scalar(static_cast<int32_t>(value));
    case DType::kInt64:
      return Tensor::Scalar(static_cast<int64_t>(value));
    case DType::kUInt8:
      return Tensor::Scalar(static_cast<uint8_t>(value));
    case DType::kUInt16:
      return Tensor::Scalar(static_cast<uint16_t>(value));
    case DType::kUInt32:
      return Tensor::Scalar(static_cast<uint32_t>(value));
    case DType::kUInt64:
      return Tensor::Scalar(static_cast<uint64_t>(value));
    case DType::kBool:
      return Tensor::Scalar(value != 0);
    case DType::kComplex64:
      return Tensor::Scalar(std::complex<float>(static_cast<float>(value)));
    case DType::kComplex128:
      return Tensor::Scalar(std::complex<double>(value));
    default:
      return Tensor();
  }
}

}  // namespace

GraphBuilder::GraphBuilder(Graph* graph) : graph_(graph) {
  for (Node* node : graph->nodes()) OrderEffects(node, /*add_edges=*/false);
}

Node* GraphBuilder::AddNode(std::string_view op, std::vector<Output> inputs, AttrMap attrs,
                            std::string_view name) {
  if (!ok()) return nullptr;
  NodeSpec spec;
  spec.op = std::string(op);
  spec.name = StrCat(scope_, name.empty() ? op : name);
  spec.inputs = std::move(inputs);
  spec.attrs = std::move(attrs);
  StatusOr<Node*> node = graph_->AddNode(std::move(spec));
  if (!node.ok()) {
    Fail(node.status());
    return nullptr;
  }
  OrderEffects(*node, /*add_edges=*/true);
  return *node;
}

Output GraphBuilder::Op(std::string_view op, std::vector<Output> inputs, AttrMap attrs,
                        std::string_view name) {
  Node* node = AddNode(op, std::move(inputs), std::move(attrs), name);
  return node != nullptr && node->num_outputs() > 0 ? Output{node, 0} : Output();
}

std::vector<Output> GraphBuilder::Ops(std::string_view op, std::vector<Output> inputs,
                                      AttrMap attrs, std::string_view name) {
  Node* node = AddNode(op, std::move(inputs), std::move(attrs), name);
  std::vector<Output> outputs;
  for (int i = 0; node != nullptr && i < node->num_outputs(); ++i) outputs.push_back({node, i});
  return outputs;
}

Output GraphBuilder::Const(Tensor value, std::string_view name) {
  if (!value.valid()) {
    Fail(InvalidArgumentError(StrCat("Const '", name, "': its tensor has no value")));
    return Output();
  }
  const DType dtype = value.dtype();
  return Op("Const", {}, {{"value", std::move(value)}, {"dtype", dtype}}, name);
}

Output GraphBuilder::ScalarLike(double value, Output like) {
  if (!ok() || !like.valid()) {
    Fail(InvalidArgumentError("A scalar in the dtype of a value that does not exist"));
    return Output();
  }
  Tensor scalar = NumberScalar(value, like.dtype());
  if (!scalar.valid()) {
    Fail(InvalidArgumentError(StrCat("A scalar in the dtype of ", like.ToString(), ", which is ",
                                     DTypeName(like.dtype()), "; wanted a number's")));
    return Output();
  }
  return Const(std::move(scalar));
}

Output GraphBuilder::Int32Vector(const std::vector<int32_t>& values) {
  return Const(Tensor::FromValues<int32_t>(std::span<const int32_t>(values),
                                           Shape({static_cast<int64_t>(values.size())})));
}

Output GraphBuilder::Placeholder(DType dtype, PartialShape shape, std::string_view name) {
  return Op("Placeholder", {}, {{"dtype", dtype}, {"shape", std::move(shape)}}, name);
}

GraphBuilder::Scope::Scope(GraphBuilder* builder, std::string_view name)
    : builder_(builder), previous_length_(builder->scope_.size()) {
  StrAppend(&builder->scope_, name, "/");
}

GraphBuilder::Scope::~Scope() { builder_->scope_.resize(previous_length_); }

GraphBuilder::ResourceOrder& GraphBuilder::OrderOf(Output handle) {
  while (handle.node->op() == "Identity") handle = handle.node->input(0);
  if (handle.node->op() == "VarHandleOp") {
    const std::string& shared = handle.node->CheckedAttr<std::string>("shared_name");
    const std::string& container = handle.node->CheckedAttr<std::string>("container");
    if (!shared.empty() && shared != kAnonymousName) {
      const auto [it, added] = named_.try_emplace({container, shared}, handle.node);
      handle = {it->second, 0};
    }
  }
  return resources_[{handle.node, handle.index}];
}

void GraphBuilder::OrderEffects(Node* node, bool add_edges) {
  const Effect effect = node->effect();
  if (!HasOrder(*node)) return;
  const auto wait_for = [&](Node* before) {
    if (add_edges) graph_->AddControlInput(node, before);
  };
  for (const Output& input : node->inputs()) {
    if (!input.valid() || input.dtype() != DType::kResource) continue;
    ResourceOrder& order = OrderOf(input);
    wait_for(order.last_write);
    if (effect == Effect::kReadsResource) {
      order.reads_since.push_back(node);
      continue;
    }
    for (Node* read : order.reads_since) wait_for(read);
    order.reads_since.clear();
    order.last_write = node;
  }
  if (effect == Effect::kStateful) {
    wait_for(last_stateful_);
    last_stateful_ = node;
  }
}

}  // namespace slipway::ir
