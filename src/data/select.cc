// SPDX-License-Identifier: Apache-2.0
//
// Filter, TakeWhile, Shard and Unique: some of the elements.
#include <set>

#include "base/strings.h"
#include "data/stage.h"

namespace slipway::data {
namespace {

class FilterStage : public Stage {
 public:
  FilterStage(std::unique_ptr<Stage> input, const Dataset::Predicate& predicate, bool stops)
      : input_(std::move(input)), predicate_(predicate), stops_(stops) {}

  StatusOr<bool> Next(std::vector<Tensor>* element) override {
    while (!ended_) {
      ASSIGN_OR_RETURN(const bool more, input_->Next(element));
      if (!more) break;
      ASSIGN_OR_RETURN(const bool wanted, predicate_(*element));
      if (wanted) return true;
      ended_ = stops_;
    }
    return false;
  }
  StatusOr<int64_t> Skip(int64_t count) override { return SkipByNext(this, count); }

 private:
  std::unique_ptr<Stage> input_;
  const Dataset::Predicate& predicate_;
  bool stops_, ended_ = false;
};

class ShardStage : public Stage {
 public:
  ShardStage(std::unique_ptr<Stage> input, int64_t num_shards, int64_t index)
      : input_(std::move(input)), between_(num_shards - 1), ahead_(index) {}

  StatusOr<bool> Next(std::vector<Tensor>* element) override {
    ASSIGN_OR_RETURN(const int64_t skipped, input_->Skip(ahead_));
    if (skipped < ahead_) return false;
    ahead_ = between_;
    return input_->Next(element);
  }
  StatusOr<int64_t> Skip(int64_t count) override {
    int64_t done = 0;
    for (; done < count; ++done) {
      ASSIGN_OR_RETURN(const int64_t skipped, input_->Skip(ahead_ + 1));
      if (skipped <= ahead_) break;
      ahead_ = between_;
    }
    return done;
  }

 private:
  std::unique_ptr<Stage> input_;
  int64_t between_, ahead_;
};

class UniqueStage : public Stage {
 public:
  explicit UniqueStage(std::unique_ptr<Stage> input) : input_(std::move(input)) {}

  StatusOr<bool> Next(std::vector<Tensor>* element) override {
    while (true) {
      ASSIGN_OR_RETURN(const bool more, input_->Next(element));
      if (!more) return false;
      ASSIGN_OR_RETURN(std::string key, KeyOf(*element));
      if (seen_.insert(std::move(key)).second) return true;
    }
  }
  StatusOr<int64_t> Skip(int64_t count) override { return SkipByNext(this, count); }

 private:
  static StatusOr<std::string> KeyOf(const std::vector<Tensor>& element) {
    if (element.size() != 1) {
      return InvalidArgumentError(
          StrCat("Unique takes elements of one tensor, not of ", element.size()));
    }
    const Tensor& t = element[0];
    std::string key = StrCat(t.shape().ToString(), ":");
    if (t.dtype() == DType::kString) {
      for (const std::string& text : t.flat<std::string>()) StrAppend(&key, text.size(), ":", text);
    } else if (IsInteger(t.dtype())) {
      key.append(static_cast<const char*>(t.raw_data()), t.byte_size());
    } else {
      return InvalidArgumentError(
          StrCat("Unique takes integers and strings, not ", DTypeName(t.dtype())));
    }
    return key;
  }

  std::unique_ptr<Stage> input_;
  std::set<std::string> seen_;
};

// A node whose elements are some of its input's.
class SomeNode : public Node {
 public:
  explicit SomeNode(NodePtr input) : input_(std::move(input)) {}
  std::vector<TensorSpec> spec() const override { return input_->spec(); }
  int64_t cardinality() const override { return kUnknownCardinality; }

 protected:
  const Node& input() const { return *input_; }

 private:
  NodePtr input_;
};

class FilterNode : public SomeNode {
 public:
  FilterNode(NodePtr input, Dataset::Predicate predicate, bool stops)
      : SomeNode(std::move(input)), predicate_(std::move(predicate)), stops_(stops) {}
  std::unique_ptr<Stage> MakeStage(const IteratorOptions& options) const override {
    return std::make_unique<FilterStage>(input().MakeStage(options), predicate_, stops_);
  }

 private:
  Dataset::Predicate predicate_;
  bool stops_;
};

class ShardNode : public SomeNode {
 public:
  ShardNode(NodePtr input, int64_t num_shards, int64_t index)
      : SomeNode(std::move(input)), num_shards_(num_shards), index_(index) {}
  int64_t cardinality() const override {
    const int64_t n = input().cardinality();
    return n < 0 ? n : n / num_shards_ + (index_ < n % num_shards_ ? 1 : 0);
  }
  std::unique_ptr<Stage> MakeStage(const IteratorOptions& options) const override {
    return std::make_unique<ShardStage>(input().MakeStage(options), num_shards_, index_);
  }

 private:
  int64_t num_shards_, index_;
};

class UniqueNode : public SomeNode {
 public:
  using SomeNode::SomeNode;
  std::unique_ptr<Stage> MakeStage(const IteratorOptions& options) const override {
    return std::make_unique<UniqueStage>(input().MakeStage(options));
  }
};

}  // namespace

NodePtr NewFilterNode(NodePtr input, Dataset::Predicate predicate, bool stops) {
  return std::make_shared<FilterNode>(std::move(input), std::move(predicate), stops);
}
NodePtr NewShardNode(NodePtr input, int64_t num_shards, int64_t index) {
  return std::make_shared<ShardNode>(std::move(input), num_shards, index);
}
NodePtr NewUniqueNode(NodePtr input) { return std::make_shared<UniqueNode>(std::move(input)); }

}  // namespace slipway::data
