// SPDX-License-Identifier: Apache-2.0
//
// Runs one kernel without an executor: for tests, and for what tests of other parts need evaluated.
#pragma once

#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "kernels/kernel.h"

namespace slipway::kernels {

// Every output in memory of its own.
class TestKernelContext : public KernelContext {
 public:
  TestKernelContext(const ir::Node& node, std::span<const Tensor> inputs, ThreadPool* pool)
      : outputs_(static_cast<size_t>(node.num_outputs())) {
    for (const Tensor& input : inputs) pointers_.push_back(&input);
    for (int i = 0; i < node.num_outputs(); ++i) dtypes_.push_back(node.dtype(i));
    inputs_ = pointers_;
    intra_op_ = pool;
  }

  StatusOr<Tensor*> AllocateOutput(int i, const Shape& shape) override {
    const auto at = static_cast<size_t>(i);
    auto tensor = Tensor::Allocate(dtypes_[at], shape);
    if (!tensor.ok()) return std::move(tensor).status();
    outputs_[at] = *std::move(tensor);
    return &outputs_[at];
  }
  void SetOutput(int i, Tensor value) override {
    outputs_[static_cast<size_t>(i)] = std::move(value);
  }
  void* Scratch(size_t bytes) override {
    scratch_.emplace_back(new (std::nothrow) char[bytes + Tensor::kAlignment]);
    if (scratch_.back() == nullptr) return nullptr;
    auto address = reinterpret_cast<uintptr_t>(scratch_.back().get());
    address = (address + Tensor::kAlignment - 1) / Tensor::kAlignment * Tensor::kAlignment;
    return reinterpret_cast<void*>(address);
  }
  std::vector<Tensor>& outputs() { return outputs_; }

 private:
  std::vector<const Tensor*> pointers_;
  std::vector<DType> dtypes_;
  std::vector<Tensor> outputs_;
  std::vector<std::unique_ptr<char[]>> scratch_;
};

// What a node's kernel is run with; all optional.
struct RunNodeOptions {
  ThreadPool* pool = nullptr;
  ResourceContainer* resources = nullptr;
  Env* env = nullptr;
};

// The node's outputs for these inputs: finds the kernel, binds it to their shapes and runs it.
inline StatusOr<std::vector<Tensor>> RunNode(const ir::Node& node, std::span<const Tensor> inputs,
                                             const RunNodeOptions& options = {}) {
  ASSIGN_OR_RETURN(const KernelDef* def, FindKernel(node, "CPU"));
  std::vector<PartialShape> shapes;
  for (const Tensor& input : inputs) shapes.emplace_back(input.shape());
  const std::vector<const Tensor*> constants(inputs.size(), nullptr);
  WeightCache weights;
  ResourceContainer own;
  BindContext bind;
  bind.node = &node;
  bind.input_shapes = shapes;
  bind.constant_inputs = constants;
  bind.weights = &weights;
  bind.resources = options.resources == nullptr ? &own : options.resources;
  bind.env = options.env == nullptr ? Env::Default() : options.env;
  ASSIGN_OR_RETURN(KernelFn run, def->bind(bind));
  ThreadPool none(0);
  TestKernelContext context(node, inputs, options.pool == nullptr ? &none : options.pool);
  RETURN_IF_ERROR(run(context));
  return std::move(context.outputs());
}

}  // namespace slipway::kernels
