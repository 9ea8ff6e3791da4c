// SPDX-License-Identifier: Apache-2.0
//
// One request on an HTTP/2 connection. Internal to net.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/bytes.h"
#include "net/event_loop.h"
#include "net/grpc.h"

namespace slipway::net {

// One request; used again for later ones of its connection.
struct Http2Stream {
  struct Field {
    uint32_t name, value, end;  // offsets into text
  };

  int32_t id = 0;
  bool open = false;
  bool grpc = false;
  bool head_done = false;    // routed by its headers
  bool remote_done = false;  // the request is complete
  bool answered = false;
  bool too_large = false;  // its headers
  std::string method, path, text;
  std::vector<Field> fields;
  Bytes body;
  GrpcMessageReader reader;
  const GrpcMethods::value_type* grpc_method = nullptr;
  std::optional<int64_t> deadline_ns;
  EventLoop::TimerId timer = EventLoop::kNoTimer;
  std::string response;
  char prefix[5];
  size_t sent = 0;  // of prefix (gRPC) and response

  void Reset() {
    open = grpc = head_done = remote_done = answered = too_large = false;
    method.clear();
    path.clear();
    text.clear();
    fields.clear();
    body.Recycle(64 * 1024);
    grpc_method = nullptr;
    deadline_ns.reset();
    response = std::string();
    sent = 0;
  }
  std::string_view Name(const Field& f) const {
    return std::string_view(text).substr(f.name, f.value - f.name);
  }
  std::string_view Value(const Field& f) const {
    return std::string_view(text).substr(f.value, f.end - f.value);
  }
  std::string_view Header(std::string_view name) const {
    for (const Field& f : fields)
      if (Name(f) == name) return Value(f);
    return {};
  }
};

}  // namespace slipway::net
