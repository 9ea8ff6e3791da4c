// SPDX-License-Identifier: Apache-2.0
//
// TCP and Unix sockets: listening and connecting, with errors that name the address.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "slipway/status.h"

namespace slipway::net {

// Owns a file descriptor. Move-only.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Socket() { Close(); }

  int fd() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  int Release() { return std::exchange(fd_, -1); }
  void Close();

 private:
  int fd_ = -1;
};

// Non-blocking. "" is every address (IPv6 with IPv4, or IPv4 where there is no IPv6); port 0
// picks one. UNAVAILABLE (in use), PERMISSION_DENIED, INVALID_ARGUMENT (no such address here).
StatusOr<Socket> ListenTcp(const std::string& address, int port);
// Non-blocking, at a path in the file system. UNAVAILABLE (in use), INVALID_ARGUMENT (too long),
// ALREADY_EXISTS (a file that is no socket).
StatusOr<Socket> ListenUnix(const std::string& path);
// Whether ListenTcp would work, without ever accepting a connection: who connects is refused.
Status ProbeTcp(const std::string& address, int port);
int LocalPort(const Socket& socket);

// Non-blocking, with no delay; waits for the connection. UNAVAILABLE, DEADLINE_EXCEEDED,
// NOT_FOUND (no such host). *error_number is errno's value, or 0.
StatusOr<Socket> ConnectTcp(const std::string& host, int port, std::chrono::milliseconds timeout,
                            int* error_number);

// Waits until the socket can be read or written. False when `deadline_ns` (monotonic) passes.
bool WaitReadable(const Socket& socket, int64_t deadline_ns);
bool WaitWritable(const Socket& socket, int64_t deadline_ns);

}  // namespace slipway::net
