// SPDX-License-Identifier: Apache-2.0
//
// One accepted socket: reading, writing, waiting and closing, for whichever protocol turns out
// to be spoken on it. Internal to net. Everything runs on the thread of the connection's loop.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>

#include "net/answer.h"
#include "net/event_loop.h"
#include "net/grpc.h"
#include "net/http.h"
#include "net/output_queue.h"
#include "net/server.h"
#include "net/tls.h"

namespace slipway::net {

// What the connections of one server share. Read-only but for the counters.
struct ServerContext {
  ServerOptions options;
  HttpHandler http;
  GrpcMethods grpc;
  std::atomic<bool> draining{false};

  std::atomic<int> open{0};  // dealt out or serving; changed under mutex when it falls
  std::mutex mutex;
  std::condition_variable closed;
};

class Connection;

// The protocol's side of a connection. Methods may end the connection (Connection::Close).
class Protocol {
 public:
  virtual ~Protocol() = default;

  virtual bool WantsRead() const = 0;
  // Where the next bytes from the socket should go, if it wants any. Valid until OnRead.
  virtual std::span<char> ReadBuffer() = 0;
  // `n` bytes were read into ReadBuffer.
  virtual void OnRead(size_t n) = 0;
  // The peer will send no more.
  virtual void OnEof() = 0;
  // The output queue ran empty; more may be put in.
  virtual void OnDrained() = 0;
  // On the loop's clock, when OnDeadline is due if nothing else happens; 0 is never.
  virtual int64_t Deadline() const = 0;
  virtual void OnDeadline() = 0;
  // Finish what is in flight, take no more, close.
  virtual void Drain() = 0;
  virtual void AnswerHttp(uint64_t id, HttpResponse&& response) = 0;
  virtual void AnswerGrpc(uint64_t id, Status&& status, std::string&& response) = 0;
};

// Knows its connections, one for each loop of a server; outlives them.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  virtual void Forget(Connection* connection) = 0;
};

class Connection final : public EventHandler,
                         public AnswerSink,
                         public std::enable_shared_from_this<Connection> {
 public:
  // Takes the socket over. `refuse`: over the limit of connections, so the first request is
  // turned away. `context->open` counts this connection already.
  Connection(int fd, bool refuse, std::shared_ptr<EventLoop> loop,
             std::shared_ptr<ServerContext> context, ConnectionOwner* owner);
  ~Connection() override;

  Status Start();
  void Drain();
  // At once; what is queued is lost. Later calls of any kind do nothing.
  void Close();

  // For protocols.
  EventLoop& loop() { return *loop_; }
  const ServerContext& context() const { return *context_; }
  bool refuse() const { return refuse_; }
  bool closed() const { return fd_ < 0; }
  bool draining() const { return context_->draining.load(std::memory_order_relaxed); }
  OutputQueue& out() { return out_; }
  AnswerRoute Route(uint64_t id) { return {weak_from_this(), loop_, id}; }
  // No more will be written: once the queue is empty, says so to the peer.
  void FinishWriting() { finish_writing_ = true; }
  // From now on HTTP/2; `bytes` are what was read so far.
  void SwitchToHttp2(std::string bytes);
  // Called from a task or timer of the protocol's own, when it may have produced output.
  void AfterWork();

  void OnEvents(uint32_t events) override;
  void AnswerHttp(uint64_t id, HttpResponse&& response) override;
  void AnswerGrpc(uint64_t id, Status&& status, std::string&& response) override;

 private:
  void Read();
  // What recv says, with or without TLS: bytes, 0 at the end, -1 for now nothing, -2 failed.
  ssize_t Receive(std::span<char> buffer);
  void ReadPending();
  void Adopt();
  void Flush();
  void UpdateInterest();
  void UpdateTimer();
  void OnTimer();
  int64_t Deadline() const;

  int fd_;
  const bool refuse_;
  const std::shared_ptr<EventLoop> loop_;
  const std::shared_ptr<ServerContext> context_;
  ConnectionOwner* const owner_;
  std::unique_ptr<TlsSession> tls_;  // null: none
  std::unique_ptr<Protocol> protocol_;
  std::unique_ptr<Protocol> next_protocol_;
  std::string switched_bytes_;
  OutputQueue out_;
  bool in_work_ = false;  // answers given meanwhile are flushed by whoever set it
  bool finish_writing_ = false;
  bool shut_down_ = false;
  bool eof_ = false;
  bool blocked_ = false;  // the socket took less than there was
  bool read_posted_ = false;
  uint32_t interest_ = 0;
  int64_t opened_ns_ = 0;
  int64_t write_progress_ns_ = 0;
  EventLoop::TimerId timer_ = EventLoop::kNoTimer;
};

std::unique_ptr<Protocol> NewHttp1(Connection* connection);
std::unique_ptr<Protocol> NewHttp2(Connection* connection);

}  // namespace slipway::net
