// SPDX-License-Identifier: Apache-2.0
#include "net/client_socket.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <system_error>

#include "base/strings.h"

namespace slipway::net {
namespace {

constexpr size_t kReadBytes = 64 * 1024;

}  // namespace

std::string_view TransportFailureName(TransportFailure failure) {
  switch (failure) {
    case TransportFailure::kNone:
      return "none";
    case TransportFailure::kRefused:
      return "refused";
    case TransportFailure::kReset:
      return "reset";
    case TransportFailure::kTimeout:
      return "timeout";
    case TransportFailure::kProtocol:
      return "protocol";
    case TransportFailure::kOther:
      break;
  }
  return "transport";
}

std::string ClientSocket::Name() const { return StrCat(host_, ":", port_); }

Status ClientSocket::Fail(TransportFailure failure, Status status) {
  failure_ = failure;
  socket_.Close();
  return status;
}

Status ClientSocket::Connect() {
  socket_.Close();
  int error = 0;
  StatusOr<Socket> socket = ConnectTcp(host_, port_, options_.connect_timeout, &error);
  if (socket.ok()) {
    socket_ = *std::move(socket);
    return OkStatus();
  }
  const TransportFailure failure = error == ECONNREFUSED ? TransportFailure::kRefused
                                   : error == ETIMEDOUT  ? TransportFailure::kTimeout
                                   : error == ECONNRESET ? TransportFailure::kReset
                                                         : TransportFailure::kOther;
  return Fail(failure, socket.status());
}

ClientSocket::Idle ClientSocket::Peek() const {
  char byte;
  const ssize_t n = recv(socket_.fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (n > 0) return Idle::kData;
  return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? Idle::kQuiet : Idle::kClosed;
}

Status ClientSocket::Errno(std::string_view what, int error) {
  const bool reset = error == ECONNRESET || error == EPIPE;
  return Fail(reset ? TransportFailure::kReset : TransportFailure::kOther,
              UnavailableError(StrCat("connection to ", Name(), " lost while ", what, ": ",
                                      std::generic_category().message(error))));
}

Status ClientSocket::Lost(std::string_view while_doing) {
  return Fail(TransportFailure::kReset,
              UnavailableError(StrCat(Name(), " closed the connection while ", while_doing)));
}

Status ClientSocket::Send(std::string_view head, std::string_view body, int64_t deadline_ns) {
  while (!head.empty() || !body.empty()) {
    iovec parts[2] = {{const_cast<char*>(head.data()), head.size()},
                      {const_cast<char*>(body.data()), body.size()}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    const ssize_t n = sendmsg(socket_.fd(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      if (WaitWritable(socket_, deadline_ns)) continue;
      return Fail(TransportFailure::kTimeout,
                  DeadlineExceededError(StrCat("request to ", Name(), " not sent in time")));
    }
    if (n < 0) return Errno("sending", errno);
    const size_t of_head = std::min(head.size(), static_cast<size_t>(n));
    head.remove_prefix(of_head);
    body.remove_prefix(static_cast<size_t>(n) - of_head);
  }
  return OkStatus();
}

StatusOr<size_t> ClientSocket::Receive(Bytes* out, int64_t deadline_ns) {
  for (;;) {
    const ssize_t n = recv(socket_.fd(), out->Prepare(kReadBytes), kReadBytes, MSG_DONTWAIT);
    if (n >= 0) {
      out->Commit(static_cast<size_t>(n));
      return static_cast<size_t>(n);
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return Errno("receiving", errno);
    if (!WaitReadable(socket_, deadline_ns))
      return Fail(TransportFailure::kTimeout,
                  DeadlineExceededError(StrCat("no answer from ", Name(), " in time")));
  }
}

}  // namespace slipway::net
