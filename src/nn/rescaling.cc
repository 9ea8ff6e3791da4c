// SPDX-License-Identifier: Apache-2.0
#include "nn/layers.h"

namespace slipway {
namespace nn {

void Rescaling::Fields(FieldVisitor& visit) {
  Layer::Fields(visit);
  visit("scale", &scale_);
  visit("offset", &offset_);
}

ir::Output Rescaling::Call(CallContext& c, ir::Output x) const {
  ir::GraphBuilder& b = c.builder();
  ir::GraphBuilder::Scope scope(&b, name());
  ir::Output y = b.Op("Mul", {AsFloat(b, x), b.Scalar(static_cast<float>(scale_))});
  if (offset_ == 0) return y;
  return b.Op("AddV2", {y, b.Scalar(static_cast<float>(offset_))});
}

}  // namespace nn

namespace layers {

Layer Rescaling(double scale, RescalingOptions options) {
  auto layer = std::make_shared<nn::Rescaling>();
  layer->scale_ = scale;
  layer->offset_ = options.offset;
  layer->set_name(std::move(options.name));
  return Layer(std::move(layer));
}

}  // namespace layers
}  // namespace slipway
