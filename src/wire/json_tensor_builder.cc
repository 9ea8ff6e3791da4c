// SPDX-License-Identifier: Apache-2.0
#include "wire/json_tensor_builder.h"

#include <algorithm>
#include <cstring>

#include "base/strings.h"
#include "wire/json_number.h"

namespace slipway {

Status JsonTensorBuilder::Grow(const JsonCursor& cursor) {
  if (first_byte_ == nullptr) first_byte_ = cursor.at();
  const int64_t left = cursor.end() - cursor.at();
  const int64_t used = cursor.at() - first_byte_;
  // As many more as the rest of the body holds, if it goes on as it did so far. Every element
  // takes two bytes of the body at least, itself and what divides it from the next.
  int64_t wanted = 16;
  if (count_ > 0) {
    const auto estimate =
        static_cast<double>(left) / static_cast<double>(std::max<int64_t>(used, 1));
    wanted = static_cast<int64_t>(static_cast<double>(count_) * std::min(estimate, 1e6)) + 16;
  }
  wanted = std::max(count_, std::min(wanted, left / 2 + 1)) + count_;
  const auto size = static_cast<int64_t>(DTypeSize(dtype_));
  const auto most = static_cast<int64_t>(options_.max_bytes) / size;
  wanted = std::min(wanted, most);
  if (wanted <= count_) {
    return ResourceExhaustedError(
        StrCat("Input ", Quoted(name_), " is over the limit of ", options_.max_bytes, " bytes"));
  }
  ASSIGN_OR_RETURN(Tensor larger, Tensor::Allocate(dtype_, Shape({wanted}), options_.allocator));
  if (dtype_ == DType::kString) {
    auto* from = static_cast<std::string*>(storage_.raw_data());
    std::move(from, from + count_, static_cast<std::string*>(larger.raw_data()));
  } else if (count_ > 0) {
    std::memcpy(larger.raw_data(), storage_.raw_data(), static_cast<size_t>(count_ * size));
  }
  storage_ = std::move(larger);
  capacity_ = wanted;
  return OkStatus();
}

// One value, or within a list of floats as many plain ones as come.
Status JsonTensorBuilder::ReadLeaves(JsonCursor* cursor, bool in_list, int64_t* read) {
  if (count_ == capacity_) RETURN_IF_ERROR(Grow(*cursor));
  *read = 0;
  if (in_list && dtype_ == DType::kFloat) {
    float* to = static_cast<float*>(storage_.raw_data()) + count_;
    cursor->MoveTo(ReadJsonFloats(cursor->at(), cursor->end(), to, capacity_ - count_, read));
  }
  if (*read == 0) {
    char* slot =
        static_cast<char*>(storage_.raw_data()) + static_cast<size_t>(count_) * DTypeSize(dtype_);
    RETURN_IF_ERROR(read_(cursor, dtype_, slot));
    *read = 1;
  }
  count_ += *read;
  return OkStatus();
}

Status JsonTensorBuilder::Open(JsonCursor* cursor) {
  const auto level = static_cast<int>(counts_.size());
  const int limit = rank_ < 0 ? Shape::kMaxRank - 1 : rank_;
  if (level >= limit) {
    return InvalidArgumentError(
        StrCat("Encountered list at unexpected level: ", level, " expected < ", limit));
  }
  cursor->Take('[');
  counts_.push_back(0);
  if (dims_.size() < counts_.size()) dims_.push_back(-1);
  return OkStatus();
}

Status JsonTensorBuilder::Close() {
  const int64_t size = counts_.back();
  counts_.pop_back();
  int64_t& dim = dims_[counts_.size()];
  if (dim < 0) dim = size;
  if (dim == size) return OkStatus();
  return InvalidArgumentError(StrCat("Encountered list at unexpected size: ", size,
                                     " at level: ", counts_.size(), " expected size: ", dim));
}

Status JsonTensorBuilder::FinishItem() {
  if (++items_ == 1) {
    first_dims_ = dims_;
    item_elements_ = count_;
    return OkStatus();
  }
  const int64_t elements = count_ - (items_ - 1) * item_elements_;
  if (elements != item_elements_) {
    return InvalidArgumentError(
        StrCat("Expecting tensor size: ", item_elements_, " but got: ", elements));
  }
  if (dims_ == first_dims_) return OkStatus();
  return InvalidArgumentError(StrCat("Expecting shape ", Shape(first_dims_).ToString(),
                                     " but got: ", Shape(dims_).ToString()));
}

Status JsonTensorBuilder::ReadItem(JsonCursor* cursor) {
  dims_.clear();
  counts_.clear();
  rank_ = -1;
  while (true) {
    bool empty = false;
    if (cursor->Peek() == '[') {
      RETURN_IF_ERROR(Open(cursor));
      if (cursor->Peek() != ']') continue;
      // An empty list tells the rank as a leaf would.
      if (rank_ < 0) rank_ = static_cast<int>(counts_.size());
      empty = true;
    } else {
      const auto level = static_cast<int>(counts_.size());
      if (rank_ < 0) rank_ = level;
      if (level != rank_) {
        return InvalidArgumentError(StrCat("JSON Value: ", cursor->ValueText(),
                                           " found at incorrect level: ", level + 1,
                                           " in the JSON DOM. Expected at level: ", rank_));
      }
      int64_t read = 0;
      RETURN_IF_ERROR(ReadLeaves(cursor, level > 0, &read));
      if (level == 0) return FinishItem();
      counts_.back() += read - 1;  // the last one is counted below
    }
    while (true) {
      // Behind a value, or in an empty list.
      bool more = false;
      if (empty) {
        cursor->Take(']');
        empty = false;
      } else {
        ++counts_.back();
        ASSIGN_OR_RETURN(more, cursor->TakeSeparator(']'));
      }
      if (more) break;
      RETURN_IF_ERROR(Close());
      if (counts_.empty()) return FinishItem();
    }
  }
}

StatusOr<int64_t> JsonTensorBuilder::ReadScalarItems(JsonCursor* cursor) {
  if (dtype_ != DType::kFloat || items_ == 0 || !first_dims_.empty()) return 0;
  const char c = cursor->Peek();
  if (c != '-' && (c < '0' || c > '9')) return 0;
  int64_t read = 0;
  RETURN_IF_ERROR(ReadLeaves(cursor, true, &read));
  items_ += read;
  return read;
}

StatusOr<Tensor> JsonTensorBuilder::Finish(bool rows) {
  Shape shape;
  if (rows) shape.AddDim(items_);
  for (int64_t dim : first_dims_) shape.AddDim(std::max<int64_t>(0, dim));
  if (count_ == 0) return Tensor::Allocate(dtype_, shape, options_.allocator);
  return storage_.Slice(0, count_).Reshaped(shape);
}

}  // namespace slipway
