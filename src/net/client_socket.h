// SPDX-License-Identifier: Apache-2.0
//
// What both clients do with their socket. Internal to net.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "net/bytes.h"
#include "net/client.h"
#include "net/socket.h"

namespace slipway::net {

// Not thread safe. Every error closes the socket and sets failure().
class ClientSocket {
 public:
  ClientSocket(std::string host, int port, ClientOptions options)
      : host_(std::move(host)), port_(port), options_(options) {}

  Status Connect();
  void Close() { socket_.Close(); }
  bool open() const { return socket_.open(); }
  enum class Idle { kQuiet, kData, kClosed };
  // What has happened on an open connection since it was last used.
  Idle Peek() const;

  // All of both, in order.
  Status Send(std::string_view head, std::string_view body, int64_t deadline_ns);
  // Appends at least one byte; 0 at the end of the stream (which is no error here).
  StatusOr<size_t> Receive(Bytes* out, int64_t deadline_ns);
  // The connection ended or broke while more was expected.
  Status Lost(std::string_view while_doing);
  Status Fail(TransportFailure failure, Status status);

  TransportFailure failure() const { return failure_; }
  void ClearFailure() { failure_ = TransportFailure::kNone; }
  const ClientOptions& options() const { return options_; }
  std::string Name() const;

 private:
  Status Errno(std::string_view what, int error);

  const std::string host_;
  const int port_;
  const ClientOptions options_;
  Socket socket_;
  TransportFailure failure_ = TransportFailure::kNone;
};

}  // namespace slipway::net
