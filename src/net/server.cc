// SPDX-License-Identifier: Apache-2.0
#include "net/server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <unordered_map>

#include "base/log.h"
#include "base/strings.h"
#include "net/connection.h"
#include "net/socket.h"

namespace slipway::net {
namespace {

constexpr int64_t kAcceptPauseNanos = 100'000'000;

// Counts down; the other side waits for zero.
class Latch {
 public:
  void Add() {
    std::lock_guard lock(mutex_);
    ++count_;
  }
  void Done() {
    std::lock_guard lock(mutex_);
    --count_;
    changed_.notify_all();
  }
  void Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

// The connections of one server on one loop; touched on that loop's thread only.
class LoopConnections final : public ConnectionOwner {
 public:
  LoopConnections(std::shared_ptr<EventLoop> loop, std::shared_ptr<ServerContext> context)
      : loop_(std::move(loop)), context_(std::move(context)) {}

  void Open(Socket socket, bool refuse) {
    if (stopped_) return Uncount();
    auto connection = std::make_shared<Connection>(socket.Release(), refuse, loop_, context_, this);
    connections_.emplace(connection.get(), connection);
    if (!connection->Start().ok()) connection->Close();
  }

  void Forget(Connection* connection) override { connections_.erase(connection); }

  void Drain() {
    for (const auto& connection : All()) connection->Drain();
  }

  void Stop() {
    stopped_ = true;
    for (const auto& connection : All()) connection->Close();
  }

  // A connection that was counted and never opened.
  void Uncount() {
    loop_->connections.fetch_sub(1, std::memory_order_relaxed);
    std::lock_guard lock(context_->mutex);
    context_->open.fetch_sub(1);
    context_->closed.notify_all();
  }

  const std::shared_ptr<EventLoop>& loop() const { return loop_; }

 private:
  // Closing takes connections out of the map.
  std::vector<std::shared_ptr<Connection>> All() const {
    std::vector<std::shared_ptr<Connection>> all;
    for (const auto& [key, connection] : connections_) all.push_back(connection);
    return all;
  }

  const std::shared_ptr<EventLoop> loop_;
  const std::shared_ptr<ServerContext> context_;
  std::unordered_map<Connection*, std::shared_ptr<Connection>> connections_;
  bool stopped_ = false;
};

// Carries a socket to its loop; counted until it arrives or is dropped on the way.
struct Delivery {
  Delivery(Socket s, LoopConnections* t, bool r) : socket(std::move(s)), to(t), refuse(r) {}
  Delivery(Delivery&& other) noexcept
      : socket(std::move(other.socket)),
        to(std::exchange(other.to, nullptr)),
        refuse(other.refuse) {}
  ~Delivery() {
    if (to != nullptr) to->Uncount();
  }
  void operator()() { std::exchange(to, nullptr)->Open(std::move(socket), refuse); }

  Socket socket;
  LoopConnections* to;
  bool refuse;
};

}  // namespace

// One loop accepts and deals out to the loop with the fewest connections: the kernel's own
// choice among several listeners is a hash, which leaves a core idle when clients are few.
struct Server::State final : public EventHandler {
  std::shared_ptr<EventLoopGroup> group;
  std::shared_ptr<ServerContext> context;
  std::vector<std::unique_ptr<LoopConnections>> loops;  // one for each loop of the group
  int port = 0;
  std::atomic<bool> stopped{false};

  // On the thread of loop 0.
  Socket listener;
  bool paused = false;
  EventLoop::TimerId resume = EventLoop::kNoTimer;

  EventLoop& accept_loop() { return *group->loop(0); }
  LoopConnections* Least();
  void OnEvents(uint32_t) override { AcceptAll(); }
  void AcceptAll();
  void Deal(Socket socket);
  void Pause();
  void CloseListener();
  // Runs `body` on each loop, and waits.
  template <typename Body>
  void OnEachLoop(Body body);
};

LoopConnections* Server::State::Least() {
  return std::min_element(loops.begin(), loops.end(),
                          [](const auto& a, const auto& b) {
                            return a->loop()->connections.load(std::memory_order_relaxed) <
                                   b->loop()->connections.load(std::memory_order_relaxed);
                          })
      ->get();
}

void Server::State::AcceptAll() {
  // Bounded, so that a flood of connections does not starve those that are open.
  for (int i = 0; i < 256 && listener.open(); ++i) {
    Socket socket(accept4(listener.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.open()) {
      Deal(std::move(socket));
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      return Pause();
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return;
    }
  }
}

void Server::State::Deal(Socket socket) {
  const int limit = context->options.max_connections;
  const int before = context->open.load();
  // The refusals themselves are bounded as well.
  if (before >= limit + 64) return;
  const int on = 1;
  setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  LoopConnections* to = Least();
  context->open.fetch_add(1);
  to->loop()->connections.fetch_add(1, std::memory_order_relaxed);
  Delivery delivery(std::move(socket), to, before >= limit);
  if (to->loop()->InLoop())
    delivery();
  else
    to->loop()->Post(std::move(delivery));
}

// Out of file descriptors: the listener stays readable, and asking again at once would spin.
void Server::State::Pause() {
  if (paused) return;
  LOG_WARNING("port ", port, ": connections wait, since the process has no file descriptor left; ",
              "raise the limit of open files (ulimit -n)");
  paused = true;
  accept_loop().Modify(listener.fd(), 0, this);
  resume = accept_loop().RunAt(accept_loop().now_ns() + kAcceptPauseNanos, [this] {
    resume = EventLoop::kNoTimer;
    paused = false;
    accept_loop().Modify(listener.fd(), EPOLLIN, this);
  });
}

void Server::State::CloseListener() {
  if (!listener.open()) return;
  AcceptAll();  // those would be reset
  if (resume != EventLoop::kNoTimer) accept_loop().CancelTimer(resume);
  accept_loop().Remove(listener.fd());
  listener.Close();
  if (!context->options.unix_path.empty()) unlink(context->options.unix_path.c_str());
}

template <typename Body>
void Server::State::OnEachLoop(Body body) {
  auto latch = std::make_shared<Latch>();
  // Done when the task has run or was dropped.
  struct Step {
    Step(std::shared_ptr<Latch> l, Body b, State* s, size_t n)
        : latch(std::move(l)), body(std::move(b)), state(s), i(n) {}
    Step(Step&&) = default;
    ~Step() {
      if (latch != nullptr) latch->Done();
    }
    void operator()() { body(state, i); }
    std::shared_ptr<Latch> latch;
    Body body;
    State* state;
    size_t i;
  };
  for (size_t i = 0; i < loops.size(); ++i) {
    latch->Add();
    loops[i]->loop()->Post(Step(latch, body, this, i));
  }
  latch->Wait();
}

StatusOr<std::unique_ptr<Server>> Server::Start(std::shared_ptr<EventLoopGroup> loops,
                                                ServerOptions options, HttpHandler http,
                                                GrpcMethods grpc) {
  ASSIGN_OR_RETURN(Socket listener, options.unix_path.empty()
                                        ? ListenTcp(options.address, options.port)
                                        : ListenUnix(options.unix_path));
  auto state = std::make_shared<State>();
  state->port = LocalPort(listener);
  state->listener = std::move(listener);
  state->context = std::make_shared<ServerContext>();
  state->context->options = std::move(options);
  state->context->http = std::move(http);
  state->context->grpc = std::move(grpc);
  state->group = std::move(loops);
  for (size_t i = 0; i < state->group->size(); ++i)
    state->loops.push_back(
        std::make_unique<LoopConnections>(state->group->loop(i), state->context));
  // epoll_ctl may be called from here: the loop's thread sees the handler only when events come.
  RETURN_IF_ERROR(state->accept_loop().Add(state->listener.fd(), EPOLLIN, state.get()));
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

Server::Server(std::shared_ptr<State> state) : state_(std::move(state)) {}

Server::~Server() { Stop(); }

int Server::port() const { return state_->port; }

int Server::connections() const { return state_->context->open.load(); }

void Server::StartDraining() {
  if (state_->context->draining.exchange(true)) return;
  // Two rounds: what was accepted at the last moment has reached its loop before the second.
  state_->OnEachLoop([](State* state, size_t i) {
    if (i == 0) state->CloseListener();
  });
  state_->OnEachLoop([](State* state, size_t i) { state->loops[i]->Drain(); });
}

Status Server::WaitDrained(std::chrono::milliseconds timeout) {
  ServerContext& context = *state_->context;
  std::unique_lock lock(context.mutex);
  if (context.closed.wait_for(lock, timeout, [&] { return context.open.load() == 0; }))
    return OkStatus();
  return DeadlineExceededError(StrCat(context.open.load(), " connections of port ", state_->port,
                                      " are still open after ", timeout.count(), " ms"));
}

void Server::Stop() {
  if (state_->stopped.exchange(true)) return;
  state_->OnEachLoop([](State* state, size_t i) {
    if (i == 0) state->CloseListener();
  });
  state_->OnEachLoop([](State* state, size_t i) { state->loops[i]->Stop(); });
}

}  // namespace slipway::net
