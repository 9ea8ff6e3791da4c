// SPDX-License-Identifier: Apache-2.0
//
// The clients against servers that answer from a script.
#include "net/client.h"

#include <thread>
#include <vector>

#include "net/test_server.h"

namespace slipway::net {
namespace {

using namespace std::chrono_literals;

// Takes one connection for each answer: reads up to the blank line (or one byte if `any` is
// set), sends the answer, and closes if told to; the connections end with this object.
class ScriptedServer {
 public:
  struct Answer {
    std::string bytes;
    bool close = true;
  };
  explicit ScriptedServer(std::vector<Answer> answers, bool any = false) {
    auto listener = ListenTcp("127.0.0.1", 0);
    EXPECT_TRUE(listener.ok()) << listener.status().ToString();
    listener_ = *std::move(listener);
    thread_ = std::thread([this, answers = std::move(answers), any] {
      for (const Answer& answer : answers) {
        if (!WaitReadable(listener_, TestDeadline())) return;
        Socket socket(accept(listener_.fd(), nullptr, nullptr));
        std::string request;
        char byte;
        while (!request.ends_with("\r\n\r\n") && !(any && !request.empty()) &&
               recv(socket.fd(), &byte, 1, 0) == 1)
          request += byte;
        send(socket.fd(), answer.bytes.data(), answer.bytes.size(), MSG_NOSIGNAL);
        if (!answer.close) kept_.push_back(std::move(socket));
      }
    });
  }
  ~ScriptedServer() { thread_.join(); }
  int port() const { return LocalPort(listener_); }

 private:
  Socket listener_;
  std::vector<Socket> kept_;
  std::thread thread_;
};

TEST(HttpClient, ReadsBodiesHoweverTheyAreFramed) {
  ScriptedServer server({
      {"HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
       "2\r\nok\r\n3;x\r\nabc\r\n0\r\nT: t\r\n\r\n"},
      {"HTTP/1.0 200 OK\r\n\r\nup to the end"},
      {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 Busy\r\nContent-Length: 0\r\n"
       "Connection: close\r\n\r\n"},
      {"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"},
  });
  auto client = HttpClient::Lazy("127.0.0.1", server.port());
  const auto get = [&] {
    auto response = client->Request("GET", "/");
    return response.ok() ? StrCat(response->status, " ", response->body)
                         : response.status().ToString();
  };
  auto first = client->Request("GET", "/");
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  EXPECT_EQ(first->body, "ok");
  EXPECT_EQ(first->Header("x-a"), "b");
  EXPECT_EQ(get(), "200 okabc");
  EXPECT_EQ(get(), "200 up to the end");
  EXPECT_EQ(get(), "503 ");
  EXPECT_EQ(get(), "204 ");
  EXPECT_EQ(client->last_failure(), TransportFailure::kNone);
}

TEST(HttpClient, NamesWhatWentWrong) {
  ScriptedServer server({
      {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"},
      {"SSH-2.0-OpenSSH_9.2\r\n"},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n"},
      {"HTTP/1.1 200 OK\r\n", /*close=*/false},
  });
  auto client =
      HttpClient::Lazy("127.0.0.1", server.port(), {.timeout = 500ms, .max_response_bytes = 1000});
  const auto failure = [&](Code code) {
    EXPECT_EQ(client->Request("GET", "/").status().code(), code);
    return TransportFailureName(client->last_failure());
  };
  EXPECT_EQ(failure(Code::kUnavailable), "reset");
  EXPECT_EQ(failure(Code::kInternal), "protocol");
  EXPECT_EQ(failure(Code::kInternal), "protocol");
  EXPECT_EQ(failure(Code::kResourceExhausted), "protocol");
  EXPECT_EQ(failure(Code::kDeadlineExceeded), "timeout");
}

TEST(HttpClient, RefusesRequestsThatWouldSplit) {
  auto client = HttpClient::Lazy("127.0.0.1", 1);
  for (const char* target : {"", "/a b", "/a\r\nX: y", "/\x7f"})
    EXPECT_EQ(client->Request("GET", target).status().code(), Code::kInvalidArgument) << target;
  EXPECT_EQ(client->Request("G T", "/").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(client->Request("GET", "/", "", {{"X", "a\r\nY: b"}}).status().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(client->Request("GET", "/").status().code(), Code::kUnavailable);
  EXPECT_EQ(client->last_failure(), TransportFailure::kRefused);
}

// The server closes idle connections; the next request must not fail for it.
TEST(HttpClient, ReconnectsWhenAnIdleConnectionWasClosed) {
  ServerOptions options;
  options.idle_timeout = 10ms;
  TestServer server(options);
  auto http = HttpClient::Lazy("127.0.0.1", server.port());
  auto grpc = GrpcChannel::Lazy("127.0.0.1", server.port());
  ASSERT_TRUE(http->Request("GET", "/").ok());
  ASSERT_TRUE(grpc->Call("/test.Echo/Call", "x").ok());
  ASSERT_TRUE(server.server->WaitDrained(20s).ok()) << "the server gave both up";
  EXPECT_TRUE(http->Request("GET", "/").ok());
  EXPECT_TRUE(grpc->Call("/test.Echo/Call", "x").ok());
}

TEST(GrpcClient, NamesWhatWentWrong) {
  auto refused = GrpcChannel::Lazy("127.0.0.1", 1);
  EXPECT_EQ(refused->Call("/a/b", "").status().code(), Code::kUnavailable);
  EXPECT_EQ(refused->last_failure(), TransportFailure::kRefused);
  EXPECT_FALSE(GrpcChannel::Connect("127.0.0.1", 1).ok());

  ScriptedServer server({{"HTTP/1.1 400 Bad Request\r\n\r\n"}, {""}}, /*any=*/true);
  auto channel = GrpcChannel::Lazy("127.0.0.1", server.port());
  const auto http1 = channel->Call("/a/b", "");
  EXPECT_FALSE(http1.ok());
  EXPECT_NE(channel->last_failure(), TransportFailure::kNone);
  const auto closed = channel->Call("/a/b", "");
  EXPECT_EQ(closed.status().code(), Code::kUnavailable);
  EXPECT_EQ(channel->last_failure(), TransportFailure::kReset);
}

}  // namespace
}  // namespace slipway::net
