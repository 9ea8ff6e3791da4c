// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace slipway::serve {

// A model to serve: the name clients use, and the directory that holds its version directories.
struct ModelConfig {
  std::string name;
  std::string base_path;
};

}  // namespace slipway::serve
