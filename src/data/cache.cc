// SPDX-License-Identifier: Apache-2.0
//
// Elements kept in memory.
#include <algorithm>
#include <mutex>

#include "data/stage.h"

namespace slipway::data {
namespace {

// The first pass that reaches its end leaves its elements here. Thread safe.
class Kept {
 public:
  std::shared_ptr<const std::vector<std::vector<Tensor>>> elements() const {
    std::lock_guard lock(mutex_);
    return elements_;
  }
  void Keep(std::vector<std::vector<Tensor>> elements) {
    std::lock_guard lock(mutex_);
    if (elements_ != nullptr) return;
    elements_ = std::make_shared<const std::vector<std::vector<Tensor>>>(std::move(elements));
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const std::vector<std::vector<Tensor>>> elements_;
};

class CacheStage : public Stage {
 public:
  CacheStage(std::unique_ptr<Stage> input, Kept& kept)
      : input_(std::move(input)), kept_(kept), elements_(kept.elements()) {}

  StatusOr<bool> Next(std::vector<Tensor>* element) override {
    if (elements_ != nullptr) {
      if (at_ == elements_->size()) return false;
      *element = (*elements_)[at_++];
      return true;
    }
    // Not into the caller's tensors, which he will write to.
    std::vector<Tensor> made;
    ASSIGN_OR_RETURN(const bool more, input_->Next(&made));
    if (!more) {
      kept_.Keep(std::move(collected_));
      return false;
    }
    collected_.push_back(made);
    *element = std::move(made);
    return true;
  }
  StatusOr<int64_t> Skip(int64_t count) override {
    if (elements_ == nullptr) return SkipByNext(this, count);
    const auto skipped = std::min(static_cast<size_t>(count), elements_->size() - at_);
    at_ += skipped;
    return static_cast<int64_t>(skipped);
  }

 private:
  std::unique_ptr<Stage> input_;
  Kept& kept_;
  std::shared_ptr<const std::vector<std::vector<Tensor>>> elements_;
  std::vector<std::vector<Tensor>> collected_;
  size_t at_ = 0;
};

class CacheNode : public Node {
 public:
  explicit CacheNode(NodePtr input) : input_(std::move(input)) {}
  std::vector<TensorSpec> spec() const override { return input_->spec(); }
  int64_t cardinality() const override { return input_->cardinality(); }
  std::unique_ptr<Stage> MakeStage(const IteratorOptions& options) const override {
    return std::make_unique<CacheStage>(input_->MakeStage(options), kept_);
  }

 private:
  NodePtr input_;
  mutable Kept kept_;
};

}  // namespace

NodePtr NewCacheNode(NodePtr input) { return std::make_shared<CacheNode>(std::move(input)); }

}  // namespace slipway::data
