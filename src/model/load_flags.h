// SPDX-License-Identifier: Apache-2.0
//
// Flags about loading that every command has which loads a model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/flags.h"
#include "model/saved_model.h"
#include "slipway/status.h"

namespace slipway::model {

struct LoadFlags {
  int64_t max_model_bytes = 0;
  int32_t max_call_depth = 128;
  int64_t max_loop_iterations = 0;
  std::vector<std::string> custom_op_library;
  std::string passes = "all";

  std::vector<Flag> Table();
  // Puts them into `options`, and loads the libraries of custom ops. INVALID_ARGUMENT names a flag
  // out of range; otherwise as kernels::LoadCustomOpLibrary.
  Status Apply(LoadOptions* options) const;
};

}  // namespace slipway::model
