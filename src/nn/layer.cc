// SPDX-License-Identifier: Apache-2.0
#include "nn/layer.h"

#include "base/strings.h"
#include "nn/layers.h"

namespace slipway {
namespace nn {

void Layer::set_trainable(bool trainable) {
  trainable_ = trainable;
  for (const VariablePtr& weight : weights_) weight->trainable = trainable;
}

void Layer::Fields(FieldVisitor& visit) {
  visit("name", &name_);
  visit("trainable", &trainable_);
  visit.Fixed("dtype",
              R"({"module": "keras", "class_name": "DTypePolicy", "config": {"name": "float32"},)"
              R"( "registered_name": null})");
}

Status Layer::Build(BuildContext& context, DType dtype, const PartialShape& input) {
  if (built_) return OkStatus();
  if (IsObject(dtype) || IsComplex(dtype)) {
    return Error(StrCat("its input must be numbers, got ", DTypeName(dtype)));
  }
  RETURN_IF_ERROR(MakeVariables(context, input));
  built_ = true;
  return OkStatus();
}

VariablePtr Layer::AddWeight(BuildContext& context, std::string_view weight, Shape shape,
                             Initializer initializer) {
  auto variable = std::make_shared<Variable>();
  variable->path = StrCat(name_, "/", weight);
  variable->shape = std::move(shape);
  variable->trainable = trainable_;
  if (IsRandom(initializer) && !initializer.seed) initializer.seed = context.NextSeed();
  variable->initializer = std::move(initializer);
  weights_.push_back(variable);
  variables_.push_back(variable);
  return variable;
}

Status Layer::Error(std::string_view text) const {
  return InvalidArgumentError(StrCat("Layer '", name_, "' (", class_name(), "): ", text));
}

void InputLayer::Fields(FieldVisitor& visit) {
  std::string name = this->name();
  PartialShape shape;  // without the batch, as keras.Input takes it
  visit("shape", &shape);
  if (shape.has_rank()) {
    std::vector<int64_t> dims = {-1};
    dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
    batch_shape_ = PartialShape(dims);
  }
  visit("batch_shape", &batch_shape_);
  visit("dtype", &dtype_);
  visit.Fixed("sparse", "false");
  visit.Fixed("ragged", "false");
  visit("name", &name);
  visit.Fixed("optional", "false");
  set_name(name);
}

const std::vector<ClassEntry<Layer>>& LayerClasses() {
  static const std::vector<ClassEntry<Layer>> classes = {
      {"InputLayer", {"Input"}, nullptr, [] { return std::make_shared<InputLayer>(); }},
      {"Flatten", {"flatten"}, nullptr, [] { return std::make_shared<Flatten>(); }},
      {"Dense", {"dense"}, "units", [] { return std::make_shared<Dense>(); }},
      {"Dropout", {"dropout"}, "rate", [] { return std::make_shared<Dropout>(); }},
      {"Activation",
       {"activation"},
       "activation",
       [] { return std::make_shared<ActivationLayer>(); }},
      {"Rescaling", {"rescaling"}, "scale", [] { return std::make_shared<Rescaling>(); }},
  };
  return classes;
}

StatusOr<LayerPtr> LayerFromConfig(std::string_view json, ConfigProblem* problem) {
  return FromConfig(LayerClasses(), "layer", json, problem);
}

ir::Output AsFloat(ir::GraphBuilder& b, ir::Output x) {
  if (!x.valid() || x.dtype() == DType::kFloat) return x;
  return b.Op("Cast", {x}, {{"DstT", DType::kFloat}});
}

ir::Output Activate(ir::GraphBuilder& b, Activation activation, ir::Output x) {
  switch (activation) {
    case Activation::kLinear:
      return x;
    case Activation::kRelu:
      return b.Op("Relu", {x});
    case Activation::kRelu6:
      return b.Op("Relu6", {x});
    case Activation::kElu:
      return b.Op("Elu", {x});
    case Activation::kSelu:
      return b.Op("Selu", {x});
    case Activation::kLeakyRelu:
      return b.Op("LeakyRelu", {x}, {{"alpha", 0.2f}});
    case Activation::kSigmoid:
      return b.Op("Sigmoid", {x});
    case Activation::kTanh:
      return b.Op("Tanh", {x});
    case Activation::kSoftmax:
      return b.Op("Softmax", {x});
    case Activation::kLogSoftmax:
      return b.Op("LogSoftmax", {x});
    case Activation::kSoftplus:
      return b.Op("Softplus", {x});
    case Activation::kSoftsign:
      return b.Op("Softsign", {x});
    case Activation::kExponential:
      return b.Op("Exp", {x});
    case Activation::kSilu:
      return b.Op("Mul", {x, b.Op("Sigmoid", {x})});
  }
  return x;
}

}  // namespace nn

namespace layers {

const std::string& Layer::name() const { return impl_->name(); }

Layer& Layer::set_trainable(bool trainable) {
  impl_->set_trainable(trainable);
  return *this;
}

Layer Input(PartialShape shape, InputOptions options) {
  auto layer = std::make_shared<nn::InputLayer>();
  std::vector<int64_t> dims = {-1};
  if (shape.has_rank()) dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
  layer->batch_shape_ = shape.has_rank() ? PartialShape(dims) : PartialShape();
  layer->dtype_ = options.dtype;
  layer->set_name(std::move(options.name));
  return Layer(std::move(layer));
}

}  // namespace layers
}  // namespace slipway
