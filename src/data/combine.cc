// SPDX-License-Identifier: Apache-2.0
//
// Range, Zip and Concatenate: where elements come from, and datasets beside and behind each other.
#include <algorithm>

#include "data/stage.h"

namespace slipway::data {
namespace {

class RangeNode : public Node {
 public:
  RangeNode(int64_t start, int64_t stop, int64_t step) : start_(start), step_(step) {
    // As unsigned numbers, so that no difference overflows.
    const bool up = step > 0;
    if (up ? start >= stop : start <= stop) return;
    const auto distance = up ? static_cast<uint64_t>(stop) - static_cast<uint64_t>(start)
                             : static_cast<uint64_t>(start) - static_cast<uint64_t>(stop);
    const auto stride =
        up ? static_cast<uint64_t>(step) : uint64_t{0} - static_cast<uint64_t>(step);
    size_ = static_cast<int64_t>(std::min<uint64_t>((distance - 1) / stride + 1, INT64_MAX));
  }

  std::vector<TensorSpec> spec() const override {
    return {{.dtype = DType::kInt64, .shape = PartialShape({}), .name = ""}};
  }
  int64_t cardinality() const override { return size_; }
  std::unique_ptr<Stage> MakeStage(const IteratorOptions&) const override;
  bool random_access() const override { return true; }
  void ElementAt(int64_t i, std::vector<Tensor>* element) const override {
    *element = {Tensor::Scalar<int64_t>(start_ + i * step_)};
  }

 private:
  int64_t start_, step_, size_ = 0;
};

class RangeStage : public Stage {
 public:
  explicit RangeStage(const RangeNode& node) : node_(node) {}
  StatusOr<bool> Next(std::vector<Tensor>* element) override {
    if (at_ == node_.cardinality()) return false;
    node_.ElementAt(at_++, element);
    return true;
  }
  StatusOr<int64_t> Skip(int64_t count) override {
    count = std::min(count, node_.cardinality() - at_);
    at_ += count;
    return count;
  }

 private:
  const RangeNode& node_;
  int64_t at_ = 0;
};

std::unique_ptr<Stage> RangeNode::MakeStage(const IteratorOptions&) const {
  return std::make_unique<RangeStage>(*this);
}

class ZipStage : public Stage {
 public:
  explicit ZipStage(std::vector<std::unique_ptr<Stage>> inputs)
      : inputs_(std::move(inputs)), parts_(inputs_.size()) {}

  StatusOr<bool> Next(std::vector<Tensor>* element) override {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      ASSIGN_OR_RETURN(const bool more, inputs_[i]->Next(&parts_[i]));
      if (!more) return false;
    }
    element->clear();
    for (const auto& part : parts_) element->insert(element->end(), part.begin(), part.end());
    return true;
  }
  StatusOr<int64_t> Skip(int64_t count) override {
    int64_t least = count;
    for (auto& input : inputs_) {
      ASSIGN_OR_RETURN(const int64_t skipped, input->Skip(count));
      least = std::min(least, skipped);
    }
    return least;
  }

 private:
  std::vector<std::unique_ptr<Stage>> inputs_;
  std::vector<std::vector<Tensor>> parts_;
};

class ZipNode : public Node {
 public:
  explicit ZipNode(std::vector<NodePtr> inputs) : inputs_(std::move(inputs)) {}

  std::vector<TensorSpec> spec() const override {
    std::vector<TensorSpec> all;
    for (const NodePtr& input : inputs_) {
      for (TensorSpec& part : input->spec()) all.push_back(std::move(part));
    }
    return all;
  }
  // The least of those that are known, if the others have no end.
  int64_t cardinality() const override {
    int64_t least = kInfiniteCardinality;
    for (const NodePtr& input : inputs_) {
      const int64_t n = input->cardinality();
      if (n == kUnknownCardinality) return n;
      if (n >= 0) least = least < 0 ? n : std::min(least, n);
    }
    return least;
  }
  std::unique_ptr<Stage> MakeStage(const IteratorOptions& options) const override {
    std::vector<std::unique_ptr<Stage>> stages;
    for (const NodePtr& input : inputs_) stages.push_back(input->MakeStage(options));
    return std::make_unique<ZipStage>(std::move(stages));
  }

 private:
  std::vector<NodePtr> inputs_;
};

class ConcatenateStage : public Stage {
 public:
  ConcatenateStage(std::unique_ptr<Stage> first, std::unique_ptr<Stage> second)
      : first_(std::move(first)), second_(std::move(second)) {}

  StatusOr<bool> Next(std::vector<Tensor>* element) override {
    if (first_ != nullptr) {
      ASSIGN_OR_RETURN(const bool more, first_->Next(element));
      if (more) return true;
      first_.reset();
    }
    return second_->Next(element);
  }
  StatusOr<int64_t> Skip(int64_t count) override {
    int64_t skipped = 0;
    if (first_ != nullptr) {
      ASSIGN_OR_RETURN(skipped, first_->Skip(count));
      if (skipped == count) return count;
      first_.reset();
    }
    ASSIGN_OR_RETURN(const int64_t more, second_->Skip(count - skipped));
    return skipped + more;
  }

 private:
  std::unique_ptr<Stage> first_, second_;
};

class ConcatenateNode : public Node {
 public:
  ConcatenateNode(NodePtr first, NodePtr second)
      : first_(std::move(first)), second_(std::move(second)) {}

  // Sizes that differ are unknown.
  std::vector<TensorSpec> spec() const override {
    std::vector<TensorSpec> all = first_->spec();
    const std::vector<TensorSpec> other = second_->spec();
    for (size_t i = 0; i < std::min(all.size(), other.size()); ++i) {
      PartialShape& shape = all[i].shape;
      if (shape.rank() != other[i].shape.rank()) {
        shape = PartialShape::Unknown();
        continue;
      }
      for (int d = 0; d < shape.rank(); ++d) {
        if (shape.dim(d) != other[i].shape.dim(d)) shape.set_dim(d, -1);
      }
    }
    return all;
  }
  int64_t cardinality() const override {
    const int64_t a = first_->cardinality(), b = second_->cardinality();
    if (a == kInfiniteCardinality || b == kInfiniteCardinality) return kInfiniteCardinality;
    int64_t sum = 0;
    return a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum) ? kUnknownCardinality : sum;
  }
  std::unique_ptr<Stage> MakeStage(const IteratorOptions& options) const override {
    return std::make_unique<ConcatenateStage>(first_->MakeStage(options),
                                              second_->MakeStage(options));
  }

 private:
  NodePtr first_, second_;
};

}  // namespace

NodePtr NewRangeNode(int64_t start, int64_t stop, int64_t step) {
  return std::make_shared<RangeNode>(start, stop, step);
}
NodePtr NewZipNode(std::vector<NodePtr> inputs) {
  return std::make_shared<ZipNode>(std::move(inputs));
}
NodePtr NewConcatenateNode(NodePtr first, NodePtr second) {
  return std::make_shared<ConcatenateNode>(std::move(first), std::move(second));
}

}  // namespace slipway::data
