// SPDX-License-Identifier: Apache-2.0
//
// One thread, one epoll: everything of a connection happens on the thread of its loop, so
// connections need no locks. Handlers of small requests run on it as well.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "slipway/status.h"

namespace slipway::net {

// A move-only function<void()>: what is posted may own a response.
class Task {
 public:
  Task() = default;
  template <typename F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, Task>) Task(F&& f)
      : body_(std::make_unique<Holder<std::decay_t<F>>>(std::forward<F>(f))) {}
  void operator()() { body_->Run(); }

 private:
  struct Body {
    virtual ~Body() = default;
    virtual void Run() = 0;
  };
  template <typename F>
  struct Holder final : Body {
    explicit Holder(F f) : f(std::move(f)) {}
    void Run() override { f(); }
    F f;
  };
  std::unique_ptr<Body> body_;
};

// Something with a file descriptor. Called on the loop's thread only.
class EventHandler {
 public:
  virtual ~EventHandler() = default;
  virtual void OnEvents(uint32_t epoll_events) = 0;
};

// Thread safety: Post, InLoop and Stop from any thread, the rest on the loop's thread only.
class EventLoop {
 public:
  // UNAVAILABLE when the process is out of file descriptors.
  static StatusOr<std::shared_ptr<EventLoop>> Create();
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Serves until Stop. The calling thread is the loop's thread.
  void Run();
  // Tasks posted later are dropped. Run returns soon; tasks still waiting are destroyed unrun.
  void Stop();
  bool InLoop() const;

  // Runs the task on the loop's thread, later (never inside Post). False, and the task is
  // dropped, once the loop was stopped.
  bool Post(Task task);

  // epoll, level triggered. The handler must stay alive until Remove, and beyond it until the
  // end of the current round: hand its last owner to Release.
  Status Add(int fd, uint32_t events, EventHandler* handler);
  void Modify(int fd, uint32_t events, EventHandler* handler);
  void Remove(int fd);
  void Release(std::shared_ptr<void> owner) { released_.push_back(std::move(owner)); }

  using TimerId = std::pair<int64_t, uint64_t>;
  static constexpr TimerId kNoTimer{0, 0};
  // Runs `task` once when the monotonic clock passes `when_ns`.
  TimerId RunAt(int64_t when_ns, Task task);
  void CancelTimer(TimerId id) { timers_.erase(id); }

  // The monotonic clock as read when this round began.
  int64_t now_ns() const { return now_ns_; }
  // For reading sockets; its content is gone when the next handler runs.
  std::span<char> scratch() { return {scratch_.get(), kScratchBytes}; }
  // "Date: ...\r\n", new every second.
  const std::string& date_header();

  // Connections on this loop, for dealing out new ones.
  std::atomic<int> connections{0};

 private:
  static constexpr size_t kScratchBytes = 256 * 1024;
  EventLoop(int epoll_fd, int wake_fd);
  int TimeoutMillis() const;
  bool RunPosted();  // false once the loop was stopped
  void RunTimers();

  const int epoll_fd_;
  const int wake_fd_;
  std::unique_ptr<char[]> scratch_;
  int64_t now_ns_;
  std::map<TimerId, Task> timers_;
  uint64_t next_timer_ = 1;
  std::vector<std::shared_ptr<void>> released_;
  int64_t date_second_ = -1;
  std::string date_header_;

  std::mutex mutex_;
  std::vector<Task> posted_;  // under mutex_
  bool stopped_ = false;      // under mutex_
};

// Loops with their threads, shared by the servers of a program (REST and gRPC). The destructor
// stops and joins; it must not run on a loop's thread.
class EventLoopGroup {
 public:
  // 0: one loop for each processor that this process may use.
  static StatusOr<std::shared_ptr<EventLoopGroup>> Start(int loops = 0);
  ~EventLoopGroup();

  size_t size() const { return loops_.size(); }
  const std::shared_ptr<EventLoop>& loop(size_t i) const { return loops_[i]; }

 private:
  EventLoopGroup() = default;
  std::vector<std::shared_ptr<EventLoop>> loops_;
  std::vector<std::thread> threads_;
};

}  // namespace slipway::net
