// SPDX-License-Identifier: Apache-2.0
//
// Datasets: pipelines of elements, each a list of tensors, with tf.data's names.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slipway/status.h"
#include "slipway/tensor.h"

namespace slipway::data {

class Node;  // a stage of a pipeline

// One pass over a dataset. Not thread safe (stages may use threads of their own inside).
class Iterator {
 public:
  virtual ~Iterator() = default;
  // The next element; false at the end. Tensors that come in valid, fitting and with no other
  // holder are written in place, so a loop that hands the same vector back allocates nothing.
  virtual StatusOr<bool> Next(std::vector<Tensor>* element) = 0;
  // Where the pass stands, in bytes to keep: elements that were given out are done, those that were
  // only prefetched are not.
  virtual StatusOr<std::string> SaveState() const = 0;
  // On a new iterator of the same pipeline. DATA_LOSS if the bytes are not such a state.
  virtual Status RestoreState(std::string_view state) = 0;
};

struct IteratorOptions {
  // Shuffles that reshuffle each pass mix this into their seed: the same pass gives the same order.
  int64_t epoch = 0;
};

// A handle to an immutable pipeline; cheap to copy. Thread safety: const methods from any thread.
class Dataset {
 public:
  explicit Dataset(std::shared_ptr<const Node> node) : node_(std::move(node)) {}

  // Rows of dimension 0 of the tensors, together. INVALID_ARGUMENT if they differ in length.
  static StatusOr<Dataset> FromTensorSlices(std::vector<Tensor> tensors);

  // Reshuffled for each pass. buffer_size >= the dataset's size is a full shuffle.
  Dataset Shuffle(int64_t buffer_size, std::optional<uint64_t> seed = {},
                  bool reshuffle_each_iteration = true) const;
  Dataset Batch(int64_t batch_size, bool drop_remainder = false) const;

  // Elements of one pass, if known.
  std::optional<int64_t> cardinality() const;
  std::vector<TensorSpec> element_spec() const;
  StatusOr<std::unique_ptr<Iterator>> MakeIterator(const IteratorOptions& options = {}) const;

  const std::shared_ptr<const Node>& node() const { return node_; }

 private:
  std::shared_ptr<const Node> node_;
};

}  // namespace slipway::data
