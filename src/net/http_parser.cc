// SPDX-License-Identifier: Apache-2.0
#include "net/http_parser.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/strings.h"

namespace slipway::net {
namespace {

constexpr size_t kMaxFields = 128;
constexpr size_t kMaxChunkOverhead = 16 * 1024;

constexpr std::array<bool, 256> kTokenCharacters = [] {
  std::array<bool, 256> table{};
  for (int c = '0'; c <= '9'; ++c) table[c] = true;
  for (int c = 'a'; c <= 'z'; ++c) table[c] = table[c - 32] = true;
  for (const unsigned char c : std::string_view("!#$%&'*+-.^_`|~")) table[c] = true;
  return table;
}();

// Visible characters, blanks, tabs and bytes above ASCII.
constexpr std::array<bool, 256> kValueCharacters = [] {
  std::array<bool, 256> table{};
  for (int c = 0x20; c < 256; ++c) table[c] = c != 0x7f;
  table['\t'] = true;
  return table;
}();

bool All(std::string_view text, const std::array<bool, 256>& table) {
  for (const char c : text)
    if (!table[static_cast<unsigned char>(c)]) return false;
  return true;
}

bool EqualsLower(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] + 32) : text[i];
    if (c != lower[i]) return false;
  }
  return true;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

bool IsHttpToken(std::string_view text) { return !text.empty() && All(text, kTokenCharacters); }
bool IsHttpFieldValue(std::string_view text) { return All(text, kValueCharacters); }

void HttpHeadParser::Reset() {
  scanned_ = line_start_ = 0;
  first_line_done_ = blank_line_seen_ = false;
  fields_.clear();
  status_ = hosts_ = error_status_ = 0;
  content_length_.reset();
  chunked_ = expect_continue_ = false;
  keep_alive_ = true;
}

ParseState HttpHeadParser::Fail(int status, std::string_view why) {
  error_status_ = status;
  error_ = why;
  return ParseState::kError;
}

ParseState HttpHeadParser::Parse(std::string_view input) {
  for (;;) {
    const void* found = scanned_ < input.size()
                            ? std::memchr(input.data() + scanned_, '\n', input.size() - scanned_)
                            : nullptr;
    const size_t end =
        found != nullptr ? static_cast<const char*>(found) - input.data() : input.size();
    if (end >= max_bytes_) return Fail(431, "The request's headers are too large.");
    scanned_ = end;
    if (found == nullptr) return ParseState::kMore;
    if (end == line_start_ || input[end - 1] != '\r')
      return Fail(400, "A line ends with LF alone; CR LF is wanted.");
    const size_t begin = line_start_;
    scanned_ = line_start_ = end + 1;
    const ParseState state = Line(input, begin, end - 1);
    if (state != ParseState::kMore) return state;
  }
}

ParseState HttpHeadParser::Line(std::string_view input, size_t begin, size_t end) {
  const std::string_view line = input.substr(begin, end - begin);
  if (first_line_done_) return line.empty() ? Finish() : HeaderLine(line, begin);
  // RFC 9112 2.2: old clients send an empty line behind a body.
  if (line.empty() && kind_ == Kind::kRequest && !blank_line_seen_) {
    blank_line_seen_ = true;
    return ParseState::kMore;
  }
  first_line_done_ = true;
  return kind_ == Kind::kRequest ? RequestLine(line, begin) : StatusLine(line);
}

ParseState HttpHeadParser::RequestLine(std::string_view line, size_t begin) {
  const size_t space = line.find(' ');
  const size_t last = line.rfind(' ');
  if (space == std::string_view::npos || space == 0 || last <= space + 1)
    return Fail(400, "The request line is not METHOD TARGET HTTP/1.1.");
  const std::string_view method = line.substr(0, space);
  const std::string_view target = line.substr(space + 1, last - space - 1);
  const std::string_view version = line.substr(last + 1);
  if (method.size() > 32 || !All(method, kTokenCharacters))
    return Fail(400, "The request's method is not a token.");
  for (const char c : target)
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f)
      return Fail(400, "The request's target has a blank or a control character.");
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    const bool other = version.size() == 8 && version.starts_with("HTTP/");
    return other ? Fail(505, "Only HTTP/1.1 and HTTP/1.0 are spoken here.")
                 : Fail(400, "The request line does not end with a version of HTTP.");
  }
  minor_ = version.back() - '0';
  keep_alive_ = minor_ == 1;
  first_ = {static_cast<uint32_t>(begin), static_cast<uint32_t>(method.size())};
  second_ = {static_cast<uint32_t>(begin + space + 1), static_cast<uint32_t>(target.size())};
  return ParseState::kMore;
}

ParseState HttpHeadParser::StatusLine(std::string_view line) {
  const bool shape = line.size() >= 12 && line.starts_with("HTTP/1.") && line[8] == ' ' &&
                     (line[7] == '0' || line[7] == '1') && (line.size() == 12 || line[12] == ' ');
  if (!shape || !All(line, kValueCharacters)) return Fail(400, "The status line is malformed.");
  for (const char c : line.substr(9, 3)) {
    if (c < '0' || c > '9') return Fail(400, "The status is not a number.");
    status_ = status_ * 10 + (c - '0');
  }
  minor_ = line[7] - '0';
  keep_alive_ = minor_ == 1;
  return ParseState::kMore;
}

ParseState HttpHeadParser::HeaderLine(std::string_view line, size_t begin) {
  if (fields_.size() == kMaxFields) return Fail(431, "The request has too many header fields.");
  if (line.front() == ' ' || line.front() == '\t')
    return Fail(400, "A header field is folded over two lines.");
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0)
    return Fail(400, "A header field has no name and colon.");
  const std::string_view name = line.substr(0, colon);
  if (!All(name, kTokenCharacters))
    return Fail(400, "The name of a header field has a character that is not allowed.");
  const std::string_view value = Trim(line.substr(colon + 1));
  if (!All(value, kValueCharacters))
    return Fail(400, "The value of a header field has a control character.");
  fields_.push_back({{static_cast<uint32_t>(begin), static_cast<uint32_t>(colon)},
                     {static_cast<uint32_t>(begin + (value.data() - line.data())),
                      static_cast<uint32_t>(value.size())}});
  return Interpret(name, value);
}

ParseState HttpHeadParser::Interpret(std::string_view name, std::string_view value) {
  switch (name.size()) {
    case 4:
      if (EqualsLower(name, "host") && ++hosts_ > 1)
        return Fail(400, "The request has several Host fields.");
      break;
    case 6:
      if (EqualsLower(name, "expect")) {
        if (!EqualsLower(value, "100-continue"))
          return Fail(417, "The only expectation known here is 100-continue.");
        expect_continue_ = minor_ == 1;
      }
      break;
    case 10:
      if (EqualsLower(name, "connection")) Connection(value);
      break;
    case 14:
      if (EqualsLower(name, "content-length")) return ContentLength(value);
      break;
    case 17:
      if (EqualsLower(name, "transfer-encoding")) return TransferEncoding(value);
      break;
    default:
      break;
  }
  return ParseState::kMore;
}

ParseState HttpHeadParser::ContentLength(std::string_view value) {
  if (content_length_) return Fail(400, "There are several Content-Length fields.");
  const bool digits =
      !value.empty() && value.size() <= 18 &&
      std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits) return Fail(400, "Content-Length is not a number of bytes.");
  content_length_ = static_cast<uint64_t>(*ParseInt64(value));
  return ParseState::kMore;
}

ParseState HttpHeadParser::TransferEncoding(std::string_view value) {
  if (chunked_) return Fail(400, "There are several Transfer-Encoding fields.");
  if (minor_ == 0) return Fail(400, "HTTP/1.0 has no Transfer-Encoding.");
  if (!EqualsLower(value, "chunked"))
    return Fail(501, "The only transfer coding known here is chunked.");
  chunked_ = true;
  return ParseState::kMore;
}

void HttpHeadParser::Connection(std::string_view value) {
  for (const std::string_view piece : StrSplit(value, ',')) {
    const std::string_view option = Trim(piece);
    if (EqualsLower(option, "close")) keep_alive_ = false;
    if (EqualsLower(option, "keep-alive") && minor_ == 0) keep_alive_ = true;
  }
}

ParseState HttpHeadParser::Finish() {
  if (content_length_ && chunked_)
    return Fail(400, "There are both Content-Length and Transfer-Encoding.");
  if (kind_ == Kind::kRequest && minor_ == 1 && hosts_ == 0)
    return Fail(400, "The request has no Host field.");
  return ParseState::kDone;
}

void HttpHeadParser::Headers(std::string_view head, std::vector<HttpHeader>* out) const {
  out->clear();
  for (const Field& field : fields_) out->push_back({field.name.In(head), field.value.In(head)});
}

bool ChunkDecoder::Fail(int status, std::string_view why) {
  error_status_ = status;
  error_ = why;
  return false;
}

ParseState ChunkDecoder::Feed(std::string_view input, size_t* consumed, Bytes* out) {
  size_t i = 0;
  while (i < input.size() && state_ != State::kDone) {
    if (state_ == State::kData) {
      const size_t n = static_cast<size_t>(std::min<uint64_t>(left_, input.size() - i));
      out->Append(input.substr(i, n));
      i += n;
      if ((left_ -= n) == 0) state_ = State::kDataCr;
    } else if (!Step(input[i++])) {
      *consumed = i;
      return ParseState::kError;
    }
  }
  *consumed = i;
  return state_ == State::kDone ? ParseState::kDone : ParseState::kMore;
}

bool ChunkDecoder::SizeDigit(char c) {
  const int digit = HexValue(c);
  if (digit < 0 || ++digits_ > 15) return Fail(400, "The size of a chunk is malformed.");
  left_ = left_ * 16 + static_cast<uint64_t>(digit);
  state_ = State::kSize;
  return true;
}

bool ChunkDecoder::Step(char c) {
  const auto expect = [&](char wanted, State next) {
    state_ = next;
    return c == wanted || Fail(400, "A chunk is not framed by CR LF.");
  };
  const auto text = [&] {
    if (++overhead_ > kMaxChunkOverhead)
      return Fail(400, "Chunk extensions or trailers are too large.");
    return kValueCharacters[static_cast<unsigned char>(c)] ||
           Fail(400, "A control character stands between chunks.");
  };
  switch (state_) {
    case State::kSizeStart:
      left_ = 0;
      digits_ = 0;
      return SizeDigit(c);
    case State::kSize:
      if (c == '\r') return expect('\r', State::kSizeLf);
      if (c != ';') return SizeDigit(c);
      state_ = State::kExtension;
      return true;
    case State::kExtension:
      return c == '\r' ? expect('\r', State::kSizeLf) : text();
    case State::kSizeLf:
      if (left_ > max_bytes_ - total_) return Fail(413, "The body is too large.");
      total_ += left_;
      return expect('\n', left_ == 0 ? State::kTrailerStart : State::kData);
    case State::kDataCr:
      return expect('\r', State::kDataLf);
    case State::kDataLf:
      return expect('\n', State::kSizeStart);
    case State::kTrailerStart:
      if (c == '\r') return expect('\r', State::kEndLf);
      state_ = State::kTrailer;
      return (c != ' ' && c != '\t' && text()) || Fail(400, "A trailer is malformed.");
    case State::kTrailer:
      return c == '\r' ? expect('\r', State::kTrailerLf) : text();
    case State::kTrailerLf:
      return expect('\n', State::kTrailerStart);
    case State::kEndLf:
      return expect('\n', State::kDone);
    default:
      return false;
  }
}

}  // namespace slipway::net
