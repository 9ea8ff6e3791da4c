// SPDX-License-Identifier: Apache-2.0
//
// The "data" of a recipe: where examples come from and how they are split.
#pragma once

#include <optional>
#include <string>

#include "nn/fields.h"
#include "slipway/tensor.h"

namespace slipway::train {

struct DataSettings final : nn::Configurable {
  // A directory with the four files of MNIST and Fashion-MNIST: train-images-idx3-ubyte[.gz]…
  std::string fashion_mnist;
  // Or IDX files by name, compressed or not; test files may be left out.
  std::string train_images;
  std::string train_labels;
  std::string test_images;
  std::string test_labels;
  // Images become float32, divided by this.
  std::optional<double> divide_by;
  // So many examples from the start of the training data are held out for validation.
  int64_t validation = 0;

  const char* class_name() const override { return "data"; }
  void Fields(nn::FieldVisitor& visit) override;
  std::optional<Problem> Check() const override;
};

struct Examples {
  Tensor x;
  Tensor y;
  bool valid() const { return x.valid(); }
};
struct RecipeData {
  Examples train;
  Examples validation;  // may be missing
  Examples test;        // may be missing
};

// NOT_FOUND names a file that is missing, DATA_LOSS one that is damaged.
StatusOr<RecipeData> LoadRecipeData(const DataSettings& settings);

}  // namespace slipway::train
