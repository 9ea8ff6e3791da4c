// SPDX-License-Identifier: Apache-2.0
//
// Numbered checkpoints in a directory, as tf.train.CheckpointManager keeps them: ckpt-N.index,
// ckpt-N.data-… and the text file `checkpoint` that names the latest.
//
// Killed at any moment, the directory holds the latest checkpoint or the one before, whole.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/env.h"
#include "slipway/status.h"

namespace slipway::train {

// Not thread safe. Managers of several programs in one directory do no harm to each other's files,
// but each counts the checkpoints of the others as its own: the latest is that of whoever was last.
class CheckpointManager {
 public:
  CheckpointManager(Env* env, std::string directory, int max_to_keep)
      : env_(env), directory_(std::move(directory)), max_to_keep_(max_to_keep) {}

  // Calls write(prefix) for DIRECTORY/ckpt-NUMBER, then makes it the latest and removes those
  // beyond max_to_keep, oldest first.
  Status Save(int64_t number, const std::function<Status(const std::string& prefix)>& write);
  // The newest that is whole (older ones are tried if it is damaged); nothing if there is none.
  StatusOr<std::optional<std::string>> Latest();
  // All of them and the state file.
  Status DeleteAll();

 private:
  std::string PathOf(const std::string& name) const;
  // Both with the directory held.
  Status MakeLatest(const std::string& name);
  Status Delete(const std::string& name);

  Env* env_;
  std::string directory_;
  int max_to_keep_;
};

}  // namespace slipway::train
