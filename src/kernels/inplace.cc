// SPDX-License-Identifier: Apache-2.0
//
// Rows of a tensor changed, whole copies, memory without values.
#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/elementwise.h"
#include "kernels/kernel_table.h"
#include "kernels/strided_copy.h"
#include "kernels/tensor_list.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

Status RunCopy(KernelContext& c) {
  const Tensor& x = c.input(0);
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, x.shape()));
  CopyElements(x.dtype(), x.raw_data(), y->raw_data(), x.num_elements());
  return OkStatus();
}

// The values are not said; zeros are as good as any.
Status RunEmpty(KernelContext& c) {
  ASSIGN_OR_RETURN(const Shape shape, ReadShape(c.input(0), "shape"));
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, shape));
  FillZeros(y);
  return OkStatus();
}

Status CheckRows(const Tensor& x, const Tensor& i, const Tensor& v) {
  if (x.rank() < 1 || v.rank() != x.rank()) {
    return InvalidArgumentError(StrCat("x and v shape doesn't match (ranks differ): ",
                                       x.shape().ToString(), " vs. ", v.shape().ToString()));
  }
  for (int d = 1; d < x.rank(); ++d) {
    if (x.dim(d) == v.dim(d)) continue;
    return InvalidArgumentError(
        StrCat("x and v shape doesn't match at index ", d, " : ", x.dim(d), " vs. ", v.dim(d)));
  }
  if (i.rank() != 1 || i.dim(0) != v.dim(0)) {
    return InvalidArgumentError(StrCat("i and x shape doesn't match at index 0: ", v.dim(0),
                                       " rows for indices of shape ", i.shape().ToString()));
  }
  return OkStatus();
}

// Indices wrap around, as TensorFlow's do.
StatusOr<KernelFn> BindRows(const BindContext& c) {
  const bool set = c.node->op() == "InplaceUpdate";
  const bool add = c.node->op() == "InplaceAdd";
  BinaryKernel kernel;
  kernel.dtype = kernel.out_dtype = c.input_dtype(0);
  const DType compute = IsHalfSize(kernel.dtype) ? DType::kFloat : kernel.dtype;
  if (!set) {
    kernel.loop = SwitchType<BinaryLoop>(Numbers{}, compute, [&]<typename T>() -> BinaryLoop {
      return add ? &BinaryLoopOf<T, T, WrapAdd<T>> : &BinaryLoopOf<T, T, WrapSub<T>>;
    });
    if (kernel.loop == nullptr) {
      return UnimplementedError(StrCat(c.node->op(), " of ", DTypeName(kernel.dtype)));
    }
  }
  return KernelFn([kernel, set](KernelContext& ctx) -> Status {
    const Tensor &x = ctx.input(0), &i = ctx.input(1), &v = ctx.input(2);
    RETURN_IF_ERROR(CheckRows(x, i, v));
    ASSIGN_OR_RETURN(Tensor * y, ctx.AllocateOutput(0, x.shape()));
    CopyElements(x.dtype(), x.raw_data(), y->raw_data(), x.num_elements());
    const int64_t rows = x.dim(0);
    const int64_t row = ProductOfDims(x.shape(), 1, x.rank());
    if (rows == 0 || row == 0) return OkStatus();
    const size_t bytes = static_cast<size_t>(row) * DTypeSize(x.dtype());
    const auto indices = i.flat<int32_t>();
    for (size_t k = 0; k < indices.size(); ++k) {
      const int64_t at = (indices[k] % rows + rows) % rows;
      char* to = static_cast<char*>(y->raw_data()) + static_cast<size_t>(at) * bytes;
      const char* from = static_cast<const char*>(v.raw_data()) + k * bytes;
      if (set) {
        CopyElements(x.dtype(), from, to, row);
      } else {
        kernel.Run(to, 1, from, 1, to, row);
      }
    }
    return OkStatus();
  });
}

template <Status (*kRun)(KernelContext&)>
StatusOr<KernelFn> BindPlain(const BindContext&) {
  return KernelFn(kRun);
}

}  // namespace

std::span<const KernelDef> InplaceKernels() {
  static const std::vector<KernelDef> table = MakeKernels({
      {"InplaceUpdate", BindRows},
      {"InplaceAdd", BindRows, NumberTypes()},
      {"InplaceSub", BindRows, NumberTypes()},
      {"DeepCopy", BindPlain<RunCopy>},
      {"Empty", BindPlain<RunEmpty>},
  });
  return table;
}

}  // namespace slipway::kernels
