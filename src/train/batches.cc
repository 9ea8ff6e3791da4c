// SPDX-License-Identifier: Apache-2.0
#include "train/batches.h"

#include <algorithm>

#include "base/strings.h"

namespace slipway::train {
namespace {

// Calls fn(span) with the labels as numbers of their own type; false for other dtypes.
template <typename Fn>
bool WithNumbers(const Tensor& tensor, Fn&& fn) {
  switch (tensor.dtype()) {
    case DType::kFloat:
      return fn(tensor.flat<float>()), true;
    case DType::kInt32:
      return fn(tensor.flat<int32_t>()), true;
    case DType::kInt64:
      return fn(tensor.flat<int64_t>()), true;
    case DType::kUInt8:
      return fn(tensor.flat<uint8_t>()), true;
    default:
      return false;
  }
}

// The class of each row: the number itself, or where the largest of a row is.
template <typename T>
std::vector<int64_t> ClassesOf(std::span<const T> numbers, size_t rows) {
  size_t width = rows == 0 ? 1 : numbers.size() / rows;
  std::vector<int64_t> classes(rows);
  for (size_t i = 0; i < rows; ++i) {
    auto row = numbers.subspan(i * width, width);
    classes[i] = width == 1 ? static_cast<int64_t>(row[0])
                            : std::max_element(row.begin(), row.end()) - row.begin();
  }
  return classes;
}

}  // namespace

Status ClassWeights::Apply(std::vector<Tensor>* batch) {
  if (batch->size() != 2) {
    return InvalidArgumentError(
        "class_weight and sample_weight cannot be used together; leave one of them out");
  }
  const Tensor& labels = (*batch)[1];
  std::vector<int64_t> classes;
  bool known = labels.rank() <= 2 && WithNumbers(labels, [&](auto numbers) {
                 classes = ClassesOf(numbers, static_cast<size_t>(labels.dim(0)));
               });
  if (!known) {
    return InvalidArgumentError(
        StrCat("class_weight needs labels that are class numbers or "
               "one-hot rows, got ",
               DTypeName(labels.dtype()), labels.shape().ToString()));
  }
  Shape shape({labels.dim(0)});
  if (!memory_.IsUnique() || !(memory_.shape() == shape)) memory_ = Tensor(DType::kFloat, shape);
  std::span<float> out = memory_.flat<float>();
  for (size_t i = 0; i < classes.size(); ++i) {
    auto it = weights_.find(classes[i]);
    out[i] = it == weights_.end() ? 1.0f : static_cast<float>(it->second);
  }
  batch->push_back(memory_);
  return OkStatus();
}

Status BatchStream::NewPass() {
  ASSIGN_OR_RETURN(iterator_, dataset_.MakeIterator({.epoch = pass_}));
  ++pass_;
  fresh_ = true;
  return OkStatus();
}

Status BatchStream::BeginEpoch() {
  epoch_began_ = true;
  return iterator_ == nullptr ? NewPass() : OkStatus();
}

StatusOr<bool> BatchStream::Next(std::vector<Tensor>* batch) {
  ASSIGN_OR_RETURN(bool more, iterator_->Next(batch));
  // A pass that ended with the last epoch gives way to the next one; an empty one does not.
  if (!more && goes_on_ && epoch_began_ && !fresh_) {
    RETURN_IF_ERROR(NewPass());
    ASSIGN_OR_RETURN(more, iterator_->Next(batch));
  }
  epoch_began_ = false;
  fresh_ = false;
  if (!more) iterator_.reset();
  return more;
}

StatusOr<std::string> BatchStream::SaveState() const {
  std::string out = StrCat(pass_, ";");
  if (iterator_ != nullptr) {
    ASSIGN_OR_RETURN(std::string state, iterator_->SaveState());
    StrAppend(&out, "+", state);
  }
  return out;
}

Status BatchStream::RestoreState(std::string_view state) {
  size_t split = state.find(';');
  std::optional<int64_t> pass;
  if (split != std::string_view::npos) pass = ParseInt64(state.substr(0, split));
  if (!pass) return DataLossError("The checkpoint's place in the data is damaged");
  std::string_view rest = state.substr(split + 1);
  iterator_.reset();
  pass_ = *pass;
  if (rest.empty()) return OkStatus();
  ASSIGN_OR_RETURN(iterator_, dataset_.MakeIterator({.epoch = pass_ - 1}));
  fresh_ = false;
  return iterator_->RestoreState(rest.substr(1));
}

}  // namespace slipway::train
