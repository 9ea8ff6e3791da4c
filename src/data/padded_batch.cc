// SPDX-License-Identifier: Apache-2.0
//
// Batches of elements whose sizes differ.
#include <algorithm>
#include <cstring>

#include "base/strings.h"
#include "data/stage.h"

namespace slipway::data {
namespace {

size_t ElementSize(DType dtype) { return dtype == DType::kString ? 0 : DTypeSize(dtype); }

// Copies `from` to the front corner of the row of `to` that begins at element `first`.
void CopyCorner(const Tensor& from, int64_t first, Tensor* to) {
  const int64_t count = from.num_elements();
  if (count == 0) return;
  const int64_t run = from.rank() == 0 ? 1 : from.dim(from.rank() - 1);
  for (int64_t i = 0; i < count; i += run) {
    int64_t rest = i, offset = 0, stride = 1;
    for (int d = from.rank() - 1; d >= 0; --d) {
      offset += rest % from.dim(d) * stride;
      rest /= from.dim(d);
      stride *= to->dim(d + 1);
    }
    const int64_t at = first + offset;
    if (from.dtype() == DType::kString) {
      std::copy_n(from.flat<std::string>().begin() + i, run, to->flat<std::string>().begin() + at);
    } else {
      const size_t size = ElementSize(from.dtype());
      std::memcpy(static_cast<char*>(to->raw_data()) + static_cast<size_t>(at) * size,
                  static_cast<const char*>(from.raw_data()) + static_cast<size_t>(i) * size,
                  static_cast<size_t>(run) * size);
    }
  }
}

void FillWith(const Tensor* value, Tensor* t) {
  if (t->dtype() == DType::kString) {
    if (value != nullptr) std::ranges::fill(t->flat<std::string>(), value->flat<std::string>()[0]);
    return;
  }
  if (value == nullptr) {
    std::memset(t->raw_data(), 0, t->byte_size());
    return;
  }
  const size_t size = ElementSize(t->dtype());
  for (size_t at = 0; at < t->byte_size(); at += size) {
    std::memcpy(static_cast<char*>(t->raw_data()) + at, value->raw_data(), size);
  }
}

class PaddedBatchStage : public Stage {
 public:
  PaddedBatchStage(std::unique_ptr<Stage> input, int64_t batch_size,
                   const Dataset::PaddedBatchOptions& options)
      : input_(std::move(input)), batch_size_(batch_size), options_(options) {}

  StatusOr<bool> Next(std::vector<Tensor>* batch) override {
    std::vector<std::vector<Tensor>> elements;
    while (static_cast<int64_t>(elements.size()) < batch_size_) {
      std::vector<Tensor> element;
      ASSIGN_OR_RETURN(const bool more, input_->Next(&element));
      if (!more) break;
      elements.push_back(std::move(element));
    }
    const auto rows = static_cast<int64_t>(elements.size());
    if (rows == 0 || (rows < batch_size_ && options_.drop_remainder)) return false;
    batch->resize(elements[0].size());
    for (size_t i = 0; i < batch->size(); ++i) {
      ASSIGN_OR_RETURN((*batch)[i], Pad(elements, i));
    }
    return true;
  }
  StatusOr<int64_t> Skip(int64_t count) override {
    int64_t wanted = 0;
    if (__builtin_mul_overflow(count, batch_size_, &wanted)) {
      return InvalidArgumentError(StrCat("Cannot skip ", count, " batches of ", batch_size_));
    }
    ASSIGN_OR_RETURN(const int64_t elements, input_->Skip(wanted));
    return options_.drop_remainder ? elements / batch_size_
                                   : (elements + batch_size_ - 1) / batch_size_;
  }

 private:
  // The shape that component i of all elements is filled up to.
  StatusOr<Shape> PaddedShape(const std::vector<std::vector<Tensor>>& elements, size_t i) const {
    std::vector<int64_t> dims(static_cast<size_t>(elements[0][i].rank()) + 1, 0);
    dims[0] = static_cast<int64_t>(elements.size());
    for (const std::vector<Tensor>& element : elements) {
      const Tensor& t = element[i];
      if (t.rank() + 1 != static_cast<int>(dims.size()) || t.dtype() != elements[0][i].dtype()) {
        return InvalidArgumentError(StrCat("Component ", i, " of elements of one padded batch is ",
                                           elements[0][i].shape().ToString(), " and ",
                                           t.shape().ToString()));
      }
      for (int d = 0; d < t.rank(); ++d) {
        auto& size = dims[static_cast<size_t>(d) + 1];
        size = std::max(size, t.dim(d));
      }
    }
    if (i < options_.shapes.size()) RETURN_IF_ERROR(Widen(options_.shapes[i], i, &dims));
    return Shape::FromDims(dims);
  }

  static Status Widen(const PartialShape& wanted, size_t i, std::vector<int64_t>* dims) {
    if (!wanted.has_rank()) return OkStatus();
    if (wanted.rank() + 1 != static_cast<int>(dims->size())) {
      return InvalidArgumentError(StrCat("Component ", i, " is to be padded to ", wanted.ToString(),
                                         ", but has ", dims->size() - 1, " dimensions"));
    }
    for (int d = 0; d < wanted.rank(); ++d) {
      int64_t& size = (*dims)[static_cast<size_t>(d) + 1];
      if (wanted.dim(d) < 0) continue;
      if (size > wanted.dim(d)) {
        return DataLossError(
            StrCat("Attempted to pad to a smaller size than the input element: component ", i,
                   " has size ", size, " in dimension ", d, ", wanted ", wanted.dim(d)));
      }
      size = wanted.dim(d);
    }
    return OkStatus();
  }

  StatusOr<Tensor> Pad(const std::vector<std::vector<Tensor>>& elements, size_t i) const {
    ASSIGN_OR_RETURN(const Shape shape, PaddedShape(elements, i));
    ASSIGN_OR_RETURN(Tensor padded, Tensor::Allocate(elements[0][i].dtype(), shape));
    const Tensor* value = i < options_.values.size() ? &options_.values[i] : nullptr;
    if (value != nullptr && (value->rank() != 0 || value->dtype() != padded.dtype())) {
      return InvalidArgumentError(StrCat("The padding value of component ", i,
                                         " must be a scalar of ", DTypeName(padded.dtype()),
                                         ", not ", value->ToString()));
    }
    FillWith(value, &padded);
    const int64_t row = padded.num_elements() / static_cast<int64_t>(elements.size());
    for (size_t r = 0; r < elements.size(); ++r) {
      CopyCorner(elements[r][i], static_cast<int64_t>(r) * row, &padded);
    }
    return padded;
  }

  std::unique_ptr<Stage> input_;
  int64_t batch_size_;
  const Dataset::PaddedBatchOptions& options_;
};

class PaddedBatchNode : public Node {
 public:
  PaddedBatchNode(NodePtr input, int64_t batch_size, Dataset::PaddedBatchOptions options)
      : input_(std::move(input)), batch_size_(batch_size), options_(std::move(options)) {}

  std::vector<TensorSpec> spec() const override {
    std::vector<TensorSpec> specs = input_->spec();
    for (size_t i = 0; i < specs.size(); ++i) {
      PartialShape& shape = specs[i].shape;
      if (!shape.has_rank()) continue;
      std::vector<int64_t> dims = {options_.drop_remainder ? batch_size_ : -1};
      for (int d = 0; d < shape.rank(); ++d) {
        const bool given = i < options_.shapes.size() && options_.shapes[i].rank() == shape.rank();
        dims.push_back(given ? options_.shapes[i].dim(d) : shape.dim(d));
      }
      shape = PartialShape(std::move(dims));
    }
    return specs;
  }
  int64_t cardinality() const override {
    const int64_t n = input_->cardinality();
    if (n < 0) return n;
    return options_.drop_remainder ? n / batch_size_ : (n + batch_size_ - 1) / batch_size_;
  }
  std::unique_ptr<Stage> MakeStage(const IteratorOptions& options) const override {
    return std::make_unique<PaddedBatchStage>(input_->MakeStage(options), batch_size_, options_);
  }

 private:
  NodePtr input_;
  int64_t batch_size_;
  Dataset::PaddedBatchOptions options_;
};

}  // namespace

NodePtr NewPaddedBatchNode(NodePtr input, int64_t batch_size, Dataset::PaddedBatchOptions options) {
  return std::make_shared<PaddedBatchNode>(std::move(input), std::max<int64_t>(batch_size, 1),
                                           std::move(options));
}

}  // namespace slipway::data
