// SPDX-License-Identifier: Apache-2.0
#include "exec/schedule.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/strings.h"
#include "exec/memory_plan.h"
#include "kernels/kernel.h"

namespace slipway::exec {
namespace {

using ir::Node;

// Above this, the order that lets updates be in place is not looked for (its cost is quadratic).
constexpr size_t kMaxStepsForReordering = 8192;

bool IsStep(const Node* node) { return !node->IsConst() && node->op() != "_Arg"; }

std::unordered_set<const Node*> Needed(const ir::Function& function) {
  std::vector<const Node*> stack;
  for (const auto& r : function.returns) stack.push_back(r.value.node);
  for (const auto& [name, node] : function.control_returns) stack.push_back(node);
  std::unordered_set<const Node*> needed;
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    if (!needed.insert(node).second) continue;
    for (const ir::Output& input : node->inputs()) stack.push_back(input.node);
    for (const Node* before : node->control_inputs()) stack.push_back(before);
  }
  return needed;
}

// Steps by number, with edges in both directions.
struct StepGraph {
  std::vector<Node*> nodes;  // in topological order
  std::unordered_map<const Node*, int> index;
  std::vector<std::vector<int>> before;
  std::vector<std::vector<int>> after;

  void AddEdge(int from, int to) {
    auto& list = before[static_cast<size_t>(to)];
    if (std::find(list.begin(), list.end(), from) != list.end()) return;
    list.push_back(from);
    after[static_cast<size_t>(from)].push_back(to);
  }
};

StatusOr<StepGraph> BuildStepGraph(const ir::Function& function) {
  const auto needed = Needed(function);
  ASSIGN_OR_RETURN(const std::vector<Node*> order, function.graph.TopologicalOrder());
  StepGraph g;
  for (Node* node : order) {
    if (!IsStep(node) || !needed.contains(node)) continue;
    const int step = static_cast<int>(g.nodes.size());
    g.index[node] = step;
    g.nodes.push_back(node);
    g.before.emplace_back();
    g.after.emplace_back();
    for (const ir::Output& input : node->inputs()) {
      if (IsStep(input.node)) g.AddEdge(g.index.at(input.node), step);
    }
    for (const Node* control : node->control_inputs()) {
      if (IsStep(control)) g.AddEdge(g.index.at(control), step);
    }
  }
  return g;
}

// Whether an output may share the memory of an input. A node without a kernel for the CPU, whose
// plan is refused anyway, has none.
bool IsView(const Node& node) {
  const auto kernel = kernels::FindKernel(node, "CPU");
  return kernel.ok() && !(*kernel)->shares.empty();
}

// Steps that hold the memory a read handed out: consumers of the read, through views of it.
void CollectHolders(const StepGraph& g, int read, std::vector<int>* holders) {
  std::vector<int> stack = {read};
  while (!stack.empty()) {
    const int step = stack.back();
    stack.pop_back();
    for (int next : g.after[static_cast<size_t>(step)]) {
      const Node* node = g.nodes[static_cast<size_t>(next)];
      const bool data = std::any_of(
          node->inputs().begin(), node->inputs().end(),
          [&](const ir::Output& o) { return o.node == g.nodes[static_cast<size_t>(step)]; });
      if (!data) continue;
      holders->push_back(next);
      if (IsView(*node)) stack.push_back(next);
    }
  }
}

// Reads of the variable that `writer` updates, which happen before it.
std::vector<int> ReadsBefore(const StepGraph& g, int writer, const StepOrder& order) {
  const Node* node = g.nodes[static_cast<size_t>(writer)];
  std::vector<int> reads;
  if (node->effect() != ir::Effect::kWritesResource || node->inputs().empty()) return reads;
  for (size_t r = 0; r < g.nodes.size(); ++r) {
    const Node* reader = g.nodes[r];
    if (reader->op() == "ReadVariableOp" && reader->input(0) == node->input(0) &&
        order.Before(static_cast<int>(r), writer)) {
      reads.push_back(static_cast<int>(r));
    }
  }
  return reads;
}

// An update comes after those who hold the value that was read before it, unless they need it.
void OrderUpdatesAfterReaders(StepGraph* g) {
  if (g->nodes.size() > kMaxStepsForReordering) return;
  StepOrder order = StepOrder::Concurrent(g->before);
  for (int writer = 0; writer < static_cast<int>(g->nodes.size()); ++writer) {
    for (int read : ReadsBefore(*g, writer, order)) {
      std::vector<int> holders;
      CollectHolders(*g, read, &holders);
      for (int holder : holders) {
        if (holder == writer || order.Before(holder, writer) || order.Before(writer, holder)) {
          continue;
        }
        g->AddEdge(holder, writer);
        order.AddDependency(holder, writer);
      }
    }
  }
}

// Of the steps that are ready, the one that became ready last goes first.
std::vector<int> DepthFirstOrder(const StepGraph& g) {
  const size_t n = g.nodes.size();
  std::vector<int> waiting(n);
  std::vector<int> ready;
  for (size_t i = n; i-- > 0;) {
    waiting[i] = static_cast<int>(g.before[i].size());
    if (waiting[i] == 0) ready.push_back(static_cast<int>(i));
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const int step = ready.back();
    ready.pop_back();
    order.push_back(step);
    std::vector<int> freed;
    for (int next : g.after[static_cast<size_t>(step)]) {
      if (--waiting[static_cast<size_t>(next)] == 0) freed.push_back(next);
    }
    std::sort(freed.rbegin(), freed.rend());
    ready.insert(ready.end(), freed.begin(), freed.end());
  }
  return order;
}

}  // namespace

StatusOr<Schedule> MakeSchedule(const ir::Function& function) {
  ASSIGN_OR_RETURN(StepGraph g, BuildStepGraph(function));
  OrderUpdatesAfterReaders(&g);
  const std::vector<int> order = DepthFirstOrder(g);
  if (order.size() != g.nodes.size()) {
    return InternalError(StrCat("Function '", function.name, "': no order of its ", g.nodes.size(),
                                " steps was found"));
  }
  std::vector<int> position(g.nodes.size());
  for (size_t i = 0; i < order.size(); ++i) {
    position[static_cast<size_t>(order[i])] = static_cast<int>(i);
  }
  Schedule schedule;
  for (int step : order) {
    schedule.steps.push_back(g.nodes[static_cast<size_t>(step)]);
    std::vector<int> before;
    for (int b : g.before[static_cast<size_t>(step)]) {
      before.push_back(position[static_cast<size_t>(b)]);
    }
    std::sort(before.begin(), before.end());
    schedule.dependencies.push_back(std::move(before));
  }
  return schedule;
}

}  // namespace slipway::exec
