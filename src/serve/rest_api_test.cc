// SPDX-License-Identifier: Apache-2.0
//
// REST over a socket: tests/golden/serve/rest.txt, exchange by exchange, and what does not fit in a
// text file.
#include <zlib.h>

#include <fstream>

#include "gmock/gmock.h"
#include "serve/test_models.h"

namespace slipway::serve {
namespace {

using ::testing::HasSubstr;

struct Exchange {
  int line = 0;
  std::string method, target, body;
  int status = 0;
  std::vector<std::string> wanted;  // each a part of the answer without blanks; "=…" all of it
};

// "> METHOD target", "> body", "< status", "< text" for all of the answer, "~ text" for a part.
std::vector<Exchange> ReadExchanges(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  std::vector<Exchange> exchanges;
  std::string line, last;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.size() < 2 || line[0] == '#') {
      last.clear();
      continue;
    }
    const std::string text = line.substr(2);
    if (line[0] == '>' && last.empty()) {
      const size_t blank = text.find(' ');
      exchanges.push_back({number, text.substr(0, blank), text.substr(blank + 1), "", 0, {}});
    } else if (line[0] == '>') {
      exchanges.back().body += text;
    } else if (line[0] == '<' && exchanges.back().status == 0) {
      exchanges.back().status = *ParseInt64(text);
    } else {
      exchanges.back().wanted.push_back((line[0] == '<' ? "=" : "~") + text);
    }
    last = line;
  }
  return exchanges;
}

std::string WithoutBlanks(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

class RestApiTest : public ServeTestBase {};

TEST_F(RestApiTest, Transcripts) {
  WriteModel(123, AffineModel(0.5f, 2.0f));
  StartServer();
  auto client = Rest();
  const auto exchanges = ReadExchanges("tests/golden/serve/rest.txt");
  EXPECT_GT(exchanges.size(), 30u);
  for (const Exchange& exchange : exchanges) {
    const auto answer = client->Request(exchange.method, exchange.target, exchange.body);
    ASSERT_TRUE(answer.ok()) << exchange.line << ": " << answer.status().ToString();
    EXPECT_EQ(answer->status, exchange.status) << "line " << exchange.line << answer->body;
    const std::string body = WithoutBlanks(answer->body);
    for (const std::string& wanted : exchange.wanted) {
      const std::string text = WithoutBlanks(wanted.substr(1));
      if (wanted[0] == '=') {
        EXPECT_EQ(body, text) << "line " << exchange.line;
      } else {
        EXPECT_THAT(body, HasSubstr(text)) << "line " << exchange.line;
      }
    }
    if (exchange.target.starts_with("/v1") && exchange.method != "HEAD") {
      EXPECT_EQ(answer->Header("content-type"), "application/json") << "line " << exchange.line;
    }
  }
}

TEST_F(RestApiTest, SeveralInputsAndOutputs) {
  WriteModel(1, SumModel());
  StartServer();
  auto client = Rest();
  auto answer = client->Request("POST", "/v1/models/m:predict",
                                R"({"instances": [{"b": 1, "a": 3}, {"a": 5, "b": 2}]})");
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(WithoutBlanks(answer->body),
            R"({"predictions":[{"diff":2.0,"sum":4.0},{"diff":3.0,"sum":7.0}]})");
  answer = client->Request("POST", "/v1/models/m:predict",
                           R"({"inputs": {"a": [3.0, 5.0], "b": [1.0, 2.0]}})");
  EXPECT_EQ(WithoutBlanks(answer->body), R"({"outputs":{"diff":[2.0,3.0],"sum":[4.0,7.0]}})");
}

TEST_F(RestApiTest, DeepNestingIsAnErrorAndNoMore) {
  WriteVersion(1);
  StartServer();
  auto client = Rest();
  const std::string deep(100'000, '[');
  const std::string closed(100'000, ']');
  for (const std::string& body :
       {"{\"instances\": " + deep, "{\"instances\": " + deep + "1.0" + closed + "}",
        "{\"inputs\": " + deep, "{\"signature_name\": " + deep + closed + "}"}) {
    const auto answer = client->Request("POST", "/v1/models/m:predict", body);
    ASSERT_TRUE(answer.ok()) << answer.status().ToString();
    EXPECT_EQ(answer->status, 400);
    EXPECT_THAT(answer->body, HasSubstr("error"));
  }
  const auto after = client->Request("POST", "/v1/models/m:predict", R"({"instances": [2.0]})");
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(after->status, 200);
}

TEST_F(RestApiTest, LargeBodiesGoToAWorkerAndComeBackWhole) {
  WriteVersion(1);
  StartServer();
  std::string body = "{\"inputs\": [";
  std::string wanted = "{\"outputs\":[";
  for (int i = 0; i < 100'000; ++i) {
    StrAppend(&body, i == 0 ? "" : ",", 2 * i);
    StrAppend(&wanted, i == 0 ? "" : ",", i + 1, ".0");
  }
  const auto answer = Rest()->Request("POST", "/v1/models/m:predict", body + "]}");
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(WithoutBlanks(answer->body), wanted + "]}");
}

std::string Gzip(std::string_view text) {
  z_stream stream = {};
  deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST_F(RestApiTest, GzipBodies) {
  WriteVersion(1);
  StartServer();
  auto client = Rest();
  const net::HttpClient::Headers headers = {{"Content-Encoding", "gzip"}};
  const std::string body = Gzip(R"({"instances": [2.0]})");
  auto answer = client->Request("POST", "/v1/models/m:predict", body, headers);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(WithoutBlanks(answer->body), R"({"predictions":[2.0]})");
  for (const std::string& bad : {std::string("no gzip"), body.substr(0, body.size() / 2)}) {
    answer = client->Request("POST", "/v1/models/m:predict", bad, headers);
    EXPECT_EQ(answer->status, 400) << answer->body;
  }
  // 200 MB of blanks in a few hundred KB.
  answer =
      client->Request("POST", "/v1/models/m:predict", Gzip(std::string(200'000'000, ' ')), headers);
  EXPECT_EQ(answer->status, 429) << answer->body;
}

TEST_F(RestApiTest, CorsHeadersOnlyWithTheFlag) {
  WriteVersion(1);
  ServerOptions options = Options();
  StartServer(options);
  const net::HttpClient::Headers origin = {{"Origin", "https://example.org"}};
  auto answer = Rest()->Request("OPTIONS", "/v1/models/m:predict", "", origin);
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->Header("access-control-allow-origin"), "");
  server_.reset();
  options.rest_api_enable_cors_support = true;
  StartServer(options);
  answer = Rest()->Request("OPTIONS", "/v1/models/m:predict", "", origin);
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->Header("access-control-allow-methods"), "POST, GET");
  EXPECT_EQ(Rest()->Request("OPTIONS", "/v1/models/m:predict")->status, 400);
  answer = Rest()->Request("POST", "/v1/models/nope:predict", "{}");
  EXPECT_EQ(answer->status, 404);
  EXPECT_EQ(answer->Header("access-control-allow-origin"), "*");
}

TEST_F(RestApiTest, CountsByModelAndOutcome) {
  WriteVersion(1);
  StartServer();
  auto client = Rest();
  for (int i = 0; i < 3; ++i)
    client->Request("POST", "/v1/models/m:predict", R"({"instances": [2.0]})")
        .status()
        .IgnoreError();
  client->Request("POST", "/v1/models/m:predict", R"({"instances": []})").status().IgnoreError();
  client->Request("POST", "/v1/models/evil:predict", "{}").status().IgnoreError();
  for (const char* path : {"/metrics", "/monitoring/prometheus/metrics"}) {
    const auto page = client->Request("GET", path);
    ASSERT_TRUE(page.ok());
    EXPECT_THAT(page->Header("content-type"), ::testing::StartsWith("text/plain"));
    EXPECT_THAT(page->body,
                HasSubstr(":tensorflow:serving:request_count{model_name=\"m\",status=\"OK\"} 3"));
    EXPECT_THAT(page->body, HasSubstr("{model_name=\"m\",status=\"INVALID_ARGUMENT\"} 1"));
    EXPECT_THAT(page->body, HasSubstr(":tensorflow:serving:request_latency_count{model_name=\"m\","
                                      "API=\"Predict\",entrypoint=\"REST\"} 3"));
    EXPECT_THAT(page->body, ::testing::Not(HasSubstr("evil")));
  }
}

}  // namespace
}  // namespace slipway::serve
