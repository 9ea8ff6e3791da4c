// SPDX-License-Identifier: Apache-2.0
//
// The kernel seam. A kernel is a plain function with its attributes bound: input tensors and a
// context that allocates in, output tensors out. It knows nothing of the graph around it.
//
// Two moments:
//  - Bind: once for each node of a plan. Reads attributes, checks what can be checked, makes
//    primitives for the shapes of the plan, packs constant weights (WeightCache: once for all
//    plans).
//  - Run: on every step, from any thread, several at a time on different contexts: what Bind
//    returned must hold no mutable state of its own. Run allocates nothing but outputs and scratch
//    that it asks the context for.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/env.h"
#include "base/thread_pool.h"
#include "ir/graph.h"
#include "kernels/resources.h"
#include "slipway/tensor.h"
#include "tensor/allocator.h"

namespace slipway::kernels {

// One invocation, implemented by the executor. Not thread safe: a kernel that splits its work
// allocates first.
class KernelContext {
 public:
  virtual ~KernelContext() = default;

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  const Tensor& input(int i) const { return *inputs_[static_cast<size_t>(i)]; }

  // Output i with this shape and the node's dtype: the place the plan foresaw if it fits, else new
  // memory. It may lie over an input that the kernel named in KernelDef::in_place. Numbers are not
  // set. RESOURCE_EXHAUSTED if there is no memory.
  virtual StatusOr<Tensor*> AllocateOutput(int i, const Shape& shape) = 0;
  // Output i shares the memory of `value` (Identity, Reshape, a variable's value).
  virtual void SetOutput(int i, Tensor value) = 0;
  // Memory until the kernel returns, aligned to Tensor::kAlignment; null if there is none.
  virtual void* Scratch(size_t bytes) = 0;

  // To split one kernel's work; a pool of 0 where the step is limited to its own thread.
  ThreadPool& intra_op() const { return *intra_op_; }
  // True once the step was cancelled or failed elsewhere: long kernels look now and then.
  virtual bool cancelled() const { return false; }

 protected:
  std::span<const Tensor* const> inputs_;
  ThreadPool* intra_op_ = nullptr;
};

using KernelFn = std::function<Status(KernelContext&)>;

// Layouts of constant weights that kernels made, shared by all plans of an executable and counted
// once. Thread safety: from any thread.
class WeightCache {
 public:
  // The packed form of `weights` under `layout` (a name that says everything that `pack` depends
  // on), made by `pack` the first time. Keyed by the memory of `weights`, which is kept alive.
  StatusOr<std::shared_ptr<const Tensor>> Get(const Tensor& weights, const std::string& layout,
                                              const std::function<StatusOr<Tensor>()>& pack);
  size_t bytes() const;
  size_t size() const;

 private:
  struct Entry {
    Tensor weights;
    std::shared_ptr<const Tensor> packed;
  };
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
};

// What Bind may use. Pointers outlive the bound kernel unless said otherwise.
struct BindContext {
  const ir::Node* node = nullptr;  // only during Bind
  // For the plan's shapes: what is known of each input (all, unless a shape depends on values).
  std::span<const PartialShape> input_shapes;
  // The value of each input that is constant in this executable, else null.
  std::span<const Tensor* const> constant_inputs;
  WeightCache* weights = nullptr;
  ResourceContainer* resources = nullptr;
  Env* env = nullptr;
  // Results must not depend on the number of threads.
  bool deterministic = false;
  int intra_op_threads = 1;

  const Tensor* constant(int i) const { return constant_inputs[static_cast<size_t>(i)]; }
  DType input_dtype(int i) const { return node->input(i).dtype(); }
};

using BindFn = StatusOr<KernelFn> (*)(const BindContext& context);

// A kernel is for an op on a device type under type constraints: each named type attribute must be
// one of the dtypes.
struct KernelDef {
  struct TypeConstraint {
    std::string attr;
    std::vector<DType> dtypes;
  };
  std::string op;
  std::vector<TypeConstraint> types;
  BindFn bind = nullptr;
  // Output may lie over input (same size), elementwise kernels: pairs (input, output).
  std::vector<std::pair<int, int>> in_place;
  // SetOutput(output, the memory of an input): pairs (input, output) of view ops (Identity,
  // Reshape). Not needed where the memory belongs to a resource (ReadVariableOp).
  std::vector<std::pair<int, int>> shares;
  // Worth a hand-off to a pool when other work is ready (products, convolutions, files).
  bool expensive = false;
  std::string device_type = "CPU";
};

// The kernel for a node on a device type. NOT_FOUND names the op, its dtypes and, if there are
// kernels for other dtypes, those. Thread safe; the registry is made once and is immutable.
StatusOr<const KernelDef*> FindKernel(const ir::Node& node, const std::string& device_type);
bool HasKernel(const std::string& op);
std::vector<const KernelDef*> AllKernels();

}  // namespace slipway::kernels
