// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"
#include "cli/command.h"
#include "cli/predict_flags.h"

namespace slipway::cli {

std::span<const Command> TrainingCommands() { return {}; }

StatusOr<Tensor> ReadIdxFile(const std::string& path) {
  return InvalidArgumentError(
      StrCat("'", path, "' is no .npy file, and this build, without training, reads no IDX"));
}

}  // namespace slipway::cli
