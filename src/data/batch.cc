// SPDX-License-Identifier: Apache-2.0
//
// Stacks consecutive elements along a new dimension 0.
#include <algorithm>
#include <cstring>

#include "base/strings.h"
#include "data/stage.h"

namespace slipway::data {
namespace {

Shape BatchShape(const Shape& element, int64_t rows) {
  Shape shape({rows});
  for (int64_t d : element.dims()) shape.AddDim(d);
  return shape;
}

class BatchStage : public Stage {
 public:
  BatchStage(std::unique_ptr<Stage> input, int64_t batch_size, bool drop_remainder)
      : input_(std::move(input)), batch_size_(batch_size), drop_remainder_(drop_remainder) {}

  StatusOr<bool> Next(std::vector<Tensor>* batch) override {
    int64_t rows = 0;
    for (; rows < batch_size_; ++rows) {
      ASSIGN_OR_RETURN(const bool more, input_->Next(&element_));
      if (!more) break;
      if (rows == 0) RETURN_IF_ERROR(Prepare(batch));
      RETURN_IF_ERROR(CopyRow(rows, batch));
    }
    if (rows == 0 || (rows < batch_size_ && drop_remainder_)) return false;
    if (rows < batch_size_) {
      for (Tensor& t : *batch) t = t.Slice(0, rows);
    }
    return true;
  }

  StatusOr<int64_t> Skip(int64_t count) override {
    int64_t wanted;
    if (__builtin_mul_overflow(count, batch_size_, &wanted)) {
      return InvalidArgumentError(StrCat("Cannot skip ", count, " batches of ", batch_size_));
    }
    ASSIGN_OR_RETURN(const int64_t elements, input_->Skip(wanted));
    return drop_remainder_ ? elements / batch_size_ : (elements + batch_size_ - 1) / batch_size_;
  }

 private:
  // Room for a full batch: the caller's tensors where they fit and nobody else holds them.
  Status Prepare(std::vector<Tensor>* batch) {
    batch->resize(element_.size());
    for (size_t i = 0; i < element_.size(); ++i) {
      Tensor& t = (*batch)[i];
      const Shape shape = BatchShape(element_[i].shape(), batch_size_);
      if (t.valid() && t.dtype() == element_[i].dtype() && t.shape() == shape && t.IsUnique()) {
        continue;
      }
      ASSIGN_OR_RETURN(t, Tensor::Allocate(element_[i].dtype(), shape));
    }
    return OkStatus();
  }

  Status CopyRow(int64_t row, std::vector<Tensor>* batch) {
    for (size_t i = 0; i < batch->size(); ++i) {
      Tensor& t = (*batch)[i];
      const Tensor& from = element_[i];
      const auto wanted = t.shape().dims().subspan(1);
      if (!std::ranges::equal(from.shape().dims(), wanted) || from.dtype() != t.dtype()) {
        return InvalidArgumentError(StrCat("Component ", i, " of an element has shape ",
                                           from.shape().ToString(), ", others in the batch have [",
                                           StrJoin(wanted, ","),
                                           "]; elements of a batch must be "
                                           "of one shape"));
      }
      if (t.dtype() == DType::kString) {
        const auto n = static_cast<size_t>(from.num_elements());
        std::ranges::copy(from.flat<std::string>(),
                          t.flat<std::string>().begin() + static_cast<ptrdiff_t>(n) * row);
      } else {
        std::memcpy(static_cast<char*>(t.raw_data()) + from.byte_size() * static_cast<size_t>(row),
                    from.raw_data(), from.byte_size());
      }
    }
    return OkStatus();
  }

  std::unique_ptr<Stage> input_;
  int64_t batch_size_;
  bool drop_remainder_;
  std::vector<Tensor> element_;
};

class BatchNode : public Node {
 public:
  BatchNode(NodePtr input, int64_t batch_size, bool drop_remainder)
      : input_(std::move(input)), batch_size_(batch_size), drop_remainder_(drop_remainder) {}

  std::vector<TensorSpec> spec() const override {
    std::vector<TensorSpec> specs = input_->spec();
    for (TensorSpec& s : specs) {
      if (!s.shape.has_rank()) continue;
      std::vector<int64_t> dims = {drop_remainder_ ? batch_size_ : -1};
      dims.insert(dims.end(), s.shape.dims().begin(), s.shape.dims().end());
      s.shape = PartialShape(std::move(dims));
    }
    return specs;
  }
  int64_t cardinality() const override {
    const int64_t n = input_->cardinality();
    if (n < 0) return n;
    return drop_remainder_ ? n / batch_size_ : (n + batch_size_ - 1) / batch_size_;
  }
  std::unique_ptr<Stage> MakeStage(const IteratorOptions& options) const override {
    return std::make_unique<BatchStage>(input_->MakeStage(options), batch_size_, drop_remainder_);
  }

 private:
  NodePtr input_;
  int64_t batch_size_;
  bool drop_remainder_;
};

}  // namespace

NodePtr NewBatchNode(NodePtr input, int64_t batch_size, bool drop_remainder) {
  return std::make_shared<BatchNode>(std::move(input), std::max<int64_t>(batch_size, 1),
                                     drop_remainder);
}

}  // namespace slipway::data
