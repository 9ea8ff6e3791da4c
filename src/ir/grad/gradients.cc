// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>
#include <utility>

#include "base/strings.h"
#include "ir/gradient.h"

namespace slipway::ir {
namespace {

using Key = std::pair<const Node*, int>;
Key KeyOf(const Output& value) { return {value.node, value.index}; }

// A gradient can flow along values of these types; that of a resource handle is its variable's,
// that of a list the list of its elements'.
bool CarriesGradient(DType dtype) {
  return IsFloating(dtype) || IsComplex(dtype) || dtype == DType::kResource ||
         dtype == DType::kVariant;
}

// Walks once, backwards through the nodes between xs and ys.
class Backward {
 public:
  Backward(GraphBuilder& builder, FunctionLibrary* library, std::span<const Output> xs)
      : builder_(builder), library_(library), xs_(xs) {}

  Status Run(std::span<const Output> ys, std::span<const Output> grad_ys) {
    ASSIGN_OR_RETURN(order_, builder_.graph()->TopologicalOrder());
    MarkFromXs();
    MarkFromYs(ys);
    GraphBuilder::Scope scope(&builder_, "gradients");
    RETURN_IF_ERROR(Seed(ys, grad_ys));
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      if (between_.contains(*it)) RETURN_IF_ERROR(Differentiate(**it));
    }
    return builder_.status();
  }

  // The sum of what arrived at a value; invalid if nothing did.
  Output Sum(const Output& value) {
    auto it = gradients_.find(KeyOf(value));
    if (it == gradients_.end()) return {};
    std::vector<Output>& parts = it->second;
    if (parts.size() > 1) parts = {builder_.Op("AddN", parts)};
    return parts[0];
  }

 private:
  // Values that depend on an x in a way that may be differentiated.
  void MarkFromXs() {
    for (const Output& x : xs_) depends_.insert(KeyOf(x));
    for (const Node* node : order_) {
      bool reached = false;
      for (const Output& input : node->inputs()) reached |= depends_.contains(KeyOf(input));
      const GradientEntry* entry = reached ? FindGradient(node->op()) : nullptr;
      if (!reached || (entry != nullptr && entry->gradient == nullptr)) continue;
      for (int i = 0; i < node->num_outputs(); ++i) {
        if (CarriesGradient(node->dtype(i))) depends_.insert({node, i});
      }
    }
  }

  // Nodes with an input that depends on xs, that ys depend on.
  void MarkFromYs(std::span<const Output> ys) {
    std::set<const Node*> needed;
    for (const Output& y : ys) {
      if (depends_.contains(KeyOf(y))) needed.insert(y.node);
    }
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      if (!needed.contains(*it)) continue;
      for (const Output& input : (*it)->inputs()) {
        if (!depends_.contains(KeyOf(input))) continue;
        needed.insert(input.node);
        between_.insert(*it);
      }
    }
  }

  Status Seed(std::span<const Output> ys, std::span<const Output> grad_ys) {
    for (size_t i = 0; i < ys.size(); ++i) {
      if (!CarriesGradient(ys[i].dtype()) || ys[i].dtype() == DType::kResource) {
        return InvalidArgumentError(StrCat("'", ys[i].ToString(), "' is ", DTypeName(ys[i].dtype()),
                                           "; only floating-point values have gradients"));
      }
      if (!depends_.contains(KeyOf(ys[i]))) continue;
      Output seed = grad_ys.empty() ? Output() : grad_ys[i];
      if (!seed.valid()) {
        seed = ys[i].shape().rank() == 0 ? builder_.ScalarLike(1.0, ys[i])
                                         : builder_.Op("OnesLike", {ys[i]});
      }
      gradients_[KeyOf(ys[i])].push_back(seed);
    }
    return builder_.status();
  }

  Status Differentiate(const Node& node) {
    std::vector<Output> dy;
    bool any = false;
    for (int i = 0; i < node.num_outputs(); ++i) {
      dy.push_back(Sum({const_cast<Node*>(&node), i}));
      any |= dy.back().valid();
    }
    if (!any) return builder_.status();
    const GradientEntry* entry = FindGradient(node.op());
    if (entry == nullptr) {
      return UnimplementedError(StrCat("There is no gradient for op ", node.op(), " (node '",
                                       node.name(),
                                       "'), which lies between the loss and what is to be "
                                       "trained; use StopGradient if none should flow here"));
    }
    GraphBuilder::Scope scope(&builder_, StrCat(node.name(), "_grad"));
    GradientContext context(builder_, library_, node, std::move(dy));
    std::vector<bool> wanted;
    for (const Output& input : node.inputs()) wanted.push_back(depends_.contains(KeyOf(input)));
    context.set_wanted(wanted);
    entry->gradient(context);
    if (!builder_.ok()) return builder_.status().WithContext("gradient of '" + node.name() + "'");
    for (size_t i = 0; i < wanted.size(); ++i) {
      const Output& dx = context.input_gradients()[i];
      if (wanted[i] && dx.valid()) gradients_[KeyOf(node.input(static_cast<int>(i)))].push_back(dx);
    }
    return OkStatus();
  }

  GraphBuilder& builder_;
  FunctionLibrary* library_;
  std::span<const Output> xs_;
  std::vector<Node*> order_;
  std::set<Key> depends_;
  std::set<const Node*> between_;
  std::map<Key, std::vector<Output>> gradients_;
};

}  // namespace

StatusOr<std::vector<Output>> AddGradients(GraphBuilder& builder, std::span<const Output> ys,
                                           std::span<const Output> xs,
                                           std::span<const Output> grad_ys,
                                           FunctionLibrary* library) {
  RETURN_IF_ERROR(builder.status());
  if (!grad_ys.empty() && grad_ys.size() != ys.size()) {
    return InvalidArgumentError(StrCat("AddGradients got ", grad_ys.size(), " grad_ys for ",
                                       ys.size(), " ys; give one for each or none"));
  }
  for (std::span<const Output> values : {ys, xs}) {
    for (const Output& value : values) {
      if (!value.valid()) return InvalidArgumentError("AddGradients got an invalid value");
    }
  }
  Backward backward(builder, library, xs);
  RETURN_IF_ERROR(backward.Run(ys, grad_ys));
  std::vector<Output> result;
  for (const Output& x : xs) result.push_back(backward.Sum(x));
  RETURN_IF_ERROR(builder.status());
  return result;
}

}  // namespace slipway::ir
