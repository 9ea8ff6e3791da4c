// SPDX-License-Identifier: Apache-2.0
//
// Makes elements ahead on a thread of its own. Tensors go round: what the consumer hands back is
// written again, so that a steady state allocates nothing.
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "data/stage.h"

namespace slipway::data {
namespace {

class PrefetchStage : public Stage {
 public:
  PrefetchStage(std::unique_ptr<Stage> input, size_t buffer_size)
      : input_(std::move(input)), buffer_size_(buffer_size) {}

  ~PrefetchStage() override {
    if (!thread_.joinable()) return;
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  StatusOr<bool> Next(std::vector<Tensor>* element) override {
    if (!thread_.joinable()) thread_ = std::thread([this] { Produce(); });
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !ready_.empty() || ended_; });
    if (ready_.empty()) {
      if (!error_.ok()) return error_;
      return false;
    }
    element->swap(ready_.front());
    free_.push_back(std::move(ready_.front()));
    ready_.pop_front();
    lock.unlock();
    changed_.notify_all();
    return true;
  }

  // Before the thread runs the input can be moved on; later what it made must be drained.
  StatusOr<int64_t> Skip(int64_t count) override {
    if (!thread_.joinable()) return input_->Skip(count);
    return SkipByNext(this, count);
  }

 private:
  void Produce() {
    while (true) {
      std::vector<Tensor> element;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return stopping_ || ready_.size() < buffer_size_; });
        if (stopping_) return;
        if (!free_.empty()) {
          element = std::move(free_.front());
          free_.pop_front();
        }
      }
      StatusOr<bool> more = input_->Next(&element);
      std::lock_guard lock(mutex_);
      if (more.ok() && *more) {
        ready_.push_back(std::move(element));
      } else {
        error_ = more.ok() ? OkStatus() : more.status();
        ended_ = true;
      }
      changed_.notify_all();
      if (ended_) return;
    }
  }

  std::unique_ptr<Stage> input_;
  const size_t buffer_size_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::vector<Tensor>> ready_;
  std::deque<std::vector<Tensor>> free_;
  bool ended_ = false;
  bool stopping_ = false;
  Status error_;
};

class PrefetchNode : public Node {
 public:
  PrefetchNode(NodePtr input, size_t buffer_size)
      : input_(std::move(input)), buffer_size_(buffer_size) {}

  std::vector<TensorSpec> spec() const override { return input_->spec(); }
  int64_t cardinality() const override { return input_->cardinality(); }
  std::unique_ptr<Stage> MakeStage(const IteratorOptions& options) const override {
    return std::make_unique<PrefetchStage>(input_->MakeStage(options), buffer_size_);
  }

 private:
  NodePtr input_;
  size_t buffer_size_;
};

}  // namespace

NodePtr NewPrefetchNode(NodePtr input, int64_t buffer_size) {
  return std::make_shared<PrefetchNode>(std::move(input),
                                        static_cast<size_t>(std::max<int64_t>(buffer_size, 1)));
}

}  // namespace slipway::data
