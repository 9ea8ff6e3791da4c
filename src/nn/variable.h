// SPDX-License-Identifier: Apache-2.0
//
// What is known of a variable before it has a value: layers, optimizers and metrics describe
// theirs; who runs the model gives them memory and first values.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/builder.h"
#include "slipway/initializers.h"
#include "slipway/tensor.h"

namespace slipway::nn {

struct Variable {
  std::string path;  // Keras's: "dense/kernel", "adam/dense_kernel_momentum"; unique in a model
  DType dtype = DType::kFloat;
  Shape shape;
  bool trainable = false;
  // Where the first value comes from: `initial` if valid, else the initialiser (with a seed).
  Initializer initializer;
  Tensor initial;
};
using VariablePtr = std::shared_ptr<Variable>;

// Adds the nodes that compute the first value. Float32 only; numbers as Keras's for the seed.
ir::Output BuildInitialValue(ir::GraphBuilder& builder, const Variable& variable);

// Whether the initialiser draws random numbers, and so needs a seed.
bool IsRandom(const Initializer& initializer);

// Fans of a weight of that shape as Keras counts them.
struct Fans {
  double in = 1;
  double out = 1;
};
Fans ComputeFans(const Shape& shape);

}  // namespace slipway::nn
