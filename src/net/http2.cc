// SPDX-License-Identifier: Apache-2.0
//
// The server's side of HTTP/2 on a connection, over nghttp2: HTTP requests and gRPC calls.
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/strings.h"
#include "net/connection.h"
#include "net/http2_fields.h"
#include "net/http2_stream.h"
#include "net/http_parser.h"

namespace slipway::net {
namespace {

constexpr size_t kMaxPending = 256 * 1024;  // of output, before more is taken from nghttp2
constexpr int32_t kStreamWindow = 4 << 20;
constexpr int32_t kConnectionWindow = 16 << 20;
constexpr int64_t kLingerNanos = 2'000'000'000;

// Both texts must live until nghttp2 has sent them.
nghttp2_nv Literal(std::string_view name, std::string_view value) {
  return {Octets(name), Octets(value), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
}

nghttp2_nv Copied(std::string_view name, std::string_view value) {
  return {Octets(name), Octets(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

// Waits for its client, not for a handler.
bool Stalled(const Http2Stream& stream) {
  return stream.open && (!stream.remote_done || stream.answered);
}

class Http2 final : public Protocol {
 public:
  explicit Http2(Connection* connection);
  ~Http2() override;

  bool WantsRead() const override { return connection_.out().pending() <= 4 * kMaxPending; }
  std::span<char> ReadBuffer() override { return connection_.loop().scratch(); }
  void OnRead(size_t n) override;
  void OnEof() override { connection_.Close(); }
  void OnDrained() override {
    if (over_) Touch();
    Pump();
  }
  int64_t Deadline() const override;
  void OnDeadline() override;
  void Drain() override;
  void AnswerHttp(uint64_t id, HttpResponse&& response) override;
  void AnswerGrpc(uint64_t id, Status&& status, std::string&& response) override;

 private:
  static const nghttp2_session_callbacks* Callbacks();
  static int OnBeginHeaders(nghttp2_session*, const nghttp2_frame* frame, void* user);
  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                      void* user);
  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user);
  static int OnData(nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t size,
                    void* user);
  static int OnClosed(nghttp2_session*, int32_t id, uint32_t, void* user);
  static int OnFrameSent(nghttp2_session*, const nghttp2_frame* frame, void* user);
  static ssize_t ReadResponse(nghttp2_session*, int32_t id, uint8_t* buffer, size_t size,
                              uint32_t* flags, nghttp2_data_source* source, void* user);

  Http2Stream* Find(int32_t id) {
    return static_cast<Http2Stream*>(nghttp2_session_get_stream_user_data(session_, id));
  }
  Http2Stream* Waiting(uint64_t id);
  Http2Stream* Acquire(int32_t id);
  void OnHead(Http2Stream* stream);
  void OnGrpcHead(Http2Stream* stream);
  void OnRequest(Http2Stream* stream);
  void DispatchHttp(Http2Stream* stream);
  void DispatchGrpc(Http2Stream* stream);
  void SubmitHttp(Http2Stream* stream, HttpResponse&& response);
  void SubmitGrpc(Http2Stream* stream, const Status& status, std::string&& response);
  void RefuseHttp(Http2Stream* stream, int status, std::string_view why);
  // Moves frames into the output queue; ends the connection when the session is over.
  void Pump();
  void FinishDrain();
  void Touch() { since_ns_ = connection_.loop().now_ns(); }

  Connection& connection_;
  const ServerOptions& options_;
  nghttp2_session* session_ = nullptr;
  std::vector<std::unique_ptr<Http2Stream>> streams_;
  std::vector<Http2Stream*> free_;
  size_t open_ = 0;
  int64_t since_ns_;
  bool receiving_ = false;  // inside nghttp2, which must not be asked for output there
  bool draining_ = false;
  bool over_ = false;  // nothing more will be written; the peer's end is awaited
  std::vector<HttpHeader> headers_;
  std::vector<nghttp2_nv> fields_;
  std::string lower_;
};

const nghttp2_session_callbacks* Http2::Callbacks() {
  static const nghttp2_session_callbacks* const shared = [] {
    nghttp2_session_callbacks* callbacks = nullptr;
    if (nghttp2_session_callbacks_new(&callbacks) != 0) std::abort();
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, OnBeginHeaders);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, OnHeader);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, OnFrame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, OnData);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, OnClosed);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, OnFrameSent);
    return callbacks;
  }();
  return shared;
}

Http2::Http2(Connection* connection)
    : connection_(*connection),
      options_(connection->context().options),
      since_ns_(connection->loop().now_ns()) {
  nghttp2_option* option = nullptr;
  if (nghttp2_option_new(&option) != 0) std::abort();
  nghttp2_option_set_no_closed_streams(option, 1);
  const int rv = nghttp2_session_server_new2(&session_, Callbacks(), this, option);
  nghttp2_option_del(option);
  if (rv != 0) std::abort();
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, static_cast<uint32_t>(options_.max_streams)},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<uint32_t>(options_.max_header_bytes)}};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, 3);
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
  // The last stream named is 0: the client may try each request elsewhere.
  if (connection_.refuse()) nghttp2_session_terminate_session2(session_, 0, NGHTTP2_NO_ERROR);
}

Http2::~Http2() {
  for (const auto& stream : streams_)
    if (stream->timer != EventLoop::kNoTimer) connection_.loop().CancelTimer(stream->timer);
  nghttp2_session_del(session_);
}

void Http2::OnRead(size_t n) {
  Touch();
  const auto* data = reinterpret_cast<const uint8_t*>(connection_.loop().scratch().data());
  receiving_ = true;
  const ssize_t taken = nghttp2_session_mem_recv(session_, data, n);
  receiving_ = false;
  if (taken < 0) return connection_.Close();
  Pump();
}

void Http2::Pump() {
  OutputQueue& out = connection_.out();
  while (out.pending() < kMaxPending) {
    const uint8_t* data = nullptr;
    const ssize_t n = nghttp2_session_mem_send(session_, &data);
    if (n < 0) return connection_.Close();
    if (n == 0) break;
    out.Append(Text(data, static_cast<size_t>(n)));
  }
  const bool over = !nghttp2_session_want_read(session_) && !nghttp2_session_want_write(session_);
  if (!over || over_) return;
  over_ = true;
  connection_.FinishWriting();
  Touch();
}

Http2Stream* Http2::Acquire(int32_t id) {
  if (free_.empty()) {
    streams_.push_back(std::make_unique<Http2Stream>());
    free_.push_back(streams_.back().get());
  }
  Http2Stream* stream = free_.back();
  free_.pop_back();
  stream->id = id;
  stream->open = true;
  ++open_;
  return stream;
}

int Http2::OnBeginHeaders(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
  auto* self = static_cast<Http2*>(user);
  if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
  Http2Stream* stream = self->Acquire(frame->hd.stream_id);
  nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, stream);
  return 0;
}

int Http2::OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                    size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                    void* user) {
  auto* self = static_cast<Http2*>(user);
  Http2Stream* stream = self->Find(frame->hd.stream_id);
  if (stream == nullptr || stream->head_done || stream->too_large) return 0;  // trailers
  if (name_size == 0) return 0;
  const std::string_view key = Text(name, name_size), text = Text(value, value_size);
  if (stream->text.size() + stream->path.size() + name_size + value_size >
      self->options_.max_header_bytes) {
    stream->too_large = true;
  } else if (key == ":path") {
    stream->path = text;
  } else if (key == ":method") {
    stream->method = text;
  } else if (key == ":authority" || key[0] != ':') {
    const auto begin = static_cast<uint32_t>(stream->text.size());
    stream->text.append(key[0] == ':' ? "host" : key);
    const auto middle = static_cast<uint32_t>(stream->text.size());
    stream->text.append(text);
    stream->fields.push_back({begin, middle, static_cast<uint32_t>(stream->text.size())});
  }
  return 0;
}

int Http2::OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
  auto* self = static_cast<Http2*>(user);
  if (frame->hd.type == NGHTTP2_PING && (frame->hd.flags & NGHTTP2_FLAG_ACK) != 0) {
    self->FinishDrain();
    return 0;
  }
  if (frame->hd.type != NGHTTP2_DATA && frame->hd.type != NGHTTP2_HEADERS) return 0;
  Http2Stream* stream = self->Find(frame->hd.stream_id);
  if (stream == nullptr) return 0;
  if (!stream->head_done) self->OnHead(stream);
  if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
    stream->remote_done = true;
    if (!stream->answered) self->OnRequest(stream);
  }
  return 0;
}

void Http2::OnHead(Http2Stream* stream) {
  stream->head_done = true;
  stream->grpc = IsGrpc(stream->Header("content-type"));
  if (stream->too_large) return RefuseHttp(stream, 431, "The request's headers are too large.");
  if (stream->grpc) OnGrpcHead(stream);
}

void Http2::OnGrpcHead(Http2Stream* stream) {
  const auto fail = [&](Status status) { SubmitGrpc(stream, status, {}); };
  if (stream->method != "POST") return RefuseHttp(stream, 405, "A gRPC call is a POST.");
  const auto& methods = connection_.context().grpc;
  const auto found = methods.find(std::string_view(stream->path));
  if (found == methods.end())
    return fail(UnimplementedError(StrCat("method ", Quoted(stream->path), " is unknown")));
  stream->grpc_method = &*found;
  const std::string_view encoding = stream->Header("grpc-encoding");
  if (!encoding.empty() && encoding != "identity")
    return fail(UnimplementedError(
        StrCat("grpc-encoding ", Quoted(encoding), " is not supported; send identity")));
  if (const std::string_view text = stream->Header("grpc-timeout"); !text.empty()) {
    const std::optional<int64_t> timeout = ParseGrpcTimeout(text);
    if (!timeout)
      return fail(InternalError(StrCat("grpc-timeout ", Quoted(text), " is malformed")));
    const int64_t now = connection_.loop().now_ns();
    stream->deadline_ns = now + std::min(*timeout, std::numeric_limits<int64_t>::max() - now);
  }
  stream->reader = GrpcMessageReader(options_.max_grpc_message_bytes);
}

int Http2::OnData(nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t size,
                  void* user) {
  auto* self = static_cast<Http2*>(user);
  Http2Stream* stream = self->Find(id);
  if (stream == nullptr || stream->answered) return 0;
  if (stream->grpc) {
    if (Status status = stream->reader.Append(Text(data, size)); !status.ok())
      self->SubmitGrpc(stream, status, {});
  } else if (stream->body.size() + size > self->options_.max_body_bytes) {
    stream->body.Recycle(0);
    self->RefuseHttp(stream, 413,
                     StrCat("The body is larger than the ", self->options_.max_body_bytes,
                            " bytes that are accepted."));
  } else {
    stream->body.Append(Text(data, size));
  }
  return 0;
}

void Http2::OnRequest(Http2Stream* stream) {
  if (stream->grpc)
    DispatchGrpc(stream);
  else
    DispatchHttp(stream);
}

void Http2::DispatchHttp(Http2Stream* stream) {
  HttpRequest request;
  request.http_major = 2;
  request.method = stream->method;
  request.target = stream->path;
  const size_t mark = request.target.find('?');
  request.path = request.target.substr(0, mark);
  if (mark != std::string_view::npos) request.query = request.target.substr(mark + 1);
  headers_.clear();
  for (const Http2Stream::Field& f : stream->fields)
    headers_.push_back({stream->Name(f), stream->Value(f)});
  request.headers = headers_;
  request.body = stream->body.view();
  if (!stream->body.empty()) request.owned_body = &stream->body;
  HttpResponder responder(connection_.Route(static_cast<uint64_t>(stream->id)));
  if (connection_.context().http)
    connection_.context().http(request, std::move(responder));
  else
    responder.Send({.status = 404, .body = "{\"error\": \"No HTTP is served on this port.\"}\n"});
}

void Http2::DispatchGrpc(Http2Stream* stream) {
  StatusOr<Bytes> message = stream->reader.Take();
  if (!message.ok()) return SubmitGrpc(stream, message.status(), {});
  const auto id = static_cast<uint64_t>(stream->id);
  if (stream->deadline_ns && *stream->deadline_ns <= Clock::Default()->NowNanos())
    return SubmitGrpc(stream, DeadlineExceededError("the deadline passed before the call began"),
                      {});
  stream->grpc_method->second(GrpcCall(connection_.Route(id), stream->grpc_method->first,
                                       *std::move(message), stream->deadline_ns));
  if (stream->answered || !stream->deadline_ns) return;
  // Calls answered at once never come here and cost no timer.
  stream->timer = connection_.loop().RunAt(*stream->deadline_ns, [this, stream, id] {
    stream->timer = EventLoop::kNoTimer;
    AnswerGrpc(id, DeadlineExceededError("the deadline passed while the call was running"), {});
    connection_.AfterWork();
  });
}

Http2Stream* Http2::Waiting(uint64_t id) {
  Http2Stream* stream = Find(static_cast<int32_t>(id));
  return stream == nullptr || stream->answered ? nullptr : stream;
}

void Http2::AnswerHttp(uint64_t id, HttpResponse&& response) {
  Http2Stream* stream = Waiting(id);
  if (stream == nullptr) return;
  SubmitHttp(stream, std::move(response));
  if (!receiving_) Pump();
}

void Http2::AnswerGrpc(uint64_t id, Status&& status, std::string&& response) {
  Http2Stream* stream = Waiting(id);
  if (stream == nullptr) return;
  SubmitGrpc(stream, status, std::move(response));
  if (!receiving_) Pump();
}

void Http2::RefuseHttp(Http2Stream* stream, int status, std::string_view why) {
  SubmitHttp(stream, {.status = status, .body = StrCat("{\"error\": \"", why, "\"}\n")});
}

void Http2::SubmitHttp(Http2Stream* stream, HttpResponse&& response) {
  stream->answered = true;
  stream->grpc = false;
  char status[4] = {static_cast<char>('0' + response.status / 100 % 10),
                    static_cast<char>('0' + response.status / 10 % 10),
                    static_cast<char>('0' + response.status % 10), 0};
  const std::string length = StrCat(response.body.size());
  const std::string& date = connection_.loop().date_header();
  fields_.clear();
  fields_.push_back(Copied(":status", {status, 3}));
  fields_.push_back(Copied("date", std::string_view(date).substr(6, date.size() - 8)));
  if (!response.content_type.empty())
    fields_.push_back(Literal("content-type", response.content_type));
  lower_.clear();
  for (const auto& [name, value] : response.headers) lower_ += AsciiLower(name);
  size_t at = 0;
  for (const auto& [name, value] : response.headers) {
    const std::string_view key = std::string_view(lower_).substr(at, name.size());
    at += name.size();
    if (IsHttpToken(key) && IsHttpFieldValue(value)) fields_.push_back(Copied(key, value));
  }
  const bool bodiless = response.status == 204 || response.status == 304;
  if (!bodiless) fields_.push_back(Copied("content-length", length));
  stream->response = std::move(response.body);
  nghttp2_data_provider provider{};
  provider.source.ptr = stream;
  provider.read_callback = ReadResponse;
  const bool body = !bodiless && stream->method != "HEAD" && !stream->response.empty();
  nghttp2_submit_response(session_, stream->id, fields_.data(), fields_.size(),
                          body ? &provider : nullptr);
  Touch();
}

void Http2::SubmitGrpc(Http2Stream* stream, const Status& status, std::string&& response) {
  stream->answered = true;
  if (status.ok() && response.size() > std::numeric_limits<uint32_t>::max())
    return SubmitGrpc(stream, ResourceExhaustedError("the response exceeds 4 GiB"), {});
  const auto code = static_cast<size_t>(status.code());
  const std::string message = EncodeGrpcMessage(status.message());
  const nghttp2_nv fields[] = {
      Literal(":status", "200"), Literal("content-type", "application/grpc"),
      Literal("grpc-status", kCodeTexts[std::min<size_t>(code, 16)]),
      Literal("grpc-accept-encoding", "identity"), Copied("grpc-message", message)};
  nghttp2_data_provider provider{};
  if (status.ok()) {
    PutGrpcPrefix(static_cast<uint32_t>(response.size()), stream->prefix);
    stream->response = std::move(response);
    provider.source.ptr = stream;
    provider.read_callback = ReadResponse;
    nghttp2_submit_response(session_, stream->id, fields, 2, &provider);
  } else {
    nghttp2_submit_response(session_, stream->id, fields, message.empty() ? 4 : 5, nullptr);
  }
  Touch();
}

ssize_t Http2::ReadResponse(nghttp2_session* session, int32_t id, uint8_t* buffer, size_t size,
                            uint32_t* flags, nghttp2_data_source* source, void*) {
  auto* stream = static_cast<Http2Stream*>(source->ptr);
  const size_t prefix = stream->grpc ? sizeof stream->prefix : 0;
  size_t n = 0;
  for (; n < size && stream->sent < prefix; ++n)
    buffer[n] = static_cast<uint8_t>(stream->prefix[stream->sent++]);
  const size_t at = stream->sent - prefix;
  const size_t rest = std::min(size - n, stream->response.size() - at);
  if (rest > 0) std::memcpy(buffer + n, stream->response.data() + at, rest);
  stream->sent += rest;
  if (stream->sent < prefix + stream->response.size()) return static_cast<ssize_t>(n + rest);
  *flags |= NGHTTP2_DATA_FLAG_EOF;
  if (stream->grpc) {
    *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
    const nghttp2_nv trailer = Literal("grpc-status", kCodeTexts[0]);
    nghttp2_submit_trailer(session, id, &trailer, 1);
  }
  return static_cast<ssize_t>(n + rest);
}

// An answer that is complete before its request: the client need not send the rest.
int Http2::OnFrameSent(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
  if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
  if (frame->hd.type != NGHTTP2_DATA && frame->hd.type != NGHTTP2_HEADERS) return 0;
  Http2Stream* stream = static_cast<Http2*>(user)->Find(frame->hd.stream_id);
  if (stream != nullptr && !stream->remote_done)
    nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR);
  return 0;
}

int Http2::OnClosed(nghttp2_session* session, int32_t id, uint32_t, void* user) {
  auto* self = static_cast<Http2*>(user);
  Http2Stream* stream = self->Find(id);
  if (stream == nullptr) return 0;
  nghttp2_session_set_stream_user_data(session, id, nullptr);
  if (stream->timer != EventLoop::kNoTimer) self->connection_.loop().CancelTimer(stream->timer);
  stream->timer = EventLoop::kNoTimer;
  stream->Reset();
  self->free_.push_back(stream);
  --self->open_;
  return 0;
}

// Handlers that run have no deadline here: theirs is the call's own, or none.
int64_t Http2::Deadline() const {
  if (over_) return connection_.out().empty() ? since_ns_ + kLingerNanos : 0;
  if (open_ == 0) {
    if (draining_) return since_ns_ + std::chrono::nanoseconds(options_.header_timeout).count();
    return since_ns_ + std::chrono::nanoseconds(options_.idle_timeout).count();
  }
  const bool stalled = std::any_of(streams_.begin(), streams_.end(),
                                   [](const auto& stream) { return Stalled(*stream); });
  return stalled ? since_ns_ + std::chrono::nanoseconds(options_.io_timeout).count() : 0;
}

void Http2::OnDeadline() {
  if (over_ || (draining_ && open_ == 0)) return connection_.Close();
  Touch();
  if (open_ == 0) {
    draining_ = true;
    nghttp2_session_terminate_session(session_, NGHTTP2_NO_ERROR);
  }
  // Requests that stopped half way, and answers that the client's window does not let through;
  // calls that are running stay.
  for (const auto& stream : streams_)
    if (Stalled(*stream))
      nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_CANCEL);
  Pump();
}

// A first GOAWAY names no last stream; requests that crossed it on the wire are still taken,
// until the ping behind it has come back.
void Http2::Drain() {
  if (draining_) return;
  draining_ = true;
  Touch();
  nghttp2_submit_shutdown_notice(session_);
  nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
  Pump();
}

void Http2::FinishDrain() {
  if (!draining_) return;
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR,
                        nullptr, 0);
}

}  // namespace

std::unique_ptr<Protocol> NewHttp2(Connection* connection) {
  return std::make_unique<Http2>(connection);
}

}  // namespace slipway::net
