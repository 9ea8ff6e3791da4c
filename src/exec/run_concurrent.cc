// SPDX-License-Identifier: Apache-2.0
#include <condition_variable>
#include <deque>
#include <mutex>

#include "base/clock.h"
#include "exec/frame.h"

namespace slipway::exec {
namespace {

// One run. Workers of the pool that were asked to help may come late, when the caller is gone; they
// hold a share of this object and find it closed.
class ConcurrentRun : public std::enable_shared_from_this<ConcurrentRun> {
 public:
  ConcurrentRun(const Plan& plan, Frame* frame, Device* device, const RunOptions& options)
      : plan_(plan),
        frame_(frame),
        device_(device),
        options_(options),
        outstanding_(static_cast<int>(plan.steps.size())) {}

  Status Run() {
    if (plan_.steps.empty()) return OkStatus();
    std::vector<Ready> first;
    for (int s = 0; s < static_cast<int>(plan_.steps.size()); ++s) {
      if (plan_.steps[static_cast<size_t>(s)].waits_for == 0) first.push_back({s, Now()});
    }
    Enqueue(first);
    Drain(/*until_done=*/true);
    return status_;
  }

 private:
  struct Ready {
    int step;
    int64_t ready_ns;
  };

  int64_t Now() const { return options_.profile ? Clock::Default()->NowNanos() : 0; }

  // Into the evaluation queue; workers are asked to help with all but what this thread takes.
  void Enqueue(const std::vector<Ready>& ready) {
    if (ready.empty()) return;
    size_t helpers = 0;
    {
      std::lock_guard lock(mutex_);
      queue_.insert(queue_.end(), ready.begin(), ready.end());
      const auto pool = static_cast<size_t>(device_->inter_op().size());
      while (helpers + 1 < queue_.size() && helpers_ < pool) {
        ++helpers;
        ++helpers_;
      }
    }
    changed_.notify_one();
    for (size_t i = 0; i < helpers; ++i) {
      device_->inter_op().Schedule([self = shared_from_this()] { self->Help(); });
    }
  }

  void Help() { Drain(/*until_done=*/false); }

  void Drain(bool until_done) {
    std::unique_lock lock(mutex_);
    while (true) {
      if (until_done) changed_.wait(lock, [&] { return done_ || !queue_.empty(); });
      if (done_ || queue_.empty()) break;
      const Ready next = queue_.front();
      queue_.pop_front();
      ++running_;
      lock.unlock();
      RunChain(next);
      lock.lock();
      --running_;
      if (outstanding_ == 0 && running_ == 0) {
        done_ = true;
        changed_.notify_all();
      }
    }
    if (!until_done) --helpers_;
  }

  // The step and, as long as they are cheap or the only one, those that it makes ready.
  void RunChain(Ready first) {
    std::vector<Ready> local = {first};
    while (!local.empty()) {
      const Ready now = local.back();
      local.pop_back();
      Execute(now);
      std::vector<Ready> for_others;
      for (int next : plan_.steps[static_cast<size_t>(now.step)].next) {
        std::atomic<int>& waiting = frame_->waiting()[static_cast<size_t>(next)];
        if (waiting.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
        const bool expensive = plan_.steps[static_cast<size_t>(next)].expensive;
        (expensive && !local.empty() ? for_others : local).push_back({next, Now()});
      }
      Enqueue(for_others);
      std::lock_guard lock(mutex_);
      --outstanding_;
    }
  }

  // After a failure the remaining steps are only counted.
  void Execute(const Ready& ready) {
    if (failed_.load(std::memory_order_acquire)) return;
    Status status = CheckInterrupted(options_);
    if (status.ok()) status = RunStep(plan_, ready.step, frame_, device_, options_, ready.ready_ns);
    if (status.ok()) {
      frame_->CountReads(plan_.steps[static_cast<size_t>(ready.step)], ready.step);
      return;
    }
    std::lock_guard lock(mutex_);
    if (status_.ok()) status_ = std::move(status);
    failed_.store(true, std::memory_order_release);
  }

  const Plan& plan_;
  Frame* frame_;
  Device* device_;
  const RunOptions& options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Ready> queue_;
  int outstanding_;
  int running_ = 0;
  size_t helpers_ = 0;
  bool done_ = false;
  std::atomic<bool> failed_{false};
  Status status_;
};

}  // namespace

Status RunConcurrently(const Plan& plan, Frame* frame, Device* device, const RunOptions& options) {
  return std::make_shared<ConcurrentRun>(plan, frame, device, options)->Run();
}

}  // namespace slipway::exec
