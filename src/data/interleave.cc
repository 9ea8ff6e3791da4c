// SPDX-License-Identifier: Apache-2.0
//
// Unbatch and Interleave (FlatMap is one of a cycle of 1): several elements of one.
#include "base/strings.h"
#include "data/stage.h"

namespace slipway::data {
namespace {

class UnbatchStage : public Stage {
 public:
  explicit UnbatchStage(std::unique_ptr<Stage> input) : input_(std::move(input)) {}

  StatusOr<bool> Next(std::vector<Tensor>* element) override {
    while (row_ >= rows_) {
      ASSIGN_OR_RETURN(const bool more, input_->Next(&batch_));
      if (!more) return false;
      RETURN_IF_ERROR(Begin());
    }
    element->resize(batch_.size());
    for (size_t i = 0; i < batch_.size(); ++i) {
      const Tensor& t = batch_[i];
      (*element)[i] = t.Slice(row_, row_ + 1).Reshaped(Shape(t.shape().dims().subspan(1)));
    }
    ++row_;
    return true;
  }
  StatusOr<int64_t> Skip(int64_t count) override { return SkipByNext(this, count); }

 private:
  Status Begin() {
    row_ = rows_ = 0;
    for (const Tensor& t : batch_) {
      if (t.rank() == 0 || t.dim(0) != batch_[0].dim(0)) {
        return InvalidArgumentError(StrCat("Unbatch takes tensors with as many rows each, got ",
                                           batch_[0].shape().ToString(), " and ",
                                           t.shape().ToString()));
      }
    }
    if (!batch_.empty()) rows_ = batch_[0].dim(0);
    return OkStatus();
  }

  std::unique_ptr<Stage> input_;
  std::vector<Tensor> batch_;
  int64_t row_ = 0, rows_ = 0;
};

class UnbatchNode : public Node {
 public:
  explicit UnbatchNode(NodePtr input) : input_(std::move(input)) {}
  std::vector<TensorSpec> spec() const override {
    std::vector<TensorSpec> rows = input_->spec();
    for (TensorSpec& row : rows) {
      if (row.shape.rank() < 1) continue;
      const auto dims = row.shape.dims();
      row.shape = PartialShape(std::vector<int64_t>(dims.begin() + 1, dims.end()));
    }
    return rows;
  }
  int64_t cardinality() const override { return kUnknownCardinality; }
  std::unique_ptr<Stage> MakeStage(const IteratorOptions& options) const override {
    return std::make_unique<UnbatchStage>(input_->MakeStage(options));
  }

 private:
  NodePtr input_;
};

class InterleaveStage : public Stage {
 public:
  InterleaveStage(std::unique_ptr<Stage> input, const Dataset::DatasetFn& function,
                  const IteratorOptions& options, int64_t cycle_length, int64_t block_length)
      : input_(std::move(input)),
        function_(function),
        options_(options),
        block_length_(block_length),
        open_(static_cast<size_t>(cycle_length)) {}

  StatusOr<bool> Next(std::vector<Tensor>* element) override {
    while (true) {
      if (open_[at_].stage == nullptr) {
        ASSIGN_OR_RETURN(const bool opened, Open());
        if (!opened) {
          if (AllClosed()) return false;
          Turn();
          continue;
        }
      }
      ASSIGN_OR_RETURN(const bool more, open_[at_].stage->Next(element));
      if (!more) {
        open_[at_] = {};
        Turn();
        continue;
      }
      if (++given_ == block_length_) Turn();
      return true;
    }
  }
  StatusOr<int64_t> Skip(int64_t count) override { return SkipByNext(this, count); }

 private:
  struct Opened {
    NodePtr node;  // the stage points into it
    std::unique_ptr<Stage> stage;
  };

  StatusOr<bool> Open() {
    if (ended_) return false;
    ASSIGN_OR_RETURN(const bool more, input_->Next(&given_element_));
    ended_ = !more;
    if (ended_) return false;
    ASSIGN_OR_RETURN(const Dataset dataset, function_(given_element_));
    open_[at_].node = dataset.node();
    open_[at_].stage = dataset.node()->MakeStage(options_);
    return true;
  }
  bool AllClosed() const {
    for (const Opened& one : open_) {
      if (one.stage != nullptr) return false;
    }
    return true;
  }
  void Turn() {
    given_ = 0;
    at_ = (at_ + 1) % open_.size();
  }

  std::unique_ptr<Stage> input_;
  const Dataset::DatasetFn& function_;
  IteratorOptions options_;
  int64_t block_length_, given_ = 0;
  std::vector<Opened> open_;
  size_t at_ = 0;
  bool ended_ = false;
  std::vector<Tensor> given_element_;
};

class InterleaveNode : public Node {
 public:
  InterleaveNode(NodePtr input, Dataset::DatasetFn function, std::vector<TensorSpec> spec,
                 int64_t cycle_length, int64_t block_length)
      : input_(std::move(input)),
        function_(std::move(function)),
        spec_(std::move(spec)),
        cycle_length_(cycle_length),
        block_length_(block_length) {}
  std::vector<TensorSpec> spec() const override { return spec_; }
  int64_t cardinality() const override { return kUnknownCardinality; }
  std::unique_ptr<Stage> MakeStage(const IteratorOptions& options) const override {
    return std::make_unique<InterleaveStage>(input_->MakeStage(options), function_, options,
                                             cycle_length_, block_length_);
  }

 private:
  NodePtr input_;
  Dataset::DatasetFn function_;
  std::vector<TensorSpec> spec_;
  int64_t cycle_length_, block_length_;
};

}  // namespace

NodePtr NewUnbatchNode(NodePtr input) { return std::make_shared<UnbatchNode>(std::move(input)); }
NodePtr NewInterleaveNode(NodePtr input, Dataset::DatasetFn function, std::vector<TensorSpec> spec,
                          int64_t cycle_length, int64_t block_length) {
  return std::make_shared<InterleaveNode>(std::move(input), std::move(function), std::move(spec),
                                          cycle_length, block_length);
}

}  // namespace slipway::data
