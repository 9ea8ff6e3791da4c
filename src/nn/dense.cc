// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "base/strings.h"
#include "nn/layers.h"
#include "nn/shapes.h"

namespace slipway {
namespace nn {
namespace {

// Shapes are int32 tensors in graphs.
constexpr int64_t kMaxUnits = std::numeric_limits<int32_t>::max();

}  // namespace

void Dense::Fields(FieldVisitor& visit) {
  Layer::Fields(visit);
  visit("units", &units_);
  visit("activation", &activation_);
  visit("use_bias", &use_bias_);
  visit("kernel_initializer", &kernel_initializer_);
  visit("bias_initializer", &bias_initializer_);
  for (const char* key :
       {"kernel_regularizer", "bias_regularizer", "activity_regularizer", "kernel_constraint",
        "bias_constraint", "quantization_config", "lora_rank", "lora_alpha"}) {
    visit.Fixed(key, "null");
  }
}

std::optional<Configurable::Problem> Dense::Check() const {
  if (units_ > 0 && units_ <= kMaxUnits) return std::nullopt;
  return Problem{"units", StrCat("'units' must be 1 to ", kMaxUnits, ", got ", units_)};
}

Status Dense::MakeVariables(BuildContext& context, const PartialShape& input) {
  if (units_ <= 0 || units_ > kMaxUnits) {
    return Error(StrCat("units must be 1 to ", kMaxUnits, ", got ", units_));
  }
  if (!input.has_rank() || input.rank() < 2 || input.dim(input.rank() - 1) < 0) {
    return Error(StrCat("MatMul needs an input of rank 2 or more whose last size is known, got ",
                        input.ToString()));
  }
  int64_t in = input.dim(input.rank() - 1);
  kernel_ = AddWeight(context, "kernel", Shape({in, units_}), kernel_initializer_);
  if (use_bias_) bias_ = AddWeight(context, "bias", Shape({units_}), bias_initializer_);
  return OkStatus();
}

ir::Output Dense::Call(CallContext& c, ir::Output x) const {
  ir::GraphBuilder& b = c.builder();
  ir::GraphBuilder::Scope scope(&b, name());
  if (!x.valid()) return {};
  const PartialShape& shape = x.shape();
  int64_t wanted = kernel_->shape.dim(0);
  if (shape.has_rank() && (shape.rank() < 2 || (shape.dim(shape.rank() - 1) >= 0 &&
                                                shape.dim(shape.rank() - 1) != wanted))) {
    b.Fail(Error(StrCat("MatMul of input ", shape.ToString(), " and kernel ",
                        kernel_->shape.ToString(), ": the input's last size must be ", wanted)));
    return {};
  }
  ir::Output input = AsFloat(b, x);
  ir::Output rows = shape.rank() == 2 ? input : FoldToMatrix(b, input, wanted);
  ir::Output y = b.Op("MatMul", {rows, c.Read(*kernel_)});
  if (bias_) y = b.Op("BiasAdd", {y, c.Read(*bias_)});
  if (shape.rank() != 2) y = UnfoldFromMatrix(b, y, input, kernel_->shape.dim(1));
  return Activate(b, activation_, y);
}

}  // namespace nn

namespace layers {

Layer Dense(int64_t units, DenseOptions options) {
  auto layer = std::make_shared<nn::Dense>();
  layer->units_ = units;
  layer->activation_ = options.activation;
  layer->use_bias_ = options.use_bias;
  layer->kernel_initializer_ = std::move(options.kernel_initializer);
  layer->bias_initializer_ = std::move(options.bias_initializer);
  layer->set_name(std::move(options.name));
  return Layer(std::move(layer));
}

}  // namespace layers
}  // namespace slipway
