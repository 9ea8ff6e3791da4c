// SPDX-License-Identifier: Apache-2.0
#include "ir/function.h"

#include <algorithm>

#include "base/strings.h"

namespace slipway::ir {

StatusOr<Output> Function::AddArg(std::string arg_name, DType dtype, PartialShape shape) {
  NodeSpec spec;
  spec.op = "_Arg";
  spec.name = arg_name;
  spec.attrs = {{"index", static_cast<int64_t>(args.size())}, {"T", dtype}};
  ASSIGN_OR_RETURN(Node * node, graph.AddNode(std::move(spec)));
  node->set_shape(0, shape);
  args.push_back({std::move(arg_name), dtype, std::move(shape), node});
  return Output{node, 0};
}

StatusOr<Function> Function::Clone() const {
  Function copy;
  copy.name = name;
  copy.attrs = attrs;
  std::unordered_map<const Node*, Node*> mapping;
  copy.graph = graph.Clone(&mapping);
  const auto twin = [&](const Node* node) -> StatusOr<Node*> {
    const auto it = mapping.find(node);
    if (it != mapping.end()) return it->second;
    return InternalError(
        StrCat("Function ", Quoted(name), " has an argument or result that is not in its graph"));
  };
  for (const Arg& arg : args) {
    ASSIGN_OR_RETURN(Node * node, twin(arg.node));
    copy.args.push_back({arg.name, arg.dtype, arg.shape, node});
  }
  for (const Return& result : returns) {
    ASSIGN_OR_RETURN(Node * node, twin(result.value.node));
    copy.returns.push_back({result.name, {node, result.value.index}});
  }
  for (const auto& [control_name, control] : control_returns) {
    ASSIGN_OR_RETURN(Node * node, twin(control));
    copy.control_returns.emplace_back(control_name, node);
  }
  return copy;
}

Status FunctionLibrary::Insert(std::string name, std::unique_ptr<Entry> entry) {
  const std::lock_guard lock(mutex_);
  const auto [it, added] = entries_.try_emplace(std::move(name), std::move(entry));
  if (added) return OkStatus();
  return AlreadyExistsError(StrCat("Function ", Quoted(it->first), " is in the library already"));
}

Status FunctionLibrary::Add(Function function) {
  std::string name = function.name;
  auto entry = std::make_unique<Entry>();
  entry->function = std::make_unique<const Function>(std::move(function));
  return Insert(std::move(name), std::move(entry));
}

Status FunctionLibrary::AddLazily(std::string name, Parser parser) {
  auto entry = std::make_unique<Entry>();
  entry->parser = std::move(parser);
  return Insert(std::move(name), std::move(entry));
}

bool FunctionLibrary::Contains(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  return entries_.contains(std::string(name));
}

StatusOr<const Function*> FunctionLibrary::Find(std::string_view name) const {
  Entry* entry = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto it = entries_.find(std::string(name));
    if (it == entries_.end()) {
      return NotFoundError(StrCat("Function ", Quoted(name), " is not in the library"));
    }
    entry = it->second.get();
  }
  std::call_once(entry->parsed, [&] {
    if (entry->function != nullptr) return;
    StatusOr<Function> function = entry->parser();
    entry->parser = nullptr;
    if (function.ok()) {
      entry->function = std::make_unique<const Function>(*std::move(function));
    } else {
      entry->error = function.status().WithContext(StrCat("Function ", Quoted(name)));
    }
  });
  if (entry->function == nullptr) return entry->error;
  return entry->function.get();
}

std::vector<std::string> FunctionLibrary::Names() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_) names.push_back(name);
  std::ranges::sort(names);
  return names;
}

}  // namespace slipway::ir
