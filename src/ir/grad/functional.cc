// SPDX-License-Identifier: Apache-2.0
//
// Calls and branches: their gradients call the gradients of their functions.
#include <set>

#include "base/strings.h"
#include "ir/effect.h"
#include "ir/grad/attrs.h"
#include "ir/grad/expr.h"
#include "ir/grad/function_gradient.h"

namespace slipway::ir::grad {

StatusOr<const Function*> Callee(const GradientContext& c, const std::string& name) {
  if (c.library() != nullptr) return c.library()->Find(name);
  return FailedPreconditionError(StrCat("The gradient of ", c.node().op(), " '", c.node().name(),
                                        "' needs the library of the graph's functions"));
}

std::string FreeName(const FunctionLibrary& library, const std::string& base) {
  std::string name = base;
  for (int i = 1; library.Contains(name); ++i) name = StrCat(base, "_", i);
  return name;
}

namespace {

bool MayBeRepeated(const Node& node) {
  return !HasEffect(node) && node.effect() != Effect::kRandom;
}

// Everything that the results need may be computed twice.
Status CheckRepeatable(const Function& function, const std::string& of) {
  std::vector<const Node*> open;
  std::set<const Node*> seen;
  for (const auto& result : function.returns) open.push_back(result.value.node);
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (!seen.insert(node).second) continue;
    if (!MayBeRepeated(*node)) {
      return UnimplementedError(StrCat("The gradient of function '", of, "' would run ", node->op(),
                                       " '", node->name(),
                                       "' a second time, which would give or do something else"));
    }
    for (const Output& input : node->inputs()) open.push_back(input.node);
  }
  return OkStatus();
}

StatusOr<Function> MakeGradient(FunctionLibrary* library, const Function& function,
                                const FunctionGradient& spec, std::string name) {
  ASSIGN_OR_RETURN(Function gradient, function.Clone());
  gradient.name = std::move(name);
  gradient.control_returns.clear();
  std::vector<Output> ys, dys, xs;
  for (const int i : spec.dys) {
    const auto& result = gradient.returns[static_cast<size_t>(i)];
    ys.push_back(result.value);
    ASSIGN_OR_RETURN(const Output dy, gradient.AddArg(StrCat("d_", result.name),
                                                      result.value.dtype(), result.value.shape()));
    dys.push_back(dy);
  }
  for (const int i : spec.dxs) xs.push_back({gradient.args[static_cast<size_t>(i)].node, 0});
  GraphBuilder b(&gradient.graph);
  ASSIGN_OR_RETURN(std::vector<Output> dxs, AddGradients(b, ys, xs, dys, library));
  gradient.returns.clear();
  for (size_t i = 0; i < xs.size(); ++i) {
    if (!dxs[i].valid() && xs[i].dtype() == DType::kResource) {
      return UnimplementedError(
          StrCat("The gradient of function '", function.name,
                 "' by a variable that only another branch reads is not there"));
    }
    const Output dx = dxs[i].valid() ? dxs[i] : b.Op("ZerosLike", {xs[i]});
    gradient.returns.push_back({StrCat("dx_", i), dx});
  }
  RETURN_IF_ERROR(b.status());
  RETURN_IF_ERROR(CheckRepeatable(gradient, function.name));
  return gradient;
}

}  // namespace

StatusOr<std::string> AddFunctionGradient(FunctionLibrary* library, const Function& function,
                                          const FunctionGradient& spec) {
  const std::string name = FreeName(*library, StrCat(function.name, "_gradient"));
  ASSIGN_OR_RETURN(Function gradient, MakeGradient(library, function, spec, name));
  RETURN_IF_ERROR(library->Add(std::move(gradient)));
  return name;
}

namespace {

// Which gradients come in and which are wanted, when inputs from `first` on are the arguments.
FunctionGradient Wanted(const GradientContext& c, int first) {
  FunctionGradient spec;
  for (int i = 0; i < c.node().num_outputs(); ++i) {
    if (c.dy(i).valid()) spec.dys.push_back(i);
  }
  for (int i = first; i < static_cast<int>(c.node().inputs().size()); ++i) {
    if (c.wants(i)) spec.dxs.push_back(i - first);
  }
  return spec;
}

// A call of `op`, as the node that is differentiated, of functions with the signature of
// `gradient`.
Status AddCall(GradientContext& c, const std::string& op, int first, const FunctionGradient& spec,
               const FunctionRef& gradient, AttrMap attrs) {
  GraphBuilder& b = c.builder();
  ASSIGN_OR_RETURN(const Function* function, Callee(c, gradient.name));
  std::vector<Output> inputs = c.node().inputs();
  for (const int i : spec.dys) inputs.push_back(c.dy(i));
  std::vector<DType> in, out;
  for (size_t i = static_cast<size_t>(first); i < inputs.size(); ++i)
    in.push_back(inputs[i].dtype());
  for (const auto& result : function->returns) out.push_back(result.value.dtype());
  attrs["Tin"] = std::move(in);
  attrs["Tout"] = std::move(out);
  const std::vector<Output> dxs = b.Ops(op, std::move(inputs), std::move(attrs));
  RETURN_IF_ERROR(b.status());
  for (size_t i = 0; i < dxs.size(); ++i) {
    if (c.input(spec.dxs[i] + first).dtype() != DType::kResource) {
      dxs[i].node->set_shape(dxs[i].index, c.input(spec.dxs[i] + first).shape());
    }
    c.set_dx(spec.dxs[i] + first, dxs[i]);
  }
  return OkStatus();
}

StatusOr<FunctionRef> GradientOf(GradientContext& c, const FunctionRef& ref,
                                 const FunctionGradient& spec) {
  ASSIGN_OR_RETURN(const Function* function, Callee(c, ref.name));
  ASSIGN_OR_RETURN(std::string name, AddFunctionGradient(c.library(), *function, spec));
  return FunctionRef{std::move(name), {}};
}

Status CallGradient(GradientContext& c) {
  const FunctionGradient spec = Wanted(c, 0);
  ASSIGN_OR_RETURN(FunctionRef f, GradientOf(c, c.node().CheckedAttr<FunctionRef>("f"), spec));
  return AddCall(c, "PartitionedCall", 0, spec, f, {{"f", f}});
}

Status IfGradient(GradientContext& c) {
  const FunctionGradient spec = Wanted(c, 1);
  ASSIGN_OR_RETURN(FunctionRef then,
                   GradientOf(c, c.node().CheckedAttr<FunctionRef>("then_branch"), spec));
  ASSIGN_OR_RETURN(FunctionRef other,
                   GradientOf(c, c.node().CheckedAttr<FunctionRef>("else_branch"), spec));
  return AddCall(c, "StatelessIf", 1, spec, then,
                 {{"Tcond", c.input(0).dtype()}, {"then_branch", then}, {"else_branch", other}});
}

Status CaseGradient(GradientContext& c) {
  const FunctionGradient spec = Wanted(c, 1);
  std::vector<FunctionRef> branches;
  for (const FunctionRef& branch : c.node().CheckedAttr<std::vector<FunctionRef>>("branches")) {
    ASSIGN_OR_RETURN(FunctionRef gradient, GradientOf(c, branch, spec));
    branches.push_back(std::move(gradient));
  }
  const FunctionRef first = branches.front();
  return AddCall(c, "StatelessCase", 1, spec, first, {{"branches", std::move(branches)}});
}

template <Status (*kGradient)(GradientContext&)>
void Kept(GradientContext& c) {
  c.builder().Fail(kGradient(c));
}

constexpr GradientEntry kEntries[] = {
    {"Case", Kept<CaseGradient>},
    {"If", Kept<IfGradient>},
    {"PartitionedCall", Kept<CallGradient>},
    {"StatefulPartitionedCall", Kept<CallGradient>},
    {"StatelessCase", Kept<CaseGradient>},
    {"StatelessIf", Kept<IfGradient>},
};

}  // namespace

std::span<const GradientEntry> FunctionalGradients() { return kEntries; }

}  // namespace slipway::ir::grad
