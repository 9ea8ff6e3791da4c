// SPDX-License-Identifier: Apache-2.0
#include "train/export.h"

#include "base/strings.h"
#include "formats/saved_model_writer.h"

namespace slipway::train {
namespace {

// The model as a function of its input and of the handles of the variables that it touches.
StatusOr<formats::ExportFunction> BuildCall(const nn::Network& network, bool training) {
  formats::ExportFunction out;
  ir::Function& body = out.body;
  body.name = training ? "call_training" : "call_inference";
  const TensorSpec& input = *network.input();
  ASSIGN_OR_RETURN(ir::Output x, body.AddArg("inputs", input.dtype, input.shape));
  std::vector<nn::VariablePtr> variables = network.variables();
  ir::GraphBuilder builder(&body.graph);
  auto capture = [&](const nn::Variable& variable) {
    size_t index = 0;
    while (variables[index].get() != &variable) ++index;
    out.captures.push_back(static_cast<int>(index));
    auto handle = body.AddArg(variable.path, DType::kResource, PartialShape(Shape()));
    if (!handle.ok()) builder.Fail(handle.status());
    return handle.ok() ? *handle : ir::Output();
  };
  nn::CallContext context(&builder, training, capture);
  ir::Output y = network.Call(context, x);
  RETURN_IF_ERROR(builder.status());
  body.returns.push_back({"output_0", y});
  for (ir::Node* node : body.graph.nodes()) {
    if (node->effect() == ir::Effect::kWritesResource) {
      body.control_returns.emplace_back(node->name(), node);
    }
  }
  return out;
}

}  // namespace

Status ExportSavedModel(ModelState& state, const std::string& directory) {
  const nn::Network& network = state.network();
  if (!network.built()) {
    return FailedPreconditionError(StrCat("Model '", network.name(),
                                          "' has no weights yet; call "
                                          "Build or Fit before Save"));
  }
  formats::ModelExport model;
  for (const nn::VariablePtr& variable : network.variables()) {
    ASSIGN_OR_RETURN(Tensor value, state.variables().Read(variable->path));
    model.variables.push_back({.name = variable->path,
                               .value = std::move(value),
                               .trainable = variable->trainable,
                               .object_path = {}});
  }
  ASSIGN_OR_RETURN(model.call_inference, BuildCall(network, /*training=*/false));
  ASSIGN_OR_RETURN(model.call_training, BuildCall(network, /*training=*/true));
  model.signatures.push_back({"serving_default", {"inputs"}, {"output_0"}});
  return formats::WriteSavedModel(Env::Default(), directory, model).WithContext("Save");
}

}  // namespace slipway::train
