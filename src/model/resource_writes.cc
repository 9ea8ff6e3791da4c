// SPDX-License-Identifier: Apache-2.0
#include "model/resource_writes.h"

#include <algorithm>

#include "base/strings.h"
#include "model/entry_points.h"

namespace slipway::model {
namespace {

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

// Makes a resource that is no variable: a table, or what a run makes for itself. What is written
// to one is read through its handle alone; making it changes nothing that others see.
bool MakesNoVariable(std::string_view op) {
  static constexpr std::string_view kOps[] = {"AnonymousHashTable",
                                              "AnonymousMutableDenseHashTable",
                                              "AnonymousMutableHashTable",
                                              "AnonymousMutableHashTableOfTensors",
                                              "HashTableV2",
                                              "MutableDenseHashTableV2",
                                              "MutableHashTableOfTensorsV2",
                                              "MutableHashTableV2",
                                              "StackV2",
                                              "TensorArrayGradV3",
                                              "TensorArrayGradWithShape",
                                              "TensorArrayV3"};
  return std::find(std::begin(kOps), std::end(kOps), op) != std::end(kOps);
}

// Rounds after which functions that call each other in circles are given up on. Each round carries
// what one of them writes one call further.
constexpr int kMaxRounds = 32;

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
  std::vector<const ir::Function*> done;
  bool recursive = false;
  stack.push_back({&entry, Callees(entry)});
  while (!stack.empty()) {
    Open& top = stack.back();
    if (top.next == top.callees.size()) {
      if (top.function != &entry) {
        summaries_[top.function->name] = Summarize(*top.function);
        open.erase(top.function->name);
        done.push_back(top.function);
      }
      stack.pop_back();
      continue;
    }
    const std::string name = top.callees[top.next++];
    recursive = recursive || open.contains(name);
    // A function that is open counts as one that does nothing until Settle.
    if (!summaries_.try_emplace(name).second) continue;
    open.insert(name);
    if (stack.size() > static_cast<size_t>(kMaxCallDepth)) {
      return InvalidArgumentError(StrCat("Functions call each other more than ", kMaxCallDepth,
                                         " deep, down to '", name, "'"));
    }
    ASSIGN_OR_RETURN(const ir::Function* callee, library_->Find(name));
    stack.push_back({callee, Callees(*callee)});
  }
  if (recursive) Settle(done);
  return {};
}

// Summaries only grow, so that they come to rest.
void ResourceWrites::Settle(const std::vector<const ir::Function*>& functions) {
  for (int round = 0; round < kMaxRounds; ++round) {
    bool changed = false;
    for (const ir::Function* function : functions) {
      Summary now = Summarize(*function);
      Summary& before = summaries_[function->name];
      if (now == before) continue;
      changed = true;
      before = std::move(now);
    }
    if (!changed) return;
  }
  everything_ = true;
  for (const ir::Function* function : functions) summaries_[function->name].effects = true;
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
    if (MakesNoVariable(node.op())) return;
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
  const bool handle =
      node.op() == "VarHandleOp" || node.op() == "_Arg" || MakesNoVariable(node.op());
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
