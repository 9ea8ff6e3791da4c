// SPDX-License-Identifier: Apache-2.0
#include "model/entry_points.h"

#include <numeric>
#include <set>

#include "base/strings.h"

namespace slipway::model {
namespace {

StatusOr<ir::Output> TensorOf(const formats::MetaGraph& meta_graph, const char* kind,
                              const formats::SignatureTensor& tensor, const std::string& name) {
  if (!tensor.tensor_name.empty()) {
    return formats::FindTensor(meta_graph.graph, tensor.tensor_name);
  }
  return UnimplementedError(StrCat(kind, " '", tensor.name, "' of signature '", name,
                                   "' is made of several tensors, which is not supported"));
}

}  // namespace

StatusOr<ir::Function> ExtractSignature(const formats::MetaGraph& meta_graph,
                                        const std::string& name, const formats::SignatureDef& def,
                                        std::span<const int> fetched) {
  ir::SubgraphSpec spec;
  spec.name = name;
  for (const auto& input : def.inputs) {
    ASSIGN_OR_RETURN(const ir::Output value, TensorOf(meta_graph, "Input", input, name));
    spec.feeds.emplace_back(input.name, value);
  }
  for (const int i : fetched) {
    const auto& output = def.outputs[static_cast<size_t>(i)];
    ASSIGN_OR_RETURN(const ir::Output value, TensorOf(meta_graph, "Output", output, name));
    spec.fetches.emplace_back(output.name, value);
  }
  return ir::ExtractFunction(meta_graph.graph, spec);
}

StatusOr<ir::Function> ExtractSignature(const formats::MetaGraph& meta_graph,
                                        const std::string& name, const formats::SignatureDef& def) {
  std::vector<int> all(def.outputs.size());
  std::iota(all.begin(), all.end(), 0);
  return ExtractSignature(meta_graph, name, def, all);
}

StatusOr<ir::Function> ExtractTarget(const formats::MetaGraph& meta_graph, const std::string& name,
                                     const std::string& target,
                                     std::span<const std::string> feeds) {
  ir::SubgraphSpec spec;
  spec.name = name;
  ir::Node* node = meta_graph.graph.FindNode(target);
  if (node == nullptr) {
    return InvalidArgumentError(StrCat("The ", name, " op '", target, "' is not in the graph"));
  }
  spec.targets.push_back(node);
  for (const std::string& feed : feeds) {
    ASSIGN_OR_RETURN(const ir::Output value, formats::FindTensor(meta_graph.graph, feed));
    spec.feeds.emplace_back(feed, value);
  }
  return ir::ExtractFunction(meta_graph.graph, spec);
}

std::vector<std::string> Callees(const ir::Node& node) {
  std::vector<std::string> names;
  for (const auto& [key, value] : node.attrs()) {
    if (const auto* f = value.As<ir::FunctionRef>()) names.push_back(f->name);
    if (const auto* list = value.As<std::vector<ir::FunctionRef>>()) {
      for (const auto& f : *list) names.push_back(f.name);
    }
  }
  return names;
}

Status VisitReached(const ir::Function& entry, const ir::FunctionLibrary* library,
                    const std::function<Status(const ir::Node&, const ir::Function&)>& visit) {
  std::set<std::string> seen;
  std::vector<std::string> next;
  const ir::Function* function = &entry;
  for (;;) {
    for (const ir::Node* node : function->graph.nodes()) {
      RETURN_IF_ERROR(visit(*node, *function));
      for (std::string& name : Callees(*node)) {
        if (seen.insert(name).second) next.push_back(std::move(name));
      }
    }
    if (next.empty()) return OkStatus();
    const std::string name = std::move(next.back());
    next.pop_back();
    ASSIGN_OR_RETURN(function, library->Find(name));
  }
}

}  // namespace slipway::model
