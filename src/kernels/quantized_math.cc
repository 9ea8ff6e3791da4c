// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on quantised numbers. Products and sums are taken of integers, in 32 bits that wrap.
#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "kernels/attrs.h"
#include "kernels/broadcast.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/quantization.h"

namespace slipway::kernels {
namespace {

const QuantizedLimits kInt32Limits = LimitsOf(DType::kQInt32);

// The number that stands for zero; where the range leaves zero out, one that the type lacks.
uint32_t ZeroOf(DType dtype, FloatRange range) {
  return static_cast<uint32_t>(QuantizeUnclamped(0.0f, range, LimitsOf(dtype)));
}

Status RunMatMul(KernelContext& c, bool transpose_a, bool transpose_b) {
  const Tensor &a = c.input(0), &b = c.input(1);
  RETURN_IF_ERROR(CheckRank(a, 2, "In[0] is not a matrix"));
  RETURN_IF_ERROR(CheckRank(b, 2, "In[1] is not a matrix"));
  ASSIGN_OR_RETURN(const FloatRange a_range, ReadRange(c, 2, "min_a", "max_a"));
  ASSIGN_OR_RETURN(const FloatRange b_range, ReadRange(c, 4, "min_b", "max_b"));
  const int64_t m = a.dim(transpose_a ? 1 : 0), k = a.dim(transpose_a ? 0 : 1);
  const int64_t n = b.dim(transpose_b ? 0 : 1);
  if (b.dim(transpose_b ? 1 : 0) != k) {
    return InvalidArgumentError(StrCat("Matrix size-incompatible: In[0]: ", a.shape().ToString(),
                                       ", In[1]: ", b.shape().ToString()));
  }
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, Shape({m, n})));
  const uint32_t a_zero = ZeroOf(a.dtype(), a_range), b_zero = ZeroOf(b.dtype(), b_range);
  const uint8_t *pa = a.flat<uint8_t>().data(), *pb = b.flat<uint8_t>().data();
  auto* out = reinterpret_cast<uint32_t*>(y->flat<int32_t>().data());
  std::fill_n(out, m * n, 0u);
  const int64_t b_row = transpose_b ? 1 : n, b_column = transpose_b ? k : 1;
  for (int64_t i = 0; i < m; ++i) {
    if (c.cancelled()) return CancelledError("QuantizedMatMul was cancelled");
    for (int64_t p = 0; p < k; ++p) {
      const uint32_t left = pa[transpose_a ? p * m + i : i * k + p] - a_zero;
      for (int64_t j = 0; j < n; ++j) {
        out[i * n + j] += left * (pb[p * b_row + j * b_column] - b_zero);
      }
    }
  }
  return PutRange(c, 1, RangeOfProduct(a_range, LimitsOf(a.dtype()), b_range, LimitsOf(b.dtype())));
}

StatusOr<KernelFn> BindMatMul(const BindContext& bind) {
  const bool a = BoolAttr(*bind.node, "transpose_a"), b = BoolAttr(*bind.node, "transpose_b");
  return KernelFn([a, b](KernelContext& c) { return RunMatMul(c, a, b); });
}

int64_t ByteAt(const Tensor& t, int64_t i) {
  const auto at = static_cast<size_t>(i);
  return t.dtype() == DType::kQInt8 ? int64_t{t.flat<int8_t>()[at]} : t.flat<uint8_t>()[at];
}

// fn(x, y) for all pairs under broadcasting.
template <typename Fn>
Status RunPairs(KernelContext& c, Fn&& fn) {
  const Tensor &x = c.input(0), &y = c.input(1);
  const Shape* shapes[] = {&x.shape(), &y.shape()};
  Broadcast broadcast;
  RETURN_IF_ERROR(Broadcast::Make(shapes, &broadcast));
  ASSIGN_OR_RETURN(Tensor * z, c.AllocateOutput(0, broadcast.output));
  int32_t* out = z->flat<int32_t>().data();
  const int last = broadcast.rank - 1;
  broadcast.ForEachRun(0, z->num_elements(), [&](const int64_t* from, int64_t at, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t a = ByteAt(x, from[0] + i * broadcast.strides[0][last]);
      const int64_t b = ByteAt(y, from[1] + i * broadcast.strides[1][last]);
      out[at + i] = static_cast<int32_t>(fn(a, b));
    }
  });
  return OkStatus();
}

Status RunMul(KernelContext& c) {
  ASSIGN_OR_RETURN(const FloatRange x, ReadRange(c, 2, "min_x", "max_x"));
  ASSIGN_OR_RETURN(const FloatRange y, ReadRange(c, 4, "min_y", "max_y"));
  const DType left = c.input(0).dtype(), right = c.input(1).dtype();
  const uint32_t x_zero = ZeroOf(left, x), y_zero = ZeroOf(right, y);
  RETURN_IF_ERROR(RunPairs(c, [&](int64_t a, int64_t b) {
    return (static_cast<uint32_t>(a) - x_zero) * (static_cast<uint32_t>(b) - y_zero);
  }));
  return PutRange(c, 1, RangeOfProduct(x, LimitsOf(left), y, LimitsOf(right)));
}

StatusOr<KernelFn> BindRelu(const BindContext& bind) {
  const bool six = bind.node->op() == "QuantizedRelu6";
  return KernelFn([six](KernelContext& c) -> Status {
    const Tensor& x = c.input(0);
    ASSIGN_OR_RETURN(const FloatRange range, ReadRange(c, 1, "min_features", "max_features"));
    const QuantizedLimits limits = LimitsOf(x.dtype());
    const int64_t low = QuantizeOne(0.0f, range, limits);
    const int64_t high = six ? QuantizeOne(6.0f, range, limits) : limits.highest;
    ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, x.shape()));
    SwitchType<int>(TypeList<uint8_t, int32_t>{}, StoredDType(x.dtype()), [&]<typename T>() {
      const auto least = static_cast<T>(low), most = static_cast<T>(high);
      std::ranges::transform(x.flat<T>(), y->flat<T>().begin(),
                             [=](T v) { return std::min(std::max(v, least), most); });
      return 0;
    });
    return PutRange(c, 1, range);
  });
}

// The range that the numbers of input 0 use; zero is in it.
FloatRange UsedRange(const Tensor& x, FloatRange range) {
  const auto values = x.flat<int32_t>();
  const auto [low, high] = std::ranges::minmax_element(values);
  return {std::min(0.0f, DequantizeOne(*low, range, kInt32Limits)),
          std::max(0.0f, DequantizeOne(*high, range, kInt32Limits))};
}

Status RunRequantizationRange(KernelContext& c) {
  ASSIGN_OR_RETURN(const FloatRange range, ReadRange(c, 1, "input_min", "input_max"));
  if (c.input(0).num_elements() == 0) return PutRange(c, 0, range);
  return PutRange(c, 0, UsedRange(c.input(0), range));
}

template <Status (*run)(KernelContext&)>
StatusOr<KernelFn> BindRun(const BindContext&) {
  return KernelFn(run);
}

// A row whose type attributes each have one choice.
KernelDef Of(const char* op, BindFn bind, std::vector<KernelDef::TypeConstraint> types) {
  KernelDef def;
  def.op = op;
  def.bind = bind;
  def.types = std::move(types);
  return def;
}

std::vector<KernelDef> MakeTable() {
  const std::vector<DType> byte = {DType::kQUInt8}, wide = {DType::kQInt32};
  std::vector<KernelDef> table = {
      Of("QuantizedMatMul", BindMatMul, {{"T1", byte}, {"T2", byte}, {"Toutput", wide}}),
      Of("QuantizedMul", BindRun<RunMul>, {{"T1", byte}, {"T2", byte}, {"Toutput", wide}}),
      Of("RequantizationRange", BindRun<RunRequantizationRange>, {{"Tinput", wide}}),
  };
  for (const char* op : {"QuantizedRelu", "QuantizedRelu6"}) {
    table.push_back(Of(op, BindRelu, {{"Tinput", byte}, {"out_type", byte}}));
    table.push_back(Of(op, BindRelu, {{"Tinput", wide}, {"out_type", wide}}));
  }
  return table;
}

}  // namespace

std::span<const KernelDef> QuantizedMathKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
