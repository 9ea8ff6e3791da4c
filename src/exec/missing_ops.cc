// SPDX-License-Identifier: Apache-2.0
#include "exec/missing_ops.h"

#include <vector>

#include "base/strings.h"
#include "exec/runtime_op.h"
#include "exec/schedule.h"
#include "kernels/kernel.h"

namespace slipway::exec {
namespace {

constexpr size_t kNodesNamed = 3;

void AppendCallees(const ir::Node& node, std::vector<std::string>* names) {
  for (const auto& [name, attr] : node.attrs()) {
    if (const auto* callee = attr.As<ir::FunctionRef>()) {
      names->push_back(callee->name);
    } else if (const auto* callees = attr.As<std::vector<ir::FunctionRef>>()) {
      for (const auto& each : *callees) names->push_back(each.name);
    }
  }
}

// "2 nodes ('a', 'b')", "5 nodes ('a', 'b', 'c' and 2 more)".
std::string NodesText(const std::set<std::string>& nodes) {
  std::vector<std::string> named;
  for (const std::string& node : nodes) {
    if (named.size() == kNodesNamed) break;
    named.push_back(StrCat("'", node, "'"));
  }
  std::string text =
      StrCat(nodes.size(), nodes.size() == 1 ? " node (" : " nodes (", StrJoin(named, ", "));
  if (nodes.size() > kNodesNamed) StrAppend(&text, " and ", nodes.size() - kNodesNamed, " more");
  return text + ")";
}

}  // namespace

void MissingOps::Check(const ir::Node& node, std::string_view callee, std::string_view entry) {
  std::string what = node.op();
  if (node.schema() != nullptr) {
    const Status found = kernels::FindKernel(node, "CPU").status();
    if (found.ok()) return;
    if (kernels::HasKernel(node.op())) StrAppend(&what, " (", found.message(), ")");
  }
  Entry& op = ops_[what];
  op.nodes.insert(callee.empty() ? node.name() : StrCat(callee, "/", node.name()));
  if (!op.entries.contains(entry)) op.entries.emplace(entry);
}

// Callees are taken one after the other, without recursion: a file may chain thousands.
Status MissingOps::Collect(const ir::Function& function, const ir::FunctionLibrary* library,
                           std::string_view entry) {
  std::set<std::string> seen;
  std::vector<std::string> callees;
  const auto take = [&](const ir::Function& body, std::string_view name) -> Status {
    ASSIGN_OR_RETURN(const Schedule schedule, MakeSchedule(body));
    for (const ir::Node* node : schedule.steps) {
      if (FindRuntimeOp(node->op()) != nullptr) {
        AppendCallees(*node, &callees);
      } else {
        Check(*node, name, entry);
      }
    }
    return OkStatus();
  };
  RETURN_IF_ERROR(take(function, ""));
  while (!callees.empty()) {
    const std::string name = std::move(callees.back());
    callees.pop_back();
    if (!seen.insert(name).second) continue;
    if (library == nullptr) {
      return NotFoundError(StrCat("'", function.name, "' calls the function '", name,
                                  "', but there is no function library"));
    }
    ASSIGN_OR_RETURN(const ir::Function* callee, library->Find(name));
    RETURN_IF_ERROR(take(*callee, name));
  }
  return OkStatus();
}

void MissingOps::Merge(const MissingOps& other) {
  for (const auto& [what, entry] : other.ops_) {
    Entry& op = ops_[what];
    op.nodes.insert(entry.nodes.begin(), entry.nodes.end());
    op.entries.insert(entry.entries.begin(), entry.entries.end());
  }
}

Status MissingOps::AsStatus() const {
  if (ops_.empty()) return OkStatus();
  std::vector<std::string> lines;
  for (const auto& [what, entry] : ops_) {
    lines.push_back(
        StrCat(what, ", ", NodesText(entry.nodes), ", reached by ", StrJoin(entry.entries, ", ")));
  }
  return UnimplementedError(StrCat(lines.size() == 1 ? "An op is" : "Ops are",
                                   " not supported: ", StrJoin(lines, "; "), ". See ", kPage));
}

}  // namespace slipway::exec
