// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <string_view>
#include <unordered_map>

#include "base/strings.h"
#include "ir/passes/passes.h"
#include "ir/passes/rewrite.h"

namespace slipway::ir {
namespace {

// Constants are told apart by this many of their bytes before all are compared.
constexpr size_t kHashedBytes = 256;

size_t Combine(size_t seed, size_t value) {
  return seed ^ (value + 0x9e3779b97f4a7c15ULL + (seed << 6) + (seed >> 2));
}

size_t HashTensor(const Tensor& tensor) {
  size_t hash = static_cast<size_t>(tensor.dtype());
  for (int64_t dim : tensor.shape().dims()) hash = Combine(hash, static_cast<size_t>(dim));
  if (IsObject(tensor.dtype())) return hash;
  const size_t bytes = std::min(tensor.byte_size(), kHashedBytes);
  return Combine(
      hash, std::hash<std::string_view>()({static_cast<const char*>(tensor.raw_data()), bytes}));
}

// A node with its inputs as they are after sharing so far.
struct Candidate {
  Node* node;
  std::vector<Output> inputs;
  std::vector<Node*> before;  // sorted

  size_t Hash() const {
    size_t hash = std::hash<std::string>()(node->op());
    for (const Output& input : inputs) {
      hash = Combine(hash, static_cast<size_t>(input.node->id() * 31 + input.index));
    }
    for (const Node* control : before) hash = Combine(hash, static_cast<size_t>(control->id()));
    return node->IsConst() ? Combine(hash, HashTensor(node->const_value())) : hash;
  }
  bool SameAs(const Candidate& other) const {
    return node->op() == other.node->op() && inputs == other.inputs && before == other.before &&
           node->device() == other.node->device() && node->attrs() == other.node->attrs();
  }
};

// Two reads of a variable that wait for the same writes see the same value.
bool MayBeShared(const Node& node) {
  if (node.num_outputs() == 0 || node.op() == "_Arg" || node.op() == "Placeholder") return false;
  return IsPure(node) || node.op() == "ReadVariableOp";
}

}  // namespace

Status ShareCommonSubexpressions(Function& function, const PassContext&, std::string* note) {
  ASSIGN_OR_RETURN(std::vector<Node*> order, function.graph.TopologicalOrder());
  Replacements replacements(function);
  std::unordered_map<size_t, std::vector<Candidate>> seen;
  std::unordered_map<const Node*, Node*> shared;
  for (Node* node : order) {
    if (!MayBeShared(*node)) continue;
    Candidate candidate{node, replacements.ResolvedInputs(*node), {}};
    for (Node* before : node->control_inputs()) {
      auto it = shared.find(before);
      candidate.before.push_back(it == shared.end() ? before : it->second);
    }
    std::sort(candidate.before.begin(), candidate.before.end(),
              [](const Node* a, const Node* b) { return a->id() < b->id(); });
    candidate.before.erase(std::unique(candidate.before.begin(), candidate.before.end()),
                           candidate.before.end());
    std::vector<Candidate>& alike = seen[candidate.Hash()];
    auto same = std::find_if(alike.begin(), alike.end(),
                             [&](const Candidate& c) { return candidate.SameAs(c); });
    if (same == alike.end()) {
      alike.push_back(std::move(candidate));
      continue;
    }
    std::vector<Output> values;
    for (int i = 0; i < node->num_outputs(); ++i) values.push_back({same->node, i});
    shared[node] = same->node;
    replacements.Replace(node, std::move(values));
  }
  *note = StrCat(replacements.size(), " nodes shared");
  replacements.Apply();
  return OkStatus();
}

}  // namespace slipway::ir
