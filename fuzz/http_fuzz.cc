// SPDX-License-Identifier: Apache-2.0
//
// HTTP/1 heads and chunked bodies. Beyond not crashing: what comes in pieces must be read as
// what comes at once, and every field must lie inside the head.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_parser.h"

namespace {

using namespace slipway::net;

constexpr size_t kMaxHead = 4096;
constexpr uint64_t kMaxBody = 1 << 16;

void Require(bool condition) {
  if (!condition) std::abort();
}

struct Head {
  ParseState state = ParseState::kMore;
  int error = 0;
  std::string fields;
  size_t size = 0;
  bool chunked = false;
};

Head Finish(const HttpHeadParser& parser, ParseState state, std::string_view input) {
  Head head{.state = state};
  if (state == ParseState::kError) head.error = parser.error_status();
  if (state != ParseState::kDone) return head;
  head.size = parser.head_size();
  head.chunked = parser.chunked();
  Require(head.size <= input.size() && head.size <= kMaxHead);
  Require(input.substr(0, head.size).ends_with("\r\n\r\n"));
  std::vector<HttpHeader> headers;
  parser.Headers(input.substr(0, head.size), &headers);
  head.fields = std::string(parser.method(input)) + " " + std::string(parser.target(input));
  for (const HttpHeader& h : headers) {
    Require(IsHttpToken(h.name) && IsHttpFieldValue(h.value));
    head.fields += std::string(h.name) + ":" + std::string(h.value) + "\n";
  }
  return head;
}

Head ParsePieces(HttpHeadParser::Kind kind, std::string_view input, size_t step) {
  HttpHeadParser parser(kind, kMaxHead);
  for (size_t n = step; n < input.size(); n += step) {
    // A copy of just that much, so that a sanitizer sees a read behind it.
    const std::string piece(input.substr(0, n));
    const ParseState state = parser.Parse(piece);
    if (state != ParseState::kMore) return Finish(parser, state, piece);
  }
  const std::string whole(input);
  return Finish(parser, parser.Parse(whole), whole);
}

struct Body {
  ParseState state = ParseState::kMore;
  std::string bytes;
  size_t used = 0;
};

Body Decode(std::string_view input, size_t step) {
  ChunkDecoder decoder(kMaxBody);
  Bytes out;
  Body body;
  while (body.state == ParseState::kMore && body.used < input.size()) {
    const std::string piece(input.substr(body.used, step));
    size_t used = 0;
    body.state = decoder.Feed(piece, &used, &out);
    Require(used <= piece.size() && (body.state != ParseState::kMore || used == piece.size()));
    body.used += used;
  }
  body.bytes = std::string(out.view());
  Require(out.size() <= kMaxBody);
  return body;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const size_t step = 1 + data[0] % 64;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  for (const auto kind : {HttpHeadParser::Kind::kRequest, HttpHeadParser::Kind::kResponse}) {
    const Head whole = ParsePieces(kind, input, input.size() + 1);
    const Head pieces = ParsePieces(kind, input, step);
    Require(whole.state == pieces.state && whole.error == pieces.error);
    Require(whole.fields == pieces.fields && whole.size == pieces.size);
    const std::string_view rest =
        whole.state == ParseState::kDone && whole.chunked ? input.substr(whole.size) : input;
    const Body at_once = Decode(rest, rest.size() + 1);
    const Body split = Decode(rest, step);
    Require(at_once.state == split.state && at_once.bytes == split.bytes &&
            at_once.used == split.used);
  }
  return 0;
}
