// SPDX-License-Identifier: Apache-2.0
//
// A buffer of upcoming elements, one of which is picked each time. Over a node with random access
// the buffer holds positions, not elements: a full shuffle of 60,000 images is 480 KB.
#include <algorithm>
#include <optional>

#include "base/random.h"
#include "base/strings.h"
#include "data/stage.h"

namespace slipway::data {
namespace {

// Numbers in [0, n) without bias.
class Picker {
 public:
  Picker(uint64_t seed, uint64_t epoch) : philox_(seed, epoch) {}

  size_t Pick(size_t n) {
    const auto range = static_cast<uint64_t>(n);
    const uint64_t limit = UINT64_MAX - UINT64_MAX % range;
    uint64_t word = Word();
    while (word >= limit) word = Word();
    return static_cast<size_t>(word % range);
  }

 private:
  uint64_t Word() {
    if (used_ == 4) {
      block_ = philox_.Next();
      used_ = 0;
    }
    const uint64_t word = block_[used_] | (uint64_t{block_[used_ + 1]} << 32);
    used_ += 2;
    return word;
  }

  Philox philox_;
  Philox::Block block_{};
  size_t used_ = 4;
};

struct ShuffleOptions {
  size_t buffer_size;
  uint64_t seed;
  bool reshuffle;
};

class PositionShuffleStage : public Stage {
 public:
  PositionShuffleStage(const Node& input, const ShuffleOptions& options, int64_t epoch)
      : input_(input), picker_(options.seed, options.reshuffle ? static_cast<uint64_t>(epoch) : 0) {
    const auto size = std::min(options.buffer_size, static_cast<size_t>(input.cardinality()));
    for (size_t i = 0; i < size; ++i) buffer_.push_back(upcoming_++);
  }

  StatusOr<bool> Next(std::vector<Tensor>* element) override {
    if (!next_ && buffer_.empty()) return false;
    input_.ElementAt(TakePosition(), element);
    if (!buffer_.empty()) {
      next_ = PickPosition();
      input_.WillRead(*next_);
    }
    return true;
  }
  StatusOr<int64_t> Skip(int64_t count) override {
    int64_t skipped = 0;
    for (; skipped < count && (next_ || !buffer_.empty()); ++skipped) TakePosition();
    return skipped;
  }

 private:
  // The position picked ahead, if there is one.
  int64_t TakePosition() {
    const int64_t position = next_ ? *next_ : PickPosition();
    next_.reset();
    return position;
  }

  int64_t PickPosition() {
    int64_t& place = buffer_[picker_.Pick(buffer_.size())];
    const int64_t position = place;
    if (upcoming_ < input_.cardinality()) {
      place = upcoming_++;
    } else {
      place = buffer_.back();
      buffer_.pop_back();
    }
    return position;
  }

  const Node& input_;
  Picker picker_;
  std::vector<int64_t> buffer_;
  int64_t upcoming_ = 0;
  std::optional<int64_t> next_;  // picked one ahead: far memory takes a while to come
};

class ElementShuffleStage : public Stage {
 public:
  ElementShuffleStage(std::unique_ptr<Stage> input, const ShuffleOptions& options, int64_t epoch)
      : input_(std::move(input)),
        buffer_size_(options.buffer_size),
        picker_(options.seed, options.reshuffle ? static_cast<uint64_t>(epoch) : 0) {}

  StatusOr<bool> Next(std::vector<Tensor>* element) override {
    while (!ended_ && buffer_.size() < buffer_size_) {
      std::vector<Tensor> next;
      ASSIGN_OR_RETURN(const bool more, input_->Next(&next));
      if (more) {
        buffer_.push_back(std::move(next));
      } else {
        ended_ = true;
      }
    }
    if (buffer_.empty()) return false;
    std::vector<Tensor>& place = buffer_[picker_.Pick(buffer_.size())];
    element->swap(place);
    place = std::move(buffer_.back());
    buffer_.pop_back();
    return true;
  }
  StatusOr<int64_t> Skip(int64_t count) override { return SkipByNext(this, count); }

 private:
  std::unique_ptr<Stage> input_;
  size_t buffer_size_;
  Picker picker_;
  std::vector<std::vector<Tensor>> buffer_;
  bool ended_ = false;
};

class ShuffleNode : public Node {
 public:
  ShuffleNode(NodePtr input, ShuffleOptions options)
      : input_(std::move(input)), options_(options) {}

  std::vector<TensorSpec> spec() const override { return input_->spec(); }
  int64_t cardinality() const override { return input_->cardinality(); }
  std::unique_ptr<Stage> MakeStage(const IteratorOptions& options) const override {
    if (input_->random_access()) {
      return std::make_unique<PositionShuffleStage>(*input_, options_, options.epoch);
    }
    return std::make_unique<ElementShuffleStage>(input_->MakeStage(options), options_,
                                                 options.epoch);
  }

 private:
  NodePtr input_;
  ShuffleOptions options_;
};

}  // namespace

NodePtr NewShuffleNode(NodePtr input, int64_t buffer_size, uint64_t seed, bool reshuffle) {
  const auto size = static_cast<size_t>(std::max<int64_t>(buffer_size, 1));
  return std::make_shared<ShuffleNode>(std::move(input), ShuffleOptions{size, seed, reshuffle});
}

}  // namespace slipway::data
