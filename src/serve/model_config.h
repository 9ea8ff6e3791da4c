// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "serve/version_policy.h"
#include "slipway/status.h"

namespace slipway::serve {

// A model to serve: the name clients use, the directory that holds its version directories, which
// of them are wanted, and names for some of them.
struct ModelConfig {
  std::string name;
  std::string base_path;
  VersionPolicy policy;
  std::map<std::string, int64_t> labels;
};

// INVALID_ARGUMENT: a model without name, a name used twice.
Status CheckModels(std::span<const ModelConfig> models);

}  // namespace slipway::serve
