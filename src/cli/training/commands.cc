// SPDX-License-Identifier: Apache-2.0
#include "cli/training/commands.h"

#include "base/env.h"
#include "cli/predict_flags.h"
#include "data/idx.h"

namespace slipway::cli {

std::span<const Command> TrainingCommands() {
  static constexpr Command kCommands[] = {
      {"train", "train a model that a YAML file describes", RunTrain},
  };
  return kCommands;
}

StatusOr<Tensor> ReadIdxFile(const std::string& path) {
  return data::ReadIdx(Env::Default(), path);
}

}  // namespace slipway::cli
