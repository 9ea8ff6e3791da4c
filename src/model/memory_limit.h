// SPDX-License-Identifier: Apache-2.0
//
// What a model's variables and constants may take together (LoadOptions::max_model_bytes).
#pragma once

#include <cstdint>
#include <string>

#include "base/env.h"
#include "ir/graph.h"
#include "kernels/resources.h"
#include "slipway/status.h"

namespace slipway::model {

class MemoryLimit {
 public:
  // 0: no limit. Constants of `graph` count; those of functions are held to the limit when they are
  // read.
  MemoryLimit(uint64_t max_bytes, const ir::Graph& graph);

  // RESOURCE_EXHAUSTED if restoring the checkpoint at `prefix` would take more. Reads its index.
  Status CheckCheckpoint(Env* env, const std::string& prefix) const;
  // The same for the variables as they are, with what initialisers made.
  Status CheckVariables(const kernels::ResourceContainer& resources) const;

 private:
  Status Check(uint64_t variable_bytes) const;

  uint64_t max_bytes_;
  uint64_t constant_bytes_ = 0;
};

}  // namespace slipway::model
