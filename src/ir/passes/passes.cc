// SPDX-License-Identifier: Apache-2.0
#include "ir/passes/passes.h"

#include "base/strings.h"

namespace slipway::ir {

namespace {

constexpr Pass kPrune = {"prune", "removes what no result and no effect needs", Prune};

}  // namespace

std::span<const Pass> RequiredPasses() { return {&kPrune, 1}; }

std::span<const Pass> DefaultPasses() {
  static constexpr Pass kPasses[] = {
      {"inline_calls", "copies the bodies of called functions into the caller", InlineCalls},
      {"freeze_variables", "turns variables that nothing can write into constants",
       FreezeVariables},
      {"fold_constants", "computes once what depends on constants and known shapes only",
       FoldConstants},
      {"simplify", "drops arithmetic and moves that change nothing", SimplifyArithmetic},
      {"common_subexpressions", "computes equal values once", ShareCommonSubexpressions},
      {"fuse_dense", "makes one op of a product, its bias and its activation", FuseDense},
      kPrune,
  };
  return kPasses;
}

Status RunPasses(Function& function, const PassContext& context, std::span<const Pass> passes,
                 std::vector<PassReport>* reports) {
  for (const Pass& pass : passes) {
    PassReport report;
    report.pass = pass.name;
    report.nodes_before = function.graph.num_nodes();
    if (Status s = pass.run(function, context, &report.note); !s.ok()) {
      return s.WithContext(StrCat("pass ", pass.name, " on function '", function.name, "'"));
    }
    report.nodes_after = function.graph.num_nodes();
    if (reports != nullptr) reports->push_back(std::move(report));
  }
  return OkStatus();
}

}  // namespace slipway::ir
