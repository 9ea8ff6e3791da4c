// SPDX-License-Identifier: Apache-2.0
//
// While: the loop runs again with lists that keep what changes from round to round, and then a loop
// goes backwards through the lists. In each of its rounds the body's gradient computes what it
// needs of the body again.
#include <algorithm>

#include "base/strings.h"
#include "ir/grad/attrs.h"
#include "ir/grad/expr.h"
#include "ir/grad/function_gradient.h"

namespace slipway::ir::grad {
namespace {

Output Resolve(Output value) {
  while (value.node->op() == "Identity") value = value.node->input(0);
  return value;
}

// A loop and what its variables are.
struct Loop {
  const Function* cond = nullptr;
  const Function* body = nullptr;
  std::vector<DType> types;
  std::vector<int> changing;  // variables that a round may change
  std::vector<int> constant;  // those that it hands on

  int size() const { return static_cast<int>(types.size()); }
};

StatusOr<Loop> Read(const GradientContext& c) {
  Loop loop;
  ASSIGN_OR_RETURN(loop.cond, Callee(c, c.node().CheckedAttr<FunctionRef>("cond").name));
  ASSIGN_OR_RETURN(loop.body, Callee(c, c.node().CheckedAttr<FunctionRef>("body").name));
  for (int i = 0; i < c.node().num_outputs(); ++i) {
    loop.types.push_back(c.node().dtype(i));
    const auto k = static_cast<size_t>(i);
    const bool handed_on =
        Resolve(loop.body->returns[k].value) == Output{loop.body->args[k].node, 0};
    (handed_on ? loop.constant : loop.changing).push_back(i);
  }
  return loop;
}

// A function that is being built for a loop.
struct Body {
  Function function;
  GraphBuilder b{&function.graph};
  std::vector<Output> args;

  Status AddArg(DType dtype, PartialShape shape) {
    ASSIGN_OR_RETURN(const Output arg,
                     function.AddArg(StrCat("v", args.size()), dtype, std::move(shape)));
    args.push_back(arg);
    return OkStatus();
  }
  void Return(Output value) {
    function.returns.push_back({StrCat("r", function.returns.size()), value});
  }
  std::span<const Output> First(int n) const {
    return std::span(args).first(static_cast<size_t>(n));
  }
  // What `callee` gives for the arguments.
  StatusOr<std::vector<Output>> Call(const Function& callee, std::span<const Output> inputs) {
    return InlineCall(&function.graph, callee, inputs, callee.name, {}, nullptr);
  }
};

Status AddArgsOf(const Loop& loop, Body* body) {
  for (const Function::Arg& arg : loop.body->args)
    RETURN_IF_ERROR(body->AddArg(arg.dtype, arg.shape));
  return OkStatus();
}

StatusOr<FunctionRef> AddToLibrary(FunctionLibrary* library, Body body, const std::string& name) {
  RETURN_IF_ERROR(body.b.status());
  body.function.name = FreeName(*library, name);
  FunctionRef ref{body.function.name, {}};
  RETURN_IF_ERROR(library->Add(std::move(body.function)));
  return ref;
}

// The variables of the loop that keeps what it does: the loop's own, the number of rounds, a list
// for each that changes.
class Recording {
 public:
  Recording(GradientContext& c, const Loop& loop) : c_(c), loop_(loop) {}

  Status Run() {
    GraphBuilder& b = c_.builder();
    ASSIGN_OR_RETURN(const FunctionRef cond, Condition());
    ASSIGN_OR_RETURN(const FunctionRef body, Round());
    std::vector<Output> inputs = c_.node().inputs();
    inputs.push_back(b.Scalar<int32_t>(0));
    for (const int i : loop_.changing) {
      inputs.push_back(b.Op("EmptyTensorList", {b.Scalar<int32_t>(-1), b.Scalar<int32_t>(-1)},
                            {{"element_dtype", loop_.types[static_cast<size_t>(i)]}}));
    }
    std::vector<DType> types = Types();
    outputs_ = b.Ops("StatelessWhile", std::move(inputs),
                     {{"T", std::move(types)}, {"cond", cond}, {"body", body}});
    RETURN_IF_ERROR(b.status());
    for (int i = 0; i < loop_.size(); ++i) {
      outputs_[static_cast<size_t>(i)].node->set_shape(i, c_.node().shape(i));
      b.graph()->ReplaceUses(c_.output(i), outputs_[static_cast<size_t>(i)]);
    }
    return OkStatus();
  }

  Output value(int i) const { return outputs_[static_cast<size_t>(i)]; }
  Output rounds() const { return value(loop_.size()); }
  Output list(int k) const { return value(loop_.size() + 1 + k); }

 private:
  std::vector<DType> Types() const {
    std::vector<DType> types = loop_.types;
    types.push_back(DType::kInt32);
    types.resize(types.size() + loop_.changing.size(), DType::kVariant);
    return types;
  }
  Status AddArgs(Body* body) const {
    RETURN_IF_ERROR(AddArgsOf(loop_, body));
    RETURN_IF_ERROR(body->AddArg(DType::kInt32, PartialShape({})));
    for (size_t k = 0; k < loop_.changing.size(); ++k) {
      RETURN_IF_ERROR(body->AddArg(DType::kVariant, PartialShape({})));
    }
    return OkStatus();
  }
  StatusOr<FunctionRef> Condition() const {
    Body body;
    RETURN_IF_ERROR(AddArgs(&body));
    ASSIGN_OR_RETURN(const std::vector<Output> more,
                     body.Call(*loop_.cond, body.First(loop_.size())));
    body.Return(more.at(0));
    return AddToLibrary(c_.library(), std::move(body), StrCat(loop_.cond->name, "_recording"));
  }
  StatusOr<FunctionRef> Round() const {
    Body body;
    RETURN_IF_ERROR(AddArgs(&body));
    ASSIGN_OR_RETURN(const std::vector<Output> next,
                     body.Call(*loop_.body, body.First(loop_.size())));
    for (const Output& value : next) body.Return(value);
    const auto at = static_cast<size_t>(loop_.size());
    body.Return(body.b.Op("AddV2", {body.args[at], body.b.Scalar<int32_t>(1)}));
    for (size_t k = 0; k < loop_.changing.size(); ++k) {
      const Output value = body.args[static_cast<size_t>(loop_.changing[k])];
      body.Return(body.b.Op("TensorListPushBack", {body.args[at + 1 + k], value}));
    }
    return AddToLibrary(c_.library(), std::move(body), StrCat(loop_.body->name, "_recording"));
  }

  GradientContext& c_;
  const Loop& loop_;
  std::vector<Output> outputs_;
};

// The loop that goes back. Its variables: rounds that are left; the gradient of each variable that
// has one; the lists; what is constant.
class Backwards {
 public:
  Backwards(GradientContext& c, const Loop& loop, const Recording& forward)
      : c_(c), loop_(loop), forward_(forward) {
    for (int i = 0; i < loop.size(); ++i) {
      const DType dtype = loop.types[static_cast<size_t>(i)];
      if (IsFloating(dtype) || IsComplex(dtype) || dtype == DType::kVariant)
        differentiated_.push_back(i);
    }
  }

  Status Run() {
    GraphBuilder& b = c_.builder();
    ASSIGN_OR_RETURN(const FunctionRef cond, Condition());
    ASSIGN_OR_RETURN(const FunctionRef body, Round());
    std::vector<Output> inputs = {forward_.rounds()};
    for (const int i : differentiated_) {
      inputs.push_back(c_.dy(i).valid() ? c_.dy(i) : b.Op("ZerosLike", {forward_.value(i)}));
    }
    for (size_t k = 0; k < loop_.changing.size(); ++k)
      inputs.push_back(forward_.list(static_cast<int>(k)));
    for (const int i : loop_.constant) inputs.push_back(forward_.value(i));
    std::vector<DType> types;
    for (const Output& input : inputs) types.push_back(input.dtype());
    const std::vector<Output> outputs =
        b.Ops("StatelessWhile", std::move(inputs),
              {{"T", std::move(types)}, {"cond", cond}, {"body", body}});
    RETURN_IF_ERROR(b.status());
    for (size_t k = 0; k < differentiated_.size(); ++k) {
      const int i = differentiated_[k];
      if (!c_.wants(i)) continue;
      outputs[k + 1].node->set_shape(static_cast<int>(k) + 1, c_.input(i).shape());
      c_.set_dx(i, outputs[k + 1]);
    }
    return OkStatus();
  }

 private:
  Status AddArgs(Body* body) const {
    const auto shape = [&](int i) { return loop_.body->args[static_cast<size_t>(i)].shape; };
    RETURN_IF_ERROR(body->AddArg(DType::kInt32, PartialShape({})));
    for (const int i : differentiated_) {
      RETURN_IF_ERROR(body->AddArg(loop_.types[static_cast<size_t>(i)], shape(i)));
    }
    for (size_t k = 0; k < loop_.changing.size(); ++k) {
      RETURN_IF_ERROR(body->AddArg(DType::kVariant, PartialShape({})));
    }
    for (const int i : loop_.constant) {
      RETURN_IF_ERROR(body->AddArg(loop_.types[static_cast<size_t>(i)], shape(i)));
    }
    return OkStatus();
  }

  StatusOr<FunctionRef> Condition() const {
    Body body;
    RETURN_IF_ERROR(AddArgs(&body));
    body.Return(body.b.Op("Greater", {body.args[0], body.b.Scalar<int32_t>(0)}));
    return AddToLibrary(c_.library(), std::move(body), StrCat(loop_.cond->name, "_backwards"));
  }

  StatusOr<FunctionRef> Round() const {
    Body body;
    GraphBuilder& b = body.b;
    RETURN_IF_ERROR(AddArgs(&body));
    std::vector<Output> lists;
    ASSIGN_OR_RETURN(std::vector<Output> inputs, ValuesOfTheRound(&body, &lists));
    ASSIGN_OR_RETURN(const FunctionGradient spec, Spec());
    for (size_t k = 0; k < differentiated_.size(); ++k) {
      if (!IsConstant(differentiated_[k])) inputs.push_back(body.args[1 + k]);
    }
    ASSIGN_OR_RETURN(const std::string name, AddFunctionGradient(c_.library(), *loop_.body, spec));
    ASSIGN_OR_RETURN(const Function* gradient, c_.library()->Find(name));
    ASSIGN_OR_RETURN(const std::vector<Output> dxs, body.Call(*gradient, inputs));
    body.Return(b.Op("Sub", {body.args[0], b.Scalar<int32_t>(1)}));
    for (size_t k = 0; k < differentiated_.size(); ++k) {
      body.Return(IsConstant(differentiated_[k]) ? b.Op("AddN", {body.args[1 + k], dxs[k]})
                                                 : dxs[k]);
    }
    for (const Output& list : lists) body.Return(list);
    const size_t constants = body.args.size() - loop_.constant.size();
    for (size_t k = 0; k < loop_.constant.size(); ++k) body.Return(body.args[constants + k]);
    return AddToLibrary(c_.library(), std::move(body), StrCat(loop_.body->name, "_backwards"));
  }

  // What the variables were when the round began; the lists without them.
  StatusOr<std::vector<Output>> ValuesOfTheRound(Body* body, std::vector<Output>* lists) const {
    std::vector<Output> values(static_cast<size_t>(loop_.size()));
    const size_t first = 1 + differentiated_.size();
    for (size_t k = 0; k < loop_.changing.size(); ++k) {
      const auto i = static_cast<size_t>(loop_.changing[k]);
      const std::vector<Output> popped =
          body->b.Ops("TensorListPopBack", {body->args[first + k], body->b.Scalar<int32_t>(-1)},
                      {{"element_dtype", loop_.types[i]}});
      RETURN_IF_ERROR(body->b.status());
      popped[1].node->set_shape(1, loop_.body->args[i].shape);
      lists->push_back(popped[0]);
      values[i] = popped[1];
    }
    for (size_t k = 0; k < loop_.constant.size(); ++k) {
      values[static_cast<size_t>(loop_.constant[k])] =
          body->args[first + loop_.changing.size() + k];
    }
    return values;
  }

  // A constant variable's gradient is the sum of what the rounds give; the others' goes through.
  StatusOr<FunctionGradient> Spec() const {
    FunctionGradient spec;
    for (const int i : differentiated_) {
      if (!IsConstant(i)) spec.dys.push_back(i);
      spec.dxs.push_back(i);
    }
    return spec;
  }
  bool IsConstant(int i) const {
    return std::find(loop_.constant.begin(), loop_.constant.end(), i) != loop_.constant.end();
  }

  GradientContext& c_;
  const Loop& loop_;
  const Recording& forward_;
  std::vector<int> differentiated_;
};

Status WhileGradient(GradientContext& c) {
  for (size_t i = 0; i < c.node().inputs().size(); ++i) {
    if (c.wants(static_cast<int>(i)) && c.input(static_cast<int>(i)).dtype() == DType::kResource) {
      return UnimplementedError(
          StrCat("The gradient of ", c.node().op(), " '", c.node().name(),
                 "' by a variable that its body reads is not there; read it before the loop"));
    }
  }
  ASSIGN_OR_RETURN(const Loop loop, Read(c));
  Recording forward(c, loop);
  RETURN_IF_ERROR(forward.Run());
  return Backwards(c, loop, forward).Run();
}

void While(GradientContext& c) { c.builder().Fail(WhileGradient(c)); }

constexpr GradientEntry kEntries[] = {{"StatelessWhile", While}, {"While", While}};

}  // namespace

std::span<const GradientEntry> LoopGradients() { return kEntries; }

}  // namespace slipway::ir::grad
