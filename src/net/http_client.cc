// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/strings.h"
#include "net/client.h"
#include "net/client_socket.h"
#include "net/http_parser.h"

namespace slipway::net {
namespace {

constexpr size_t kMaxHeadBytes = 256 * 1024;

}  // namespace

struct HttpClient::State {
  State(const std::string& host, int port, ClientOptions options) : socket(host, port, options) {}

  Status Ready();
  Status WriteHead(std::string_view method, std::string_view target, size_t body_size,
                   const Headers& headers);
  StatusOr<ClientResponse> Read(bool head_only, int64_t deadline_ns);
  Status ReadHead(HttpHeadParser* parser, int64_t deadline_ns);
  Status ReadBody(const HttpHeadParser& parser, std::string* body, int64_t deadline_ns);
  Status ReadChunks(std::string* body, int64_t deadline_ns);
  Status ReadSized(size_t size, std::string* body, int64_t deadline_ns);
  Status ReadToEnd(std::string* body, int64_t deadline_ns);
  Status More(int64_t deadline_ns);
  Status TooLarge();

  ClientSocket socket;
  std::string head;
  Bytes in;
};

// A server may close an idle connection at any time, and says so before the next request.
Status HttpClient::State::Ready() {
  if (socket.open() && socket.Peek() == ClientSocket::Idle::kQuiet && in.empty()) return OkStatus();
  in.Clear();
  return socket.Connect();
}

Status HttpClient::State::WriteHead(std::string_view method, std::string_view target,
                                    size_t body_size, const Headers& headers) {
  if (!IsHttpToken(method) || target.empty() ||
      std::any_of(target.begin(), target.end(),
                  [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; }))
    return InvalidArgumentError(StrCat("not a request: ", Quoted(method), " ", Quoted(target)));
  head.clear();
  StrAppend(&head, method, " ", target, " HTTP/1.1\r\nHost: ", socket.Name(), "\r\n");
  for (const auto& [name, value] : headers) {
    if (!IsHttpToken(name) || !IsHttpFieldValue(value))
      return InvalidArgumentError(StrCat("not a header: ", Quoted(name), ": ", Quoted(value)));
    StrAppend(&head, name, ": ", value, "\r\n");
  }
  if (body_size > 0 || method == "POST" || method == "PUT")
    StrAppend(&head, "Content-Length: ", body_size, "\r\n");
  head += "\r\n";
  return OkStatus();
}

Status HttpClient::State::More(int64_t deadline_ns) {
  ASSIGN_OR_RETURN(const size_t n, socket.Receive(&in, deadline_ns));
  return n > 0 ? OkStatus() : socket.Lost("answering");
}

Status HttpClient::State::TooLarge() {
  return socket.Fail(TransportFailure::kProtocol,
                     ResourceExhaustedError(StrCat("the answer of ", socket.Name(),
                                                   " is larger than the limit of ",
                                                   socket.options().max_response_bytes, " bytes")));
}

Status HttpClient::State::ReadHead(HttpHeadParser* parser, int64_t deadline_ns) {
  for (;;) {
    const ParseState parsed = in.empty() ? ParseState::kMore : parser->Parse(in.view());
    if (parsed == ParseState::kMore) {
      RETURN_IF_ERROR(More(deadline_ns));
    } else if (parsed == ParseState::kError) {
      return socket.Fail(TransportFailure::kProtocol,
                         InternalError(StrCat("the answer of ", socket.Name(),
                                              " is not HTTP/1.1: ", parser->error())));
    } else if (parser->status() / 100 == 1) {
      in.Consume(parser->head_size());
      parser->Reset();
    } else {
      return OkStatus();
    }
  }
}

Status HttpClient::State::ReadChunks(std::string* body, int64_t deadline_ns) {
  ChunkDecoder decoder(socket.options().max_response_bytes);
  Bytes decoded;
  for (;;) {
    size_t used = 0;
    const ParseState parsed = decoder.Feed(in.view(), &used, &decoded);
    in.Consume(used);
    if (parsed == ParseState::kError)
      return decoder.error_status() == 413
                 ? TooLarge()
                 : socket.Fail(TransportFailure::kProtocol,
                               InternalError(
                                   StrCat("the answer of ", socket.Name(), ": ", decoder.error())));
    if (parsed == ParseState::kDone) break;
    RETURN_IF_ERROR(More(deadline_ns));
  }
  body->assign(decoded.view());
  return OkStatus();
}

Status HttpClient::State::ReadSized(size_t size, std::string* body, int64_t deadline_ns) {
  while (in.size() < size) RETURN_IF_ERROR(More(deadline_ns));
  body->assign(in.view().substr(0, size));
  in.Consume(size);
  return OkStatus();
}

Status HttpClient::State::ReadToEnd(std::string* body, int64_t deadline_ns) {
  for (;;) {
    ASSIGN_OR_RETURN(const size_t n, socket.Receive(&in, deadline_ns));
    if (n == 0) break;
    if (in.size() > socket.options().max_response_bytes) return TooLarge();
  }
  body->assign(in.view());
  in.Clear();
  return OkStatus();
}

Status HttpClient::State::ReadBody(const HttpHeadParser& parser, std::string* body,
                                   int64_t deadline_ns) {
  if (parser.chunked()) return ReadChunks(body, deadline_ns);
  if (!parser.content_length()) return ReadToEnd(body, deadline_ns);
  if (*parser.content_length() > socket.options().max_response_bytes) return TooLarge();
  return ReadSized(static_cast<size_t>(*parser.content_length()), body, deadline_ns);
}

StatusOr<ClientResponse> HttpClient::State::Read(bool head_only, int64_t deadline_ns) {
  HttpHeadParser parser(HttpHeadParser::Kind::kResponse, kMaxHeadBytes);
  RETURN_IF_ERROR(ReadHead(&parser, deadline_ns));
  ClientResponse response;
  response.status = parser.status();
  std::vector<HttpHeader> fields;
  parser.Headers(in.view(), &fields);
  for (const HttpHeader& field : fields)
    response.headers.emplace_back(AsciiLower(field.name), field.value);
  in.Consume(parser.head_size());
  const bool bodiless = head_only || response.status == 204 || response.status == 304;
  const bool to_end = !bodiless && !parser.chunked() && !parser.content_length();
  if (!bodiless) RETURN_IF_ERROR(ReadBody(parser, &response.body, deadline_ns));
  if (!parser.keep_alive() || to_end) socket.Close();
  return response;
}

std::string_view ClientResponse::Header(std::string_view name) const {
  for (const auto& [key, value] : headers)
    if (key == name) return value;
  return {};
}

HttpClient::HttpClient(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpClient::~HttpClient() = default;

std::unique_ptr<HttpClient> HttpClient::Lazy(const std::string& host, int port,
                                             ClientOptions options) {
  return std::unique_ptr<HttpClient>(new HttpClient(std::make_unique<State>(host, port, options)));
}

StatusOr<std::unique_ptr<HttpClient>> HttpClient::Connect(const std::string& host, int port,
                                                          ClientOptions options) {
  std::unique_ptr<HttpClient> client = Lazy(host, port, options);
  RETURN_IF_ERROR(client->state_->socket.Connect());
  return client;
}

StatusOr<ClientResponse> HttpClient::Request(std::string_view method, std::string_view target,
                                             std::string_view body, const Headers& headers) {
  State& s = *state_;
  s.socket.ClearFailure();
  RETURN_IF_ERROR(s.WriteHead(method, target, body.size(), headers));
  RETURN_IF_ERROR(s.Ready());
  const int64_t deadline =
      Clock::Default()->NowNanos() + std::chrono::nanoseconds(s.socket.options().timeout).count();
  RETURN_IF_ERROR(s.socket.Send(s.head, body, deadline));
  return s.Read(method == "HEAD", deadline);
}

TransportFailure HttpClient::last_failure() const { return state_->socket.failure(); }

}  // namespace slipway::net
