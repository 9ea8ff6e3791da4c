// SPDX-License-Identifier: Apache-2.0
//
// The front end with nothing behind it: what a request costs before anybody looks at it. Any
// HTTP request is answered with a fixed body, the gRPC method /peers.Echo/Call with its request.
//   net_echo PORT LOOPS [RESPONSE_BYTES]
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "net/server.h"

using namespace slipway;

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: net_echo PORT LOOPS [RESPONSE_BYTES]\n");
    return 2;
  }
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  auto loops = net::EventLoopGroup::Start(std::atoi(argv[2]));
  if (!loops.ok()) {
    std::fprintf(stderr, "%s\n", loops.status().ToString().c_str());
    return 1;
  }
  const std::string body(argc > 3 ? std::atoi(argv[3]) : 64, 'x');
  net::ServerOptions options;
  options.port = std::atoi(argv[1]);
  auto server = net::Server::Start(*loops, options,
                                   [&body](net::HttpRequest&, net::HttpResponder responder) {
                                     responder.Send({.status = 200, .body = body});
                                   },
                                   {{"/peers.Echo/Call", [](net::GrpcCall call) {
                                       std::string copy(call.request());
                                       call.Finish(OkStatus(), std::move(copy));
                                     }}});
  if (!server.ok()) {
    std::fprintf(stderr, "%s\n", server.status().ToString().c_str());
    return 1;
  }
  std::printf("port %d\n", (*server)->port());
  std::fflush(stdout);
  int signal;
  sigwait(&signals, &signal);
  (*server)->StartDraining();
  const Status drained = (*server)->WaitDrained(std::chrono::seconds(10));
  if (!drained.ok()) std::fprintf(stderr, "%s\n", drained.ToString().c_str());
  return drained.ok() ? 0 : 1;
}
