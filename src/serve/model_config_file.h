// SPDX-License-Identifier: Apache-2.0
//
// The text of --model_config_file, and the message of a reload call, as models to serve.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "serve/model_config.h"
#include "slipway/status.h"

namespace tensorflow::serving {
class ModelServerConfig;
}

namespace slipway::serve {

// Nothing: the message is empty, which asks for no change.
using ModelList = std::optional<std::vector<ModelConfig>>;

// INVALID_ARGUMENT: "Error parsing text-format tensorflow.serving.ModelServerConfig: 3:12: …", and
// as ModelsFrom.
StatusOr<ModelList> ParseModelConfigFile(std::string_view text);

// INVALID_ARGUMENT: no name, a name twice, a base path that is not absolute, a platform other than
// "tensorflow". UNIMPLEMENTED: a custom_model_config, a logging_config.
StatusOr<ModelList> ModelsFrom(const tensorflow::serving::ModelServerConfig& config);

}  // namespace slipway::serve
