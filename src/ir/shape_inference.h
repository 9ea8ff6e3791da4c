// SPDX-License-Identifier: Apache-2.0
//
// What a shape function sees of its node, and helpers that many of them share.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace slipway::ir {

class ShapeContext {
 public:
  ShapeContext(const Node& node, std::vector<PartialShape>* outputs)
      : node_(node), outputs_(*outputs) {}

  const Node& node() const { return node_; }
  int num_inputs() const { return static_cast<int>(node_.inputs().size()); }
  const PartialShape& input(int i) const { return node_.input(i).shape(); }
  // The value of an input that is a Const (through Identity), or null. Shape arguments mostly are.
  const Tensor* input_value(int i) const;
  // The same as a list of integers (int32 or int64 input); also followed through Shape, Pack and
  // StridedSlice of shapes as far as known: -1 where an element is not.
  std::optional<std::vector<int64_t>> input_as_shape(int i) const;

  void set_output(int i, PartialShape shape) {
    outputs_[static_cast<size_t>(i)] = std::move(shape);
  }
  // The input's shape if it has this rank or none; INVALID_ARGUMENT names input, shape and rank.
  StatusOr<PartialShape> InputOfRank(int i, int rank) const;
  // INVALID_ARGUMENT with "op 'name': " in front.
  Status Error(std::string_view text) const;

 private:
  const Node& node_;
  std::vector<PartialShape>& outputs_;
};

// NumPy broadcasting of two shapes as far as known; INVALID_ARGUMENT "Incompatible shapes: … vs.
// …".
StatusOr<PartialShape> BroadcastShapes(const PartialShape& a, const PartialShape& b);

// Shape functions that many ops share.
Status ScalarShape(ShapeContext& c);
Status UnchangedShape(ShapeContext& c);  // output 0 as input 0
Status BroadcastBinaryShape(ShapeContext& c);
Status NoOutputs(ShapeContext& c);

}  // namespace slipway::ir
