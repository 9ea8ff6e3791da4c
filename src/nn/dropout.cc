// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"
#include "nn/layers.h"
#include "nn/random.h"

namespace slipway {
namespace nn {

void Dropout::Fields(FieldVisitor& visit) {
  Layer::Fields(visit);
  visit("rate", &rate_);
  visit("seed", &seed_);
  visit.Fixed("noise_shape", "null");
}

std::optional<Configurable::Problem> Dropout::Check() const {
  if (rate_ >= 0 && rate_ <= 1) return std::nullopt;
  return Problem{"rate", StrCat("'rate' must be between 0 and 1, got ", rate_)};
}

Status Dropout::MakeVariables(BuildContext& context, const PartialShape&) {
  if (auto problem = Check()) return Error(problem->what);
  // As Keras: a layer that never drops anything has no state.
  if (rate_ == 0) return OkStatus();
  seed_state_ = NewSeedState(context, seed_ ? *seed_ : context.NextSeed());
  AddVariable(seed_state_);
  return OkStatus();
}

ir::Output Dropout::Call(CallContext& c, ir::Output x) const {
  if (!c.training() || rate_ == 0 || !x.valid()) return x;
  ir::GraphBuilder& b = c.builder();
  ir::GraphBuilder::Scope scope(&b, name());
  ir::Output input = AsFloat(b, x);
  if (rate_ == 1) return b.Op("ZerosLike", {input});
  ir::Output shape = b.Op("Shape", {input});
  ir::Output draw =
      StatelessRandom(b, "StatelessRandomUniformV2", shape, NextSeedPair(c, *seed_state_));
  ir::Output keep = b.Op("GreaterEqual", {draw, b.Scalar(static_cast<float>(rate_))});
  ir::Output scaled = b.Op("Mul", {input, b.Scalar(static_cast<float>(1.0 / (1.0 - rate_)))});
  return b.Op("SelectV2", {keep, scaled, b.Scalar(0.0f)});
}

}  // namespace nn

namespace layers {

Layer Dropout(double rate, DropoutOptions options) {
  auto layer = std::make_shared<nn::Dropout>();
  layer->rate_ = rate;
  layer->seed_ = options.seed;
  layer->set_name(std::move(options.name));
  return Layer(std::move(layer));
}

}  // namespace layers
}  // namespace slipway
