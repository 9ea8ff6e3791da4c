// SPDX-License-Identifier: Apache-2.0
#ifdef SLIPWAY_TRAINING
#include "cli/command.h"
#include "train/recipe.h"

namespace slipway::cli {

int RunTrain(Args args) {
  train::RecipeOptions options;
  FlagSet flags(
      "slipway train FILE.yaml [--set key=value]",
      "Trains the model that a YAML file describes with Keras's names, on the data that it "
      "names, and saves it. docs/train.md describes the file.",
      {{"set", &options.overrides, "overrides a key of the file: fit.epochs=3"},
       {"threads", &options.threads, "threads to train with; 0 is one a processor"}});
  const Parsed parsed = ParseFlags(&flags, "train", args, 1);
  if (parsed.exit) return *parsed.exit;
  if (parsed.positional.empty()) {
    return FailUsage("train", InvalidArgumentError("the YAML file is missing"));
  }
  options.path = parsed.positional[0];
  const Status status = train::RunRecipe(options);
  return status.ok() ? kDone : Fail(status);
}

}  // namespace slipway::cli
#endif
