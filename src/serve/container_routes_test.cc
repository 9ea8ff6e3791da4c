// SPDX-License-Identifier: Apache-2.0
#include "serve/container_routes.h"

#include <map>

#include "gmock/gmock.h"
#include "serve/test_models.h"

namespace slipway::serve {
namespace {

using ::testing::HasSubstr;

class ContainerRoutesTest : public ServeTestBase {
 protected:
  std::string Ask(std::string_view method, std::string_view path, std::string_view body = "",
                  const std::vector<std::pair<std::string, std::string>>& headers = {}) {
    const auto answer = Rest()->Request(method, path, body, headers);
    return answer.ok() ? StrCat(answer->status, " ", answer->body) : answer.status().ToString();
  }
};

constexpr std::string_view kBody = R"({"instances": [2.0]})";

TEST_F(ContainerRoutesTest, SageMaker) {
  WriteVersion(1);
  ServerOptions options = Options();
  UseSageMakerRoutes(&options);
  EXPECT_EQ(options.rest_api_port, ServerOptions::kAnyPort) << "a port that is set stays";
  StartServer(options);
  EXPECT_THAT(Ask("GET", "/ping"), HasSubstr("200 "));
  EXPECT_THAT(Ask("POST", "/invocations", kBody), HasSubstr("\"predictions\": [2.0]"));
  EXPECT_THAT(Ask("POST", "/invocations", kBody,
                  {{"X-Amzn-SageMaker-Custom-Attributes", "tfs-method=predict, tfs-model-name=n"}}),
              HasSubstr("404 "));
  EXPECT_THAT(Ask("GET", "/invocations"), HasSubstr("400 "));
  EXPECT_THAT(Ask("POST", "/v1/models/m:predict", kBody), HasSubstr("\"predictions\": [2.0]"));
}

TEST_F(ContainerRoutesTest, Vertex) {
  std::map<std::string, std::string> environment = {
      {"AIP_HTTP_PORT", "8081"}, {"AIP_PREDICT_ROUTE", "/v1/endpoints/1/deployedModels/2:predict"}};
  const auto getenv = [&](const char* name) {
    const auto it = environment.find(name);
    return it == environment.end() ? nullptr : it->second.c_str();
  };
  WriteVersion(1);
  ServerOptions options = Options();
  ASSERT_TRUE(UseVertexRoutes(getenv, &options).ok());
  EXPECT_EQ(options.rest_api_port, 8081);
  options.rest_api_port = ServerOptions::kAnyPort;
  StartServer(options);
  EXPECT_THAT(Ask("GET", "/health"), HasSubstr("200 "));
  EXPECT_THAT(Ask("POST", "/v1/endpoints/1/deployedModels/2:predict", kBody),
              HasSubstr("\"predictions\": [2.0]"));
  environment["AIP_HTTP_PORT"] = "http";
  EXPECT_THAT(UseVertexRoutes(getenv, &options).ToString(),
              HasSubstr("AIP_HTTP_PORT is \"http\"; wanted 1 to 65535"));
}

TEST_F(ContainerRoutesTest, WithoutTheFlagsThereAreNone) {
  WriteVersion(1);
  StartServer();
  EXPECT_THAT(Ask("GET", "/ping"), HasSubstr("404 "));
  EXPECT_THAT(Ask("POST", "/invocations", kBody), HasSubstr("404 "));
}

}  // namespace
}  // namespace slipway::serve
