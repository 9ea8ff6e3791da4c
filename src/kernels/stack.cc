// SPDX-License-Identifier: Apache-2.0
//
// Stacks of tensors behind a handle: what the gradients of TensorFlow 1's loops keep values in. A
// stack belongs to the run that made it.
#include <mutex>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"

namespace slipway::kernels {
namespace {

// Thread safety: all methods from any thread.
class Stack : public Resource {
 public:
  Stack(std::string name, DType dtype, int64_t max_size)
      : name_(std::move(name)), dtype_(dtype), max_size_(max_size) {}
  std::string DebugString() const override { return "stack " + name_; }

  Status Push(Tensor value) {
    std::lock_guard lock(mutex_);
    RETURN_IF_ERROR(CheckOpen());
    if (value.dtype() != dtype_) {
      return InvalidArgumentError(
          StrCat("Must have type ", DTypeName(dtype_), " but got ", DTypeName(value.dtype())));
    }
    if (max_size_ >= 0 && static_cast<int64_t>(values_.size()) >= max_size_) {
      return InvalidArgumentError(
          StrCat("Stack[", name_, "] overflowed its max_size (", max_size_, ")"));
    }
    values_.push_back(std::move(value));
    return OkStatus();
  }
  StatusOr<Tensor> Pop() {
    std::lock_guard lock(mutex_);
    RETURN_IF_ERROR(CheckOpen());
    if (values_.empty()) {
      return InvalidArgumentError(StrCat("Stack[", name_, "] is empty when calling Pop()."));
    }
    Tensor value = std::move(values_.back());
    values_.pop_back();
    return value;
  }
  void Close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    values_.clear();
  }
  DType dtype() const { return dtype_; }

 private:
  Status CheckOpen() const {
    return closed_ ? InvalidArgumentError(StrCat("Stack[", name_, "] has already been closed."))
                   : OkStatus();
  }

  const std::string name_;
  const DType dtype_;
  const int64_t max_size_;
  std::mutex mutex_;
  std::vector<Tensor> values_;
  bool closed_ = false;
};

StatusOr<Stack*> StackOf(const KernelContext& c) {
  const Tensor& handle = c.input(0);
  Stack* stack = nullptr;
  if (handle.dtype() == DType::kResource && handle.num_elements() == 1) {
    stack = dynamic_cast<Stack*>(handle.scalar<ResourceHandle>().get());
  }
  if (stack != nullptr) return stack;
  return InvalidArgumentError("Input 0 is not the handle of a stack");
}

StatusOr<KernelFn> BindStack(const BindContext& c) {
  auto name = AttrOr<std::string>(*c.node, "stack_name", "");
  if (name.empty()) name = c.node->name();
  const auto dtype = AttrOr<DType>(*c.node, "elem_type", DType::kInvalid);
  return KernelFn([name, dtype](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(const int64_t size, ReadInt(ctx.input(0), "Stack size"));
    ctx.SetOutput(0, Tensor::Scalar<ResourceHandle>(std::make_shared<Stack>(name, dtype, size)));
    return OkStatus();
  });
}

Status RunPush(KernelContext& c) {
  ASSIGN_OR_RETURN(Stack * stack, StackOf(c));
  RETURN_IF_ERROR(stack->Push(c.input(1).Owned()));
  c.SetOutput(0, c.input(1));
  return OkStatus();
}

StatusOr<KernelFn> BindPop(const BindContext& c) {
  return KernelFn([dtype = c.node->dtype(0)](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(Stack * stack, StackOf(ctx));
    if (stack->dtype() != dtype) {
      return InvalidArgumentError(
          StrCat("Must have type ", DTypeName(stack->dtype()), " but got ", DTypeName(dtype)));
    }
    ASSIGN_OR_RETURN(Tensor value, stack->Pop());
    ctx.SetOutput(0, std::move(value));
    return OkStatus();
  });
}

Status RunClose(KernelContext& c) {
  ASSIGN_OR_RETURN(Stack * stack, StackOf(c));
  stack->Close();
  return OkStatus();
}

template <Status (*kRun)(KernelContext&)>
StatusOr<KernelFn> BindPlain(const BindContext&) {
  return KernelFn(kRun);
}

}  // namespace

std::span<const KernelDef> StackKernels() {
  static const std::vector<KernelDef> table = MakeKernels({
      {"StackV2", BindStack},
      {.op = "StackPushV2", .bind = BindPlain<RunPush>, .shares = {{1, 0}}},
      {"StackPopV2", BindPop},
      {"StackCloseV2", BindPlain<RunClose>},
  });
  return table;
}

}  // namespace slipway::kernels
