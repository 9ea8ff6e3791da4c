// SPDX-License-Identifier: Apache-2.0
#include "nn/layers.h"

namespace slipway {
namespace nn {

void ActivationLayer::Fields(FieldVisitor& visit) {
  Layer::Fields(visit);
  visit("activation", &activation_);
}

ir::Output ActivationLayer::Call(CallContext& c, ir::Output x) const {
  ir::GraphBuilder& b = c.builder();
  ir::GraphBuilder::Scope scope(&b, name());
  return Activate(b, activation_, AsFloat(b, x));
}

}  // namespace nn

namespace layers {

Layer Activation(slipway::Activation activation, ActivationOptions options) {
  auto layer = std::make_shared<nn::ActivationLayer>();
  layer->activation_ = activation;
  layer->set_name(std::move(options.name));
  return Layer(std::move(layer));
}

}  // namespace layers
}  // namespace slipway
