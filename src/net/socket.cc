// SPDX-License-Identifier: Apache-2.0
#include "net/socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>

#include "base/clock.h"
#include "base/strings.h"

namespace slipway::net {
namespace {

std::string ErrnoText(int error) { return std::generic_category().message(error); }

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

StatusOr<Addresses> Resolve(const std::string& host, int port, int flags) {
  if (port < 0 || port > 65535)
    return InvalidArgumentError(StrCat("port ", port, " is not between 0 and 65535"));
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int rv =
      getaddrinfo(host.empty() ? nullptr : host.c_str(), StrCat(port).c_str(), &hints, &list);
  if (rv != 0) return NotFoundError(StrCat("host ", Quoted(host), ": ", gai_strerror(rv)));
  return Addresses(list, &freeaddrinfo);
}

Status ListenError(const std::string& address, int port, int error) {
  const std::string where =
      address.empty() ? StrCat("port ", port) : StrCat("port ", port, " of ", address);
  if (error == EADDRINUSE)
    return UnavailableError(StrCat(where,
                                   " is in use by another process; stop that one (ss -ltnp "
                                   "shows it) or choose another port"));
  if (error == EACCES)
    return PermissionDeniedError(StrCat(where,
                                        " may not be opened by this user; ports below 1024 "
                                        "are root's"));
  if (error == EADDRNOTAVAIL)
    return InvalidArgumentError(StrCat(address, " is not an address of this machine"));
  return UnavailableError(StrCat(where, " cannot be opened: ", ErrnoText(error)));
}

// A socket that nobody listens on any more is in the way of a new one.
Status RemoveStaleSocket(const std::string& path, const sockaddr_un& address) {
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0) return OkStatus();
  if (!S_ISSOCK(found.st_mode))
    return AlreadyExistsError(
        StrCat(path, " is there and is no socket; remove it or choose another path"));
  const Socket probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (connect(probe.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
      errno != ECONNREFUSED)
    return UnavailableError(StrCat("the Unix socket ", path, " is in use by another process"));
  unlink(path.c_str());
  return OkStatus();
}

int TryBind(const addrinfo& address, bool listens, Socket* out) {
  Socket socket(::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.open()) return errno;
  const int on = 1, off = 0;
  setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.ai_family == AF_INET6)
    setsockopt(socket.fd(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (bind(socket.fd(), address.ai_addr, address.ai_addrlen) != 0) return errno;
  if (listens && listen(socket.fd(), 1024) != 0) return errno;
  *out = std::move(socket);
  return 0;
}

bool Wait(const Socket& socket, short events, int64_t deadline_ns) {
  for (;;) {
    const int64_t left = deadline_ns - Clock::Default()->NowNanos();
    pollfd wanted{socket.fd(), events, 0};
    const int64_t millis = std::clamp<int64_t>((left + 999'999) / 1'000'000, 0, 60'000);
    const int n = poll(&wanted, 1, static_cast<int>(millis));
    if (n > 0) return true;
    if (n < 0 && errno != EINTR) return true;  // the operation itself will say what is wrong
    if (left <= 0) return false;
  }
}

int TryConnect(const addrinfo& address, int64_t deadline_ns, Socket* out) {
  Socket socket(::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.open()) return errno;
  if (connect(socket.fd(), address.ai_addr, address.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) return errno;
    if (!Wait(socket, POLLOUT, deadline_ns)) return ETIMEDOUT;
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return error;
  }
  const int on = 1;
  setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  *out = std::move(socket);
  return 0;
}

StatusOr<Socket> BindTcp(const std::string& address, int port, bool listens) {
  StatusOr<Addresses> found = Resolve(address.empty() ? "::" : address, port, AI_PASSIVE);
  if (!found.ok() && found.status().code() == Code::kNotFound)
    return InvalidArgumentError(StrCat("cannot listen on ", Quoted(address),
                                       ": not an IP address or name of this machine"));
  if (!found.ok()) return found.status();
  Socket socket;
  int error = TryBind(*found->get(), listens, &socket);
  if (error == 0) return socket;
  const bool no_ipv6 = address.empty() && (error == EAFNOSUPPORT || error == EADDRNOTAVAIL);
  if (no_ipv6) return BindTcp("0.0.0.0", port, listens);
  return ListenError(address, port, error);
}

}  // namespace

void Socket::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

StatusOr<Socket> ListenTcp(const std::string& address, int port) {
  return BindTcp(address, port, /*listens=*/true);
}

Status ProbeTcp(const std::string& address, int port) {
  return BindTcp(address, port, /*listens=*/false).status();
}

StatusOr<Socket> ListenUnix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return InvalidArgumentError(StrCat("the path of a Unix socket has at most ",
                                       sizeof address.sun_path - 1, " bytes, not ", path.size(),
                                       ": ", path));
  }
  std::copy(path.begin(), path.end(), address.sun_path);
  RETURN_IF_ERROR(RemoveStaleSocket(path, address));
  Socket socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.open() ||
      bind(socket.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(socket.fd(), SOMAXCONN) != 0) {
    return UnavailableError(
        StrCat("the Unix socket ", path, " cannot be opened: ", ErrnoText(errno)));
  }
  return socket;
}

int LocalPort(const Socket& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&address), &size);
  if (address.ss_family == AF_UNIX) return 0;
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

StatusOr<Socket> ConnectTcp(const std::string& host, int port, std::chrono::milliseconds timeout,
                            int* error_number) {
  *error_number = 0;
  ASSIGN_OR_RETURN(const Addresses addresses, Resolve(host, port, 0));
  const int64_t deadline = Clock::Default()->NowNanos() + std::chrono::nanoseconds(timeout).count();
  Socket socket;
  int error = 0;
  for (const addrinfo* a = addresses.get(); a != nullptr; a = a->ai_next) {
    error = TryConnect(*a, deadline, &socket);
    if (error == 0) return socket;
  }
  *error_number = error;
  if (error == ETIMEDOUT)
    return DeadlineExceededError(
        StrCat("no connection to ", host, ":", port, " within ", timeout.count(), " ms"));
  return UnavailableError(StrCat("no connection to ", host, ":", port, ": ", ErrnoText(error)));
}

bool WaitReadable(const Socket& socket, int64_t deadline_ns) {
  return Wait(socket, POLLIN, deadline_ns);
}

bool WaitWritable(const Socket& socket, int64_t deadline_ns) {
  return Wait(socket, POLLOUT, deadline_ns);
}

}  // namespace slipway::net
