// SPDX-License-Identifier: Apache-2.0
//
// How an answer finds its way back from a handler, on whatever thread it is given, to the
// connection that asked. Internal to net: users see HttpResponder and GrpcCall.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "net/event_loop.h"
#include "slipway/status.h"

namespace slipway::net {

struct HttpResponse;

// A connection. Called on its loop's thread only; an id that is not waiting for an answer any
// more (deadline passed, stream reset) is ignored.
class AnswerSink {
 public:
  virtual ~AnswerSink() = default;
  virtual void AnswerHttp(uint64_t id, HttpResponse&& response) = 0;
  virtual void AnswerGrpc(uint64_t id, Status&& status, std::string&& response) = 0;
};

// Move-only; loop is null once it was used. A connection that is gone makes delivery a no-op.
struct AnswerRoute {
  std::weak_ptr<AnswerSink> sink;  // locked on the loop's thread only
  std::shared_ptr<EventLoop> loop;
  uint64_t id = 0;
};

}  // namespace slipway::net
