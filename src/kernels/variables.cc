// SPDX-License-Identifier: Apache-2.0
//
// Resource variables: handles, reading, assigning, adding, gathering and scattering.
#include <cstring>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/elementwise.h"
#include "kernels/index_loops.h"
#include "kernels/kernel_table.h"
#include "kernels/strided_copy.h"
#include "kernels/types.h"
#include "kernels/variable_access.h"

namespace slipway::kernels {
namespace {

// The handle is made once, when the kernel is bound: by name in the version's own container.
StatusOr<KernelFn> BindVarHandle(const BindContext& c) {
  const ir::Node& node = *c.node;
  const auto dtype = AttrOr<DType>(node, "dtype", DType::kInvalid);
  const auto shape = AttrOr<PartialShape>(node, "shape", PartialShape());
  std::string name = AttrOr<std::string>(node, "shared_name", "");
  if (name.empty()) name = node.name();
  const std::string container = AttrOr<std::string>(node, "container", "");
  if (!container.empty()) name = container + "/" + name;
  if (c.resources == nullptr) {
    return FailedPreconditionError("There is no container for variable " + name);
  }
  ASSIGN_OR_RETURN(std::shared_ptr<Variable> variable,
                   c.resources->FindOrCreate<Variable>(
                       name, [&] { return std::make_shared<Variable>(name, dtype, shape); }));
  if (variable->dtype() != dtype) {
    return InvalidArgumentError(StrCat("Variable ", name, " exists with ",
                                       DTypeName(variable->dtype()), ", wanted ",
                                       DTypeName(dtype)));
  }
  const Tensor handle = Tensor::Scalar<ResourceHandle>(std::move(variable));
  return KernelFn([handle](KernelContext& ctx) {
    ctx.SetOutput(0, handle);
    return OkStatus();
  });
}

StatusOr<KernelFn> BindRead(const BindContext& c) {
  const DType dtype = c.node->dtype(0);
  return KernelFn([dtype](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(Variable * variable, InputVariable(ctx, 0));
    ASSIGN_OR_RETURN(Tensor value, variable->Read());
    if (value.dtype() != dtype) {
      return InvalidArgumentError(StrCat("Trying to read variable ", variable->name(), " of ",
                                         DTypeName(value.dtype()), " as ", DTypeName(dtype)));
    }
    ctx.SetOutput(0, std::move(value));
    return OkStatus();
  });
}

Status RunAssign(KernelContext& c) {
  ASSIGN_OR_RETURN(Variable * variable, InputVariable(c, 0));
  return variable->Assign(c.input(1));
}

Status RunIsInitialized(KernelContext& c) {
  ASSIGN_OR_RETURN(Variable * variable, InputVariable(c, 0));
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, Shape()));
  out->flat<bool>()[0] = variable->IsInitialized();
  return OkStatus();
}

Status RunVariableShape(KernelContext& c) {
  ASSIGN_OR_RETURN(Variable * variable, InputVariable(c, 0));
  ASSIGN_OR_RETURN(Tensor value, variable->Read());
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, Shape({value.rank()})));
  for (int d = 0; d < value.rank(); ++d) {
    const auto i = static_cast<size_t>(d);
    if (out->dtype() == DType::kInt64) {
      out->flat<int64_t>()[i] = value.dim(d);
    } else {
      out->flat<int32_t>()[i] = static_cast<int32_t>(value.dim(d));
    }
  }
  return OkStatus();
}

StatusOr<KernelFn> BindDestroy(const BindContext& c) {
  ResourceContainer* resources = c.resources;
  return KernelFn([resources](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(Variable * variable, InputVariable(ctx, 0));
    if (resources != nullptr) resources->Remove(variable->name());
    return OkStatus();
  });
}

StatusOr<KernelFn> BindAddAssign(const BindContext& c) {
  const bool add = c.node->op() == "AssignAddVariableOp";
  BinaryKernel kernel;
  kernel.dtype = kernel.out_dtype = c.input_dtype(1);
  const DType compute = IsHalfSize(kernel.dtype) ? DType::kFloat : kernel.dtype;
  kernel.loop = SwitchType<BinaryLoop>(Numbers{}, compute, [&]<typename T>() -> BinaryLoop {
    return add ? &BinaryLoopOf<T, T, WrapAdd<T>> : &BinaryLoopOf<T, T, WrapSub<T>>;
  });
  if (kernel.loop == nullptr) {
    return UnimplementedError(StrCat(c.node->op(), " of ", DTypeName(kernel.dtype)));
  }
  if (compute == DType::kFloat) {
    kernel.loop = FastBinaryLoop(add ? FastBinary::kAdd : FastBinary::kSub);
  }
  return KernelFn([kernel](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(Variable * variable, InputVariable(ctx, 0));
    const Tensor& by = ctx.input(1);
    return variable->UpdateWith([&](Tensor& value) -> Status {
      if (value.dtype() != by.dtype() || !(value.shape() == by.shape())) {
        return InvalidArgumentError(StrCat("Variable ", variable->name(), " is ",
                                           DTypeName(value.dtype()), value.shape().ToString(),
                                           ", the value to add is ", DTypeName(by.dtype()),
                                           by.shape().ToString()));
      }
      kernel.Run(value.raw_data(), 1, by.raw_data(), 1, value.raw_data(), by.num_elements());
      return OkStatus();
    });
  });
}

StatusOr<KernelFn> BindResourceGather(const BindContext& c) {
  const int64_t batch_dims = IntAttr(*c.node, "batch_dims");
  const DType dtype = c.node->dtype(0);
  return KernelFn([batch_dims, dtype](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(Variable * variable, InputVariable(ctx, 0));
    ASSIGN_OR_RETURN(Tensor params, variable->Read());
    if (params.dtype() != dtype) {
      return InvalidArgumentError(StrCat("Variable ", variable->name(), " is of ",
                                         DTypeName(params.dtype()), ", not ", DTypeName(dtype)));
    }
    const int64_t axis = batch_dims < 0 ? batch_dims + ctx.input(1).rank() : batch_dims;
    return Gather(ctx, params, ctx.input(1), axis, batch_dims);
  });
}

StatusOr<KernelFn> BindResourceScatter(const BindContext& c) {
  const ScatterOp op = ScatterOpOf(c.node->op());
  return KernelFn([op](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(Variable * variable, InputVariable(ctx, 0));
    return variable->UpdateWith(
        [&](Tensor& value) { return ScatterRows(op, ctx.input(1), ctx.input(2), value); });
  });
}

StatusOr<KernelFn> BindResourceScatterNd(const BindContext& c) {
  const ScatterOp op = ScatterOpOf(c.node->op());
  return KernelFn([op](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(Variable * variable, InputVariable(ctx, 0));
    const Tensor& updates = ctx.input(2);
    return variable->UpdateWith([&](Tensor& value) -> Status {
      if (value.dtype() != updates.dtype()) {
        return InvalidArgumentError(StrCat("Variable ", variable->name(), " is of ",
                                           DTypeName(value.dtype()), ", the updates are of ",
                                           DTypeName(updates.dtype())));
      }
      return ScatterPlaces(op, ctx.input(1), updates, value);
    });
  });
}

Status RunNothing(KernelContext&) { return OkStatus(); }

template <Status (*kRun)(KernelContext&)>
StatusOr<KernelFn> BindPlain(const BindContext&) {
  return KernelFn(kRun);
}

std::vector<KernelDef> MakeTable() {
  const std::vector<DType> numbers = WithComplex(NumberTypes());
  return MakeKernels({
      {"VarHandleOp", BindVarHandle},
      {"ReadVariableOp", BindRead},
      {"AssignVariableOp", BindPlain<RunAssign>},
      {"AssignAddVariableOp", BindAddAssign, NumberTypes(), "dtype"},
      {"AssignSubVariableOp", BindAddAssign, NumberTypes(), "dtype"},
      {"VarIsInitializedOp", BindPlain<RunIsInitialized>},
      {"VariableShape", BindPlain<RunVariableShape>},
      {"DestroyResourceOp", BindDestroy},
      {"DisableCopyOnRead", BindPlain<RunNothing>},
      {"ResourceGather", BindResourceGather},
      {"ResourceScatterAdd", BindResourceScatter, numbers, "dtype"},
      {"ResourceScatterDiv", BindResourceScatter, numbers, "dtype"},
      {"ResourceScatterMax", BindResourceScatter, NumberTypes(), "dtype"},
      {"ResourceScatterMin", BindResourceScatter, NumberTypes(), "dtype"},
      {"ResourceScatterMul", BindResourceScatter, numbers, "dtype"},
      {"ResourceScatterNdAdd", BindResourceScatterNd, numbers},
      {"ResourceScatterNdMax", BindResourceScatterNd, NumberTypes()},
      {"ResourceScatterNdMin", BindResourceScatterNd, NumberTypes()},
      {"ResourceScatterNdSub", BindResourceScatterNd, numbers},
      {"ResourceScatterNdUpdate", BindResourceScatterNd},
      {"ResourceScatterSub", BindResourceScatter, numbers, "dtype"},
      {"ResourceScatterUpdate", BindResourceScatter},
  });
}

}  // namespace

std::span<const KernelDef> VariableKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
