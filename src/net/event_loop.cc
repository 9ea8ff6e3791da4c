// SPDX-License-Identifier: Apache-2.0
#include "net/event_loop.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <system_error>

#include "base/clock.h"
#include "base/strings.h"
#include "base/thread_pool.h"

namespace slipway::net {
namespace {

thread_local EventLoop* current_loop = nullptr;

}  // namespace

StatusOr<std::shared_ptr<EventLoop>> EventLoop::Create() {
  const int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  const int wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (epoll_fd < 0 || wake_fd < 0) {
    const int error = errno;
    if (epoll_fd >= 0) close(epoll_fd);
    if (wake_fd >= 0) close(wake_fd);
    return UnavailableError(
        StrCat("an event loop needs two file descriptors: ", std::generic_category().message(error),
               "; raise the limit of open files (ulimit -n)"));
  }
  std::shared_ptr<EventLoop> loop(new EventLoop(epoll_fd, wake_fd));
  RETURN_IF_ERROR(loop->Add(wake_fd, EPOLLIN, nullptr));
  return loop;
}

EventLoop::EventLoop(int epoll_fd, int wake_fd)
    : epoll_fd_(epoll_fd),
      wake_fd_(wake_fd),
      scratch_(new char[kScratchBytes]),
      now_ns_(Clock::Default()->NowNanos()) {}

EventLoop::~EventLoop() {
  close(epoll_fd_);
  close(wake_fd_);
}

bool EventLoop::InLoop() const { return current_loop == this; }

void EventLoop::Run() {
  EventLoop* const outer = std::exchange(current_loop, this);
  epoll_event events[64];
  for (bool running = true; running;) {
    const int n = epoll_wait(epoll_fd_, events, 64, TimeoutMillis());
    now_ns_ = Clock::Default()->NowNanos();
    bool woken = false;
    for (int i = 0; i < n; ++i) {
      auto* handler = static_cast<EventHandler*>(events[i].data.ptr);
      if (handler == nullptr)
        woken = true;
      else
        handler->OnEvents(events[i].events);
    }
    if (!timers_.empty() && timers_.begin()->first.first <= now_ns_) RunTimers();
    if (woken) running = RunPosted();
    released_.clear();
  }
  // What is left may own connections and responders, whose ends look at this loop again.
  std::vector<Task> left;
  {
    std::lock_guard lock(mutex_);
    left.swap(posted_);
  }
  left.clear();
  timers_.clear();
  released_.clear();
  current_loop = outer;
}

int EventLoop::TimeoutMillis() const {
  if (timers_.empty()) return -1;
  const int64_t wait = timers_.begin()->first.first - Clock::Default()->NowNanos();
  return static_cast<int>(std::clamp<int64_t>((wait + 999'999) / 1'000'000, 0, 60'000));
}

void EventLoop::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(wake_fd_, &one, sizeof one);
}

bool EventLoop::Post(Task task) {
  bool wake;
  {
    std::lock_guard lock(mutex_);
    if (stopped_) return false;
    wake = posted_.empty();
    posted_.push_back(std::move(task));
    // Written under the lock: the task may own the last reference to this loop.
    const uint64_t one = 1;
    if (wake) [[maybe_unused]]
      const ssize_t n = write(wake_fd_, &one, sizeof one);
  }
  return true;
}

bool EventLoop::RunPosted() {
  uint64_t count;
  [[maybe_unused]] const ssize_t n = read(wake_fd_, &count, sizeof count);
  std::vector<Task> tasks;
  bool running;
  {
    std::lock_guard lock(mutex_);
    tasks.swap(posted_);
    running = !stopped_;
  }
  if (running)
    for (Task& task : tasks) task();
  return running;
}

void EventLoop::RunTimers() {
  while (!timers_.empty() && timers_.begin()->first.first <= now_ns_) {
    auto node = timers_.extract(timers_.begin());
    node.mapped()();
  }
}

Status EventLoop::Add(int fd, uint32_t events, EventHandler* handler) {
  epoll_event event{.events = events, .data = {.ptr = handler}};
  if (epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &event) == 0) return OkStatus();
  return UnavailableError(
      StrCat("epoll refuses file descriptor ", fd, ": ", std::generic_category().message(errno)));
}

void EventLoop::Modify(int fd, uint32_t events, EventHandler* handler) {
  epoll_event event{.events = events, .data = {.ptr = handler}};
  epoll_ctl(epoll_fd_, EPOLL_CTL_MOD, fd, &event);
}

void EventLoop::Remove(int fd) { epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, fd, nullptr); }

EventLoop::TimerId EventLoop::RunAt(int64_t when_ns, Task task) {
  const TimerId id{when_ns, next_timer_++};
  timers_.emplace(id, std::move(task));
  return id;
}

const std::string& EventLoop::date_header() {
  timespec now;
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  if (now.tv_sec != date_second_) {
    date_second_ = now.tv_sec;
    tm parts;
    gmtime_r(&now.tv_sec, &parts);
    constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const auto two = [](int v) {
      return std::string{static_cast<char>('0' + v / 10), static_cast<char>('0' + v % 10)};
    };
    date_header_ = StrCat("Date: ", kDays[parts.tm_wday], ", ", two(parts.tm_mday), " ",
                          kMonths[parts.tm_mon], " ", parts.tm_year + 1900, " ", two(parts.tm_hour),
                          ":", two(parts.tm_min), ":", two(parts.tm_sec), " GMT\r\n");
  }
  return date_header_;
}

StatusOr<std::shared_ptr<EventLoopGroup>> EventLoopGroup::Start(int loops) {
  if (loops <= 0) loops = AvailableCpus();
  std::shared_ptr<EventLoopGroup> group(new EventLoopGroup);
  for (int i = 0; i < loops; ++i) {
    ASSIGN_OR_RETURN(std::shared_ptr<EventLoop> loop, EventLoop::Create());
    group->loops_.push_back(loop);
    group->threads_.emplace_back([loop = std::move(loop), i] {
      pthread_setname_np(pthread_self(), StrCat("net-", i).c_str());
      loop->Run();
    });
  }
  return group;
}

EventLoopGroup::~EventLoopGroup() {
  for (const auto& loop : loops_) loop->Stop();
  for (std::thread& thread : threads_) thread.join();
}

}  // namespace slipway::net
