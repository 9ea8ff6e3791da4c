// SPDX-License-Identifier: Apache-2.0
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

class ParkedCalls {
 public:
  GrpcHandler handler() {
    return [this](GrpcCall call) {
      std::lock_guard lock(mutex_);
      parked_.push_back(std::move(call));
      arrived_.notify_all();
    };
  }
  GrpcCall Take() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [this] { return !parked_.empty(); });
    GrpcCall call = std::move(parked_.back());
    parked_.pop_back();
    return call;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<GrpcCall> parked_;
};

std::unique_ptr<GrpcChannel> Open(const TestServer& server) {
  auto channel = GrpcChannel::Connect("127.0.0.1", server.port());
  EXPECT_TRUE(channel.ok()) << channel.status().ToString();
  return *std::move(channel);
}

TEST(GrpcServer, EchoesMessagesOfAllSizes) {
  TestServer server;
  auto channel = Open(server);
  for (const size_t size : {0u, 1u, 100u, 16'379u, 16'384u, 100'000u, 20'000'000u}) {
    std::string message(size, 'x');
    for (size_t i = 0; i < size; ++i) message[i] = static_cast<char>(i * 2654435761u >> 13);
    auto response = channel->Call("/test.Echo/Call", message);
    ASSERT_TRUE(response.ok()) << size << " " << response.status().ToString();
    EXPECT_TRUE(*response == message) << size;
  }
}

TEST(GrpcServer, AnswersErrorsWithTheirMessage) {
  TestServer server({}, nullptr,
                    {{"/t.S/Fail",
                      [](GrpcCall call) {
                        call.Finish(NotFoundError("no model \"\xc3\xa4\" at 50%\n"), "ignored");
                      }},
                     {"/t.S/Drop", [](GrpcCall) {}}});
  auto channel = Open(server);
  EXPECT_EQ(channel->Call("/t.S/Fail", "x").status(),
            NotFoundError("no model \"\xc3\xa4\" at 50%\n"));
  EXPECT_EQ(channel->Call("/t.S/Drop", "x").status().code(), Code::kInternal);
  const Status unknown = channel->Call("/t.S/Other", std::string(300'000, 'x')).status();
  EXPECT_EQ(unknown.code(), Code::kUnimplemented);
  EXPECT_EQ(channel->Call("/t.S/Fail", "x").status().code(), Code::kNotFound)
      << "the connection goes on";
}

TEST(GrpcServer, LimitsMessages) {
  ServerOptions options;
  options.max_grpc_message_bytes = 1000;
  TestServer server(options);
  auto channel = Open(server);
  EXPECT_TRUE(channel->Call("/test.Echo/Call", std::string(1000, 'x')).ok());
  EXPECT_EQ(channel->Call("/test.Echo/Call", std::string(1001, 'x')).status().code(),
            Code::kResourceExhausted);
}

TEST(GrpcServer, DeadlinesReachTheHandlerAndPassWithoutIt) {
  ParkedCalls parked;
  TestServer server({}, nullptr, {{"/t.S/Wait", parked.handler()}});
  auto channel = Open(server);
  const int64_t before = Clock::Default()->NowNanos();
  std::thread caller([&] {
    const auto response = channel->Call("/t.S/Wait", "x", 60s);
    EXPECT_EQ(*response, "done");
  });
  GrpcCall call = parked.Take();
  ASSERT_TRUE(call.deadline_ns().has_value());
  EXPECT_GE(*call.deadline_ns(), before + 60'000'000'000);
  EXPECT_LE(*call.deadline_ns(), Clock::Default()->NowNanos() + 60'000'000'000);
  call.Finish(OkStatus(), "done");
  caller.join();
  EXPECT_EQ(channel->Call("/t.S/Wait", "x", 20ms).status().code(), Code::kDeadlineExceeded);
  parked.Take().Finish(OkStatus(), "too late");
}

// Frames of HTTP/2 by hand, for clients that misbehave.
std::string Frame(char type, char flags, char stream, std::string_view payload) {
  return StrCat('\0', '\0', static_cast<char>(payload.size()), type, flags, '\0', '\0', '\0',
                stream, payload);
}

std::string CallHeaders(std::string_view path, std::string_view timeout) {
  const auto literal = [](std::string_view name, std::string_view value) {
    return StrCat('\0', static_cast<char>(name.size()), name, static_cast<char>(value.size()),
                  value);
  };
  return literal(":method", "POST") + literal(":scheme", "http") + literal(":authority", "h") +
         literal(":path", path) + literal("content-type", "application/grpc+proto") +
         literal("grpc-timeout", timeout);
}

const std::string kStart = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + Frame(4, 0, 0, "");

// Whether the server sends these bytes before it closes.
bool Awaits(RawClient* client, std::string_view wanted) {
  std::string got;
  while (got.find(wanted) == std::string::npos) {
    const std::string more = client->Read(1);
    if (more.size() != 1) return false;
    got += more;
  }
  return true;
}

TEST(GrpcServer, TheServerAnswersWhenTheDeadlinePasses) {
  ParkedCalls parked;
  TestServer server({}, nullptr, {{"/t.S/W", parked.handler()}});
  RawClient client(server.port());
  client.Send(kStart + Frame(1, 4, 1, CallHeaders("/t.S/W", "10m")) +
              Frame(0, 1, 1, std::string_view("\0\0\0\0\1x", 6)));
  GrpcCall call = parked.Take();
  EXPECT_TRUE(Awaits(&client, std::string_view("\x01\x05\0\0\0\x01", 6)))
      << "no HEADERS with END_STREAM on stream 1";
  call.Finish(OkStatus(), "too late");
}

TEST(GrpcServer, ARequestThatStopsHalfWayIsResetAndOthersGoOn) {
  ParkedCalls parked;
  ServerOptions options;
  options.io_timeout = 30ms;
  TestServer server(options, nullptr, {{"/t.S/W", parked.handler()}});
  RawClient client(server.port());
  client.Send(kStart + Frame(1, 4, 1, CallHeaders("/t.S/W", "9S")) +
              Frame(0, 1, 1, std::string_view("\0\0\0\0\1x", 6)) +
              Frame(1, 4, 3, CallHeaders("/t.S/W", "9S")));
  GrpcCall call = parked.Take();
  EXPECT_TRUE(Awaits(&client, std::string_view("\x03\0\0\0\0\x03", 6))) << "no RST_STREAM of 3";
  call.Finish(OkStatus(), "done");
  EXPECT_TRUE(Awaits(&client, std::string_view("\0\0\0\0\x04"
                                               "done",
                                               9)));
}

TEST(GrpcServer, ManyCallsFromSeveralThreads) {
  TestServer server({}, nullptr, {{"/t.S/Async", [](GrpcCall call) {
                                     std::thread([call = std::move(call)]() mutable {
                                       std::string copy(call.request());
                                       call.Finish(OkStatus(), std::move(copy));
                                     }).detach();
                                   }}});
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      auto channel = Open(server);
      for (int i = 0; i < 100; ++i) {
        const std::string message = StrCat(t, ":", i);
        auto response = channel->Call("/t.S/Async", message);
        if (response.ok() && *response == message) good.fetch_add(1);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good.load(), 400);
}

TEST(GrpcServer, DrainsWithGoaway) {
  ParkedCalls parked;
  TestServer server({}, nullptr, {{"/t.S/Wait", parked.handler()}, {"/test.Echo/Call", EchoGrpc}});
  auto idle = Open(server);
  ASSERT_TRUE(idle->Call("/test.Echo/Call", "x").ok());
  auto busy = Open(server);
  std::thread caller([&] { EXPECT_EQ(*busy->Call("/t.S/Wait", "x"), "done"); });
  GrpcCall call = parked.Take();
  server.server->StartDraining();
  call.Finish(OkStatus(), "done");
  caller.join();
  EXPECT_EQ(idle->Call("/test.Echo/Call", "x").status().code(), Code::kUnavailable)
      << "told to go, it reconnects, and nobody listens";
  EXPECT_EQ(idle->last_failure(), TransportFailure::kRefused);
  busy.reset();
  EXPECT_TRUE(server.server->WaitDrained(10s).ok());
}

TEST(GrpcServer, StopDropsCallsInFlight) {
  ParkedCalls parked;
  auto server = std::make_unique<TestServer>(ServerOptions{}, nullptr,
                                             GrpcMethods{{"/t.S/Wait", parked.handler()}});
  auto channel = Open(*server);
  std::thread caller([&] {
    EXPECT_EQ(channel->Call("/t.S/Wait", "x").status().code(), Code::kUnavailable);
    EXPECT_EQ(channel->last_failure(), TransportFailure::kReset);
  });
  GrpcCall call = parked.Take();
  server->server->Stop();
  caller.join();
  server.reset();
  call.Finish(OkStatus(), "nobody is there");
}

TEST(Http2Server, GarbageEndsTheConnection) {
  TestServer server;
  RawClient client(server.port());
  client.Send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nthis is not a frame at all, is it?");
  const std::string got = client.ReadAll();
  EXPECT_NE(got.find(std::string_view("\x07\0\0\0\0\0", 6)), std::string::npos) << "no GOAWAY";
  auto channel = Open(server);
  EXPECT_TRUE(channel->Call("/test.Echo/Call", "x").ok());
}

}  // namespace
}  // namespace slipway::net
