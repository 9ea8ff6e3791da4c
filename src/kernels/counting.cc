// SPDX-License-Identifier: Apache-2.0
//
// Counting and binning, and some ops of rows that have no other family.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/elementwise.h"
#include "kernels/kernel_table.h"
#include "kernels/strided_copy.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

using BinTypes = TypeList<int32_t, int64_t, float, double>;

template <typename T>
void PopulationCountLoop(const void* x, void* y, int64_t n, float) {
  for (int64_t i = 0; i < n; ++i) {
    const auto bits = static_cast<std::make_unsigned_t<T>>(static_cast<const T*>(x)[i]);
    static_cast<uint8_t*>(y)[i] = static_cast<uint8_t>(std::popcount(bits));
  }
}

StatusOr<KernelFn> BindPopulationCount(const BindContext& c) {
  UnaryKernel kernel;
  kernel.dtype = c.input_dtype(0);
  kernel.out_dtype = DType::kUInt8;
  kernel.loop = SwitchType<UnaryLoop>(
      Ints{}, kernel.dtype, []<typename T>() -> UnaryLoop { return &PopulationCountLoop<T>; });
  return KernelFn(kernel);
}

// The rows' cross products; the last dimension is 3.
Status RunCross(KernelContext& c) {
  const Tensor& a = c.input(0);
  const Tensor& b = c.input(1);
  if (!(a.shape() == b.shape())) {
    return InvalidArgumentError(StrCat("Both inputs must be of same shape: ", a.shape().ToString(),
                                       " vs. ", b.shape().ToString()));
  }
  if (a.rank() < 1) return InvalidArgumentError("Input must be at least 1D[]");
  if (a.dim(a.rank() - 1) != 3) {
    return FailedPreconditionError("Cross-products are only defined for 3-element vectors.");
  }
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, a.shape()));
  return SwitchType<Status>(AllNumbers{}, a.dtype(), [&]<typename T>() {
    const auto minor = [](T p, T q, T r, T s) { return WrapSub(WrapMul(p, s), WrapMul(q, r)); };
    for (int64_t i = 0; i < a.num_elements(); i += 3) {
      const T* u = a.flat<T>().data() + i;
      const T* v = b.flat<T>().data() + i;
      T* out = y->flat<T>().data() + i;
      out[0] = minor(u[1], u[2], v[1], v[2]);
      out[1] = minor(u[2], u[0], v[2], v[0]);
      out[2] = minor(u[0], u[1], v[0], v[1]);
    }
    return OkStatus();
  });
}

// log(exp(a) + exp(b)).
template <typename W>
W LogAdd(W a, W b) {
  const W high = a > b || a != a ? a : b, low = a > b || a != a ? b : a;
  if (high != high || low != low) return high + low;
  if (std::isinf(high) && high == low) return high;
  return high + std::log1p(std::exp(low - high));
}

template <typename T>
void LogSumLine(const T* x, T* y, int64_t n, int64_t stride, bool exclusive, bool reverse) {
  using W = WideOf<T>;
  W total = -std::numeric_limits<W>::infinity();
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = (reverse ? n - 1 - i : i) * stride;
    const W next = LogAdd<W>(total, Widen(x[at]));
    y[at] = T(exclusive ? total : next);
    total = next;
  }
}

StatusOr<KernelFn> BindCumulativeLogsumexp(const BindContext& bind) {
  const bool exclusive = BoolAttr(*bind.node, "exclusive"),
             reverse = BoolAttr(*bind.node, "reverse");
  return KernelFn([=](KernelContext& c) -> Status {
    const Tensor& x = c.input(0);
    RETURN_IF_ERROR(CheckScalar(c.input(1), "axis"));
    ASSIGN_OR_RETURN(int64_t given, ReadInt(c.input(1), "axis"));
    ASSIGN_OR_RETURN(int axis, NormalizeAxis(given, x.rank(), "axis"));
    ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, x.shape()));
    const int64_t outer = ProductOfDims(x.shape(), 0, axis);
    const int64_t inner = ProductOfDims(x.shape(), axis + 1, x.rank());
    const int64_t n = x.dim(axis);
    return SwitchType<Status>(Floats{}, x.dtype(), [&]<typename T>() {
      for (int64_t line = 0; line < outer * inner; ++line) {
        const int64_t at = line / inner * n * inner + line % inner;
        LogSumLine<T>(x.flat<T>().data() + at, y->flat<T>().data() + at, n, inner, exclusive,
                      reverse);
      }
      return OkStatus();
    });
  });
}

StatusOr<KernelFn> BindBucketize(const BindContext& bind) {
  const auto boundaries = AttrOr<std::vector<float>>(*bind.node, "boundaries", {});
  if (!std::is_sorted(boundaries.begin(), boundaries.end())) {
    return InvalidArgumentError("Expected sorted boundaries");
  }
  return KernelFn([boundaries](KernelContext& c) -> Status {
    const Tensor& x = c.input(0);
    ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, x.shape()));
    return SwitchType<Status>(BinTypes{}, x.dtype(), [&]<typename T>() {
      for (size_t i = 0; i < static_cast<size_t>(x.num_elements()); ++i) {
        const auto bound = std::upper_bound(
            boundaries.begin(), boundaries.end(), x.flat<T>()[i],
            [](T value, float b) { return static_cast<std::common_type_t<T, float>>(value) < b; });
        y->flat<int32_t>()[i] = static_cast<int32_t>(bound - boundaries.begin());
      }
      return OkStatus();
    });
  });
}

StatusOr<int64_t> ReadBins(const Tensor& size) {
  if (size.rank() != 0) {
    return InvalidArgumentError(StrCat("Shape must be rank 0 but is rank ", size.rank(), ": size"));
  }
  ASSIGN_OR_RETURN(int64_t bins, ReadInt(size, "size"));
  if (bins < 0) return InvalidArgumentError(StrCat("size (", bins, ") must be non-negative"));
  return bins;
}

// Adds each value's weight (1 if there are none) to its bin; values beyond the bins count nowhere.
template <typename I, typename T>
Status CountRow(const I* values, const T* weights, int64_t n, int64_t bins, bool binary, T* out) {
  for (int64_t i = 0; i < n; ++i) {
    if (values[i] < 0) {
      return InvalidArgumentError(StrCat("Input arr must be non-negative! Got ", values[i]));
    }
    if (values[i] >= bins) continue;
    T& bin = out[values[i]];
    bin = binary ? T{1} : WrapAdd(bin, weights == nullptr ? T{1} : weights[i]);
  }
  return OkStatus();
}

Status CountRows(const Tensor& values, const Tensor& weights, int64_t bins, bool binary,
                 Tensor* out) {
  const int64_t rows = values.rank() == 2 ? values.dim(0) : 1;
  const int64_t n = rows == 0 ? 0 : values.num_elements() / rows;
  return SwitchType<Status>(BinTypes{}, out->dtype(), [&]<typename T>() {
    T* to = out->flat<T>().data();
    std::fill_n(to, out->num_elements(), T{0});
    const T* w = weights.num_elements() == 0 ? nullptr : weights.flat<T>().data();
    return SwitchType<Status>(Indices{}, values.dtype(), [&]<typename I>() -> Status {
      const I* from = values.flat<I>().data();
      for (int64_t r = 0; r < rows; ++r) {
        RETURN_IF_ERROR(
            CountRow(from + r * n, w == nullptr ? w : w + r * n, n, bins, binary, to + r * bins));
      }
      return OkStatus();
    });
  });
}

StatusOr<KernelFn> BindBincount(const BindContext& bind) {
  const bool dense = bind.node->op() == "DenseBincount";
  const bool binary = BoolAttr(*bind.node, "binary_output");
  return KernelFn([dense, binary](KernelContext& c) -> Status {
    const Tensor& values = c.input(0);
    const Tensor& weights = c.input(2);
    ASSIGN_OR_RETURN(int64_t bins, ReadBins(c.input(1)));
    if (weights.num_elements() > 0 && !(weights.shape() == values.shape())) {
      if (!dense) {
        return InvalidArgumentError(
            StrCat("Input indices and weights must have the same size: ", values.shape().ToString(),
                   " vs. ", weights.shape().ToString()));
      }
      return InvalidArgumentError(
          StrCat("`weights` must be the same shape as `arr` or a length-0 `Tensor`, in which case "
                 "it acts as all weights equal to 1. Received ",
                 weights.shape().ToString()));
    }
    if (dense && values.rank() > 2) {
      return InvalidArgumentError(
          StrCat("Shape must be at most rank 2 but is rank ", values.rank()));
    }
    const bool rows = dense && values.rank() == 2;
    IntVec dims;
    if (rows) dims.push_back(values.dim(0));
    dims.push_back(bins);
    ASSIGN_OR_RETURN(Shape shape, Shape::FromDims(dims.span()));
    ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, shape));
    const Tensor flat = rows ? values : values.Reshaped(Shape({values.num_elements()}));
    return CountRows(flat, weights, bins, binary, y);
  });
}

Status RunHistogramFixedWidth(KernelContext& c) {
  const Tensor& values = c.input(0);
  const Tensor& range = c.input(1);
  if (range.rank() != 1 || range.dim(0) != 2) {
    return InvalidArgumentError(
        StrCat("value_range should be a vector of 2 elements, not ", range.shape().ToString()));
  }
  RETURN_IF_ERROR(CheckScalar(c.input(2), "nbins should be a scalar: nbins"));
  ASSIGN_OR_RETURN(int64_t bins, ReadInt(c.input(2), "nbins"));
  if (bins <= 0) {
    return InvalidArgumentError(StrCat("nbins should be a positive number, but got '", bins, "'"));
  }
  ASSIGN_OR_RETURN(Shape shape, Shape::FromDims(std::array<int64_t, 1>{bins}));
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, shape));
  std::memset(y->raw_data(), 0, y->byte_size());
  return SwitchType<Status>(BinTypes{}, values.dtype(), [&]<typename T>() -> Status {
    const T low = range.flat<T>()[0], high = range.flat<T>()[1];
    if (!(low < high)) {
      return InvalidArgumentError(
          StrCat("value_range should satisfy value_range[0] < value_range[1], but got '[", low,
                 ", ", high, "]'"));
    }
    const double step = static_cast<double>(WrapSub(high, low)) / static_cast<double>(bins);
    for (const T value : values.flat<T>()) {
      if (value != value) return InvalidArgumentError("Histogram values must not contain NaN");
      const double place = static_cast<double>(WrapSub(std::max(value, low), low)) / step;
      const auto bin = static_cast<size_t>(
          place < static_cast<double>(bins - 1) ? place : static_cast<double>(bins - 1));
      if (y->dtype() == DType::kInt64) {
        ++y->flat<int64_t>()[bin];
      } else {
        ++y->flat<int32_t>()[bin];
      }
    }
    return OkStatus();
  });
}

template <Status (*kRun)(KernelContext&)>
StatusOr<KernelFn> BindPlain(const BindContext&) {
  return KernelFn(kRun);
}

std::vector<KernelDef> MakeTable() {
  return MakeKernels({
      {"Bincount", BindBincount, BinTypes::DTypes()},
      {"Bucketize", BindBucketize, BinTypes::DTypes()},
      {"Cross", BindPlain<RunCross>, AllNumbers::DTypes()},
      {"CumulativeLogsumexp", BindCumulativeLogsumexp, FloatTypes()},
      {"DenseBincount", BindBincount, BinTypes::DTypes()},
      {"HistogramFixedWidth", BindPlain<RunHistogramFixedWidth>, BinTypes::DTypes()},
      {"PopulationCount", BindPopulationCount, Ints::DTypes()},
  });
}

}  // namespace

std::span<const KernelDef> CountingKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
