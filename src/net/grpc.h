// SPDX-License-Identifier: Apache-2.0
//
// Unary gRPC calls over HTTP/2: one message in, one message or a status out. Messages are the
// serialised protobufs; their meaning is the handlers' affair. Semantics: the gRPC over HTTP/2
// protocol page; compression of messages is not supported (UNIMPLEMENTED, and the answer says
// that identity is accepted).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "net/answer.h"
#include "net/bytes.h"

namespace slipway::net {

// One call, owned by whoever answers it; owns its request bytes. Move-only.
// Finish may be called inside the handler (no hand-off) or later from any thread; if the
// client is gone or the deadline has passed by then, nothing happens. A call that is destroyed
// unfinished answers INTERNAL.
class GrpcCall {
 public:
  GrpcCall(AnswerRoute route, std::string_view method, Bytes request,
           std::optional<int64_t> deadline_ns)
      : route_(std::move(route)),
        method_(method),
        request_(std::move(request)),
        deadline_ns_(deadline_ns) {}
  GrpcCall(GrpcCall&&) noexcept = default;
  // The call that this one was is answered when `other` goes.
  GrpcCall& operator=(GrpcCall&& other) noexcept {
    std::swap(route_, other.route_);
    std::swap(method_, other.method_);
    std::swap(request_, other.request_);
    std::swap(deadline_ns_, other.deadline_ns_);
    return *this;
  }
  ~GrpcCall();

  // "/package.Service/Method"; lives as long as the method table.
  std::string_view method() const { return method_; }
  // The message without its frame; valid as long as this call.
  std::string_view request() const { return request_.view(); }
  // On Clock::NowNanos' scale; none if the client set none. The server answers
  // DEADLINE_EXCEEDED itself when it passes; handlers need it only to drop useless work.
  std::optional<int64_t> deadline_ns() const { return deadline_ns_; }

  // Once; a second call is ignored. `response` counts only with an OK status.
  void Finish(Status status, std::string response = {});

 private:
  AnswerRoute route_;
  std::string_view method_;
  Bytes request_;
  std::optional<int64_t> deadline_ns_;
};

// Called on a loop's thread, from several loops at once; must not block and must not throw.
using GrpcHandler = std::function<void(GrpcCall call)>;

// Full method name ("/tensorflow.serving.PredictionService/Predict") to handler. A method that
// is not here is answered UNIMPLEMENTED.
using GrpcMethods = std::map<std::string, GrpcHandler, std::less<>>;

// The pieces of the protocol that both sides need.

// "100m" and the like in nanoseconds (n u m S M H, at most 8 digits); nothing if malformed.
std::optional<int64_t> ParseGrpcTimeout(std::string_view text);
// The finest unit that fits into 8 digits; at least "1n".
std::string FormatGrpcTimeout(int64_t nanos);
// grpc-message: bytes outside printable ASCII, and '%', as %XX.
std::string EncodeGrpcMessage(std::string_view text);
std::string DecodeGrpcMessage(std::string_view text);
// The five bytes in front of a message.
void PutGrpcPrefix(uint32_t size, char out[5]);

// Takes one length-prefixed message out of the bytes of a body as they arrive.
class GrpcMessageReader {
 public:
  explicit GrpcMessageReader(size_t limit = 0) : limit_(limit) {}
  // RESOURCE_EXHAUSTED (over the limit), UNIMPLEMENTED (compressed; a second message).
  Status Append(std::string_view bytes);
  // The message; INTERNAL if the body ended inside it or before it.
  StatusOr<Bytes> Take();

 private:
  size_t limit_;
  size_t wanted_ = 0;
  size_t prefix_size_ = 0;
  char prefix_[5] = {};
  Bytes message_;
};

}  // namespace slipway::net
