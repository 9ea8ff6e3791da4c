// SPDX-License-Identifier: Apache-2.0
#include "net/http.h"

#include <algorithm>

namespace slipway::net {
namespace {

constexpr std::pair<int, std::string_view> kReasons[] = {
    {100, "Continue"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {499, "Client Closed Request"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
};

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Lower(x) == Lower(y); });
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = Lower(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// On the loop's own thread the answer needs no hand-off.
template <typename Deliver>
void Route(AnswerRoute route, Deliver deliver) {
  if (route.loop->InLoop()) {
    if (auto sink = route.sink.lock()) deliver(*sink);
    return;
  }
  EventLoop* loop = route.loop.get();
  loop->Post([route = std::move(route), deliver = std::move(deliver)]() mutable {
    if (auto sink = route.sink.lock()) deliver(*sink);
  });
}

}  // namespace

std::string_view HttpRequest::Header(std::string_view name) const {
  for (const HttpHeader& header : headers)
    if (EqualsIgnoringCase(header.name, name)) return header.value;
  return {};
}

Bytes HttpRequest::TakeBody() {
  Bytes taken = owned_body != nullptr ? std::move(*owned_body) : Bytes(body);
  owned_body = nullptr;
  body = {};
  return taken;
}

std::string PercentDecode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const int high = HexDigit(text[i + 1]), low = HexDigit(text[i + 2]);
      if (high >= 0 && low >= 0) {
        out.push_back(static_cast<char>(high * 16 + low));
        i += 2;
        continue;
      }
    }
    out.push_back(text[i]);
  }
  return out;
}

std::string_view HttpReason(int status) {
  for (const auto& [known, reason] : kReasons)
    if (known == status) return reason;
  return "Unknown";
}

int HttpStatusFor(Code code) {
  switch (code) {
    case Code::kOk:
      return 200;
    case Code::kInvalidArgument:
    case Code::kFailedPrecondition:
    case Code::kOutOfRange:
      return 400;
    case Code::kUnauthenticated:
      return 401;
    case Code::kPermissionDenied:
      return 403;
    case Code::kNotFound:
      return 404;
    case Code::kAlreadyExists:
    case Code::kAborted:
      return 409;
    case Code::kResourceExhausted:
      return 429;
    case Code::kCancelled:
      return 499;
    case Code::kUnimplemented:
      return 501;
    case Code::kUnavailable:
      return 503;
    case Code::kDeadlineExceeded:
      return 504;
    default:
      return 500;
  }
}

void HttpResponder::Send(HttpResponse response) {
  if (route_.loop == nullptr) return;
  const uint64_t id = route_.id;
  Route(std::move(route_), [id, response = std::move(response)](AnswerSink& sink) mutable {
    sink.AnswerHttp(id, std::move(response));
  });
}

HttpResponder::~HttpResponder() {
  if (route_.loop == nullptr) return;
  HttpResponse response;
  response.status = 500;
  response.body =
      "{\"error\": \"The request was dropped by its handler; see the server's log.\"}\n";
  Send(std::move(response));
}

}  // namespace slipway::net
