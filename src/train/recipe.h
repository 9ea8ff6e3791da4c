// SPDX-License-Identifier: Apache-2.0
//
// Recipes: a training run as a YAML file with Keras's names (`slipway train FILE.yaml`).
//
//   model:                          layers as names, or {Name: settings}, or {Name: main setting}
//     seed: 42
//     layers:
//       - Flatten
//       - Dense: {units: 300, activation: relu}
//       - Dropout: 0.2
//   data:                           see DataSettings
//     fashion_mnist: /usr/share/datasets/fashion-mnist
//     divide_by: 255
//     validation: 5000
//   compile:
//     optimizer: {SGD: {learning_rate: 0.01}}
//     loss: sparse_categorical_crossentropy
//     metrics: [accuracy]
//   fit: {epochs: 10, batch_size: 32}
//   callbacks:
//     - TensorBoard: logs
//   save: models/fashion_mnist/1
//
// Errors begin with FILE:LINE and say what was seen and what is allowed.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "slipway/callbacks.h"
#include "slipway/model.h"

namespace slipway::train {

struct RecipeOptions {
  std::string file;
  // "fit.epochs=3", "compile.optimizer.SGD.learning_rate=0.1", "model.layers.1.Dense.units=50":
  // values that replace or add to those of the file, in YAML's notation.
  std::vector<std::string> set;
  Verbose verbose = Verbose::kAuto;
  // Gets what is to be shown beside the progress; standard output if empty.
  std::function<void(std::string_view)> print;
};

struct RecipeResult {
  History history;
  Logs test;             // empty without test data
  std::string saved_to;  // empty without "save"
};

// Trains, tests and saves. INVALID_ARGUMENT for the file's faults (also: the loss became NaN),
// NOT_FOUND for missing files, other errors as Fit and Save.
StatusOr<RecipeResult> RunRecipe(const RecipeOptions& options);

}  // namespace slipway::train
