// SPDX-License-Identifier: Apache-2.0
//
// The server's side of HTTP/1.1 on a connection: one request after the other.
#include <algorithm>
#include <charconv>
#include <optional>

#include "base/strings.h"
#include "net/connection.h"
#include "net/http_parser.h"

namespace slipway::net {
namespace {

constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr size_t kReadBytes = 16 * 1024;
constexpr size_t kReadAhead = 64 * 1024;     // of requests behind the one being answered
constexpr size_t kBodyStep = 256 * 1024;     // grown at once for a body that was announced
constexpr size_t kMaxPending = 1024 * 1024;  // of answers that the peer does not read
constexpr int64_t kLingerNanos = 2'000'000'000;
// On a connection that was opened but not used before the server began to drain.
constexpr int64_t kDrainGraceNanos = 500'000'000;

int64_t Nanos(std::chrono::milliseconds time) { return std::chrono::nanoseconds(time).count(); }

class Http1 final : public Protocol {
 public:
  explicit Http1(Connection* connection)
      : connection_(*connection),
        options_(connection->context().options),
        head_(HttpHeadParser::Kind::kRequest, options_.max_header_bytes),
        since_ns_(connection->loop().now_ns()) {}

  bool WantsRead() const override;
  std::span<char> ReadBuffer() override;
  void OnRead(size_t n) override;
  void OnEof() override;
  void OnDrained() override;
  int64_t Deadline() const override;
  void OnDeadline() override;
  void Drain() override;
  void AnswerHttp(uint64_t id, HttpResponse&& response) override;
  void AnswerGrpc(uint64_t, Status&&, std::string&&) override {}

 private:
  enum class State { kHead, kBody, kChunks, kAnswering, kLingering };

  size_t Process(std::string_view input);
  void ProcessHeld();
  // Each returns how much of the input it took.
  size_t ProcessHead(std::string_view input, bool* more);
  size_t BeginBody(std::string_view input, bool* more);
  size_t FeedChunks(std::string_view input, bool* more);
  bool IsPreface(std::string_view input, bool* more);
  void Dispatch(std::string_view head, std::string_view body);
  void Refuse(int status, std::string_view why);
  void Write(HttpResponse&& response);
  void WriteHead(const HttpResponse& response);
  void Linger();
  void Touch() { since_ns_ = connection_.loop().now_ns(); }

  Connection& connection_;
  const ServerOptions& options_;
  State state_ = State::kHead;
  bool first_ = true;  // no request has come yet
  bool in_dispatch_ = false;
  bool eof_ = false;
  bool head_only_ = false;  // the request being answered is a HEAD
  bool close_after_ = false;
  int minor_ = 1;
  uint64_t request_id_ = 0;
  HttpHeadParser head_;
  std::optional<ChunkDecoder> chunks_;
  std::vector<HttpHeader> headers_;
  Bytes in_;         // bytes read and not yet used
  Bytes held_head_;  // of a request whose body is still coming
  Bytes body_;       // of that request
  size_t body_size_ = 0;
  int64_t since_ns_;  // when the state, or progress in it, began
};

bool Http1::WantsRead() const {
  if (connection_.out().pending() > kMaxPending) return false;
  return state_ != State::kAnswering || in_.size() < kReadAhead;
}

std::span<char> Http1::ReadBuffer() {
  switch (state_) {
    case State::kBody: {
      const size_t n = std::min(body_size_ - body_.size(), std::max(kBodyStep, body_.size()));
      return {body_.Prepare(n), n};
    }
    case State::kHead:
      if (in_.empty()) return connection_.loop().scratch();
      return {in_.Prepare(kReadBytes), kReadBytes};
    case State::kAnswering:
      return {in_.Prepare(kReadBytes), kReadBytes};
    case State::kChunks:
    case State::kLingering:
      return connection_.loop().scratch();
  }
  return {};
}

void Http1::OnRead(size_t n) {
  switch (state_) {
    case State::kLingering:
      return;
    case State::kAnswering:
      in_.Commit(n);
      return;
    case State::kBody:
      body_.Commit(n);
      Touch();
      if (body_.size() == body_size_) {
        Dispatch(held_head_.view(), body_.view());
        ProcessHeld();
      }
      return;
    case State::kHead:
      if (!in_.empty()) {
        in_.Commit(n);
        return ProcessHeld();
      }
      [[fallthrough]];
    case State::kChunks: {
      const std::string_view input(connection_.loop().scratch().data(), n);
      const size_t used = Process(input);
      if (state_ != State::kLingering) in_.Append(input.substr(used));
      return;
    }
  }
}

void Http1::ProcessHeld() {
  if (connection_.closed()) return;
  const size_t used = in_.empty() ? 0 : Process(in_.view());
  if (state_ == State::kLingering) return in_.Recycle(0);
  in_.Consume(used);
  if (in_.empty()) in_.Recycle(kReadAhead);
  if (eof_ && state_ == State::kHead && connection_.out().pending() <= kMaxPending) Linger();
}

// What is queued is the last that is written.
void Http1::Linger() {
  connection_.FinishWriting();
  Touch();
  state_ = State::kLingering;
}

size_t Http1::Process(std::string_view input) {
  size_t used = 0;
  for (bool more = true; more && used < input.size() && !connection_.closed();) {
    if (connection_.out().pending() > kMaxPending) break;
    const std::string_view rest = input.substr(used);
    switch (state_) {
      case State::kHead:
        used += ProcessHead(rest, &more);
        break;
      case State::kChunks:
        used += FeedChunks(rest, &more);
        break;
      case State::kLingering:
        return input.size();
      default:
        more = false;
    }
  }
  return used;
}

// While it returns true and *more is false, the input may yet become the preface.
bool Http1::IsPreface(std::string_view input, bool* more) {
  const size_t n = std::min(input.size(), kPreface.size());
  if (input.substr(0, n) != kPreface.substr(0, n)) return false;
  *more = false;
  if (n == kPreface.size()) {
    connection_.SwitchToHttp2(std::string(input));
    state_ = State::kLingering;
  }
  return true;
}

size_t Http1::ProcessHead(std::string_view input, bool* more) {
  if (first_ && IsPreface(input, more)) {
    if (state_ == State::kLingering) return input.size();
    return 0;
  }
  if (!head_.started()) Touch();
  const ParseState parsed = head_.Parse(input);
  if (parsed == ParseState::kMore) {
    *more = false;
    return 0;
  }
  first_ = false;
  minor_ = head_.minor_version();
  head_only_ = false;
  if (parsed == ParseState::kError) {
    Refuse(head_.error_status(), head_.error());
  } else if (connection_.refuse()) {
    Refuse(503, "The server has as many connections as it accepts; try again later.");
  } else {
    close_after_ = !head_.keep_alive();
    head_only_ = head_.method(input) == "HEAD";
    return BeginBody(input, more);
  }
  *more = false;
  return input.size();
}

size_t Http1::BeginBody(std::string_view input, bool* more) {
  const size_t head_size = head_.head_size();
  const uint64_t announced = head_.content_length().value_or(0);
  if (announced > options_.max_body_bytes) {
    Refuse(413, StrCat("The body has ", announced, " bytes; at most ", options_.max_body_bytes,
                       " are accepted."));
    *more = false;
    return input.size();
  }
  body_size_ = static_cast<size_t>(announced);
  if (!head_.chunked() && input.size() - head_size >= body_size_) {
    Dispatch(input.substr(0, head_size), input.substr(head_size, body_size_));
    return head_size + body_size_;
  }
  if (head_.expect_continue() && input.size() == head_size)
    connection_.out().Append("HTTP/1.1 100 Continue\r\n\r\n");
  held_head_.Append(input.substr(0, head_size));
  Touch();
  if (head_.chunked()) {
    chunks_.emplace(options_.max_body_bytes);
    state_ = State::kChunks;
    return head_size;
  }
  state_ = State::kBody;
  body_.Append(input.substr(head_size));
  *more = false;
  return input.size();
}

size_t Http1::FeedChunks(std::string_view input, bool* more) {
  size_t used = 0;
  Touch();
  switch (chunks_->Feed(input, &used, &body_)) {
    case ParseState::kDone:
      Dispatch(held_head_.view(), body_.view());
      break;
    case ParseState::kError:
      Refuse(chunks_->error_status(), chunks_->error());
      [[fallthrough]];
    case ParseState::kMore:
      *more = false;
      break;
  }
  return used;
}

// scheme://host in front of the path is allowed for every server (RFC 9112 3.2.2).
std::string_view WithoutAuthority(std::string_view target) {
  const size_t scheme = target.find("://");
  if (target.starts_with('/') || scheme == std::string_view::npos) return target;
  const size_t slash = target.find('/', scheme + 3);
  return slash == std::string_view::npos ? std::string_view("/") : target.substr(slash);
}

void Http1::Dispatch(std::string_view head, std::string_view body) {
  HttpRequest request;
  request.method = head_.method(head);
  request.target = head_.target(head);
  const std::string_view path = WithoutAuthority(request.target);
  const size_t mark = path.find('?');
  request.path = path.substr(0, mark);
  if (mark != std::string_view::npos) request.query = path.substr(mark + 1);
  head_.Headers(head, &headers_);
  request.headers = headers_;
  request.body = body;
  if (body.data() == body_.data() && !body.empty()) request.owned_body = &body_;
  state_ = State::kAnswering;
  in_dispatch_ = true;
  HttpResponder responder(connection_.Route(++request_id_));
  if (connection_.context().http)
    connection_.context().http(request, std::move(responder));
  else
    responder.Send({.status = 404, .body = "{\"error\": \"No HTTP is served on this port.\"}\n"});
  in_dispatch_ = false;
  held_head_.Clear();
  body_.Recycle(kReadAhead);
}

void Http1::AnswerHttp(uint64_t id, HttpResponse&& response) {
  if (state_ != State::kAnswering || id != request_id_) return;
  Write(std::move(response));
  if (!in_dispatch_) ProcessHeld();
}

void Http1::Refuse(int status, std::string_view why) {
  close_after_ = true;
  ++request_id_;
  held_head_.Clear();
  body_.Recycle(0);
  Write({.status = status, .body = StrCat("{\"error\": \"", why, "\"}\n")});
}

void Http1::WriteHead(const HttpResponse& response) {
  OutputQueue& out = connection_.out();
  if (response.status == 200) {
    out.Append("HTTP/1.1 200 OK\r\n");
  } else {
    out.Append(StrCat("HTTP/1.1 ", response.status, " ", HttpReason(response.status), "\r\n"));
  }
  out.Append(connection_.loop().date_header());
  if (!response.content_type.empty()) {
    out.Append("Content-Type: ");
    out.Append(response.content_type);
    out.Append("\r\n");
  }
  for (const auto& [name, value] : response.headers) {
    if (!IsHttpToken(name) || !IsHttpFieldValue(value)) continue;
    out.Append(StrCat(name, ": ", value, "\r\n"));
  }
  char number[24];
  const auto end = std::to_chars(number, number + sizeof number, response.body.size()).ptr;
  if (response.status != 204 && response.status != 304) {
    out.Append("Content-Length: ");
    out.Append({number, static_cast<size_t>(end - number)});
    out.Append("\r\n");
  }
  if (close_after_)
    out.Append("Connection: close\r\n");
  else if (minor_ == 0)
    out.Append("Connection: keep-alive\r\n");
  out.Append("\r\n");
}

void Http1::Write(HttpResponse&& response) {
  close_after_ = close_after_ || connection_.draining();
  WriteHead(response);
  if (!head_only_ && response.status != 204 && response.status != 304)
    connection_.out().AppendOwned(std::move(response.body));
  head_.Reset();
  Touch();
  state_ = State::kHead;
  if (close_after_) Linger();
}

void Http1::OnEof() {
  eof_ = true;
  if (state_ == State::kAnswering) return;  // half closed: the answer is still wanted
  if (connection_.out().empty()) return connection_.Close();
  if (state_ != State::kLingering) Linger();
}

void Http1::OnDrained() {
  if (state_ == State::kLingering) Touch();
  if (state_ == State::kHead && (!in_.empty() || eof_)) ProcessHeld();
}

int64_t Http1::Deadline() const {
  switch (state_) {
    case State::kHead:
      if (head_.started() || (first_ && !in_.empty())) {
        return since_ns_ + Nanos(options_.header_timeout);
      }
      if (connection_.draining()) return since_ns_ + kDrainGraceNanos;
      return since_ns_ + Nanos(first_ ? options_.header_timeout : options_.idle_timeout);
    case State::kBody:
    case State::kChunks:
      return since_ns_ + Nanos(options_.io_timeout);
    case State::kAnswering:
      return 0;
    case State::kLingering:  // once all is written; until then the connection sees to progress
      return connection_.out().empty() ? since_ns_ + kLingerNanos : 0;
  }
  return 0;
}

void Http1::OnDeadline() {
  const bool begun = state_ == State::kBody || state_ == State::kChunks ||
                     (state_ == State::kHead && (head_.started() || !in_.empty()));
  if (!begun) return connection_.Close();
  Refuse(408, "The request did not arrive in time.");
}

void Http1::Drain() {
  if (state_ != State::kHead || head_.started()) return;
  if (first_) return Touch();
  if (connection_.out().empty()) return connection_.Close();
  Linger();
}

}  // namespace

std::unique_ptr<Protocol> NewHttp1(Connection* connection) {
  return std::make_unique<Http1>(connection);
}

}  // namespace slipway::net
