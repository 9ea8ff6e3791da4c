// SPDX-License-Identifier: Apache-2.0
#include "serve/container_routes.h"

#include <algorithm>

#include "base/strings.h"
#include "serve/server.h"

namespace slipway::serve {
namespace {

using Kind = ContainerRoute::Kind;

constexpr int32_t kContainerPort = 8080;  // both platforms' default

}  // namespace

Status UseVertexRoutes(const std::function<const char*(const char*)>& getenv,
                       ServerOptions* options) {
  const auto variable = [&](const char* name, std::string fallback) {
    const char* value = getenv(name);
    return value != nullptr ? std::string(value) : fallback;
  };
  const std::string port = variable("AIP_HTTP_PORT", StrCat(kContainerPort));
  const auto number = ParseInt64(port);
  if (!number || *number < 1 || *number > 65535)
    return InvalidArgumentError(StrCat("AIP_HTTP_PORT is ", Quoted(port), "; wanted 1 to 65535"));
  options->rest_api_port = static_cast<int32_t>(*number);
  for (const auto& [name, fallback, kind] :
       {std::tuple{"AIP_HEALTH_ROUTE", "/health", Kind::kHealth},
        std::tuple{"AIP_PREDICT_ROUTE", "/predict", Kind::kPredict}}) {
    const std::string path = variable(name, fallback);
    if (!path.starts_with('/'))
      return InvalidArgumentError(StrCat(name, " is ", Quoted(path), "; wanted a path with '/'"));
    options->routes.push_back({path, kind});
  }
  return OkStatus();
}

void UseSageMakerRoutes(ServerOptions* options) {
  if (options->rest_api_port == 0) options->rest_api_port = kContainerPort;
  options->routes.push_back({"/ping", Kind::kHealth});
  options->routes.push_back({"/invocations", Kind::kPredict});
}

std::string_view ModelOfAttributes(std::string_view attributes) {
  constexpr std::string_view kKey = "tfs-model-name=";
  for (std::string_view attribute : StrSplit(attributes, ',')) {
    attribute.remove_prefix(std::min(attribute.find_first_not_of(' '), attribute.size()));
    if (attribute.starts_with(kKey)) return attribute.substr(kKey.size());
  }
  return {};
}

}  // namespace slipway::serve
