// SPDX-License-Identifier: Apache-2.0
//
// Take, Skip and Repeat: where a pass begins and ends.
#include <algorithm>

#include "data/stage.h"

namespace slipway::data {
namespace {

class TakeStage : public Stage {
 public:
  TakeStage(std::unique_ptr<Stage> input, int64_t count) : input_(std::move(input)), left_(count) {}

  StatusOr<bool> Next(std::vector<Tensor>* element) override {
    if (left_ <= 0) return false;
    --left_;
    return input_->Next(element);
  }
  StatusOr<int64_t> Skip(int64_t count) override {
    ASSIGN_OR_RETURN(const int64_t skipped, input_->Skip(std::min(count, left_)));
    left_ -= skipped;
    return skipped;
  }

 private:
  std::unique_ptr<Stage> input_;
  int64_t left_;
};

class SkipStage : public Stage {
 public:
  SkipStage(std::unique_ptr<Stage> input, int64_t count)
      : input_(std::move(input)), first_(count) {}

  StatusOr<bool> Next(std::vector<Tensor>* element) override {
    RETURN_IF_ERROR(Begin());
    return input_->Next(element);
  }
  StatusOr<int64_t> Skip(int64_t count) override {
    RETURN_IF_ERROR(Begin());
    return input_->Skip(count);
  }

 private:
  Status Begin() {
    const int64_t first = std::exchange(first_, 0);
    return first > 0 ? input_->Skip(first).status() : OkStatus();
  }

  std::unique_ptr<Stage> input_;
  int64_t first_;
};

// Passes one behind the other. Pass r of epoch e of the whole is told as epoch e << 32 | r.
class RepeatStage : public Stage {
 public:
  RepeatStage(const Node& input, int64_t count, const IteratorOptions& options)
      : input_(input), left_(count), options_(options) {
    options_.epoch <<= 32;
  }

  StatusOr<bool> Next(std::vector<Tensor>* element) override {
    while (true) {
      if (!BeginPass()) return false;
      ASSIGN_OR_RETURN(const bool more, pass_->Next(element));
      if (more) {
        empty_ = false;
        return true;
      }
      if (!EndPass()) return false;
    }
  }
  StatusOr<int64_t> Skip(int64_t count) override {
    int64_t skipped = 0;
    while (skipped < count) {
      if (!BeginPass()) break;
      ASSIGN_OR_RETURN(const int64_t n, pass_->Skip(count - skipped));
      skipped += n;
      if (n > 0) empty_ = false;
      if (skipped < count && !EndPass()) break;
    }
    return skipped;
  }

 private:
  bool BeginPass() {
    if (pass_ != nullptr) return true;
    if (left_ == 0) return false;
    if (left_ > 0) --left_;
    pass_ = input_.MakeStage(options_);
    ++options_.epoch;
    empty_ = true;
    return true;
  }
  // False if there would be no end to passes without elements.
  bool EndPass() {
    pass_.reset();
    return !empty_ || left_ > 0;
  }

  const Node& input_;
  int64_t left_;  // < 0: for ever
  IteratorOptions options_;
  std::unique_ptr<Stage> pass_;
  bool empty_ = true;
};

enum class Bound { kTake, kSkip, kRepeat };

class BoundNode : public Node {
 public:
  BoundNode(NodePtr input, Bound bound, int64_t count)
      : input_(std::move(input)), bound_(bound), count_(count) {}

  std::vector<TensorSpec> spec() const override { return input_->spec(); }

  int64_t cardinality() const override {
    const int64_t n = input_->cardinality();
    switch (bound_) {
      case Bound::kTake:
        if (count_ < 0) return n;
        if (n == kInfiniteCardinality) return count_;
        return n < 0 ? n : std::min(n, count_);
      case Bound::kSkip:
        if (count_ < 0) return n < 0 ? n : 0;
        return n < 0 ? n : std::max<int64_t>(n - count_, 0);
      case Bound::kRepeat:
        if (count_ == 0 || n == 0) return 0;
        if (count_ < 0) return kInfiniteCardinality;
        break;
    }
    int64_t all = 0;
    if (n < 0) return n;
    return __builtin_mul_overflow(n, count_, &all) ? kUnknownCardinality : all;
  }

  std::unique_ptr<Stage> MakeStage(const IteratorOptions& options) const override {
    switch (bound_) {
      case Bound::kTake:
        return std::make_unique<TakeStage>(input_->MakeStage(options),
                                           count_ < 0 ? INT64_MAX : count_);
      case Bound::kSkip:
        return std::make_unique<SkipStage>(input_->MakeStage(options),
                                           count_ < 0 ? INT64_MAX : count_);
      case Bound::kRepeat:
        break;
    }
    return std::make_unique<RepeatStage>(*input_, count_, options);
  }

 private:
  NodePtr input_;
  Bound bound_;
  int64_t count_;
};

}  // namespace

NodePtr NewTakeNode(NodePtr input, int64_t count) {
  return std::make_shared<BoundNode>(std::move(input), Bound::kTake, count);
}
NodePtr NewSkipNode(NodePtr input, int64_t count) {
  return std::make_shared<BoundNode>(std::move(input), Bound::kSkip, count);
}
NodePtr NewRepeatNode(NodePtr input, int64_t count) {
  return std::make_shared<BoundNode>(std::move(input), Bound::kRepeat, count);
}

}  // namespace slipway::data
