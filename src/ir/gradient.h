// SPDX-License-Identifier: Apache-2.0
//
// Differentiation: a table from ops to functions that add the gradient's nodes (ir/grad/*.cc, one
// file a family, listed in ir/grad/all.cc), and the walk that applies it backwards.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/builder.h"

namespace slipway::ir {

class FunctionLibrary;

// What a gradient function sees: a node y = f(x…) and dL/dy for each output.
class GradientContext {
 public:
  GradientContext(GraphBuilder& builder, FunctionLibrary* library, const Node& node,
                  std::vector<Output> output_gradients)
      : builder_(builder),
        library_(library),
        node_(node),
        output_gradients_(std::move(output_gradients)),
        input_gradients_(node.inputs().size()) {}

  GraphBuilder& builder() { return builder_; }
  // Of the functions that the graph calls, and for the functions of their gradients; may be null.
  FunctionLibrary* library() const { return library_; }
  const Node& node() const { return node_; }
  Output input(int i) const { return node_.input(i); }
  Output output(int i) const { return {const_cast<Node*>(&node_), i}; }
  // Invalid if no result depends on output i.
  Output dy(int i) const { return output_gradients_[static_cast<size_t>(i)]; }
  // Whether anybody wants dL/dx of input i; work for the others may be left out.
  bool wants(int i) const { return wanted_.empty() || wanted_[static_cast<size_t>(i)]; }
  void set_wanted(std::vector<bool> wanted) { wanted_ = std::move(wanted); }
  // An input not set has no gradient (an index, a shape).
  void set_dx(int i, Output gradient) { input_gradients_[static_cast<size_t>(i)] = gradient; }
  const std::vector<Output>& input_gradients() const { return input_gradients_; }

 private:
  GraphBuilder& builder_;
  FunctionLibrary* library_;
  const Node& node_;
  std::vector<Output> output_gradients_;
  std::vector<Output> input_gradients_;
  std::vector<bool> wanted_;
};

// Adds nodes through c.builder() (which keeps errors) and calls set_dx.
using GradientFn = void (*)(GradientContext& c);

struct GradientEntry {
  const char* op;
  GradientFn gradient;  // null: the op is known to have none (Shape, ArgMax…)
};

// Null if the table has no row for the op.
const GradientEntry* FindGradient(std::string_view op);
std::vector<const GradientEntry*> AllGradients();

// Adds the nodes that compute d(sum of ys weighted by grad_ys)/d(xs); grad_ys empty means ones.
// xs may be any values of the graph, variables' reads and resource handles (whose gradient is that
// of all their reads) included. The result has an invalid Output where ys do not depend on an x.
// Only the part between xs and ys is differentiated. UNIMPLEMENTED names an op on the way that has
// no gradient.
//
// `library` holds the functions that the graph calls (If, While, PartitionedCall…) and gets those
// of their gradients. A gradient computes the body's values again, so a body that draws random
// numbers without a seed of its own, or writes, is UNIMPLEMENTED. Other nodes take the outputs of a
// loop from a copy of it afterwards, which also keeps the values of every round.
StatusOr<std::vector<Output>> AddGradients(GraphBuilder& builder, std::span<const Output> ys,
                                           std::span<const Output> xs,
                                           std::span<const Output> grad_ys = {},
                                           FunctionLibrary* library = nullptr);

}  // namespace slipway::ir
