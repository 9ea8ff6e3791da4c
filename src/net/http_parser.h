// SPDX-License-Identifier: Apache-2.0
//
// Strict incremental parsing of HTTP/1 heads and chunked bodies (RFC 9112).
//
// Why our own and not Beast's: a head is parsed in place, into offsets, with no allocation in
// steady state and no second representation of the fields, and it refuses more. What two
// parsers on the way could read differently is an error here and never repaired: bare LF, line
// folding, blanks before a colon, control characters, both Content-Length and
// Transfer-Encoding, several Content-Length or Host fields, codings other than one "chunked",
// chunk sizes that are not plain hexadecimal.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "net/bytes.h"
#include "net/http.h"

namespace slipway::net {

// A method or the name of a header field may be this.
bool IsHttpToken(std::string_view text);
// The value of a header field may be this: no control characters but the tab.
bool IsHttpFieldValue(std::string_view text);

enum class ParseState { kMore, kDone, kError };

// One head at a time: Parse until it says kDone, read the fields, Reset.
class HttpHeadParser {
 public:
  enum class Kind { kRequest, kResponse };
  HttpHeadParser(Kind kind, size_t max_bytes) : kind_(kind), max_bytes_(max_bytes) {}

  // `input` begins with the first byte of the head, and may have grown or moved since the last
  // call, but not changed. Bytes behind the head are not looked at.
  ParseState Parse(std::string_view input);
  void Reset();

  // After kError: 400, 431, 501 or 505, and why in one sentence.
  int error_status() const { return error_status_; }
  std::string_view error() const { return error_; }

  // After kDone; views into the input given here, which must begin with the head.
  size_t head_size() const { return line_start_; }
  std::string_view method(std::string_view head) const { return first_.In(head); }
  std::string_view target(std::string_view head) const { return second_.In(head); }
  void Headers(std::string_view head, std::vector<HttpHeader>* out) const;
  int status() const { return status_; }  // of a response
  int minor_version() const { return minor_; }

  std::optional<uint64_t> content_length() const { return content_length_; }
  bool chunked() const { return chunked_; }
  bool keep_alive() const { return keep_alive_; }
  bool expect_continue() const { return expect_continue_; }

  // False before the first byte of a head.
  bool started() const { return scanned_ > 0; }

 private:
  struct Span {
    uint32_t begin = 0, size = 0;
    std::string_view In(std::string_view text) const { return text.substr(begin, size); }
  };
  struct Field {
    Span name, value;
  };
  ParseState Fail(int status, std::string_view why);
  ParseState Line(std::string_view input, size_t begin, size_t end);
  ParseState RequestLine(std::string_view line, size_t begin);
  ParseState StatusLine(std::string_view line);
  ParseState HeaderLine(std::string_view line, size_t begin);
  ParseState Interpret(std::string_view name, std::string_view value);
  ParseState ContentLength(std::string_view value);
  ParseState TransferEncoding(std::string_view value);
  void Connection(std::string_view value);
  ParseState Finish();

  const Kind kind_;
  const size_t max_bytes_;
  size_t scanned_ = 0;     // no LF before it behind line_start_
  size_t line_start_ = 0;  // of the line that is not parsed yet
  bool first_line_done_ = false;
  bool blank_line_seen_ = false;
  Span first_, second_;  // method and target
  std::vector<Field> fields_;
  int status_ = 0;
  int minor_ = 1;
  int hosts_ = 0;
  std::optional<uint64_t> content_length_;
  bool chunked_ = false;
  bool keep_alive_ = true;
  bool expect_continue_ = false;
  int error_status_ = 0;
  std::string_view error_;
};

// The body of one message in chunked coding. Extensions and trailers are checked and dropped.
class ChunkDecoder {
 public:
  explicit ChunkDecoder(uint64_t max_bytes) : max_bytes_(max_bytes) {}

  // Decodes from `input` into `out` (appended); *consumed says how far. Once kDone, the rest of
  // the input belongs to the next message.
  ParseState Feed(std::string_view input, size_t* consumed, Bytes* out);

  int error_status() const { return error_status_; }  // 400 or 413
  std::string_view error() const { return error_; }

 private:
  enum class State {
    kSizeStart,
    kSize,
    kExtension,
    kSizeLf,
    kData,
    kDataCr,
    kDataLf,
    kTrailerStart,
    kTrailer,
    kTrailerLf,
    kEndLf,
    kDone
  };
  bool Step(char c);
  bool SizeDigit(char c);
  bool Fail(int status, std::string_view why);

  const uint64_t max_bytes_;
  uint64_t total_ = 0;
  uint64_t left_ = 0;
  int digits_ = 0;
  size_t overhead_ = 0;  // bytes of extensions and trailers
  State state_ = State::kSizeStart;
  int error_status_ = 0;
  std::string_view error_;
};

}  // namespace slipway::net
