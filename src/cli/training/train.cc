// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"
#include "cli/command.h"
#include "cli/training/commands.h"
#include "exec/device.h"
#include "train/recipe.h"

namespace slipway::cli {
namespace {

constexpr int32_t kMaxThreads = 1024;

}  // namespace

int RunTrain(Args args) {
  train::RecipeOptions options;
  int32_t threads = 0;
  FlagSet flags(
      "slipway train FILE.yaml [flags]",
      "Trains the model that a YAML file describes with Keras's names, on the data that it "
      "names, and saves it. docs/train.md describes the file.",
      {{"set", &options.set, "sets a key of the file, such as fit.epochs=3; may be repeated"},
       {"threads", &threads, "threads to train with; 0 is one a processor"}});
  const Parsed parsed = ParseFlags(&flags, "train", args, 1);
  if (parsed.exit) return *parsed.exit;
  if (threads < 0 || threads > kMaxThreads) {
    return FailUsage("train", InvalidArgumentError(
                                  StrCat("--threads is ", threads, ", wanted 0 to ", kMaxThreads)));
  }
  if (parsed.positional.empty()) {
    return FailUsage("train", InvalidArgumentError("the YAML file is missing"));
  }
  options.file = parsed.positional[0];
  const Status configured =
      exec::Device::ConfigureDefaultCpu({.intra_op_threads = threads, .inter_op_threads = threads});
  if (!configured.ok()) return Fail(configured);
  const auto result = train::RunRecipe(options);
  return result.ok() ? kDone : Fail(result.status());
}

}  // namespace slipway::cli
