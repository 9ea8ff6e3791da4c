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

  // The int64 scalars start, start + step, … before stop. INVALID_ARGUMENT if step is 0.
  static StatusOr<Dataset> Range(int64_t start, int64_t stop, int64_t step = 1);
  // Elements of all, side by side: their tensors one behind the other; ends with the shortest.
  // INVALID_ARGUMENT without a dataset.
  static StatusOr<Dataset> Zip(std::vector<Dataset> datasets);

  // Picks from a buffer of the next buffer_size elements; >= the dataset's size is a full shuffle.
  // The seed is drawn from the operating system if not given. With reshuffle_each_iteration the
  // order depends on seed and IteratorOptions::epoch, else on the seed alone.
  Dataset Shuffle(int64_t buffer_size, std::optional<uint64_t> seed = {},
                  bool reshuffle_each_iteration = true) const;
  // Consecutive elements stacked along a new dimension 0; the last batch may be smaller.
  // Elements of unequal shapes are an INVALID_ARGUMENT of Next that names both.
  Dataset Batch(int64_t batch_size, bool drop_remainder = false) const;
  // `function` must be pure: it is not called for elements that are skipped on resuming.
  using MapFn = std::function<StatusOr<std::vector<Tensor>>(const std::vector<Tensor>&)>;
  Dataset Map(MapFn function, std::vector<TensorSpec> result_spec) const;
  // The element's number, from `start` on, an int64 scalar, and the element.
  Dataset Enumerate(int64_t start = 0) const;
  // This dataset, and then `other`, which must have elements of the same types.
  Dataset Concatenate(const Dataset& other) const;

  using Predicate = std::function<StatusOr<bool>(const std::vector<Tensor>&)>;
  // Those elements for which it is true. Resuming calls it again.
  Dataset Filter(Predicate predicate) const;
  // Up to the first element for which it is false.
  Dataset TakeWhile(Predicate predicate) const;
  // Of num_shards parts the one of elements index, index + num_shards, …
  // REQUIRES: 0 <= index < num_shards.
  Dataset Shard(int64_t num_shards, int64_t index) const;
  // Each element once, where it comes first. Of one integer or string tensor; the elements seen are
  // kept in memory.
  Dataset Unique() const;

  // The rows of elements as elements: Batch taken back.
  Dataset Unbatch() const;
  using DatasetFn = std::function<StatusOr<Dataset>(const std::vector<Tensor>&)>;
  // The datasets that the function makes of the elements, one behind the other. Resuming makes them
  // again.
  Dataset FlatMap(DatasetFn function, std::vector<TensorSpec> result_spec) const;
  // cycle_length of them at a time, block_length elements of each in turn; where one ends the next
  // one takes its place.
  Dataset Interleave(DatasetFn function, std::vector<TensorSpec> result_spec, int64_t cycle_length,
                     int64_t block_length = 1) const;

  struct PaddedBatchOptions {
    // For each tensor of an element; an unknown size, or none given: the longest of the batch.
    std::vector<PartialShape> shapes = {};
    std::vector<Tensor> values = {};  // scalars; none given: zeros, empty strings
    bool drop_remainder = false;
  };
  // As Batch, elements filled up at the ends of their dimensions.
  Dataset PaddedBatch(int64_t batch_size, PaddedBatchOptions options) const;
  Dataset PaddedBatch(int64_t batch_size) const { return PaddedBatch(batch_size, {}); }

  // Keeps the elements of the first whole pass in memory, and gives those from then on.
  Dataset Cache() const;

  // Makes up to buffer_size elements ahead on a thread of its own.
  Dataset Prefetch(int64_t buffer_size) const;
  // count < 0: for ever. Each repetition is a pass of its own (a shuffle below reshuffles).
  Dataset Repeat(int64_t count = -1) const;
  Dataset Take(int64_t count) const;
  Dataset Skip(int64_t count) const;

  // Elements of one pass; nothing if unknown or without end.
  std::optional<int64_t> cardinality() const;
  std::vector<TensorSpec> element_spec() const;
  StatusOr<std::unique_ptr<Iterator>> MakeIterator(const IteratorOptions& options = {}) const;

  const std::shared_ptr<const Node>& node() const { return node_; }

 private:
  std::shared_ptr<const Node> node_;
};

// The tensor in an IDX file (MNIST's format), gzipped or not: uint8, int8, int16, int32, float or
// double. NOT_FOUND, or DATA_LOSS that says what is wrong with the file (magic, sizes, truncation).
StatusOr<Tensor> ReadIdx(const std::string& path);

struct FashionMnistOptions {
  int64_t validation_examples = 5000;  // the first ones of the training set
  bool scale = true;                   // pixels as float32 in [0, 1], else uint8
};

// Images [n, 28, 28] and labels [n] (int32, 0 to 9), and the same as datasets of (image, label).
struct FashionMnistData {
  Tensor train_images, train_labels;
  Tensor validation_images, validation_labels;
  Tensor test_images, test_labels;
  Dataset train, validation, test;
  std::vector<std::string> class_names;
};

// From the four IDX files (with or without ".gz") in a directory, as Debian's package
// dataset-fashion-mnist and the original have them.
StatusOr<FashionMnistData> FashionMnist(const std::string& directory,
                                        const FashionMnistOptions& options = {});

}  // namespace slipway::data
