// SPDX-License-Identifier: Apache-2.0
//
// Inside of datasets: a Node describes a stage of a pipeline, a Stage is one pass over it.
//
// A pass can be moved on without making elements (Skip), and the same pass gives the same elements
// again. So where a pass stands is one number, and resuming is skipping.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "slipway/data.h"

namespace slipway::data {

// Not thread safe.
class Stage {
 public:
  virtual ~Stage() = default;
  // As Iterator::Next.
  virtual StatusOr<bool> Next(std::vector<Tensor>* element) = 0;
  // Moves on by `count` elements; how many there were.
  virtual StatusOr<int64_t> Skip(int64_t count) = 0;
};

// Immutable. Thread safety: from any thread.
class Node {
 public:
  static constexpr int64_t kUnknownCardinality = -2;
  static constexpr int64_t kInfiniteCardinality = -1;

  virtual ~Node() = default;
  virtual std::vector<TensorSpec> spec() const = 0;
  virtual int64_t cardinality() const = 0;
  virtual std::unique_ptr<Stage> MakeStage(const IteratorOptions& options) const = 0;

  // Nodes whose elements can be had in any order: element i, for 0 <= i < cardinality().
  virtual bool random_access() const { return false; }
  virtual void ElementAt(int64_t /*i*/, std::vector<Tensor>* /*element*/) const {}
  // Element i is wanted soon: time to fetch its memory.
  virtual void WillRead(int64_t /*i*/) const {}
};
using NodePtr = std::shared_ptr<const Node>;

// Calls Next `count` times and drops what comes: Skip for stages that have no shorter way.
StatusOr<int64_t> SkipByNext(Stage* stage, int64_t count);

NodePtr NewSlicesNode(std::vector<Tensor> tensors);
NodePtr NewShuffleNode(NodePtr input, int64_t buffer_size, uint64_t seed, bool reshuffle);
NodePtr NewBatchNode(NodePtr input, int64_t batch_size, bool drop_remainder);
NodePtr NewMapNode(NodePtr input, Dataset::MapFn function, std::vector<TensorSpec> spec);
NodePtr NewPrefetchNode(NodePtr input, int64_t buffer_size);
NodePtr NewRepeatNode(NodePtr input, int64_t count);
NodePtr NewRangeNode(int64_t start, int64_t stop, int64_t step);
NodePtr NewZipNode(std::vector<NodePtr> inputs);
NodePtr NewConcatenateNode(NodePtr first, NodePtr second);
NodePtr NewFilterNode(NodePtr input, Dataset::Predicate predicate, bool stops);
NodePtr NewShardNode(NodePtr input, int64_t num_shards, int64_t index);
NodePtr NewUniqueNode(NodePtr input);
NodePtr NewUnbatchNode(NodePtr input);
NodePtr NewInterleaveNode(NodePtr input, Dataset::DatasetFn function, std::vector<TensorSpec> spec,
                          int64_t cycle_length, int64_t block_length);
NodePtr NewPaddedBatchNode(NodePtr input, int64_t batch_size, Dataset::PaddedBatchOptions options);
NodePtr NewCacheNode(NodePtr input);
NodePtr NewTakeNode(NodePtr input, int64_t count);
NodePtr NewSkipNode(NodePtr input, int64_t count);

}  // namespace slipway::data
