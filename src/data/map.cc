// SPDX-License-Identifier: Apache-2.0
#include "data/stage.h"

namespace slipway::data {
namespace {

class MapStage : public Stage {
 public:
  MapStage(std::unique_ptr<Stage> input, const Dataset::MapFn& function)
      : input_(std::move(input)), function_(function) {}

  StatusOr<bool> Next(std::vector<Tensor>* element) override {
    ASSIGN_OR_RETURN(const bool more, input_->Next(&given_));
    if (!more) return false;
    ASSIGN_OR_RETURN(*element, function_(given_));
    return true;
  }
  StatusOr<int64_t> Skip(int64_t count) override { return input_->Skip(count); }

 private:
  std::unique_ptr<Stage> input_;
  const Dataset::MapFn& function_;
  std::vector<Tensor> given_;
};

class MapNode : public Node {
 public:
  MapNode(NodePtr input, Dataset::MapFn function, std::vector<TensorSpec> spec)
      : input_(std::move(input)), function_(std::move(function)), spec_(std::move(spec)) {}

  std::vector<TensorSpec> spec() const override { return spec_; }
  int64_t cardinality() const override { return input_->cardinality(); }
  std::unique_ptr<Stage> MakeStage(const IteratorOptions& options) const override {
    return std::make_unique<MapStage>(input_->MakeStage(options), function_);
  }

 private:
  NodePtr input_;
  Dataset::MapFn function_;
  std::vector<TensorSpec> spec_;
};

}  // namespace

NodePtr NewMapNode(NodePtr input, Dataset::MapFn function, std::vector<TensorSpec> spec) {
  return std::make_shared<MapNode>(std::move(input), std::move(function), std::move(spec));
}

}  // namespace slipway::data
