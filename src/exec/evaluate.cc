// SPDX-License-Identifier: Apache-2.0
#include "exec/evaluate.h"

#include <memory>

#include "base/strings.h"
#include "exec/step_context.h"

namespace slipway::exec {
namespace {

class SingleNodeContext : public kernels::KernelContext {
 public:
  SingleNodeContext(const ir::Node& node, std::span<const Tensor* const> inputs)
      : node_(node), outputs_(static_cast<size_t>(node.num_outputs())) {
    inputs_ = inputs;
    intra_op_ = &caller_only_;
  }

  StatusOr<Tensor*> AllocateOutput(int i, const Shape& shape) override {
    ASSIGN_OR_RETURN(outputs_[static_cast<size_t>(i)], Tensor::Allocate(node_.dtype(i), shape));
    return &outputs_[static_cast<size_t>(i)];
  }
  void SetOutput(int i, Tensor value) override {
    outputs_[static_cast<size_t>(i)] = std::move(value);
  }
  void* Scratch(size_t bytes) override {
    Tensor memory = AllocateScratch(bytes, nullptr);
    if (!memory.valid()) return nullptr;
    scratch_.push_back(std::move(memory));
    return scratch_.back().raw_data();
  }

  std::vector<Tensor>& outputs() { return outputs_; }

 private:
  const ir::Node& node_;
  std::vector<Tensor> outputs_;
  std::vector<Tensor> scratch_;
  ThreadPool caller_only_{0};
};

}  // namespace

StatusOr<std::vector<Tensor>> EvaluateNode(const ir::Node& node, std::span<const Tensor> inputs,
                                           kernels::BindContext bind) {
  ASSIGN_OR_RETURN(const kernels::KernelDef* def, kernels::FindKernel(node, "CPU"));
  std::vector<const Tensor*> pointers;
  std::vector<PartialShape> shapes;
  for (const Tensor& input : inputs) {
    pointers.push_back(&input);
    shapes.emplace_back(input.shape());
  }
  bind.node = &node;
  bind.input_shapes = shapes;
  bind.constant_inputs = pointers;
  ASSIGN_OR_RETURN(const kernels::KernelFn kernel, def->bind(bind));
  SingleNodeContext context(node, pointers);
  RETURN_IF_ERROR(kernel(context));
  for (const Tensor& output : context.outputs()) {
    if (!output.valid()) {
      return InternalError(StrCat("The kernel of ", node.op(), " left an output unset"));
    }
  }
  return std::move(context.outputs());
}

}  // namespace slipway::exec
