// SPDX-License-Identifier: Apache-2.0
#include "nn/network.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "ir/function.h"

namespace slipway::nn {
namespace {

std::string Grouped(int64_t n) {
  std::string digits = StrCat(n);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<size_t>(at), ",");
  }
  return digits;
}

std::string ShapeText(const PartialShape& shape) {
  std::string out = "(";
  for (int i = 0; i < shape.rank(); ++i) {
    StrAppend(&out, i > 0 ? ", " : "");
    shape.dim(i) < 0 ? StrAppend(&out, "None") : StrAppend(&out, shape.dim(i));
  }
  return StrCat(out, ")");
}

std::string SizeText(int64_t parameters) {
  double bytes = static_cast<double>(parameters) * 4;
  const char* unit = "B";
  for (const char* next : {"KB", "MB", "GB"}) {
    if (bytes < 1024) break;
    bytes /= 1024;
    unit = next;
  }
  return fmt::format("{:.2f} {}", bytes, unit);
}

int64_t CountParameters(const Layer& layer) {
  int64_t n = 0;
  for (const VariablePtr& variable : layer.variables()) n += variable->shape.num_elements();
  return n;
}

}  // namespace

Network::Network(std::string name, std::vector<LayerPtr> layers, uint64_t seed)
    : name_(std::move(name)), layers_(std::move(layers)), context_(seed) {
  // Chosen names first, so that none of them is given to another layer.
  for (const LayerPtr& layer : layers_) {
    if (layer->name().empty() || !naming_.ok()) continue;
    naming_ = context_.ClaimName(layer->name());
  }
  for (const LayerPtr& layer : layers_) {
    if (layer->name().empty()) layer->set_name(context_.UniqueName(SnakeCase(layer->class_name())));
  }
  if (layers_.empty()) return;
  if (auto* input = dynamic_cast<InputLayer*>(layers_.front().get())) {
    input_ = TensorSpec{input->dtype(), input->batch_shape(), input->name()};
  }
}

Status Network::Build(DType dtype, const PartialShape& shape) {
  RETURN_IF_ERROR(naming_);
  if (layers_.empty()) return FailedPreconditionError("The model has no layers; add at least one");
  if (!shape.has_rank() || shape.rank() < 1) {
    return InvalidArgumentError(
        StrCat("Model '", name_,
               "': inputs need a known shape with the batch as first dimension, "
               "got ",
               shape.ToString()));
  }
  PartialShape any_batch = shape;
  any_batch.set_dim(0, -1);
  if (input_ && input_->shape.has_rank() && !input_->shape.Merge(any_batch).ok()) {
    return InvalidArgumentError(StrCat("Model '", name_, "' takes inputs of shape ",
                                       input_->shape.ToString(), ", got ", any_batch.ToString()));
  }
  if (built_) return OkStatus();
  ir::Function scratch;
  ASSIGN_OR_RETURN(ir::Output x, scratch.AddArg("inputs", dtype, any_batch));
  ir::GraphBuilder builder(&scratch.graph);
  CallContext call(&builder, /*training=*/false, HandlesByPath(&builder));
  std::vector<PartialShape> shapes;
  for (const LayerPtr& layer : layers_) {
    RETURN_IF_ERROR(layer->Build(context_, x.dtype(), x.shape()));
    x = layer->Call(call, x);
    RETURN_IF_ERROR(builder.status().WithContext(StrCat("Model '", name_, "'")));
    shapes.push_back(x.shape());
  }
  input_ = TensorSpec{dtype, any_batch, input_ ? input_->name : "inputs"};
  output_ = TensorSpec{x.dtype(), x.shape(), layers_.back()->name()};
  output_shapes_ = std::move(shapes);
  built_ = true;
  return OkStatus();
}

ir::Output Network::Call(CallContext& context, ir::Output x) const {
  for (const LayerPtr& layer : layers_) x = layer->Call(context, x);
  return x;
}

std::vector<VariablePtr> Network::variables() const {
  std::vector<VariablePtr> out;
  for (const LayerPtr& layer : layers_) {
    out.insert(out.end(), layer->variables().begin(), layer->variables().end());
  }
  return out;
}

std::vector<VariablePtr> Network::trainable_variables() const {
  std::vector<VariablePtr> out;
  for (const VariablePtr& variable : variables()) {
    if (variable->trainable) out.push_back(variable);
  }
  return out;
}

std::string Network::Summary() const {
  std::string out = StrCat("Model: \"", name_, "\"\n");
  std::string rule(77, '-');
  StrAppend(&out, rule, "\n");
  out += fmt::format("{:<34} {:<26} {:>15}\n", "Layer (type)", "Output Shape", "Param #");
  StrAppend(&out, rule, "\n");
  int64_t total = 0;
  int64_t trainable = 0;
  for (size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = *layers_[i];
    if (dynamic_cast<const InputLayer*>(&layer) != nullptr) continue;
    int64_t n = CountParameters(layer);
    total += n;
    for (const VariablePtr& v : layer.variables()) {
      if (v->trainable) trainable += v->shape.num_elements();
    }
    out += fmt::format(
        "{:<34} {:<26} {:>15}\n", StrCat(layer.name(), " (", layer.class_name(), ")"),
        built_ ? ShapeText(output_shapes_[i]) : "?", built_ ? Grouped(n) : "0 (unbuilt)");
  }
  StrAppend(&out, rule, "\n");
  for (auto [what, n] : {std::pair{"Total params", total},
                         {"Trainable params", trainable},
                         {"Non-trainable params", total - trainable}}) {
    StrAppend(&out, " ", what, ": ", Grouped(n), " (", SizeText(n), ")\n");
  }
  return out;
}

std::string Network::ToJson() const {
  std::vector<std::string> texts;
  for (const LayerPtr& layer : layers_) texts.push_back(WriteConfig(layer.get(), "keras.layers"));
  return StrCat(R"({"module": "keras", "class_name": "Sequential", "config": {"name": )", "\"",
                name_, "\"", R"(, "trainable": true, "layers": [)", StrJoin(texts, ", "),
                R"(]}, "registered_name": null})");
}

StatusOr<SequentialLayers> LayersFromJson(std::string_view json) {
  ASSIGN_OR_RETURN(SequentialConfig config, ParseSequential(json));
  SequentialLayers out{.name = std::move(config.name), .layers = {}};
  for (const std::string& text : config.layers) {
    ASSIGN_OR_RETURN(LayerPtr layer, LayerFromConfig(text));
    out.layers.push_back(std::move(layer));
  }
  return out;
}

}  // namespace slipway::nn
