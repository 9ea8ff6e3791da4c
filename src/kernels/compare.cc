// SPDX-License-Identifier: Apache-2.0
//
// Comparisons, selection by a condition, and clipping.
#include <algorithm>
#include <cmath>
#include <complex>

#include "kernels/attrs.h"
#include "kernels/broadcast.h"
#include "kernels/checks.h"
#include "kernels/elementwise.h"
#include "kernels/kernel_table.h"
#include "kernels/strided_copy.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

template <typename T>
bool LessFn(T a, T b) {
  return a < b;
}
template <typename T>
bool LessEqualFn(T a, T b) {
  return a <= b;
}
template <typename T>
bool GreaterFn(T a, T b) {
  return a > b;
}
template <typename T>
bool GreaterEqualFn(T a, T b) {
  return a >= b;
}

template <typename T>
BinaryLoop OrderLoop(std::string_view op) {
  if (op == "Less") return &BinaryLoopOf<T, bool, LessFn<T>>;
  if (op == "LessEqual") return &BinaryLoopOf<T, bool, LessEqualFn<T>>;
  if (op == "Greater") return &BinaryLoopOf<T, bool, GreaterFn<T>>;
  return &BinaryLoopOf<T, bool, GreaterEqualFn<T>>;
}

StatusOr<KernelFn> BindOrder(const BindContext& c) {
  BinaryKernel kernel;
  kernel.dtype = c.input_dtype(0);
  kernel.out_dtype = DType::kBool;
  const DType compute = IsHalfSize(kernel.dtype) ? DType::kFloat : kernel.dtype;
  kernel.loop = SwitchType<BinaryLoop>(Numbers{}, compute,
                                       [&]<typename T>() { return OrderLoop<T>(c.node->op()); });
  return KernelFn(kernel);
}

template <typename T, bool kEqual>
bool EqualLoop(const void* a, int sa, const void* b, int sb, void* out, int64_t n, float) {
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  for (int64_t i = 0; i < n; ++i) {
    static_cast<bool*>(out)[i] = (x[i * sa] == y[i * sb]) == kEqual;
  }
  return true;
}

using EqualTypes =
    TypeList<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
             uint64_t, bool, std::string, std::complex<float>, std::complex<double>>;

StatusOr<KernelFn> BindEqual(const BindContext& c) {
  const bool equal = c.node->op() == "Equal";
  const bool strict = BoolAttr(*c.node, "incompatible_shape_error", true);
  BinaryKernel kernel;
  kernel.dtype = c.input_dtype(0);
  kernel.out_dtype = DType::kBool;
  const DType compute = IsHalfSize(kernel.dtype) ? DType::kFloat : kernel.dtype;
  kernel.loop = SwitchType<BinaryLoop>(EqualTypes{}, compute, [&]<typename T>() -> BinaryLoop {
    return equal ? &EqualLoop<T, true> : &EqualLoop<T, false>;
  });
  if (strict) return KernelFn(kernel);
  // Shapes that do not fit are simply not equal.
  return KernelFn([kernel, equal](KernelContext& ctx) -> Status {
    if (BroadcastShape(ctx.input(0).shape(), ctx.input(1).shape()).ok()) return kernel(ctx);
    ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, Shape()));
    out->flat<bool>()[0] = !equal;
    return OkStatus();
  });
}

template <typename T>
bool ApproximateLoop(const void* a, int sa, const void* b, int sb, void* out, int64_t n,
                     float tolerance) {
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  for (int64_t i = 0; i < n; ++i) {
    static_cast<bool*>(out)[i] = std::abs(x[i * sa] - y[i * sb]) < static_cast<T>(tolerance);
  }
  return true;
}

StatusOr<KernelFn> BindApproximateEqual(const BindContext& c) {
  BinaryKernel kernel;
  kernel.dtype = c.input_dtype(0);
  kernel.out_dtype = DType::kBool;
  kernel.shapes = BinaryKernel::Shapes::kSame;
  kernel.alpha = AttrOr<float>(*c.node, "tolerance", 1e-5f);
  kernel.loop = kernel.dtype == DType::kFloat ? &ApproximateLoop<float> : &ApproximateLoop<double>;
  return KernelFn(kernel);
}

// Copies runs of t or e by the condition, whatever the elements are.
void SelectRun(DType dtype, size_t size, const bool* cond, int sc, const char* t, int st,
               const char* e, int se, char* out, int64_t n) {
  if (sc == 0 && (*cond ? st : se) == 1) {
    return CopyElements(dtype, *cond ? t : e, out, n);
  }
  const auto step = static_cast<int64_t>(size);
  if (size == 4) {
    for (int64_t i = 0; i < n; ++i) {
      std::memcpy(out + i * 4, cond[i * sc] ? t + i * st * 4 : e + i * se * 4, 4);
    }
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    CopyElements(dtype, cond[i * sc] ? t + i * st * step : e + i * se * step, out + i * step, 1);
  }
}

Status RunSelect(KernelContext& c, const Broadcast& plan) {
  const Tensor& cond = c.input(0);
  const Tensor& t = c.input(1);
  const Tensor& e = c.input(2);
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, plan.output));
  const DType dtype = t.dtype();
  const size_t size = DTypeSize(dtype);
  const auto at = [size](const Tensor& tensor, int64_t i) {
    return static_cast<char*>(tensor.raw_data()) + i * static_cast<int64_t>(size);
  };
  const int last = plan.rank - 1;
  const auto stride = [&](int i) { return static_cast<int>(plan.strides[i][last]); };
  const bool* conditions = cond.flat<bool>().data();
  const int64_t total = plan.output.num_elements();
  c.intra_op().ParallelFor(total, kElementGrain, [&](int64_t begin, int64_t end) {
    plan.ForEachRun(begin, end, [&](const int64_t* offsets, int64_t to, int64_t n) {
      SelectRun(dtype, size, conditions + offsets[0], stride(0), at(t, offsets[1]), stride(1),
                at(e, offsets[2]), stride(2), at(*out, to), n);
    });
  });
  return OkStatus();
}

Status RunSelectV2(KernelContext& c) {
  const Shape* shapes[] = {&c.input(0).shape(), &c.input(1).shape(), &c.input(2).shape()};
  Broadcast plan;
  RETURN_IF_ERROR(Broadcast::Make(shapes, &plan));
  return RunSelect(c, plan);
}

// The older op: t and e of one shape; the condition of that shape, a scalar, or one a row.
Status RunSelectV1(KernelContext& c) {
  const Tensor& cond = c.input(0);
  const Tensor& t = c.input(1);
  RETURN_IF_ERROR(CheckSameShape(t, c.input(2), "'then'", "'else'"));
  Shape cond_shape = cond.shape();
  if (cond.rank() == 1 && t.rank() > 1) {
    if (cond.dim(0) != t.dim(0)) {
      return InvalidArgumentError(
          StrCat("Number of batches of 'then' must match size of 'cond', "
                 "but saw: ",
                 t.dim(0), " vs. ", cond.dim(0)));
    }
    for (int d = 1; d < t.rank(); ++d) cond_shape.AddDim(1);
  } else if (cond.rank() != 0 && !(cond.shape() == t.shape())) {
    return InvalidArgumentError(
        StrCat("'cond' must be a scalar, a vector of rows or of the shape "
               "of 'then' ",
               t.shape().ToString(), ", but has shape ", cond.shape().ToString()));
  }
  const Shape* shapes[] = {&cond_shape, &t.shape(), &t.shape()};
  Broadcast plan;
  RETURN_IF_ERROR(Broadcast::Make(shapes, &plan));
  return RunSelect(c, plan);
}

// A lower bound that is above the upper one wins.
template <typename T>
void ClipRun(const T* x, const T* low, bool low_moves, const T* high, bool high_moves, T* y,
             int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const T lo = low[low_moves ? i : 0], hi = high[high_moves ? i : 0];
    const T most = Widen(hi) < Widen(x[i]) ? hi : x[i];
    y[i] = Widen(most) < Widen(lo) ? lo : most;
  }
}

Status RunClip(KernelContext& c) {
  const Tensor& x = c.input(0);
  for (int i = 1; i < 3; ++i) {
    const Shape& bound = c.input(i).shape();
    if (bound.rank() == 0 || bound == x.shape()) continue;
    return InvalidArgumentError(
        StrCat("clip_value_min and clip_value_max must be either of the "
               "same shape as input, or a scalar. input shape: ",
               x.shape().ToString(), " bound: ", bound.ToString()));
  }
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, x.shape()));
  const bool low_moves = c.input(1).rank() > 0, high_moves = c.input(2).rank() > 0;
  return SwitchType<Status>(AllNumbers{}, x.dtype(), [&]<typename T>() {
    ClipRun<T>(x.flat<T>().data(), c.input(1).flat<T>().data(), low_moves,
               c.input(2).flat<T>().data(), high_moves, y->flat<T>().data(), x.num_elements());
    return OkStatus();
  });
}

template <Status (*kRun)(KernelContext&)>
StatusOr<KernelFn> BindPlain(const BindContext&) {
  return KernelFn(kRun);
}

std::vector<KernelDef> MakeTable() {
  std::vector<DType> equal = EqualTypes::DTypes();
  equal.push_back(DType::kHalf);
  equal.push_back(DType::kBFloat16);
  return MakeKernels({
      {"Less", BindOrder, NumberTypes()},
      {"LessEqual", BindOrder, NumberTypes()},
      {"Greater", BindOrder, NumberTypes()},
      {"GreaterEqual", BindOrder, NumberTypes()},
      {"Equal", BindEqual, equal},
      {"NotEqual", BindEqual, equal},
      {"ApproximateEqual", BindApproximateEqual, Reals::DTypes()},
      {"Select", BindPlain<RunSelectV1>},
      {"SelectV2", BindPlain<RunSelectV2>},
      {"ClipByValue", BindPlain<RunClip>, AllNumbers::DTypes(), "T", {{0, 0}}},
  });
}

}  // namespace

std::span<const KernelDef> CompareKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
