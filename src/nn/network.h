// SPDX-License-Identifier: Apache-2.0
//
// Network: layers one after the other, named and built; it makes the graphs of a Sequential model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nn/layer.h"

namespace slipway::nn {

// Not thread safe while it is built; then const methods from any thread.
class Network {
 public:
  // Names the layers that have no name. `seed`: of what is random and has no seed of its own.
  Network(std::string name, std::vector<LayerPtr> layers, uint64_t seed);

  const std::string& name() const { return name_; }
  const std::vector<LayerPtr>& layers() const { return layers_; }

  // What an InputLayer or an earlier Build said; nothing before.
  const std::optional<TensorSpec>& input() const { return input_; }
  const TensorSpec& output() const { return output_; }  // REQUIRES: built()
  bool built() const { return built_; }

  // Makes all weights. The shape includes the batch dimension, which is forgotten: any batch size
  // fits later. INVALID_ARGUMENT names layer, op and shapes. A second call only checks.
  Status Build(DType dtype, const PartialShape& input);

  // Adds the nodes of all layers; errors stick to the context's builder. REQUIRES: built().
  ir::Output Call(CallContext& context, ir::Output x) const;

  // In the order of the layers; seed states last within their layer.
  std::vector<VariablePtr> variables() const;
  std::vector<VariablePtr> trainable_variables() const;

  // A table as Keras prints it.
  std::string Summary() const;
  std::string ToJson() const;

 private:
  std::string name_;
  std::vector<LayerPtr> layers_;
  BuildContext context_;
  Status naming_;  // a name used twice; told by Build
  std::optional<TensorSpec> input_;
  TensorSpec output_;
  std::vector<PartialShape> output_shapes_;  // of each layer
  bool built_ = false;
};

// Layers and name from the config of a Sequential model.
struct SequentialLayers {
  std::string name;
  std::vector<LayerPtr> layers;
};
StatusOr<SequentialLayers> LayersFromJson(std::string_view json);

}  // namespace slipway::nn
