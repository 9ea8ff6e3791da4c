// SPDX-License-Identifier: Apache-2.0
//
// HTTP requests and responses as handlers see them, the same for HTTP/1.1 and HTTP/2.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/answer.h"
#include "net/bytes.h"

namespace slipway::net {

struct HttpHeader {
  std::string_view name;  // as sent; compare without case (HTTP/2 names are lower case)
  std::string_view value;
};

// All views are valid during the call of the handler only. What is needed later is copied, or
// taken (TakeBody).
struct HttpRequest {
  std::string_view method;  // upper case as sent: "GET", "POST"
  std::string_view target;  // as sent, percent-encoded, with the query: "/v1/models/m?x=1"
  std::string_view path;    // the target up to '?', without scheme and host; percent-encoded
  std::string_view query;   // behind '?', or empty
  std::span<const HttpHeader> headers;
  std::string_view body;
  int http_major = 1;  // 1 or 2

  // The value of the first header of that name (any case), or "" if there is none.
  std::string_view Header(std::string_view name) const;
  // The body as the caller's own, without a copy if it is large; `body` is empty afterwards.
  Bytes TakeBody();

  Bytes* owned_body = nullptr;  // of the connection; where `body` lies if it was large
};

// "%2F" and the like resolved ('+' stays). A '%' without two hex digits stays as it is.
std::string PercentDecode(std::string_view text);

struct HttpResponse {
  int status = 200;
  // Sent as Content-Type if not empty. The text must live as long as the program (a literal).
  std::string_view content_type = "application/json";
  // Further headers. Content-Length, Connection, Transfer-Encoding and Date are the server's. A
  // name or value that HTTP does not allow (control characters) drops that header.
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

// The standard phrase ("Not Found"), or "Unknown".
std::string_view HttpReason(int status);

// The HTTP status of an error, as TensorFlow Serving maps them (INVALID_ARGUMENT and
// FAILED_PRECONDITION 400, NOT_FOUND 404, RESOURCE_EXHAUSTED 429, UNAVAILABLE 503, ...).
int HttpStatusFor(Code code);

// The one-time right to answer one request. Move-only.
// Send may be called inside the handler (the answer then goes out with no hand-off) or later
// from any thread. If the connection is gone, nothing happens. A responder that is destroyed
// unused answers 500, so that no client waits for ever.
class HttpResponder {
 public:
  explicit HttpResponder(AnswerRoute route) : route_(std::move(route)) {}
  HttpResponder(HttpResponder&&) noexcept = default;
  // The request that this one was for is answered when `other` goes.
  HttpResponder& operator=(HttpResponder&& other) noexcept {
    std::swap(route_, other.route_);
    return *this;
  }
  ~HttpResponder();

  // Once; a second call is ignored.
  void Send(HttpResponse response);

 private:
  AnswerRoute route_;
};

// Called on a loop's thread, from several loops at once. It must not block and must not throw:
// whatever takes longer than a small model moves the responder to another thread.
using HttpHandler = std::function<void(HttpRequest& request, HttpResponder responder)>;

}  // namespace slipway::net
