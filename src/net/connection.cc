// SPDX-License-Identifier: Apache-2.0
#include "net/connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace slipway::net {

Connection::Connection(int fd, bool refuse, std::shared_ptr<EventLoop> loop,
                       std::shared_ptr<ServerContext> context, ConnectionOwner* owner)
    : fd_(fd),
      refuse_(refuse),
      loop_(std::move(loop)),
      context_(std::move(context)),
      owner_(owner),
      protocol_(NewHttp1(this)),
      write_progress_ns_(loop_->now_ns()) {}

Connection::~Connection() { Close(); }

Status Connection::Start() {
  opened_ns_ = loop_->now_ns();
  if (context_->options.tls != nullptr) {
    tls_ = context_->options.tls->Accept(fd_);
    if (tls_ == nullptr) return ResourceExhaustedError("no memory for a TLS connection");
  }
  interest_ = EPOLLIN;
  RETURN_IF_ERROR(loop_->Add(fd_, interest_, this));
  UpdateTimer();
  return OkStatus();
}

void Connection::Close() {
  if (fd_ < 0) return;
  loop_->Remove(fd_);
  tls_.reset();
  close(fd_);
  fd_ = -1;
  if (timer_ != EventLoop::kNoTimer) loop_->CancelTimer(timer_);
  timer_ = EventLoop::kNoTimer;
  loop_->connections.fetch_sub(1, std::memory_order_relaxed);
  // Events of this round may still name this object, and a method of it may be running.
  if (auto self = weak_from_this().lock()) {
    loop_->Release(self);
    owner_->Forget(this);
  }
  std::lock_guard lock(context_->mutex);
  context_->open.fetch_sub(1);
  context_->closed.notify_all();
}

void Connection::Drain() {
  if (closed()) return;
  // A request that is already here is in flight.
  if (!eof_) Read();
  if (closed()) return;
  protocol_->Drain();
  AfterWork();
}

void Connection::OnEvents(uint32_t events) {
  if (closed()) return;
  if ((events & (EPOLLERR | EPOLLHUP)) != 0 && (events & EPOLLIN) == 0) return Close();
  const bool handshake = tls_ != nullptr && !tls_->established();
  if ((events & EPOLLIN) != 0 || handshake) Read();
  if (closed()) return;
  AfterWork();
}

void Connection::Read() {
  in_work_ = true;
  for (int round = 0; round < 16 && !closed() && !eof_; ++round) {
    if (!protocol_->WantsRead()) break;
    const std::span<char> buffer = protocol_->ReadBuffer();
    const ssize_t n = Receive(buffer);
    if (n == -1) break;
    if (n < 0) {
      Close();
      break;
    }
    if (n == 0) {
      eof_ = true;
      protocol_->OnEof();
      break;
    }
    protocol_->OnRead(static_cast<size_t>(n));
    if (next_protocol_ != nullptr) Adopt();
    // A record of TLS may be shorter than the buffer with the next one behind it.
    if (tls_ == nullptr && static_cast<size_t>(n) < buffer.size()) break;
  }
  in_work_ = false;
}

ssize_t Connection::Receive(std::span<char> buffer) {
  if (tls_ != nullptr) {
    size_t n = 0;
    switch (tls_->Read(buffer.data(), buffer.size(), &n)) {
      case TlsSession::Result::kDone:
        return static_cast<ssize_t>(n);
      case TlsSession::Result::kBlocked:
        return -1;
      case TlsSession::Result::kEnd:
        return 0;
      case TlsSession::Result::kFailed:
        return -2;
    }
  }
  for (;;) {
    const ssize_t n = recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (n >= 0) return n;
    if (errno == EINTR) continue;
    return errno == EAGAIN || errno == EWOULDBLOCK ? -1 : -2;
  }
}

// Bytes that TLS has decrypted and nobody has read yet raise no event of the socket.
void Connection::ReadPending() {
  if (tls_ == nullptr || read_posted_ || eof_ || !tls_->HasPending() || !protocol_->WantsRead())
    return;
  read_posted_ = true;
  loop_->Post([weak = weak_from_this()] {
    const auto self = std::static_pointer_cast<Connection>(weak.lock());
    if (self == nullptr || self->closed()) return;
    self->read_posted_ = false;
    self->Read();
    self->AfterWork();
  });
}

void Connection::SwitchToHttp2(std::string bytes) {
  next_protocol_ = NewHttp2(this);
  switched_bytes_ = std::move(bytes);
}

void Connection::Adopt() {
  protocol_ = std::move(next_protocol_);
  const std::span<char> buffer = protocol_->ReadBuffer();
  const size_t n = switched_bytes_.copy(buffer.data(), buffer.size());
  protocol_->OnRead(n);
  switched_bytes_ = std::string();
}

void Connection::AfterWork() {
  if (closed() || in_work_) return;
  Flush();
  if (closed()) return;
  UpdateInterest();
  UpdateTimer();
  ReadPending();
}

void Connection::Flush() {
  while (!out_.empty()) {
    const size_t before = out_.pending();
    const OutputQueue::Result result = tls_ ? out_.Flush(tls_.get()) : out_.Flush(fd_);
    if (result == OutputQueue::Result::kFailed) return Close();
    if (out_.pending() < before || !blocked_) write_progress_ns_ = loop_->now_ns();
    blocked_ = result == OutputQueue::Result::kBlocked;
    if (blocked_) return;
    in_work_ = true;
    protocol_->OnDrained();
    in_work_ = false;
    if (closed()) return;
  }
  if (!finish_writing_ || shut_down_) return;
  if (eof_) return Close();
  // The peer may still be sending: closing now would reset the connection and could destroy
  // the answer on its way. The protocol's deadline bounds the wait for the peer's end.
  if (tls_ != nullptr) tls_->FinishWriting();
  shutdown(fd_, SHUT_WR);
  shut_down_ = true;
}

void Connection::UpdateInterest() {
  const bool writes = blocked_ || (tls_ != nullptr && tls_->wants_write());
  uint32_t wanted = writes ? uint32_t{EPOLLOUT} : 0;
  if (!eof_ && protocol_->WantsRead()) wanted |= EPOLLIN;
  if (wanted == interest_) return;
  interest_ = wanted;
  loop_->Modify(fd_, wanted, this);
}

int64_t Connection::Deadline() const {
  if (tls_ != nullptr && !tls_->established())
    return opened_ns_ + std::chrono::nanoseconds(context_->options.header_timeout).count();
  int64_t deadline = protocol_->Deadline();
  if (blocked_) {
    const int64_t stuck =
        write_progress_ns_ + std::chrono::nanoseconds(context_->options.io_timeout).count();
    deadline = deadline == 0 ? stuck : std::min(deadline, stuck);
  }
  return deadline;
}

// A timer that is early is left alone and looks again when it fires, so that a busy connection
// whose deadline moves with every request touches no timer.
void Connection::UpdateTimer() {
  const int64_t deadline = Deadline();
  if (deadline == 0 || (timer_ != EventLoop::kNoTimer && timer_.first <= deadline)) return;
  if (timer_ != EventLoop::kNoTimer) loop_->CancelTimer(timer_);
  timer_ = loop_->RunAt(deadline, [this] { OnTimer(); });
}

void Connection::OnTimer() {
  timer_ = EventLoop::kNoTimer;
  const int64_t deadline = Deadline();
  if (deadline != 0 && deadline <= loop_->now_ns()) {
    if (tls_ != nullptr && !tls_->established()) return Close();
    if (blocked_ && deadline != protocol_->Deadline()) return Close();
    protocol_->OnDeadline();
  }
  AfterWork();
}

// An answer may start the next request, whose answer may come before this returns: flushing then
// would hand the protocol its input a second time.
void Connection::AnswerHttp(uint64_t id, HttpResponse&& response) {
  if (closed()) return;
  const bool outer = std::exchange(in_work_, true);
  protocol_->AnswerHttp(id, std::move(response));
  in_work_ = outer;
  AfterWork();
}

void Connection::AnswerGrpc(uint64_t id, Status&& status, std::string&& response) {
  if (closed()) return;
  const bool outer = std::exchange(in_work_, true);
  protocol_->AnswerGrpc(id, std::move(status), std::move(response));
  in_work_ = outer;
  AfterWork();
}

}  // namespace slipway::net
