// SPDX-License-Identifier: Apache-2.0
//
// A listening port whose connections are dealt out to the loops of a group. The first bytes of
// a connection decide: HTTP/2 with prior knowledge (the client preface) or HTTP/1. On HTTP/2 a
// request with a content type of application/grpc is a gRPC call, any other an HTTP request.
//
// Order of life: Start ... StartDraining, WaitDrained, Stop (or the destructor).
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "net/event_loop.h"
#include "net/grpc.h"
#include "net/http.h"
#include "net/tls.h"
#include "slipway/status.h"

namespace slipway::net {

struct ServerOptions {
  // An IP address. "" is every address of the machine, IPv6 and IPv4.
  std::string address;
  // 0 picks a free port; Server::port() tells which.
  int port = 0;
  // If not empty, a Unix socket instead of a port. A file left by a server that is gone is
  // replaced; the file goes with the server.
  std::string unix_path;

  // If not null, all connections speak TLS.
  std::shared_ptr<const TlsContext> tls;

  size_t max_body_bytes = size_t{256} << 20;          // 413
  size_t max_header_bytes = 64 * 1024;                // 431
  size_t max_grpc_message_bytes = size_t{256} << 20;  // RESOURCE_EXHAUSTED
  int max_streams = 128;                              // open requests on an HTTP/2 connection

  // From the first byte of a request to the end of its headers: 408, then closed. For a handshake:
  // closed.
  std::chrono::milliseconds header_timeout{10'000};
  // Without any progress in a body that is being received (408) or an answer being sent.
  std::chrono::milliseconds io_timeout{30'000};
  // Without a request: closed.
  std::chrono::milliseconds idle_timeout{300'000};
  // Above it a new connection's first request is answered 503 (HTTP/1) or GOAWAY (HTTP/2).
  int max_connections = 10'000;
};

// Thread safety: all methods from any thread that is not a loop's thread; port() from any.
class Server {
 public:
  // UNAVAILABLE when the port is in use, PERMISSION_DENIED, INVALID_ARGUMENT (not an address).
  // Without `http` requests get 404, without methods gRPC calls get UNIMPLEMENTED.
  static StatusOr<std::unique_ptr<Server>> Start(std::shared_ptr<EventLoopGroup> loops,
                                                 ServerOptions options, HttpHandler http,
                                                 GrpcMethods grpc);
  // Stop.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const;
  // Open now.
  int connections() const;

  // Closes the port and idle connections. Requests in flight are finished and answered with
  // "Connection: close"; HTTP/2 clients are told GOAWAY. Returns at once.
  void StartDraining();
  // Waits until every connection is closed. DEADLINE_EXCEEDED, with how many are left.
  Status WaitDrained(std::chrono::milliseconds timeout);
  // Closes everything at once and waits for handlers that are running. No handler is called
  // after it has returned; responders left elsewhere do nothing. A second call does nothing.
  void Stop();

 private:
  struct State;
  explicit Server(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace slipway::net
