// SPDX-License-Identifier: Apache-2.0
//
// Blocking clients for the command line, the load generator and tests: HTTP/1.1 with keep-alive
// and unary gRPC calls over HTTP/2 (cleartext, prior knowledge), one request at a time each.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "slipway/status.h"

namespace slipway::net {

// What went wrong below HTTP in the last call; kNone when the server gave an answer.
enum class TransportFailure { kNone, kRefused, kReset, kTimeout, kProtocol, kOther };
// "refused", "reset", ...
std::string_view TransportFailureName(TransportFailure failure);

struct ClientOptions {
  std::chrono::milliseconds connect_timeout{5'000};
  std::chrono::milliseconds timeout{60'000};  // of one request, all of it
  size_t max_response_bytes = size_t{1} << 30;
};

struct ClientResponse {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;

  // The first of that lower-case name, or "".
  std::string_view Header(std::string_view name) const;
};

// Not thread safe. A connection that the server has closed meanwhile is opened anew before a
// request is sent; a request that was sent is never repeated.
class HttpClient {
 public:
  using Headers = std::vector<std::pair<std::string, std::string>>;

  // Host is a name or an address. UNAVAILABLE (refused, unreachable), DEADLINE_EXCEEDED,
  // NOT_FOUND (no such host).
  static StatusOr<std::unique_ptr<HttpClient>> Connect(const std::string& host, int port,
                                                       ClientOptions options = {});
  // Connects with the first request; errors of connecting are that request's.
  static std::unique_ptr<HttpClient> Lazy(const std::string& host, int port,
                                          ClientOptions options = {});
  ~HttpClient();

  // Any status of HTTP is a result. UNAVAILABLE (connection lost), DEADLINE_EXCEEDED, INTERNAL
  // (the answer is not HTTP), RESOURCE_EXHAUSTED (the answer is too large).
  StatusOr<ClientResponse> Request(std::string_view method, std::string_view target,
                                   std::string_view body = {}, const Headers& headers = {});
  TransportFailure last_failure() const;

 private:
  struct State;
  explicit HttpClient(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Not thread safe. Reconnects like HttpClient.
class GrpcChannel {
 public:
  // As HttpClient::Connect.
  static StatusOr<std::unique_ptr<GrpcChannel>> Connect(const std::string& host, int port,
                                                        ClientOptions options = {});
  // As HttpClient::Lazy.
  static std::unique_ptr<GrpcChannel> Lazy(const std::string& host, int port,
                                           ClientOptions options = {});
  ~GrpcChannel();

  // Method is "/package.Service/Method". The status is the server's, or UNAVAILABLE,
  // DEADLINE_EXCEEDED, INTERNAL for what happened on the way. The deadline is sent along.
  StatusOr<std::string> Call(std::string_view method, std::string_view request,
                             std::chrono::milliseconds timeout = std::chrono::seconds(60));
  TransportFailure last_failure() const;

 private:
  struct State;
  explicit GrpcChannel(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace slipway::net
