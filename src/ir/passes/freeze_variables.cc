// SPDX-License-Identifier: Apache-2.0
#include <unordered_map>

#include "base/strings.h"
#include "ir/passes/passes.h"
#include "ir/passes/rewrite.h"

namespace slipway::ir {
namespace {

const Node* HandleOf(const Node& reader) {
  Output handle = reader.input(0);
  while (handle.node->op() == "Identity") handle = handle.node->input(0);
  return handle.node->op() == "VarHandleOp" ? handle.node : nullptr;
}

class Freezer {
 public:
  Freezer(Function& function, const PassContext& context)
      : function_(function), context_(context), replacements_(function) {}

  Status Run() {
    for (Node* node : function_.graph.nodes()) {
      if (node->op() == "ReadVariableOp") {
        RETURN_IF_ERROR(FreezeRead(node));
      } else if (node->op() == "ResourceGather") {
        RETURN_IF_ERROR(FreezeGather(node));
      }
    }
    replacements_.Apply();
    return OkStatus();
  }
  int variables() const { return frozen_; }

 private:
  // The variable's value as a node of the graph, made once; invalid if it may change.
  StatusOr<Output> Frozen(const Node& reader) {
    const Node* handle = HandleOf(reader);
    if (handle == nullptr) return Output();
    auto [it, is_new] = constants_.try_emplace(handle);
    if (!is_new) return it->second;
    std::optional<Tensor> value = context_.frozen_value(*handle);
    if (!value.has_value()) return Output();
    NodeSpec spec;
    spec.op = "Const";
    spec.name = StrCat(handle->name(), "/frozen");
    spec.device = handle->device();
    spec.attrs["dtype"] = value->dtype();
    spec.attrs["value"] = *std::move(value);
    ASSIGN_OR_RETURN(Node * constant, function_.graph.AddNode(std::move(spec)));
    ++frozen_;
    it->second = {constant, 0};
    return it->second;
  }

  Status FreezeRead(Node* read) {
    ASSIGN_OR_RETURN(Output value, Frozen(*read));
    // A read under another dtype fails when it runs: it is left to do so.
    if (value.valid() && value.dtype() == read->dtype(0)) replacements_.Replace(read, {value});
    return OkStatus();
  }

  Status FreezeGather(Node* gather) {
    ASSIGN_OR_RETURN(Output value, Frozen(*gather));
    if (!value.valid() || value.dtype() != gather->dtype(0)) return OkStatus();
    NodeSpec axis;
    axis.op = "Const";
    axis.name = StrCat(gather->name(), "/axis");
    axis.attrs["dtype"] = DType::kInt32;
    axis.attrs["value"] = Tensor::Scalar<int32_t>(0);
    ASSIGN_OR_RETURN(Node * axis_node, function_.graph.AddNode(std::move(axis)));
    NodeSpec spec;
    spec.op = "GatherV2";
    spec.name = gather->name();
    spec.inputs = {value, gather->input(1), {axis_node, 0}};
    spec.device = gather->device();
    if (const AttrValue* batch_dims = gather->FindAttr("batch_dims")) {
      spec.attrs["batch_dims"] = *batch_dims;
    }
    ASSIGN_OR_RETURN(Node * rows, function_.graph.AddNode(std::move(spec)));
    replacements_.Replace(gather, {{rows, 0}});
    return OkStatus();
  }

  Function& function_;
  const PassContext& context_;
  Replacements replacements_;
  std::unordered_map<const Node*, Output> constants_;
  int frozen_ = 0;
};

}  // namespace

Status FreezeVariables(Function& function, const PassContext& context, std::string* note) {
  if (!context.frozen_value) return OkStatus();
  Freezer freezer(function, context);
  RETURN_IF_ERROR(freezer.Run());
  *note = StrCat(freezer.variables(), " variables frozen");
  return freezer.variables() == 0 ? OkStatus() : function.graph.InferShapes();
}

}  // namespace slipway::ir
