// SPDX-License-Identifier: Apache-2.0
//
// The text file `checkpoint` of a directory of checkpoints (CheckpointState of TensorFlow): which
// is the latest, which are kept.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/env.h"
#include "slipway/status.h"

namespace slipway {

struct CheckpointState {
  // Prefixes, relative to the directory or absolute, as they stand in the file.
  std::string model_checkpoint_path;
  std::vector<std::string> all_model_checkpoint_paths;  // oldest first
  std::vector<double> all_model_checkpoint_timestamps;  // seconds; as many, or none
  std::optional<double> last_preserved_timestamp;
};

// NOT_FOUND without the file; DATA_LOSS if it is not such a text.
StatusOr<CheckpointState> ReadCheckpointState(Env* env, const std::string& directory);
// Atomically.
Status WriteCheckpointState(Env* env, const std::string& directory, const CheckpointState& state);

// The prefix of the latest checkpoint, with the directory; NOT_FOUND if there is none. Names the
// newest one that is still there if files were removed by hand.
StatusOr<std::string> LatestCheckpoint(Env* env, const std::string& directory);

}  // namespace slipway
