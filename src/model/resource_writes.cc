// SPDX-License-Identifier: Apache-2.0
#include "model/resource_writes.h"

#include <algorithm>

#include "base/strings.h"
#include "model/entry_points.h"

namespace slipway::model {
namespace {

// Tables, which are no variables: what is written to one is read through its handle alone.
bool IsTable(std::string_view op) { return op.find("HashTable") != std::string_view::npos; }

std::vector<std::string> Callees(const ir::Function& function) {
  std::vector<std::string> names;
  for (const ir::Node* node : function.graph.nodes()) {
    for (auto& name : model::Callees(*node)) names.push_back(std::move(name));
  }
  return names;
}

// The input that becomes argument 0 of the functions a node calls; -1 if it is none whose
// arguments we know.
int FirstCallInput(const std::string& op) {
  static const std::map<std::string, int, std::less<>> first = {{"PartitionedCall", 0},
                                                                {"StatefulPartitionedCall", 0},
                                                                {"While", 0},
                                                                {"StatelessWhile", 0},
                                                                {"If", 1},
                                                                {"StatelessIf", 1},
                                                                {"Case", 1},
                                                                {"StatelessCase", 1}};
  const auto it = first.find(op);
  return it == first.end() ? -1 : it->second;
}

// Resources that a run makes for itself: nobody else sees what is written to them.
bool MakesItsOwn(const std::string& op) {
  return op == "TensorArrayV3" || op == "TensorArrayGradV3" || op == "TensorArrayGradWithShape" ||
         op == "StackV2";
}

}  // namespace

StatusOr<std::string> VariableName(const ir::Node& handle) {
  ASSIGN_OR_RETURN(const std::string name, handle.Attr<std::string>("shared_name"));
  ASSIGN_OR_RETURN(const std::string container, handle.Attr<std::string>("container"));
  return container.empty() ? name : StrCat(container, "/", name);
}

// Functions are taken depth first without recursion: a file may chain thousands.
Status ResourceWrites::SummarizeCallees(const ir::Function& entry) {
  struct Open {
    const ir::Function* function;
    std::vector<std::string> callees;
    size_t next = 0;
  };
  std::vector<Open> stack;
  std::set<std::string, std::less<>> open;
  stack.push_back({&entry, Callees(entry)});
  while (!stack.empty()) {
    Open& top = stack.back();
    if (top.next == top.callees.size()) {
      if (top.function != &entry) {
        summaries_[top.function->name] = Summarize(*top.function);
        open.erase(top.function->name);
      }
      stack.pop_back();
      continue;
    }
    const std::string name = top.callees[top.next++];
    if (summaries_.contains(name)) continue;
    if (!open.insert(name).second) {
      return InvalidArgumentError(StrCat("Function '", name, "' calls itself (through '",
                                         top.function->name,
                                         "'); recursive functions cannot be run"));
    }
    if (stack.size() > static_cast<size_t>(kMaxCallDepth)) {
      return InvalidArgumentError(StrCat("Functions call each other more than ", kMaxCallDepth,
                                         " deep, down to '", name, "'"));
    }
    ASSIGN_OR_RETURN(const ir::Function* callee, library_->Find(name));
    stack.push_back({callee, Callees(*callee)});
  }
  return {};
}

void ResourceWrites::MarkWritten(const ir::Output& handle, Summary* summary) {
  ir::Output value = handle;
  while (value.valid()) {
    const ir::Node& node = *value.node;
    if (node.op() == "Identity" || node.op() == "IdentityN") {
      value = node.input(value.index);
      continue;
    }
    if (node.op() == "_Arg") {
      auto index = node.Attr<int64_t>("index");
      if (!index.ok()) break;
      const auto at = static_cast<size_t>(*index);
      if (at >= summary->written_args.size()) summary->written_args.resize(at + 1);
      summary->written_args[at] = true;
      return;
    }
    if (MakesItsOwn(node.op())) return;
    if (IsTable(node.op())) return;
    if (node.op() == "VarHandleOp") {
      auto name = VariableName(node);
      if (!name.ok()) break;
      written_.insert(*name);
      return;
    }
    break;
  }
  everything_ = true;
}

void ResourceWrites::MarkAllInputs(const ir::Node& node, Summary* summary) {
  for (const ir::Output& input : node.inputs()) {
    if (input.valid() && input.dtype() == DType::kResource) MarkWritten(input, summary);
  }
}

void ResourceWrites::CollectCall(const ir::Node& node, int first_arg, Summary* summary) {
  for (const std::string& name : Callees(node)) {
    const auto callee = summaries_.find(name);
    if (callee == summaries_.end()) {
      MarkAllInputs(node, summary);
      summary->effects = true;
      continue;
    }
    summary->effects = summary->effects || callee->second.effects;
    const auto& written = callee->second.written_args;
    for (size_t i = 0; i < written.size(); ++i) {
      const size_t input = i + static_cast<size_t>(first_arg);
      if (!written[i] || input >= node.inputs().size()) continue;
      MarkWritten(node.inputs()[input], summary);
    }
  }
}

void ResourceWrites::CollectWrites(const ir::Node& node, Summary* summary) {
  if (const int first = FirstCallInput(node.op()); first >= 0) {
    CollectCall(node, first, summary);
    return;
  }
  const bool handle = node.op() == "VarHandleOp" || node.op() == "_Arg" || MakesItsOwn(node.op());
  switch (node.effect()) {
    case ir::Effect::kPure:
    case ir::Effect::kReadsResource:
      // An op that calls functions in a way that we do not know may do anything with its inputs.
      if (!Callees(node).empty()) MarkAllInputs(node, summary);
      break;
    case ir::Effect::kRandom:
    case ir::Effect::kWritesResource:
    case ir::Effect::kStateful:
      if (handle) break;
      summary->effects = true;
      MarkAllInputs(node, summary);
      break;
  }
}

ResourceWrites::Summary ResourceWrites::Summarize(const ir::Function& function) {
  Summary summary;
  for (const ir::Node* node : function.graph.nodes()) CollectWrites(*node, &summary);
  return summary;
}

Status ResourceWrites::Add(const ir::Function& entry) {
  RETURN_IF_ERROR(SummarizeCallees(entry));
  entries_[entry.name] = Summarize(entry).effects;
  return {};
}

bool ResourceWrites::HasEffects(std::string_view entry) const {
  const auto it = entries_.find(entry);
  return it == entries_.end() || it->second;
}

}  // namespace slipway::model
