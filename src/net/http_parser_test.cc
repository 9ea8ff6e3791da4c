// SPDX-License-Identifier: Apache-2.0
#include "net/http_parser.h"

#include <string>

#include "base/strings.h"
#include "gtest/gtest.h"

namespace slipway::net {
namespace {

constexpr size_t kLimit = 1024;

// "method target headers...", or "status" of the error, or "more".
std::string Summary(HttpHeadParser& parser, std::string_view text, ParseState state) {
  if (state == ParseState::kMore) return "more";
  if (state == ParseState::kError) return StrCat(parser.error_status());
  std::vector<HttpHeader> headers;
  parser.Headers(text, &headers);
  std::string out = StrCat(parser.method(text), " ", parser.target(text));
  for (const HttpHeader& h : headers) StrAppend(&out, " [", h.name, "=", h.value, "]");
  if (parser.content_length()) StrAppend(&out, " length=", *parser.content_length());
  if (parser.chunked()) out += " chunked";
  if (!parser.keep_alive()) out += " close";
  if (parser.expect_continue()) out += " expect";
  return out;
}

std::string Whole(std::string_view text) {
  HttpHeadParser parser(HttpHeadParser::Kind::kRequest, kLimit);
  return Summary(parser, text, parser.Parse(text));
}

std::string ByteByByte(std::string_view text) {
  HttpHeadParser parser(HttpHeadParser::Kind::kRequest, kLimit);
  for (size_t n = 1; n <= text.size(); ++n) {
    const std::string moved(text.substr(0, n));  // the buffer moves as it grows
    const ParseState state = parser.Parse(moved);
    if (state != ParseState::kMore) return Summary(parser, moved, state);
  }
  return "more";
}

struct Case {
  const char* request;
  const char* want;
};

TEST(HttpHeadParser, ReadsWhatIsAllowed) {
  const Case cases[] = {
      {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / [Host=a]"},
      {"\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / [Host=a]"},
      {"POST /v1/models/m:predict?x=%20 HTTP/1.1\r\nhost:a:80\r\nContent-Length:  12 \r\n\r\nbody",
       "POST /v1/models/m:predict?x=%20 [host=a:80] [Content-Length=12] length=12"},
      {"GET / HTTP/1.0\r\n\r\n", "GET / close"},
      {"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", "GET / [Connection=Keep-Alive]"},
      {"GET / HTTP/1.1\r\nHost:\r\nConnection: foo , Close\r\n\r\n",
       "GET / [Host=] [Connection=foo , Close] close"},
      {"PUT /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\nExpect: 100-continue\r\n\r\n",
       "PUT /x [Host=a] [Transfer-Encoding=Chunked] [Expect=100-continue] chunked expect"},
      {"OPTIONS * HTTP/1.1\r\nHost: a\r\nX: \t a\tb \t\r\n\r\n", "OPTIONS * [Host=a] [X=a\tb]"},
      {"GET /\xc3\xa4 HTTP/1.1\r\nHost: a\r\nX: \xff\r\n\r\n", "GET /\xc3\xa4 [Host=a] [X=\xff]"},
      {"GET / HTTP/1.1\r\nHost: a\r\n", "more"},
      {"GET", "more"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Whole(c.request), c.want) << Quoted(c.request);
    EXPECT_EQ(ByteByByte(c.request), c.want) << Quoted(c.request);
  }
}

TEST(HttpHeadParser, RefusesWhatTwoParsersMightReadDifferently) {
  const Case cases[] = {
      {"GET / HTTP/1.1\nHost: a\n\n", "400"},
      {"GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", "400"},
      {"\n", "400"},
      {"\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\n Host: a\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\nHost : a\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\nHost\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\n: a\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\nHost: a\r\nX: a\x01\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", "400"},
      {"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", "400"},
      {"GET / x HTTP/1.1\r\nHost: a\r\n\r\n", "400"},
      {"GET /\r\nHost: a\r\n\r\n", "400"},
      {"G(T / HTTP/1.1\r\nHost: a\r\n\r\n", "400"},
      {"GET /\x7f HTTP/1.1\r\nHost: a\r\n\r\n", "400"},
      {"GET / http/1.1\r\nHost: a\r\n\r\n", "400"},
      {"GET / HTTP/1.2\r\nHost: a\r\n\r\n", "505"},
      {"GET / HTTP/3.0\r\nHost: a\r\n\r\n", "505"},
      {"P / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", "400"},
      {"P / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\n", "400"},
      {"P / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n", "400"},
      {"P / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", "400"},
      {"P / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x1\r\n\r\n", "400"},
      {"P / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n", "400"},
      {"P / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999999999999999\r\n\r\n", "400"},
      {"P / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "400"},
      {"P / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", "400"},
      {"P / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n",
       "400"},
      {"P / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "501"},
      {"P / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n", "501"},
      {"P / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", "400"},
      {"P / HTTP/1.1\r\nHost: a\r\nExpect: 200-ok\r\n\r\n", "417"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Whole(c.request), c.want) << Quoted(c.request);
    EXPECT_EQ(ByteByByte(c.request), c.want) << Quoted(c.request);
  }
}

TEST(HttpHeadParser, LimitsSizeAndNumberOfFields) {
  const std::string start = "GET / HTTP/1.1\r\nHost: a\r\n";
  EXPECT_EQ(Whole(start + "X: " + std::string(kLimit, 'x') + "\r\n\r\n"), "431");
  EXPECT_EQ(Whole(std::string(kLimit, 'x')), "431") << "no line end at all";
  std::string many = start;
  for (int i = 0; i < 130; ++i) many += "a:\r\n";
  EXPECT_EQ(Whole(many + "\r\n"), "431");
  // Bytes behind the head do not count.
  EXPECT_EQ(Whole(start + "\r\n" + std::string(2 * kLimit, 'x')), "GET / [Host=a]");
}

TEST(HttpHeadParser, ReadsResponses) {
  HttpHeadParser parser(HttpHeadParser::Kind::kResponse, kLimit);
  EXPECT_EQ(parser.Parse("HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\n"), ParseState::kDone);
  EXPECT_EQ(parser.status(), 404);
  EXPECT_EQ(parser.content_length(), 3u);
  parser.Reset();
  EXPECT_EQ(parser.Parse("HTTP/1.1 200\r\n\r\n"), ParseState::kDone);
  EXPECT_EQ(parser.status(), 200);
  for (const char* bad : {"HTTP/2 200 OK\r\n\r\n", "HTTP/1.1 2x0 OK\r\n\r\n", "SSH-2.0\r\n\r\n"}) {
    parser.Reset();
    EXPECT_EQ(parser.Parse(bad), ParseState::kError) << bad;
  }
}

// "decoded|rest", "more" or the status of the error.
std::string Decode(std::string_view text, size_t step, uint64_t limit = 100) {
  ChunkDecoder decoder(limit);
  Bytes out;
  while (!text.empty()) {
    size_t used = 0;
    const std::string_view piece = text.substr(0, step);
    const ParseState state = decoder.Feed(piece, &used, &out);
    if (state == ParseState::kError) return StrCat(decoder.error_status());
    text.remove_prefix(used);
    if (state == ParseState::kDone) return StrCat(out.view(), "|", text);
    if (used != piece.size()) return "stuck";
  }
  return "more";
}

TEST(ChunkDecoder, DecodesAndRefuses) {
  const Case cases[] = {
      {"5\r\nhello\r\n0\r\n\r\nGET", "hello|GET"},
      {"1;a=b\r\nx\r\n00A\r\n0123456789\r\n000\r\n\r\n", "x0123456789|"},
      {"0\r\nTrailer: x\r\nOther:y\r\n\r\n", "|"},
      {"5\r\nhel", "more"},
      {"5\r\nhello\r\n0\r\n", "more"},
      {"\r\n", "400"},
      {"5 \r\nhello\r\n", "400"},
      {"0x5\r\nhello\r\n", "400"},
      {"-1\r\n", "400"},
      {"5\nhello\r\n", "400"},
      {"5\r\nhelloX\r\n", "400"},
      {"5\r\nhello\n0\r\n\r\n", "400"},
      {"5;\n\r\nhello\r\n", "400"},
      {"0\r\n folded\r\n\r\n", "400"},
      {"0\r\nTrailer: x\n\r\n", "400"},
      {"fffffffffffffffff\r\n", "400"},
      {"fffffffffffffff\r\n", "413"},
      {"65\r\n", "413"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Decode(c.request, 1000), c.want) << Quoted(c.request);
    EXPECT_EQ(Decode(c.request, 1), c.want) << Quoted(c.request);
  }
  EXPECT_EQ(Decode("40\r\n" + std::string(64, 'x') + "\r\n40\r\n", 7), "413")
      << "the limit holds for all chunks together";
  EXPECT_EQ(Decode("1;" + std::string(20'000, 'x'), 1000), "400");
}

}  // namespace
}  // namespace slipway::net
