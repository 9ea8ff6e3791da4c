// SPDX-License-Identifier: Apache-2.0
//
// Reductions over axes: sums, products, extremes, means, norms, and of booleans.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/simd_rows.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

// The input's dimensions, neighbours of one kind merged: kept and reduced ones alternate.
struct Reduction {
  IntVec dims;
  bool first_reduced = false;
  Shape output;
  int64_t reduced_count = 1;  // elements behind each output

  bool reduced(size_t d) const { return (d % 2 == 0) == first_reduced; }
};

StatusOr<Reduction> PlanReduction(const Shape& shape, const Tensor& axes_tensor, bool keep_dims) {
  ASSIGN_OR_RETURN(IntVec axes, ReadIntVector(axes_tensor, "reduction_indices", true));
  std::array<bool, Shape::kMaxRank> reduced{};
  for (int64_t axis : axes) {
    const int64_t d = axis < 0 ? axis + shape.rank() : axis;
    if (d < 0 || d >= shape.rank()) {
      return InvalidArgumentError(StrCat("Invalid reduction dimension (", axis, " for input with ",
                                         shape.rank(), " dimension(s))"));
    }
    if (reduced[static_cast<size_t>(d)]) {
      return InvalidArgumentError(
          StrCat("Invalid reduction arguments: Axes contains duplicate dimension: ", d));
    }
    reduced[static_cast<size_t>(d)] = true;
  }
  Reduction r;
  for (int d = 0; d < shape.rank(); ++d) {
    const bool is_reduced = reduced[static_cast<size_t>(d)];
    if (!is_reduced) r.output.AddDim(shape.dim(d));
    if (is_reduced && keep_dims) r.output.AddDim(1);
    if (is_reduced) r.reduced_count *= shape.dim(d);
    if (!r.dims.empty() && r.reduced(r.dims.size() - 1) == is_reduced) {
      r.dims[r.dims.size() - 1] *= shape.dim(d);
    } else {
      if (r.dims.empty()) r.first_reduced = is_reduced;
      r.dims.push_back(shape.dim(d));
    }
  }
  if (r.dims.empty()) r.dims.push_back(1);
  return r;
}

// An operation: its neutral value; a whole run to one value; a run into as many values; two values.
template <typename T>
struct SumOp {
  static T Init() { return T{0}; }
  static T Combine(T a, T b) { return WrapAdd(a, b); }
  static T Row(const T* x, int64_t n) {
    if constexpr (std::is_same_v<T, float>) {
      return Rows().sum(x, n);
    } else {
      T total{0};
      for (int64_t i = 0; i < n; ++i) total = WrapAdd(total, x[i]);
      return total;
    }
  }
  static void Into(const T* x, T* acc, int64_t n) {
    if constexpr (std::is_same_v<T, float>) {
      Rows().add_scaled(x, 1.0f, acc, n);
    } else {
      for (int64_t i = 0; i < n; ++i) acc[i] = WrapAdd(acc[i], x[i]);
    }
  }
};

template <typename T>
struct SumSquaresOp : SumOp<T> {
  static T Row(const T* x, int64_t n) {
    if constexpr (std::is_same_v<T, float>) {
      return Rows().sum_squares(x, n);
    } else {
      T total{0};
      for (int64_t i = 0; i < n; ++i) total = WrapAdd(total, WrapMul(x[i], x[i]));
      return total;
    }
  }
  static void Into(const T* x, T* acc, int64_t n) {
    for (int64_t i = 0; i < n; ++i) acc[i] = WrapAdd(acc[i], WrapMul(x[i], x[i]));
  }
};

// An operation that is given by its neutral value and Combine alone.
template <typename T, T (*kInit)(), T (*kCombine)(T, T)>
struct SimpleOp {
  static T Init() { return kInit(); }
  static T Combine(T a, T b) { return kCombine(a, b); }
  static T Row(const T* x, int64_t n) {
    T total = kInit();
    for (int64_t i = 0; i < n; ++i) total = kCombine(total, x[i]);
    return total;
  }
  static void Into(const T* x, T* acc, int64_t n) {
    for (int64_t i = 0; i < n; ++i) acc[i] = kCombine(acc[i], x[i]);
  }
};

template <typename T>
T One() {
  return T{1};
}
template <typename T>
T Lowest() {
  if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::lowest();
}
template <typename T>
T Highest() {
  if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::max();
}
template <typename T>
T Larger(T a, T b) {
  return b > a || b != b ? b : a;
}
template <typename T>
T Smaller(T a, T b) {
  return b < a || b != b ? b : a;
}
bool True() { return true; }
bool False() { return false; }
bool Both(bool a, bool b) { return a && b; }
bool Either(bool a, bool b) { return a || b; }

template <typename T>
struct MaxOp : SimpleOp<T, Lowest<T>, Larger<T>> {
  static T Row(const T* x, int64_t n) {
    if constexpr (std::is_same_v<T, float>) return Rows().max(x, n);
    return SimpleOp<T, Lowest<T>, Larger<T>>::Row(x, n);
  }
  static void Into(const T* x, T* acc, int64_t n) {
    if constexpr (std::is_same_v<T, float>) return Rows().max_into(x, acc, n);
    SimpleOp<T, Lowest<T>, Larger<T>>::Into(x, acc, n);
  }
};
// The squares of complex numbers' magnitudes.
template <typename C>
struct SquaredNormOp : SumOp<C> {
  static C Row(const C* x, int64_t n) {
    C total{};
    Into(x, &total, n, 0);
    return total;
  }
  static void Into(const C* x, C* acc, int64_t n, int64_t step = 1) {
    for (int64_t i = 0; i < n; ++i) acc[i * step] += std::norm(x[i]);
  }
};
template <typename T>
using MinOp = SimpleOp<T, Highest<T>, Smaller<T>>;
template <typename T>
using ProdOp = SimpleOp<T, One<T>, WrapMul<T>>;
using AllOp = SimpleOp<bool, True, Both>;
using AnyOp = SimpleOp<bool, False, Either>;

// Dimensions d… of the input at x into the outputs at y; returns the inputs passed.
template <typename T, typename Op>
void ReduceFrom(const Reduction& r, size_t d, const T* x, const IntVec& in_stride,
                const IntVec& out_stride, T* y) {
  const int64_t n = r.dims[d];
  if (d + 1 == r.dims.size()) {
    if (!r.reduced(d)) return Op::Into(x, y, n);
    *y = Op::Combine(*y, Op::Row(x, n));
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    ReduceFrom<T, Op>(r, d + 1, x + i * in_stride[d], in_stride, out_stride, y + i * out_stride[d]);
  }
}

constexpr int64_t kReduceGrain = 32768;

// Everything to one value: in chunks that do not depend on the number of threads.
template <typename T, typename Op>
void ReduceAll(ThreadPool& pool, const T* x, int64_t n, T* y) {
  constexpr int64_t kMaxChunks = 64;
  const int64_t size = std::max(kReduceGrain, (n + kMaxChunks - 1) / kMaxChunks);
  const int64_t chunks = (n + size - 1) / size;
  T partial[kMaxChunks];
  pool.ParallelFor(chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      partial[i] = Op::Row(x + i * size, std::min(size, n - i * size));
    }
  });
  for (int64_t i = 0; i < chunks; ++i) *y = Op::Combine(*y, partial[i]);
}

template <typename T, typename Op>
void Reduce(ThreadPool& pool, const Reduction& r, const T* x, int64_t count, T* y) {
  std::fill_n(y, r.output.num_elements(), Op::Init());
  if (count == 0) return;
  const size_t rank = r.dims.size();
  IntVec in_stride(rank, 1), out_stride(rank, 0);
  int64_t in = 1, out = 1;
  for (size_t d = rank; d-- > 0;) {
    in_stride[d] = in;
    in *= r.dims[d];
    if (r.reduced(d)) continue;
    out_stride[d] = out;
    out *= r.dims[d];
  }
  if (rank == 1 && r.reduced(0)) return ReduceAll<T, Op>(pool, x, count, y);
  if (rank == 2 && r.reduced(0)) {  // rows into one row: each thread some columns
    const int64_t rows = r.dims[0], cols = r.dims[1];
    pool.ParallelFor(cols, std::max<int64_t>(16, kReduceGrain / rows),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t i = 0; i < rows; ++i) {
                         Op::Into(x + i * cols + begin, y + begin, end - begin);
                       }
                     });
    return;
  }
  if (r.reduced(0)) return ReduceFrom<T, Op>(r, 0, x, in_stride, out_stride, y);
  const int64_t inner = count / r.dims[0];
  pool.ParallelFor(r.dims[0], std::max<int64_t>(1, kReduceGrain / inner),
                   [&](int64_t begin, int64_t end) {
                     if (rank == 1) return Op::Into(x + begin, y + begin, end - begin);
                     for (int64_t i = begin; i < end; ++i) {
                       ReduceFrom<T, Op>(r, 1, x + i * in_stride[0], in_stride, out_stride,
                                         y + i * out_stride[0]);
                     }
                   });
}

enum class Kind : uint8_t { kSum, kMean, kProd, kMax, kMin, kNorm };

template <typename T>
void ReduceAs(Kind kind, ThreadPool& pool, const Reduction& r, const T* x, int64_t count, T* y) {
  switch (kind) {
    case Kind::kProd:
      return Reduce<T, ProdOp<T>>(pool, r, x, count, y);
    case Kind::kMax:
      return Reduce<T, MaxOp<T>>(pool, r, x, count, y);
    case Kind::kMin:
      return Reduce<T, MinOp<T>>(pool, r, x, count, y);
    case Kind::kNorm:
      Reduce<T, SumSquaresOp<T>>(pool, r, x, count, y);
      for (int64_t i = 0; i < r.output.num_elements(); ++i) {
        y[i] = static_cast<T>(std::sqrt(static_cast<double>(y[i])));
      }
      return;
    case Kind::kSum:
    case Kind::kMean:
      break;
  }
  Reduce<T, SumOp<T>>(pool, r, x, count, y);
  if (kind == Kind::kSum) return;
  for (int64_t i = 0; i < r.output.num_elements(); ++i) {
    if constexpr (std::is_integral_v<T>) {
      y[i] = r.reduced_count == 0 ? T{0}
                                  : static_cast<T>(static_cast<int64_t>(y[i]) / r.reduced_count);
    } else {
      y[i] /= static_cast<T>(r.reduced_count);
    }
  }
}

template <typename H>
Status ReduceHalf(KernelContext& c, Kind kind, const Reduction& r, const Tensor& x, Tensor* y) {
  const auto n = static_cast<size_t>(x.num_elements()), m = static_cast<size_t>(y->num_elements());
  auto* wide = static_cast<float*>(c.Scratch((n + m) * sizeof(float) + 1));
  if (wide == nullptr) return ResourceExhaustedError("No memory to widen half values");
  for (size_t i = 0; i < n; ++i) wide[i] = static_cast<float>(x.flat<H>()[i]);
  ReduceAs<float>(kind, c.intra_op(), r, wide, x.num_elements(), wide + n);
  for (size_t i = 0; i < m; ++i) y->flat<H>()[i] = H(wide[n + i]);
  return OkStatus();
}

template <typename C>
Status ReduceComplex(KernelContext& c, Kind kind, const Reduction& r, const Tensor& x, Tensor* y) {
  const C* in = x.flat<C>().data();
  C* out = y->flat<C>().data();
  if (kind == Kind::kProd) {
    Reduce<C, ProdOp<C>>(c.intra_op(), r, in, x.num_elements(), out);
  } else if (kind == Kind::kNorm) {
    Reduce<C, SquaredNormOp<C>>(c.intra_op(), r, in, x.num_elements(), out);
    for (int64_t i = 0; i < r.output.num_elements(); ++i) out[i] = std::sqrt(out[i]);
  } else {
    Reduce<C, SumOp<C>>(c.intra_op(), r, in, x.num_elements(), out);
    if (kind != Kind::kMean) return OkStatus();
    const auto count = static_cast<typename C::value_type>(r.reduced_count);
    for (int64_t i = 0; i < r.output.num_elements(); ++i) out[i] /= count;
  }
  return OkStatus();
}

Kind KindOf(std::string_view op) {
  if (op == "Sum") return Kind::kSum;
  if (op == "Mean") return Kind::kMean;
  if (op == "Prod") return Kind::kProd;
  if (op == "Max") return Kind::kMax;
  if (op == "Min") return Kind::kMin;
  return Kind::kNorm;
}

StatusOr<KernelFn> BindReduce(const BindContext& bind) {
  const Kind kind = KindOf(bind.node->op());
  const bool keep_dims = BoolAttr(*bind.node, "keep_dims");
  return KernelFn([kind, keep_dims](KernelContext& c) -> Status {
    const Tensor& x = c.input(0);
    ASSIGN_OR_RETURN(Reduction r, PlanReduction(x.shape(), c.input(1), keep_dims));
    ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, r.output));
    if (x.dtype() == DType::kHalf) return ReduceHalf<Half>(c, kind, r, x, y);
    if (x.dtype() == DType::kBFloat16) return ReduceHalf<BFloat16>(c, kind, r, x, y);
    if (x.dtype() == DType::kComplex64) {
      return ReduceComplex<std::complex<float>>(c, kind, r, x, y);
    }
    if (x.dtype() == DType::kComplex128) {
      return ReduceComplex<std::complex<double>>(c, kind, r, x, y);
    }
    return SwitchType<Status>(Numbers{}, x.dtype(), [&]<typename T>() {
      ReduceAs<T>(kind, c.intra_op(), r, x.flat<T>().data(), x.num_elements(), y->flat<T>().data());
      return OkStatus();
    });
  });
}

StatusOr<KernelFn> BindBoolReduce(const BindContext& bind) {
  const bool all = bind.node->op() == "All";
  const bool keep_dims = BoolAttr(*bind.node, "keep_dims");
  return KernelFn([all, keep_dims](KernelContext& c) -> Status {
    const Tensor& x = c.input(0);
    ASSIGN_OR_RETURN(Reduction r, PlanReduction(x.shape(), c.input(1), keep_dims));
    ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, r.output));
    const bool* in = x.flat<bool>().data();
    bool* out = y->flat<bool>().data();
    if (all) {
      Reduce<bool, AllOp>(c.intra_op(), r, in, x.num_elements(), out);
    } else {
      Reduce<bool, AnyOp>(c.intra_op(), r, in, x.num_elements(), out);
    }
    return OkStatus();
  });
}

Status RunL2Loss(KernelContext& c) {
  const Tensor& x = c.input(0);
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, Shape()));
  if (IsHalfSize(x.dtype())) {
    float sum = 0;
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      const auto at = static_cast<size_t>(i);
      const float v = x.dtype() == DType::kHalf ? static_cast<float>(x.flat<Half>()[at])
                                                : static_cast<float>(x.flat<BFloat16>()[at]);
      sum += v * v;
    }
    if (x.dtype() == DType::kHalf) {
      y->flat<Half>()[0] = Half(sum / 2);
    } else {
      y->flat<BFloat16>()[0] = BFloat16(sum / 2);
    }
    return OkStatus();
  }
  return SwitchType<Status>(Reals{}, x.dtype(), [&]<typename T>() {
    T* out = y->flat<T>().data();
    *out = 0;
    ReduceAll<T, SumSquaresOp<T>>(c.intra_op(), x.flat<T>().data(), x.num_elements(), out);
    *out /= 2;
    return OkStatus();
  });
}

std::vector<KernelDef> MakeTable() {
  std::vector<KernelRow> rows;
  for (const char* op : {"Sum", "Mean", "Prod", "Max", "Min", "EuclideanNorm"}) {
    const bool ordered = std::string_view(op).starts_with('M') && op[1] != 'e';  // Max and Min
    rows.push_back({op, BindReduce, ordered ? NumberTypes() : WithComplex(NumberTypes())});
  }
  rows.push_back({"All", BindBoolReduce});
  rows.push_back({"Any", BindBoolReduce});
  rows.push_back({"L2Loss",
                  [](const BindContext&) -> StatusOr<KernelFn> { return KernelFn(RunL2Loss); },
                  FloatTypes()});
  return MakeKernels(std::move(rows));
}

}  // namespace

std::span<const KernelDef> ReduceKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
