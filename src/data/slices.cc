// SPDX-License-Identifier: Apache-2.0
//
// The rows of tensors in memory. Elements share the tensors' memory.
#include <algorithm>

#include "data/stage.h"

namespace slipway::data {
namespace {

class SlicesNode : public Node {
 public:
  explicit SlicesNode(std::vector<Tensor> tensors) : tensors_(std::move(tensors)) {
    for (const Tensor& t : tensors_) {
      row_shapes_.emplace_back(t.shape().dims().subspan(1));
      row_bytes_.push_back(static_cast<size_t>(row_shapes_.back().num_elements()) *
                           DTypeSize(t.dtype()));
    }
  }

  std::vector<TensorSpec> spec() const override {
    std::vector<TensorSpec> specs;
    for (size_t i = 0; i < tensors_.size(); ++i) {
      specs.push_back({.dtype = tensors_[i].dtype(), .shape = row_shapes_[i], .name = ""});
    }
    return specs;
  }
  int64_t cardinality() const override { return tensors_[0].dim(0); }
  std::unique_ptr<Stage> MakeStage(const IteratorOptions& options) const override;

  bool random_access() const override { return true; }
  void ElementAt(int64_t row, std::vector<Tensor>* element) const override {
    element->resize(tensors_.size());
    for (size_t i = 0; i < tensors_.size(); ++i) {
      const Tensor& t = tensors_[i];
      const auto start = static_cast<size_t>(static_cast<char*>(t.raw_data()) -
                                             static_cast<char*>(t.buffer()->data()));
      (*element)[i] = Tensor(t.dtype(), row_shapes_[i], t.buffer(),
                             start + static_cast<size_t>(row) * row_bytes_[i]);
    }
  }
  void WillRead(int64_t row) const override {
    constexpr size_t kLine = 64, kMost = 8192;
    for (size_t i = 0; i < tensors_.size(); ++i) {
      const char* from = static_cast<const char*>(tensors_[i].raw_data()) +
                         static_cast<size_t>(row) * row_bytes_[i];
      for (size_t at = 0; at < std::min(row_bytes_[i], kMost); at += kLine) {
        __builtin_prefetch(from + at);
      }
    }
  }

 private:
  std::vector<Tensor> tensors_;
  std::vector<Shape> row_shapes_;
  std::vector<size_t> row_bytes_;
};

class SlicesStage : public Stage {
 public:
  explicit SlicesStage(const SlicesNode& node) : node_(node) {}

  StatusOr<bool> Next(std::vector<Tensor>* element) override {
    if (next_ >= node_.cardinality()) return false;
    node_.ElementAt(next_++, element);
    return true;
  }
  StatusOr<int64_t> Skip(int64_t count) override {
    const int64_t skipped = std::min(count, node_.cardinality() - next_);
    next_ += skipped;
    return skipped;
  }

 private:
  const SlicesNode& node_;
  int64_t next_ = 0;
};

std::unique_ptr<Stage> SlicesNode::MakeStage(const IteratorOptions&) const {
  return std::make_unique<SlicesStage>(*this);
}

}  // namespace

NodePtr NewSlicesNode(std::vector<Tensor> tensors) {
  return std::make_shared<SlicesNode>(std::move(tensors));
}

}  // namespace slipway::data
