// SPDX-License-Identifier: Apache-2.0
#include "base/thread_pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "base/cpu_quota.h"
#include "base/strings.h"

namespace slipway {
namespace {

int AffinityCpus() {
  // The kernel refuses a mask smaller than its own; machines with over 1024 processors exist.
  for (size_t cpus = 1024; cpus <= 65536; cpus *= 4) {
    cpu_set_t* set = CPU_ALLOC(cpus);
    if (set == nullptr) break;
    const size_t size = CPU_ALLOC_SIZE(cpus);
    const int count = sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
    CPU_FREE(set);
    if (count > 0) return count;
  }
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

// Ranges a thread gets of one loop when the grain allows: a worker that wakes late then costs a
// fraction of its share and not all of it.
constexpr int64_t kRangesPerThread = 4;
constexpr int kSlots = 32;  // loops that can be open to the workers at once
constexpr auto kSpin = std::chrono::microseconds(2);

std::atomic<int> live_workers{0};  // of all pools

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Until done() or for kSpin; not at all when the threads outnumber the processors, where a
// spinning thread only keeps another from its work.
template <typename Done>
bool SpinUntil(const Done& done) {
  static const int cpus = AvailableCpus();
  if (live_workers.load(std::memory_order_relaxed) >= cpus) return done();
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 8; ++i) {
      if (done()) return true;
      Pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return done();
}

// One loop that is open to the workers. The fields belong to the caller of ParallelFor from the
// moment it sets the slot's busy bit; workers read them only after users was raised and the open
// bit seen.
struct alignas(64) Slot {
  ThreadPool::RangeBody body = nullptr;
  void* context = nullptr;
  int64_t total = 0;
  int64_t chunk = 0;
  std::atomic<int64_t> next{0};           // first element that nobody has claimed
  alignas(64) std::atomic<int> users{0};  // workers inside
};

}  // namespace

int AvailableCpus() {
  int cpus = AffinityCpus();
  if (const std::optional<double> quota = CgroupCpuQuota()) {
    cpus = std::min(cpus, static_cast<int>(std::ceil(std::min(*quota, 1e6))));
  }
  return std::max(1, cpus);
}

struct ThreadPool::State {
  Options options;
  std::vector<std::thread> workers;

  alignas(64) std::atomic<uint32_t> busy{0};  // slots that belong to a caller
  alignas(64) std::atomic<uint32_t> open{0};  // slots with ranges to claim
  Slot slots[kSlots];

  std::mutex mutex;
  std::deque<std::function<void()>> tasks;  // guarded by mutex
  std::atomic<int> waiting_tasks{0};        // tasks.size(), readable without the mutex
  std::atomic<bool> stopping{false};

  // Idle workers wait for this to change. It is raised after work was made visible, so that a
  // worker that read it before looking for work cannot sleep through that work.
  alignas(64) std::atomic<int> signal{0};

  void Work();
  bool HelpLoops();
  bool RunTask();
  bool HasWork() const { return open.load() != 0 || waiting_tasks.load() > 0; }
  void Announce(int wakes);
  void RunRanges(int index);
  int ClaimSlot();
  void CloseSlot(int index);
};

void ThreadPool::State::Announce(int wakes) {
  signal.fetch_add(1);
  // Waking takes a system call each; two here, and whoever wakes up wakes two more.
  for (int i = 0; i < std::min(wakes, 2); ++i) signal.notify_one();
}

void ThreadPool::State::Work() {
  while (true) {
    const int seen = signal.load();
    if (HelpLoops() || RunTask()) continue;
    if (stopping.load()) {
      if (!HasWork()) return;
      continue;
    }
    if (SpinUntil([&] { return signal.load(std::memory_order_relaxed) != seen; })) continue;
    signal.wait(seen);
  }
}

void ThreadPool::State::RunRanges(int index) {
  Slot& slot = slots[index];
  while (true) {
    const int64_t begin = slot.next.fetch_add(slot.chunk, std::memory_order_relaxed);
    if (begin >= slot.total) break;
    slot.body(slot.context, begin, std::min(begin + slot.chunk, slot.total));
  }
  open.fetch_and(~(1u << index));
}

bool ThreadPool::State::HelpLoops() {
  uint32_t mask = open.load();
  bool helped = false;
  while (mask != 0) {
    const int index = std::countr_zero(mask);
    const uint32_t bit = 1u << index;
    mask &= ~bit;
    Slot& slot = slots[index];
    slot.users.fetch_add(1);
    if ((open.load() & bit) != 0) {
      const int64_t left = slot.total - slot.next.load(std::memory_order_relaxed);
      const int more = (left > slot.chunk ? 2 : 0) + (waiting_tasks.load() > 0 ? 1 : 0);
      for (int i = 0; i < std::min(more, 2); ++i) signal.notify_one();
      RunRanges(index);
      helped = true;
    }
    if (slot.users.fetch_sub(1) == 1) slot.users.notify_one();
  }
  return helped;
}

bool ThreadPool::State::RunTask() {
  if (waiting_tasks.load() == 0) return false;
  std::function<void()> task;
  {
    std::lock_guard lock(mutex);
    if (tasks.empty()) return false;
    task = std::move(tasks.front());
    tasks.pop_front();
    waiting_tasks.fetch_sub(1);
  }
  task();
  return true;
}

int ThreadPool::State::ClaimSlot() {
  uint32_t taken = busy.load(std::memory_order_relaxed);
  while (~taken != 0) {
    const uint32_t bit = ~taken & (taken + 1);  // the lowest free one
    if (busy.compare_exchange_weak(taken, taken | bit, std::memory_order_acquire)) {
      return std::countr_zero(bit);
    }
  }
  return -1;
}

void ThreadPool::State::CloseSlot(int index) {
  Slot& slot = slots[index];
  // The bit is cleared already: a worker that raises users from now on will not see it and leave.
  if (!SpinUntil([&] { return slot.users.load() == 0; })) {
    for (int users = slot.users.load(); users != 0; users = slot.users.load()) {
      slot.users.wait(users);
    }
  }
  busy.fetch_and(~(1u << index), std::memory_order_release);
}

ThreadPool::ThreadPool(int threads, Options options) : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
  threads = std::max(threads, 0);
  live_workers.fetch_add(threads);
  state_->workers.reserve(static_cast<size_t>(threads));
  for (int i = 0; i < threads; ++i) {
    state_->workers.emplace_back([state = state_.get(), i] {
      const std::string number = StrCat("/", i);
      const std::string name = std::string(state->options.name).substr(0, 15 - number.size());
      pthread_setname_np(pthread_self(), (name + number).c_str());
      if (state->options.on_thread_start) state->options.on_thread_start();
      state->Work();
    });
  }
}

ThreadPool::~ThreadPool() {
  state_->stopping.store(true);
  state_->signal.fetch_add(1);
  state_->signal.notify_all();
  for (std::thread& worker : state_->workers) worker.join();
  live_workers.fetch_sub(size());
}

int ThreadPool::size() const { return static_cast<int>(state_->workers.size()); }

void ThreadPool::Schedule(std::function<void()> task) {
  if (size() == 0) {
    task();
    return;
  }
  {
    std::lock_guard lock(state_->mutex);
    state_->tasks.push_back(std::move(task));
    state_->waiting_tasks.fetch_add(1);
  }
  state_->Announce(1);
}

void ThreadPool::ParallelForRaw(int64_t total, int64_t grain, RangeBody body, void* context) {
  if (total <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  if (size() == 0 || total <= grain) {
    body(context, 0, total);
    return;
  }
  const int64_t ranges = kRangesPerThread * (size() + 1);
  const int64_t chunk = std::max(grain, (total - 1) / ranges + 1);
  const int index = state_->ClaimSlot();
  if (index < 0) {  // more loops at once than slots: the workers are busy anyway
    for (int64_t begin = 0; begin < total; begin += chunk) {
      body(context, begin, std::min(begin + chunk, total));
    }
    return;
  }
  Slot& slot = state_->slots[index];
  slot.body = body;
  slot.context = context;
  slot.total = total;
  slot.chunk = chunk;
  slot.next.store(0, std::memory_order_relaxed);
  state_->open.fetch_or(1u << index);
  state_->Announce(static_cast<int>(std::min<int64_t>((total - 1) / chunk, size())));
  state_->RunRanges(index);
  state_->CloseSlot(index);
}

}  // namespace slipway
