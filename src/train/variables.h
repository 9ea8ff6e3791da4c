// SPDX-License-Identifier: Apache-2.0
//
// The variables of a model in training: weights, slots, counters, metrics, by path.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/resources.h"
#include "nn/variable.h"
#include "slipway/ops.h"

namespace slipway {

// What a public Variable shares. The initial description stays for its name and shape.
struct Variable::State {
  std::shared_ptr<kernels::Variable> resource;
  std::shared_ptr<nn::Variable> description;
};

namespace train {

// Thread safety: Create alone; the rest from any thread.
class VariableStore {
 public:
  // Makes those that do not exist yet, with their first values (initialisers are run).
  Status Create(std::span<const nn::VariablePtr> variables);
  // Back to the first values, e.g. the zeros of metrics.
  Status Reset(std::span<const nn::VariablePtr> variables);
  // Forgets them (an optimizer's, when the model is compiled again).
  void Remove(std::span<const nn::VariablePtr> variables);

  // NOT_FOUND names the path.
  StatusOr<std::shared_ptr<kernels::Variable>> Find(std::string_view path) const;
  StatusOr<Tensor> Read(std::string_view path) const;
  // INVALID_ARGUMENT names path, shape seen and shape wanted.
  Status Write(std::string_view path, const Tensor& value);

  kernels::ResourceContainer* container() { return &container_; }

 private:
  Status Initialize(std::span<const nn::VariablePtr> variables);
  mutable kernels::ResourceContainer container_;
};

}  // namespace train
}  // namespace slipway
