// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/random.h"
#include "base/strings.h"
#include "data/stage.h"

namespace slipway::data {
namespace {

constexpr std::string_view kStatePrefix = "slipway.iterator.1 ";

// Counts what was given out, which is all of its state.
class CountingIterator : public Iterator {
 public:
  CountingIterator(NodePtr node, const IteratorOptions& options)
      : node_(std::move(node)), stage_(node_->MakeStage(options)) {}

  StatusOr<bool> Next(std::vector<Tensor>* element) override {
    StatusOr<bool> more = stage_->Next(element);
    if (more.ok() && *more) ++given_;
    return more;
  }

  StatusOr<std::string> SaveState() const override { return StrCat(kStatePrefix, given_); }

  Status RestoreState(std::string_view state) override {
    if (given_ != 0) {
      return FailedPreconditionError("An iterator's state can only be restored on a new iterator");
    }
    std::optional<int64_t> count;
    if (state.starts_with(kStatePrefix)) count = ParseInt64(state.substr(kStatePrefix.size()));
    if (!count || *count < 0) {
      return DataLossError(StrCat("This is no iterator state: ", Quoted(state)));
    }
    ASSIGN_OR_RETURN(given_, stage_->Skip(*count));
    if (given_ == *count) return OkStatus();
    return DataLossError(StrCat("The iterator state stands at element ", *count,
                                ", but the dataset has only ", given_));
  }

 private:
  NodePtr node_;  // stages point into their nodes
  std::unique_ptr<Stage> stage_;
  int64_t given_ = 0;
};

}  // namespace

StatusOr<int64_t> SkipByNext(Stage* stage, int64_t count) {
  std::vector<Tensor> element;
  for (int64_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const bool more, stage->Next(&element));
    if (!more) return i;
  }
  return count;
}

StatusOr<Dataset> Dataset::FromTensorSlices(std::vector<Tensor> tensors) {
  if (tensors.empty()) return InvalidArgumentError("A dataset of slices needs a tensor at least");
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].rank() == 0) {
      return InvalidArgumentError(StrCat("Tensor ", i, " is a scalar and has no rows to slice"));
    }
    if (tensors[i].dim(0) != tensors[0].dim(0)) {
      return InvalidArgumentError(StrCat("Tensor ", i, " has ", tensors[i].dim(0), " rows (shape ",
                                         tensors[i].shape().ToString(), "), tensor 0 has ",
                                         tensors[0].dim(0)));
    }
  }
  return Dataset(NewSlicesNode(std::move(tensors)));
}

StatusOr<Dataset> Dataset::Range(int64_t start, int64_t stop, int64_t step) {
  if (step == 0) return InvalidArgumentError("A range needs a step other than 0");
  return Dataset(NewRangeNode(start, stop, step));
}

StatusOr<Dataset> Dataset::Zip(std::vector<Dataset> datasets) {
  if (datasets.empty()) return InvalidArgumentError("Zip needs a dataset at least");
  std::vector<NodePtr> nodes;
  for (const Dataset& dataset : datasets) nodes.push_back(dataset.node());
  return Dataset(NewZipNode(std::move(nodes)));
}

Dataset Dataset::Enumerate(int64_t start) const {
  return Dataset(NewZipNode({NewRangeNode(start, INT64_MAX, 1), node_}));
}
Dataset Dataset::Concatenate(const Dataset& other) const {
  return Dataset(NewConcatenateNode(node_, other.node_));
}
Dataset Dataset::Filter(Predicate predicate) const {
  return Dataset(NewFilterNode(node_, std::move(predicate), false));
}
Dataset Dataset::TakeWhile(Predicate predicate) const {
  return Dataset(NewFilterNode(node_, std::move(predicate), true));
}
Dataset Dataset::Shard(int64_t num_shards, int64_t index) const {
  return Dataset(NewShardNode(node_, num_shards, index));
}
Dataset Dataset::Unique() const { return Dataset(NewUniqueNode(node_)); }
Dataset Dataset::Unbatch() const { return Dataset(NewUnbatchNode(node_)); }
Dataset Dataset::FlatMap(DatasetFn function, std::vector<TensorSpec> result_spec) const {
  return Interleave(std::move(function), std::move(result_spec), 1);
}
Dataset Dataset::Interleave(DatasetFn function, std::vector<TensorSpec> result_spec,
                            int64_t cycle_length, int64_t block_length) const {
  return Dataset(NewInterleaveNode(node_, std::move(function), std::move(result_spec),
                                   std::max<int64_t>(cycle_length, 1),
                                   std::max<int64_t>(block_length, 1)));
}
Dataset Dataset::PaddedBatch(int64_t batch_size, PaddedBatchOptions options) const {
  return Dataset(NewPaddedBatchNode(node_, batch_size, std::move(options)));
}
Dataset Dataset::Cache() const { return Dataset(NewCacheNode(node_)); }
Dataset Dataset::Shuffle(int64_t buffer_size, std::optional<uint64_t> seed,
                         bool reshuffle_each_iteration) const {
  return Dataset(
      NewShuffleNode(node_, buffer_size, seed ? *seed : RandomSeed(), reshuffle_each_iteration));
}
Dataset Dataset::Batch(int64_t batch_size, bool drop_remainder) const {
  return Dataset(NewBatchNode(node_, batch_size, drop_remainder));
}
Dataset Dataset::Map(MapFn function, std::vector<TensorSpec> result_spec) const {
  return Dataset(NewMapNode(node_, std::move(function), std::move(result_spec)));
}
Dataset Dataset::Prefetch(int64_t buffer_size) const {
  return Dataset(NewPrefetchNode(node_, buffer_size));
}
Dataset Dataset::Repeat(int64_t count) const { return Dataset(NewRepeatNode(node_, count)); }
Dataset Dataset::Take(int64_t count) const { return Dataset(NewTakeNode(node_, count)); }
Dataset Dataset::Skip(int64_t count) const { return Dataset(NewSkipNode(node_, count)); }

std::optional<int64_t> Dataset::cardinality() const {
  const int64_t n = node_->cardinality();
  return n >= 0 ? std::optional<int64_t>(n) : std::nullopt;
}

std::vector<TensorSpec> Dataset::element_spec() const { return node_->spec(); }

StatusOr<std::unique_ptr<Iterator>> Dataset::MakeIterator(const IteratorOptions& options) const {
  return std::unique_ptr<Iterator>(std::make_unique<CountingIterator>(node_, options));
}

}  // namespace slipway::data
