// SPDX-License-Identifier: Apache-2.0
//
// What the tests of net share: a server that echoes, and a socket that is spoken to raw.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/strings.h"
#include "gtest/gtest.h"
#include "net/server.h"
#include "net/socket.h"

namespace slipway::net {

inline int64_t TestDeadline() { return Clock::Default()->NowNanos() + 20'000'000'000; }

// Answers with what it saw: "METHOD path?query body", or with the body alone on /echo.
inline void EchoHttp(HttpRequest& request, HttpResponder responder) {
  HttpResponse response;
  response.content_type = "text/plain";
  if (request.path == "/echo") {
    response.body = std::string(request.body);
  } else {
    response.body = StrCat(request.method, " ", request.path, "?", request.query, " ",
                           request.Header("X-Test"), " ", request.body);
  }
  responder.Send(std::move(response));
}

inline void EchoGrpc(GrpcCall call) {
  std::string response(call.request());
  call.Finish(OkStatus(), std::move(response));
}

struct TestServer {
  explicit TestServer(ServerOptions options = {}, HttpHandler http = EchoHttp,
                      GrpcMethods grpc = {{"/test.Echo/Call", EchoGrpc}}, int loop_count = 2) {
    auto group = EventLoopGroup::Start(loop_count);
    EXPECT_TRUE(group.ok()) << group.status().ToString();
    loops = *group;
    options.address = "127.0.0.1";
    auto started = Server::Start(loops, options, std::move(http), std::move(grpc));
    EXPECT_TRUE(started.ok()) << started.status().ToString();
    server = *std::move(started);
  }
  int port() const { return server->port(); }

  std::shared_ptr<EventLoopGroup> loops;
  std::unique_ptr<Server> server;
};

class RawClient {
 public:
  explicit RawClient(int port) {
    int error = 0;
    auto socket = ConnectTcp("127.0.0.1", port, std::chrono::seconds(10), &error);
    EXPECT_TRUE(socket.ok()) << socket.status().ToString();
    if (socket.ok()) socket_ = *std::move(socket);
  }

  bool Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = send(socket_.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n < 0 && errno == EAGAIN && WaitWritable(socket_, TestDeadline())) continue;
      if (n < 0) return false;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }

  void FinishSending() { shutdown(socket_.fd(), SHUT_WR); }

  // Until `n` bytes were read, or the end.
  std::string Read(size_t n) {
    std::string got;
    while (got.size() < n && ReadSome(&got, n - got.size())) {
    }
    return got;
  }
  // Until what was read ends with `end`, or the connection does.
  std::string ReadUntil(std::string_view end) {
    std::string got;
    while (!got.ends_with(end) && ReadSome(&got, 1)) {
    }
    return got;
  }
  // All up to the end of the connection; "(reset)" is appended if it was one.
  std::string ReadAll() {
    std::string got;
    while (ReadSome(&got, 65536)) {
    }
    return got;
  }

 private:
  bool ReadSome(std::string* out, size_t most) {
    char buffer[65536];
    for (;;) {
      const ssize_t n = recv(socket_.fd(), buffer, std::min(most, sizeof buffer), MSG_DONTWAIT);
      if (n > 0) {
        out->append(buffer, static_cast<size_t>(n));
        return true;
      }
      if (n == 0) return false;
      if (errno == EAGAIN && WaitReadable(socket_, TestDeadline())) continue;
      out->append(errno == EAGAIN ? "(nothing came)" : "(reset)");
      return false;
    }
  }

  Socket socket_;
};

// Without the line that differs from second to second.
inline std::string WithoutDate(std::string text) {
  for (size_t at; (at = text.find("Date: ")) != std::string::npos;)
    text.erase(at, text.find("\r\n", at) + 2 - at);
  return text;
}

}  // namespace slipway::net
