// SPDX-License-Identifier: Apache-2.0
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/strings.h"
#include "net/client.h"
#include "net/client_socket.h"
#include "net/grpc.h"
#include "net/http.h"
#include "net/http2_fields.h"

namespace slipway::net {
namespace {

nghttp2_nv Copied(std::string_view name, std::string_view value) {
  return {Octets(name), Octets(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

// The gRPC code for an answer that carries none (the mapping is gRPC's own).
Code CodeForHttpStatus(int status) {
  switch (status) {
    case 400:
      return Code::kInternal;
    case 401:
      return Code::kUnauthenticated;
    case 403:
      return Code::kPermissionDenied;
    case 404:
      return Code::kUnimplemented;
    case 429:
    case 502:
    case 503:
    case 504:
      return Code::kUnavailable;
    default:
      return Code::kUnknown;
  }
}

// The call in flight.
struct ActiveCall {
  int32_t stream = -1;
  char prefix[5] = {};
  std::string_view request;
  size_t sent = 0;
  GrpcMessageReader reader;
  Status read_status;
  int http_status = 0;
  std::optional<int64_t> grpc_status;
  std::string grpc_message;
  uint32_t reset = NGHTTP2_NO_ERROR;
  bool done = false;
};

}  // namespace

struct GrpcChannel::State {
  State(const std::string& host, int port, ClientOptions options) : socket(host, port, options) {}
  ~State() { nghttp2_session_del(session); }

  Status Connect();
  Status Ready();
  Status Flush(int64_t deadline_ns);
  Status Feed();
  Status Submit(std::string_view method, std::string_view timeout);
  Status Run(int64_t deadline_ns);
  StatusOr<std::string> Result();

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                      void* user);
  static int OnData(nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t size,
                    void* user);
  static int OnClosed(nghttp2_session*, int32_t id, uint32_t error, void* user);
  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user);
  static ssize_t ReadRequest(nghttp2_session*, int32_t, uint8_t* buffer, size_t size,
                             uint32_t* flags, nghttp2_data_source*, void* user);

  ClientSocket socket;
  nghttp2_session* session = nullptr;
  bool going_away = false;
  ActiveCall call;
  Bytes in;
  std::string out;
};

int GrpcChannel::State::OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                                 size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                                 void* user) {
  ActiveCall& call = static_cast<State*>(user)->call;
  if (frame->hd.stream_id != call.stream) return 0;
  const std::string_view key = Text(name, name_size), text = Text(value, value_size);
  if (key == ":status")
    call.http_status = static_cast<int>(ParseInt64(text).value_or(0));
  else if (key == "grpc-status")
    call.grpc_status = ParseInt64(text).value_or(static_cast<int64_t>(Code::kUnknown));
  else if (key == "grpc-message")
    call.grpc_message = DecodeGrpcMessage(text);
  return 0;
}

int GrpcChannel::State::OnData(nghttp2_session*, uint8_t, int32_t id, const uint8_t* data,
                               size_t size, void* user) {
  ActiveCall& call = static_cast<State*>(user)->call;
  // The body of an answer that is not gRPC's is some proxy's page.
  if (id == call.stream && call.http_status == 200 && call.read_status.ok())
    call.read_status = call.reader.Append(Text(data, size));
  return 0;
}

int GrpcChannel::State::OnClosed(nghttp2_session*, int32_t id, uint32_t error, void* user) {
  ActiveCall& call = static_cast<State*>(user)->call;
  if (id != call.stream) return 0;
  call.done = true;
  call.reset = error;
  return 0;
}

int GrpcChannel::State::OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
  if (frame->hd.type == NGHTTP2_GOAWAY) static_cast<State*>(user)->going_away = true;
  return 0;
}

ssize_t GrpcChannel::State::ReadRequest(nghttp2_session*, int32_t, uint8_t* buffer, size_t size,
                                        uint32_t* flags, nghttp2_data_source*, void* user) {
  ActiveCall& call = static_cast<State*>(user)->call;
  size_t n = 0;
  for (; n < size && call.sent < sizeof call.prefix; ++n)
    buffer[n] = static_cast<uint8_t>(call.prefix[call.sent++]);
  const size_t at = call.sent - sizeof call.prefix;
  const size_t rest = std::min(size - n, call.request.size() - at);
  std::copy_n(call.request.data() + at, rest, buffer + n);
  call.sent += rest;
  if (call.sent == sizeof call.prefix + call.request.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(n + rest);
}

Status GrpcChannel::State::Connect() {
  nghttp2_session_del(session);
  session = nullptr;
  going_away = false;
  in.Clear();
  RETURN_IF_ERROR(socket.Connect());
  nghttp2_session_callbacks* callbacks = nullptr;
  if (nghttp2_session_callbacks_new(&callbacks) != 0) return InternalError("out of memory");
  nghttp2_session_callbacks_set_on_header_callback(callbacks, OnHeader);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, OnData);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, OnClosed);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, OnFrame);
  const int rv = nghttp2_session_client_new(&session, callbacks, this);
  nghttp2_session_callbacks_del(callbacks);
  if (rv != 0) return InternalError("out of memory");
  const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
                                             {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 4 << 20}};
  nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings, 2);
  nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, 16 << 20);
  return OkStatus();
}

// Frames may have come since the last call: a GOAWAY, a ping, the end.
Status GrpcChannel::State::Ready() {
  while (socket.open() && session != nullptr && !going_away) {
    const ClientSocket::Idle idle = socket.Peek();
    if (idle == ClientSocket::Idle::kQuiet) return OkStatus();
    if (idle == ClientSocket::Idle::kClosed) break;
    if (!socket.Receive(&in, Clock::Default()->NowNanos()).ok() || !Feed().ok()) break;
  }
  socket.ClearFailure();
  return Connect();
}

Status GrpcChannel::State::Flush(int64_t deadline_ns) {
  // As much at a time as keeps a large request from being held twice.
  constexpr size_t kBatch = 1 << 20;
  for (;;) {
    out.clear();
    const uint8_t* data = nullptr;
    ssize_t n = 0;
    while (out.size() < kBatch && (n = nghttp2_session_mem_send(session, &data)) > 0)
      out.append(Text(data, static_cast<size_t>(n)));
    if (n < 0)
      return socket.Fail(TransportFailure::kProtocol,
                         InternalError(StrCat("HTTP/2: ", nghttp2_strerror(static_cast<int>(n)))));
    if (out.empty()) return OkStatus();
    RETURN_IF_ERROR(socket.Send(out, {}, deadline_ns));
  }
}

Status GrpcChannel::State::Feed() {
  const auto* data = reinterpret_cast<const uint8_t*>(in.data());
  const ssize_t n = nghttp2_session_mem_recv(session, data, in.size());
  in.Clear();
  if (n >= 0) return OkStatus();
  return socket.Fail(TransportFailure::kProtocol,
                     InternalError(StrCat("the answer of ", socket.Name(), " is not HTTP/2: ",
                                          nghttp2_strerror(static_cast<int>(n)))));
}

Status GrpcChannel::State::Submit(std::string_view method, std::string_view timeout) {
  const std::string authority = socket.Name();
  const nghttp2_nv fields[] = {
      Copied(":method", "POST"),       Copied(":scheme", "http"),
      Copied(":path", method),         Copied(":authority", authority),
      Copied("te", "trailers"),        Copied("content-type", "application/grpc"),
      Copied("user-agent", "slipway"), Copied("grpc-timeout", timeout)};
  nghttp2_data_provider provider{};
  provider.read_callback = ReadRequest;
  call.stream = nghttp2_submit_request(session, nullptr, fields, 8, &provider, nullptr);
  if (call.stream >= 0) return OkStatus();
  return socket.Fail(TransportFailure::kProtocol,
                     InternalError(StrCat("HTTP/2: ", nghttp2_strerror(call.stream))));
}

Status GrpcChannel::State::Run(int64_t deadline_ns) {
  RETURN_IF_ERROR(Flush(deadline_ns));
  while (!call.done) {
    ASSIGN_OR_RETURN(const size_t n, socket.Receive(&in, deadline_ns));
    if (n == 0) return socket.Lost("answering a call");
    RETURN_IF_ERROR(Feed());
    RETURN_IF_ERROR(Flush(deadline_ns));
  }
  return OkStatus();
}

StatusOr<std::string> GrpcChannel::State::Result() {
  if (call.grpc_status && *call.grpc_status != 0) {
    const int64_t code = *call.grpc_status;
    return Status(code > 0 && code <= 16 ? static_cast<Code>(code) : Code::kUnknown,
                  call.grpc_message);
  }
  if (!call.grpc_status && call.reset != NGHTTP2_NO_ERROR) {
    const bool refused = call.reset == NGHTTP2_REFUSED_STREAM;
    return socket.Fail(
        refused ? TransportFailure::kReset : TransportFailure::kProtocol,
        Status(refused ? Code::kUnavailable : Code::kInternal,
               StrCat(socket.Name(), " reset the call: ", nghttp2_http2_strerror(call.reset))));
  }
  if (!call.grpc_status)
    return Status(CodeForHttpStatus(call.http_status),
                  StrCat(socket.Name(), " answered HTTP ", call.http_status,
                         " without a grpc-status; is this a gRPC port?"));
  RETURN_IF_ERROR(call.read_status);
  ASSIGN_OR_RETURN(const Bytes message, call.reader.Take());
  return std::string(message.view());
}

GrpcChannel::GrpcChannel(std::unique_ptr<State> state) : state_(std::move(state)) {}
GrpcChannel::~GrpcChannel() = default;

std::unique_ptr<GrpcChannel> GrpcChannel::Lazy(const std::string& host, int port,
                                               ClientOptions options) {
  return std::unique_ptr<GrpcChannel>(
      new GrpcChannel(std::make_unique<State>(host, port, options)));
}

StatusOr<std::unique_ptr<GrpcChannel>> GrpcChannel::Connect(const std::string& host, int port,
                                                            ClientOptions options) {
  std::unique_ptr<GrpcChannel> channel = Lazy(host, port, options);
  RETURN_IF_ERROR(channel->state_->Connect());
  return channel;
}

StatusOr<std::string> GrpcChannel::Call(std::string_view method, std::string_view request,
                                        std::chrono::milliseconds timeout) {
  State& s = *state_;
  s.socket.ClearFailure();
  if (request.size() > UINT32_MAX)
    return InvalidArgumentError(StrCat("a message of ", request.size(), " bytes; 4 GiB is most"));
  const int64_t nanos = std::chrono::nanoseconds(timeout).count();
  const int64_t deadline = Clock::Default()->NowNanos() + nanos;
  RETURN_IF_ERROR(s.Ready());
  s.call = ActiveCall();
  s.call.request = request;
  PutGrpcPrefix(static_cast<uint32_t>(request.size()), s.call.prefix);
  s.call.reader = GrpcMessageReader(s.socket.options().max_response_bytes);
  RETURN_IF_ERROR(s.Submit(method, FormatGrpcTimeout(nanos)));
  // A call that ran out of time leaves its stream behind: the connection is given up with it.
  RETURN_IF_ERROR(s.Run(deadline));
  return s.Result();
}

TransportFailure GrpcChannel::last_failure() const { return state_->socket.failure(); }

}  // namespace slipway::net
