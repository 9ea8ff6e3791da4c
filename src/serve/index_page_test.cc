// SPDX-License-Identifier: Apache-2.0
#include "serve/index_page.h"

#include "gmock/gmock.h"
#include "serve/test_models.h"

namespace slipway::serve {
namespace {

using ::testing::HasSubstr;

class IndexPageTest : public ServeTestBase {};

TEST_F(IndexPageTest, EachSignatureHasARequestThatWorks) {
  WriteModel(3, SumModel());
  ServerOptions options = Options();
  options.model_name = "a <b>";
  StartServer(options);
  const auto page = Rest()->Request("GET", "/");
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(page->status, 200);
  EXPECT_THAT(std::string(page->Header("content-type")), HasSubstr("text/html"));
  EXPECT_THAT(page->body, HasSubstr("<h2>a &lt;b&gt;</h2>"));
  EXPECT_THAT(page->body, HasSubstr("version 3: AVAILABLE"));
  EXPECT_THAT(page->body, HasSubstr("<li>in <b>a</b>: float32 "));
  const std::string body =
      R"({"signature_name": "serving_default", "inputs": {"a": [0.0], "b": [0.0]}})";
  std::string shown;
  for (const char c : body) shown += c == '"' ? "&quot;" : std::string(1, c);
  EXPECT_THAT(page->body, HasSubstr(StrCat("curl -d '", shown, "' 'http://")));
  EXPECT_THAT(page->body, HasSubstr("/v1/models/a%20%3Cb%3E/versions/3:predict'"));
  const auto answer = Rest()->Request("POST", "/v1/models/a%20%3Cb%3E/versions/3:predict", body);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->status, 200) << answer->body;
}

}  // namespace
}  // namespace slipway::serve
