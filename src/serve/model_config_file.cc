// SPDX-License-Identifier: Apache-2.0
#include "serve/model_config_file.h"

#include <algorithm>

#include "base/strings.h"
#include "proto/model_server_config.pb.h"
#include "serve/text_format.h"

namespace slipway::serve {
namespace {

namespace pb = tensorflow::serving;

constexpr std::string_view kPlatform = "tensorflow";

VersionPolicy PolicyFrom(const pb::FileSystemStoragePathSourceConfig::ServableVersionPolicy& in) {
  VersionPolicy policy;
  if (in.has_all()) policy.kind = VersionPolicy::Kind::kAll;
  if (in.has_latest()) policy.latest = std::max<uint32_t>(1, in.latest().num_versions());
  if (in.has_specific()) {
    policy.kind = VersionPolicy::Kind::kSpecific;
    policy.specific.assign(in.specific().versions().begin(), in.specific().versions().end());
    std::ranges::sort(policy.specific);
  }
  return policy;
}

Status CheckPlatform(const pb::ModelConfig& in) {
  if (in.model_type() != pb::MODEL_TYPE_UNSPECIFIED) {
    if (!in.model_platform().empty()) {
      return InvalidArgumentError(StrCat("Model ", in.name(),
                                         " has both model_platform and the deprecated model_type; "
                                         "keep model_platform"));
    }
    if (in.model_type() == pb::TENSORFLOW) return OkStatus();
    return InvalidArgumentError(StrCat(
        "Model ", in.name(), " is of model_type OTHER; wanted model_platform: \"tensorflow\""));
  }
  if (in.model_platform().empty()) {
    return InvalidArgumentError(
        StrCat("Illegal setting neither ModelServerConfig::model_type nor "
               "ModelServerConfig::model_platform. Model ",
               in.name(), " wants model_platform: \"tensorflow\""));
  }
  if (in.model_platform() == kPlatform) return OkStatus();
  return InvalidArgumentError(StrCat("Illegal to change a model's platform: model ", in.name(),
                                     " is of platform ", Quoted(in.model_platform()),
                                     "; this server has the platform \"tensorflow\""));
}

StatusOr<ModelConfig> ModelFrom(const pb::ModelConfig& in) {
  RETURN_IF_ERROR(CheckPlatform(in));
  if (!in.base_path().starts_with('/') && in.base_path().find("://") == std::string::npos) {
    return InvalidArgumentError(
        StrCat("Expected model ", in.name(),
               " to have an absolute path or URI; got base_path()=", in.base_path()));
  }
  if (in.has_logging_config()) {
    return UnimplementedError(StrCat("No request-logger-creator provided. Model ", in.name(),
                                     " has a logging_config; this server does not log requests"));
  }
  return ModelConfig{in.name(),
                     in.base_path(),
                     PolicyFrom(in.model_version_policy()),
                     {in.version_labels().begin(), in.version_labels().end()}};
}

}  // namespace

Status CheckModels(std::span<const ModelConfig> models) {
  std::vector<std::string_view> names;
  for (const ModelConfig& model : models) {
    if (model.name.empty()) {
      return InvalidArgumentError(
          StrCat("The model at '", model.base_path, "' has no name; give one"));
    }
    if (std::ranges::find(names, model.name) != names.end()) {
      return InvalidArgumentError(StrCat("Illegal to list model ", model.name,
                                         " multiple times in config; rename or remove one"));
    }
    names.push_back(model.name);
  }
  return OkStatus();
}

StatusOr<ModelList> ModelsFrom(const pb::ModelServerConfig& config) {
  if (config.has_custom_model_config())
    return UnimplementedError("This server knows no custom_model_config; use model_config_list");
  if (!config.has_model_config_list()) return ModelList();
  std::vector<ModelConfig> models;
  for (const pb::ModelConfig& in : config.model_config_list().config()) {
    ASSIGN_OR_RETURN(ModelConfig model, ModelFrom(in));
    models.push_back(std::move(model));
  }
  RETURN_IF_ERROR(CheckModels(models));
  return ModelList(std::move(models));
}

StatusOr<ModelList> ParseModelConfigFile(std::string_view text) {
  pb::ModelServerConfig config;
  RETURN_IF_ERROR(ParseTextFormat(text, &config));
  return ModelsFrom(config);
}

}  // namespace slipway::serve
