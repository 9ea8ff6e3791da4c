// SPDX-License-Identifier: Apache-2.0
//
// Answers about models, not predictions: metadata and status, as JSON (REST) and as serialised
// protobuf messages (gRPC). Off the hot path, so these use protobuf's own classes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "serve/model_config.h"
#include "serve/model_lifecycle.h"
#include "serve/servable.h"
#include "slipway/status.h"

namespace slipway::serve {

// {"model_version_status": [{"version": "123", "state": "AVAILABLE", "status": {…}}]}, as
// TensorFlow Serving prints it.
std::string StatusJson(std::span<const VersionStatus> rows);
// GetModelStatusResponse.
std::string StatusMessage(std::span<const VersionStatus> rows);

// {"model_spec": {…}, "metadata": {"signature_def": {"signature_def": {…}}}}.
std::string MetadataJson(std::string_view model, const Servable& servable);
// GetModelMetadataResponse.
std::string MetadataMessage(std::string_view model, const Servable& servable);

// {"models": [{"name": "m"}]}.
std::string ModelListJson(std::span<const std::string> names);

// What a GetModelMetadataRequest or a GetModelStatusRequest asks for; owns its text.
struct ModelQuery {
  bool has_model_spec = false;
  std::string name;
  std::optional<int64_t> version;
  std::string label;
  std::vector<std::string> metadata_fields;
};
// INVALID_ARGUMENT if the bytes are no such message.
StatusOr<ModelQuery> ParseMetadataRequest(std::string_view bytes);
StatusOr<ModelQuery> ParseStatusRequest(std::string_view bytes);

// The models of a ReloadConfigRequest. INVALID_ARGUMENT if the bytes are no such message or hold no
// list of models, and as ModelsFrom.
StatusOr<std::vector<ModelConfig>> ParseReloadRequest(std::string_view bytes);
// ReloadConfigResponse, of success.
std::string ReloadMessage();

}  // namespace slipway::serve
