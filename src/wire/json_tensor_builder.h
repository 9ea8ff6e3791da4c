// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "wire/json_cursor.h"
#include "wire/json_leaf.h"
#include "wire/json_tensor.h"

namespace slipway {

// Collects the elements of one input as they are read. What is one value of the body (an element
// of "instances", or all of an input in column form) is an item here; items have equal shapes.
class JsonTensorBuilder {
 public:
  JsonTensorBuilder(const TensorSpec& spec, JsonLeafReader read, const TensorDecodeOptions& options)
      : name_(spec.name), dtype_(spec.dtype), read_(read), options_(options) {}

  const std::string& name() const { return name_; }
  int64_t items() const { return items_; }
  Status ReadItem(JsonCursor* cursor);
  // Items that are plain numbers, as many as come; 0 if the next one is something else.
  StatusOr<int64_t> ReadScalarItems(JsonCursor* cursor);
  // With the number of items as first dimension, or the one item itself.
  StatusOr<Tensor> Finish(bool rows);

 private:
  Status ReadLeaves(JsonCursor* cursor, bool in_list, int64_t* read);
  Status Open(JsonCursor* cursor);
  Status Close();
  Status FinishItem();
  Status Grow(const JsonCursor& cursor);

  std::string name_;
  DType dtype_;
  JsonLeafReader read_;
  TensorDecodeOptions options_;

  Tensor storage_;  // rank 1, grown as needed
  int64_t capacity_ = 0;
  int64_t count_ = 0;
  const char* first_byte_ = nullptr;

  int64_t items_ = 0;
  std::vector<int64_t> first_dims_;  // of the first item
  int64_t item_elements_ = 0;

  // The item being read.
  std::vector<int64_t> dims_;    // -1: no list of that level has ended yet
  std::vector<int64_t> counts_;  // of the lists that are open
  int rank_ = -1;                // unknown until the first leaf or empty list
};

}  // namespace slipway
