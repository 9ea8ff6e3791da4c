// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"
#include "nn/layers.h"
#include "nn/shapes.h"

namespace slipway {
namespace nn {

void Flatten::Fields(FieldVisitor& visit) {
  Layer::Fields(visit);
  visit("data_format", &data_format_);
}

std::optional<Configurable::Problem> Flatten::Check() const {
  if (data_format_ == "channels_last" || data_format_ == "channels_first") return std::nullopt;
  return Problem{
      "data_format",
      StrCat("'data_format' must be channels_last or channels_first, got '", data_format_, "'")};
}

ir::Output Flatten::Call(CallContext& c, ir::Output x) const {
  ir::GraphBuilder& b = c.builder();
  ir::GraphBuilder::Scope scope(&b, name());
  if (!x.valid()) return {};
  int rank = x.shape().rank();
  if (rank < 1) {
    b.Fail(Error(StrCat("Reshape needs an input of known rank, got ", x.shape().ToString())));
    return {};
  }
  if (rank == 2) return x;
  if (rank > 2 && data_format_ == "channels_first") {
    std::vector<int32_t> order = {0};
    for (int i = 2; i < rank; ++i) order.push_back(i);
    order.push_back(1);
    x = b.Op("Transpose", {x, b.Int32Vector(order)});
    if (!x.valid()) return {};
  }
  int64_t size = 1;
  for (int i = 1; i < rank; ++i) {
    size = x.shape().dim(i) < 0 || size < 0 ? -1 : size * x.shape().dim(i);
  }
  if (size >= 0) return b.Op("Reshape", {x, b.Int32Vector({-1, static_cast<int32_t>(size)})});
  return b.Op("Reshape", {x, b.Op("Pack", {BatchSize(b, x), b.Scalar<int32_t>(-1)})});
}

}  // namespace nn

namespace layers {

Layer Flatten(FlattenOptions options) {
  auto layer = std::make_shared<nn::Flatten>();
  layer->set_name(std::move(options.name));
  return Layer(std::move(layer));
}

}  // namespace layers
}  // namespace slipway
