// SPDX-License-Identifier: Apache-2.0
//
// HTTP/1.1 as seen on the wire: what is sent raw, and the raw answer.
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "net/client.h"
#include "net/test_server.h"

namespace slipway::net {
namespace {

using namespace std::chrono_literals;

// Holds responders until a test lets them go.
class Parking {
 public:
  HttpHandler handler() {
    return [this](HttpRequest& request, HttpResponder responder) {
      std::lock_guard lock(mutex_);
      parked_.emplace_back(std::string(request.path), std::move(responder));
      arrived_.notify_all();
    };
  }
  HttpResponder Take() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [this] { return !parked_.empty(); });
    HttpResponder responder = std::move(parked_.front().second);
    parked_.erase(parked_.begin());
    return responder;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<std::pair<std::string, HttpResponder>> parked_;
};

std::string Ok(std::string_view body, std::string_view more = "") {
  return StrCat("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ", body.size(),
                "\r\n", more, "\r\n", body);
}

constexpr std::string_view kClose = "Connection: close\r\n";

TEST(HttpServer, AnswersTranscripts) {
  TestServer server;
  const struct {
    std::string sent, wanted;
  } transcripts[] = {
      {"GET /a?b=c HTTP/1.1\r\nHost: h\r\nx-test: T\r\nConnection: close\r\n\r\n",
       Ok("GET /a?b=c T ", kClose)},
      {"GET http://host:80/a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
       Ok("GET /a?  ", kClose)},
      {"GET /a HTTP/1.0\r\n\r\n", Ok("GET /a?  ", kClose)},
      {"HEAD /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
       "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n"
       "Connection: close\r\n\r\n"},
      // Pipelining: three requests at once, the answers in order.
      {"POST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nabGET /2 HTTP/1.1\r\nHost: "
       "h\r\n\r\n"
       "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
       "3\r\nxyz\r\n0\r\n\r\n",
       Ok("POST /1?  ab") + Ok("GET /2?  ") + Ok("xyz", kClose)},
      {"GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
       "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: 66\r\n"
       "Connection: close\r\n\r\n"
       "{\"error\": \"There are both Content-Length and Transfer-Encoding.\"}\n"},
      // What follows a malformed request is never read as one.
      {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nGET /2 "
       "HTTP/1.1\r\n\r\n",
       "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: 47\r\n"
       "Connection: close\r\n\r\n{\"error\": \"The size of a chunk is malformed.\"}\n"},
  };
  for (const auto& t : transcripts) {
    RawClient whole(server.port());
    whole.Send(t.sent);
    EXPECT_EQ(WithoutDate(whole.ReadAll()), t.wanted) << Quoted(t.sent, 400);
    RawClient pieces(server.port());
    for (const char c : t.sent)
      if (!pieces.Send({&c, 1})) break;
    EXPECT_EQ(WithoutDate(pieces.ReadAll()), t.wanted) << Quoted(t.sent, 400);
  }
}

TEST(HttpServer, HalfClosedClientsGetAllTheirAnswers) {
  TestServer server;
  RawClient client(server.port());
  client.Send("GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\n");
  client.FinishSending();
  EXPECT_EQ(WithoutDate(client.ReadAll()), Ok("GET /1?  ") + Ok("GET /2?  "));
}

TEST(HttpServer, SaysContinueBeforeABody) {
  TestServer server;
  RawClient client(server.port());
  client.Send(
      "POST /echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n"
      "Connection: close\r\n\r\n");
  EXPECT_EQ(client.ReadUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.Send("abc");
  EXPECT_EQ(WithoutDate(client.ReadAll()), Ok("abc", kClose));
}

TEST(HttpServer, LargeBodiesGoBothWays) {
  TestServer server;
  std::string body(5'000'000, 'a');
  for (size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 2654435761u >> 13);
  auto client = HttpClient::Connect("127.0.0.1", server.port());
  ASSERT_TRUE(client.ok());
  for (int i = 0; i < 3; ++i) {
    auto response = (*client)->Request("POST", "/echo", body);
    ASSERT_TRUE(response.ok()) << response.status().ToString();
    EXPECT_TRUE(response->body == body);
  }
}

TEST(HttpServer, ABodyCanBeTaken) {
  std::mutex mutex;
  std::vector<std::string> taken;
  TestServer server({}, [&](HttpRequest& request, HttpResponder responder) {
    const Bytes body = request.TakeBody();
    std::lock_guard lock(mutex);
    taken.emplace_back(body.view());
    responder.Send({.body = StrCat(request.body.size())});
  });
  auto client = HttpClient::Connect("127.0.0.1", server.port());
  ASSERT_TRUE(client.ok());
  for (const size_t size : {size_t{3}, size_t{1'000'000}, size_t{0}})
    EXPECT_EQ((*client)->Request("POST", "/", std::string(size, 'x'))->body, "0");
  EXPECT_EQ(taken, (std::vector<std::string>{"xxx", std::string(1'000'000, 'x'), ""}));
}

TEST(HttpServer, LimitsBodiesAndHeaders) {
  ServerOptions options;
  options.max_body_bytes = 10;
  options.max_header_bytes = 200;
  TestServer server(options);
  const auto status = [&](std::string_view request) {
    RawClient client(server.port());
    client.Send(request);
    return client.ReadAll().substr(0, 12);
  };
  const std::string start = "POST /echo HTTP/1.1\r\nHost: h\r\nConnection: close\r\n";
  EXPECT_EQ(status(start + "Content-Length: 10\r\n\r\n0123456789"), "HTTP/1.1 200");
  EXPECT_EQ(status(start + "Content-Length: 11\r\n\r\n"), "HTTP/1.1 413");
  EXPECT_EQ(status(start + "Content-Length: 11\r\nExpect: 100-continue\r\n\r\n"), "HTTP/1.1 413");
  EXPECT_EQ(status(start + "Transfer-Encoding: chunked\r\n\r\n8\r\n01234567\r\n3\r\n"),
            "HTTP/1.1 413");
  EXPECT_EQ(status(start + "X: " + std::string(300, 'x')), "HTTP/1.1 431");
}

// A client that sends a large body without looking must still find the answer, not a reset.
TEST(HttpServer, ARefusedUploadStillGetsItsAnswer) {
  ServerOptions options;
  options.max_body_bytes = 1000;
  TestServer server(options);
  RawClient client(server.port());
  client.Send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4000000\r\n\r\n");
  client.Send(std::string(4'000'000, 'x'));
  EXPECT_EQ(client.ReadAll().substr(0, 12), "HTTP/1.1 413");
}

// The short wait for the peer's end begins when the answer is written, not before.
TEST(HttpServer, SlowReadersGetTheLastAnswerWhole) {
  constexpr size_t kBytes = 16 << 20;  // more than both sockets hold
  TestServer server({}, [](HttpRequest&, HttpResponder responder) {
    responder.Send({.body = std::string(kBytes, 'x')});
  });
  RawClient client(server.port());
  client.Send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(client.Read(4), "HTTP");
  std::this_thread::sleep_for(2500ms);
  const std::string rest = client.ReadAll();
  EXPECT_GT(rest.size(), kBytes);
  EXPECT_TRUE(rest.ends_with("xxx"));
}

TEST(HttpServer, SlowRequestsTimeOut) {
  ServerOptions options;
  options.header_timeout = 30ms;
  options.io_timeout = 40ms;
  options.idle_timeout = 50ms;
  TestServer server(options);
  RawClient slow_head(server.port());
  slow_head.Send("GET / HTTP/1.1\r\nHo");
  RawClient slow_body(server.port());
  slow_body.Send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n012");
  RawClient silent(server.port());
  RawClient idle(server.port());
  idle.Send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(slow_head.ReadAll().substr(0, 12), "HTTP/1.1 408");
  EXPECT_EQ(slow_body.ReadAll().substr(0, 12), "HTTP/1.1 408");
  EXPECT_EQ(silent.ReadAll(), "");
  EXPECT_EQ(WithoutDate(idle.ReadAll()), Ok("GET /?  "));
}

TEST(HttpServer, AnswersFromAnotherThreadAndOutOfOrderRequestsWait) {
  Parking parking;
  TestServer server({}, parking.handler());
  RawClient client(server.port());
  client.Send("GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\n");
  parking.Take().Send({.content_type = "text/plain", .body = "one"});
  EXPECT_EQ(WithoutDate(client.ReadUntil("one")), Ok("one"));
  parking.Take().Send({.content_type = "text/plain", .body = std::string(100'000, 'x') + "two"});
  EXPECT_EQ(WithoutDate(client.ReadUntil("two")), Ok(std::string(100'000, 'x') + "two"));
}

// The answer from outside starts the next requests, which are answered before it returns.
TEST(HttpServer, PipelinedRequestsAfterALateAnswerAreAnsweredOnce) {
  Parking parking;
  HttpHandler park = parking.handler();
  TestServer server({}, [&](HttpRequest& request, HttpResponder responder) {
    if (request.path == "/late") return park(request, std::move(responder));
    responder.Send({.content_type = "text/plain", .body = std::string(request.path)});
  });
  RawClient client(server.port());
  for (int round = 0; round < 20; ++round) {
    std::string requests = "GET /late HTTP/1.1\r\nHost: h\r\n\r\n";
    std::string wanted = Ok("late");
    for (int i = 0; i < 200; ++i) {
      requests += StrCat("GET /", i, " HTTP/1.1\r\nHost: h\r\n\r\n");
      wanted += Ok(StrCat("/", i));
    }
    client.Send(requests);
    parking.Take().Send({.content_type = "text/plain", .body = "late"});
    EXPECT_EQ(WithoutDate(client.ReadUntil("/199")), wanted);
  }
}

TEST(HttpServer, ADroppedResponderAnswers500) {
  TestServer server({}, [](HttpRequest&, HttpResponder) {});
  auto client = HttpClient::Connect("127.0.0.1", server.port());
  ASSERT_TRUE(client.ok());
  EXPECT_EQ((*client)->Request("GET", "/")->status, 500);
}

TEST(HttpServer, ResponsesForGoneClientsAndStoppedServersAreNoOps) {
  Parking parking;
  auto server = std::make_unique<TestServer>(ServerOptions{}, parking.handler());
  std::optional<HttpResponder> late;
  {
    RawClient client(server->port());
    client.Send("GET /1 HTTP/1.1\r\nHost: h\r\n\r\n");
    late.emplace(parking.Take());
  }
  late->Send({.body = "nobody listens"});
  RawClient client(server->port());
  client.Send("GET /2 HTTP/1.1\r\nHost: h\r\n\r\n");
  HttpResponder left = parking.Take();
  server.reset();
  left.Send({.body = "nobody is there"});
}

TEST(HttpServer, HeadersThatWouldSplitTheResponseAreDropped) {
  TestServer server({}, [](HttpRequest&, HttpResponder responder) {
    responder.Send({.status = 201,
                    .content_type = "",
                    .headers = {{"X-Good", "1"}, {"X-Bad", "a\r\nEvil: 1"}, {"a b", "c"}},
                    .body = ""});
  });
  RawClient client(server.port());
  client.Send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(WithoutDate(client.ReadAll()),
            "HTTP/1.1 201 Created\r\nX-Good: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
}

TEST(HttpServer, OverTheLimitOfConnectionsItSays503) {
  ServerOptions options;
  options.max_connections = 1;
  TestServer server(options);
  auto first = HttpClient::Connect("127.0.0.1", server.port());
  ASSERT_TRUE(first.ok());
  EXPECT_EQ((*first)->Request("GET", "/")->status, 200);
  auto second = HttpClient::Connect("127.0.0.1", server.port());
  ASSERT_TRUE(second.ok());
  EXPECT_EQ((*second)->Request("GET", "/")->status, 503);
  auto grpc = GrpcChannel::Connect("127.0.0.1", server.port());
  ASSERT_TRUE(grpc.ok());
  EXPECT_EQ((*grpc)->Call("/test.Echo/Call", "x").status().code(), Code::kUnavailable);
  EXPECT_EQ((*first)->Request("GET", "/")->status, 200);
}

TEST(HttpServer, ABusyPortIsNamed) {
  TestServer server;
  ServerOptions options;
  options.address = "127.0.0.1";
  options.port = server.port();
  auto second = Server::Start(server.loops, options, EchoHttp, {});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), Code::kUnavailable);
  EXPECT_NE(
      second.status().message().find(StrCat("port ", server.port(), " of 127.0.0.1 is in use")),
      std::string_view::npos)
      << second.status().ToString();
  options.address = "not.an.address.invalid";
  EXPECT_EQ(Server::Start(server.loops, options, EchoHttp, {}).status().code(),
            Code::kInvalidArgument);
}

TEST(HttpServer, DrainsRequestsInFlight) {
  Parking parking;
  TestServer server({}, parking.handler());
  RawClient busy(server.port());
  busy.Send("GET /busy HTTP/1.1\r\nHost: h\r\n\r\n");
  HttpResponder responder = parking.Take();
  RawClient idle(server.port());
  idle.Send("GET /idle HTTP/1.1\r\nHost: h\r\n\r\n");
  parking.Take().Send({.content_type = "text/plain", .body = "done"});
  idle.ReadUntil("done");

  server.server->StartDraining();
  EXPECT_EQ(idle.ReadAll(), "");
  EXPECT_EQ(server.server->WaitDrained(1ms).code(), Code::kDeadlineExceeded);
  int error = 0;
  EXPECT_FALSE(ConnectTcp("127.0.0.1", server.port(), 1s, &error).ok());
  responder.Send({.content_type = "text/plain", .body = "last"});
  EXPECT_EQ(WithoutDate(busy.ReadAll()), Ok("last", kClose));
  { RawClient gone = std::move(busy); }
  { RawClient gone = std::move(idle); }
  EXPECT_TRUE(server.server->WaitDrained(10s).ok());
}

TEST(HttpServer, ManyConnectionsAreDealtOutEvenly) {
  TestServer server;
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (int i = 0; i < 200; ++i) {
    auto client = HttpClient::Connect("127.0.0.1", server.port());
    ASSERT_TRUE(client.ok());
    ASSERT_EQ((*client)->Request("GET", "/")->status, 200);
    clients.push_back(*std::move(client));
  }
  EXPECT_EQ(server.loops->loop(0)->connections.load(), 100);
  EXPECT_EQ(server.loops->loop(1)->connections.load(), 100);
  for (const auto& client : clients) ASSERT_EQ(client->Request("GET", "/")->status, 200);
}

TEST(HttpServer, ParallelClientsWithAnswersFromAPool) {
  TestServer server({}, [](HttpRequest& request, HttpResponder responder) {
    std::thread([body = request.TakeBody(), responder = std::move(responder)]() mutable {
      responder.Send({.body = std::string(body.view())});
    }).detach();
  });
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      auto client = HttpClient::Connect("127.0.0.1", server.port());
      for (int i = 0; client.ok() && i < 100; ++i) {
        const std::string body = StrCat(t, ":", i);
        auto response = (*client)->Request("POST", "/", body);
        if (response.ok() && response->body == body) good.fetch_add(1);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good.load(), 400);
}

// A client that does not read its answers stops being served, and costs bounded memory.
TEST(HttpServer, AnswersThatAreNotReadStopTheConnection) {
  std::atomic<int> served{0};
  ServerOptions options;
  options.io_timeout = 200ms;
  TestServer server(options, [&](HttpRequest&, HttpResponder responder) {
    served.fetch_add(1);
    responder.Send({.body = std::string(1'000'000, 'x')});
  });
  RawClient client(server.port());
  std::string requests;
  for (int i = 0; i < 1000; ++i) requests += "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
  client.Send(requests);
  EXPECT_EQ(client.Read(8), "HTTP/1.1");
  EXPECT_TRUE(server.server->WaitDrained(20s).ok()) << "closed when nothing moved";
  EXPECT_LT(served.load(), 100);
}

}  // namespace
}  // namespace slipway::net
