// SPDX-License-Identifier: Apache-2.0
//
// Along one axis: positions of extremes, running sums and products, the k largest.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

// A tensor seen along one axis as [outer, n, inner].
struct AxisView {
  int64_t outer = 1, n = 1, inner = 1;
};
AxisView ViewAlong(const Shape& shape, int axis) {
  AxisView view;
  for (int d = 0; d < axis; ++d) view.outer *= shape.dim(d);
  view.n = shape.dim(axis);
  for (int d = axis + 1; d < shape.rank(); ++d) view.inner *= shape.dim(d);
  return view;
}

// The first position of the extreme; NaN never is one.
template <typename T>
int64_t PositionOfExtreme(const T* x, int64_t n, int64_t stride, bool largest) {
  int64_t best = -1;
  for (int64_t i = 0; i < n; ++i) {
    const T v = x[i * stride];
    if (v != v) continue;
    if (best < 0 || (largest ? v > x[best * stride] : v < x[best * stride])) best = i;
  }
  return std::max<int64_t>(best, 0);
}

template <typename T>
float Widened(const T* x, int64_t i) {
  return static_cast<float>(x[i]);
}

template <typename T>
void FindPositions(const AxisView& v, const T* x, bool largest, const auto& put) {
  for (int64_t o = 0; o < v.outer; ++o) {
    for (int64_t i = 0; i < v.inner; ++i) {
      put(o * v.inner + i, PositionOfExtreme(x + o * v.n * v.inner + i, v.n, v.inner, largest));
    }
  }
}

StatusOr<KernelFn> BindArg(const BindContext& bind) {
  const bool largest = bind.node->op() == "ArgMax";
  return KernelFn([largest](KernelContext& c) -> Status {
    const Tensor& x = c.input(0);
    RETURN_IF_ERROR(CheckScalar(c.input(1), "dimension"));
    ASSIGN_OR_RETURN(int64_t given, ReadInt(c.input(1), "dimension"));
    ASSIGN_OR_RETURN(int axis, NormalizeAxis(given, x.rank(), "dimension"));
    if (x.dim(axis) == 0) {
      return InvalidArgumentError(
          StrCat("Reduction axis ", given, " is empty in shape ", x.shape().ToString()));
    }
    Shape shape;
    for (int d = 0; d < x.rank(); ++d) {
      if (d != axis) shape.AddDim(x.dim(d));
    }
    ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, shape));
    const AxisView view = ViewAlong(x.shape(), axis);
    const auto find = [&](const auto& put) {
      if (IsHalfSize(x.dtype())) {
        auto* wide = static_cast<float*>(
            c.Scratch(static_cast<size_t>(x.num_elements()) * sizeof(float) + 1));
        if (wide == nullptr) return ResourceExhaustedError("No memory to widen half values");
        for (int64_t i = 0; i < x.num_elements(); ++i) {
          wide[i] = x.dtype() == DType::kHalf ? Widened(x.flat<Half>().data(), i)
                                              : Widened(x.flat<BFloat16>().data(), i);
        }
        FindPositions<float>(view, wide, largest, put);
        return OkStatus();
      }
      return SwitchType<Status>(TypeList<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t,
                                         uint16_t, uint32_t, uint64_t, bool>{},
                                x.dtype(), [&]<typename T>() {
                                  FindPositions<T>(view, x.flat<T>().data(), largest, put);
                                  return OkStatus();
                                });
    };
    return SwitchType<Status>(
        TypeList<int64_t, int32_t, int16_t, uint16_t>{}, y->dtype(), [&]<typename I>() {
          I* out = y->flat<I>().data();
          return find([out](int64_t i, int64_t position) { out[i] = static_cast<I>(position); });
        });
  });
}

struct ScanOptions {
  bool product = false;
  bool exclusive = false;
  bool reverse = false;
};

template <typename T>
void ScanLine(const T* x, T* y, int64_t n, int64_t stride, const ScanOptions& options) {
  T total(static_cast<WideOf<T>>(options.product ? 1 : 0));
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = (options.reverse ? n - 1 - i : i) * stride;
    const T value = x[at];
    const T next = options.product ? WrapMul(total, value) : WrapAdd(total, value);
    y[at] = options.exclusive ? total : next;
    total = next;
  }
}

using ScanTypes =
    TypeList<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
             uint64_t, Half, BFloat16, std::complex<float>, std::complex<double>>;

StatusOr<KernelFn> BindScan(const BindContext& bind) {
  ScanOptions options;
  options.product = bind.node->op() == "Cumprod";
  options.exclusive = BoolAttr(*bind.node, "exclusive");
  options.reverse = BoolAttr(*bind.node, "reverse");
  return KernelFn([options](KernelContext& c) -> Status {
    const Tensor& x = c.input(0);
    RETURN_IF_ERROR(CheckScalar(c.input(1), "axis"));
    ASSIGN_OR_RETURN(int64_t given, ReadInt(c.input(1), "axis"));
    ASSIGN_OR_RETURN(int axis, NormalizeAxis(given, x.rank(), "axis"));
    ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, x.shape()));
    const AxisView v = ViewAlong(x.shape(), axis);
    return SwitchType<Status>(ScanTypes{}, x.dtype(), [&]<typename T>() {
      for (int64_t o = 0; o < v.outer; ++o) {
        for (int64_t i = 0; i < v.inner; ++i) {
          const int64_t at = o * v.n * v.inner + i;
          ScanLine<T>(x.flat<T>().data() + at, y->flat<T>().data() + at, v.n, v.inner, options);
        }
      }
      return OkStatus();
    });
  });
}

// Whether an element comes before another: the larger, then the earlier. NaN is as large as
// anything, which is no order; what follows from that is TensorFlow's, step by step.
template <typename T>
struct Larger {
  const T* x;
  bool operator()(int32_t a, int32_t b) const {
    const auto va = Widen(x[a]), vb = Widen(x[b]);
    return va > vb || (!(va < vb) && a < b);
  }
};

// The first k of n in order[0, k), by a heap whose front is the last of them.
template <typename T>
void HeapSelect(const Larger<T>& before, int64_t n, int64_t k, bool sorted, int32_t* order) {
  int32_t* const end = order + k + 1;
  std::make_heap(order, end, before);
  std::pop_heap(order, end, before);
  for (auto i = static_cast<int32_t>(k) + 1; i < n; ++i) {
    if (!before(i, order[0])) continue;
    order[k] = i;
    std::push_heap(order, end, before);
    std::pop_heap(order, end, before);
  }
  if (sorted) std::sort_heap(order, order + k, before);
}

// All n, by a sort that any comparison is safe with.
template <typename T>
void SortAll(const T* x, int64_t n, int32_t* order) {
  constexpr int64_t kFew = 16;
  const auto larger = [x](int32_t a, int32_t b) { return Widen(x[a]) > Widen(x[b]); };
  if (n <= kFew) {
    for (int64_t i = 1; i < n; ++i) {
      const auto first =
          larger(order[i], order[0])
              ? order
              : std::find_if_not(std::reverse_iterator(order + i), std::reverse_iterator(order),
                                 [&](int32_t a) { return larger(order[i], a); })
                    .base();
      std::rotate(first, order + i, order + i + 1);
    }
    return;
  }
  std::stable_sort(order, order + n, [x, larger](int32_t a, int32_t b) {
    const bool a_nan = Widen(x[a]) != Widen(x[a]), b_nan = Widen(x[b]) != Widen(x[b]);
    return a_nan || b_nan ? a_nan && !b_nan : larger(a, b);
  });
}

template <typename T>
int32_t LargestOf(const T* x, int64_t n) {
  int32_t best = 0;
  for (int32_t i = 1; i < n; ++i) {
    if (Widen(x[i]) > Widen(x[best])) best = i;
  }
  return best;
}

struct TopSpec {
  int64_t k = 0;
  bool sorted = true;
};

template <typename T, typename I>
void TopRow(const T* x, int64_t n, const TopSpec& spec, int32_t* order, T* values, I* indices) {
  std::iota(order, order + n, 0);
  if (spec.k == 1) {
    order[0] = LargestOf(x, n);
  } else if (spec.k == n) {
    SortAll(x, n, order);
  } else {
    HeapSelect(Larger<T>{x}, n, spec.k, spec.sorted, order);
  }
  for (int64_t i = 0; i < spec.k; ++i) {
    values[i] = x[order[i]];
    indices[i] = static_cast<I>(order[i]);
  }
}

Status TopK(KernelContext& c, const TopSpec& spec) {
  const int64_t k = spec.k;
  const Tensor& x = c.input(0);
  if (k < 0) return InvalidArgumentError(StrCat("Need k >= 0, got ", k));
  if (x.rank() < 1) {
    return InvalidArgumentError("input must be >= 1-D, got shape " + x.shape().ToString());
  }
  const int64_t n = x.dim(x.rank() - 1);
  if (n < k) {
    return InvalidArgumentError(
        StrCat("input must have at least k columns. Had ", n, ", needed ", k));
  }
  if (n > std::numeric_limits<int32_t>::max()) {
    return InvalidArgumentError(StrCat("input has too many columns: ", n));
  }
  Shape shape = x.shape();
  shape.set_dim(x.rank() - 1, k);
  ASSIGN_OR_RETURN(Tensor * values, c.AllocateOutput(0, shape));
  ASSIGN_OR_RETURN(Tensor * indices, c.AllocateOutput(1, shape));
  if (shape.num_elements() == 0) return OkStatus();
  auto* order = static_cast<int32_t*>(c.Scratch(static_cast<size_t>(n) * sizeof(int32_t)));
  if (order == nullptr) return ResourceExhaustedError("No memory to sort a row");
  return SwitchType<Status>(AllNumbers{}, x.dtype(), [&]<typename T>() {
    for (int64_t r = 0; r < x.num_elements() / n; ++r) {
      const T* row = x.flat<T>().data() + r * n;
      T* to = values->flat<T>().data() + r * k;
      if (indices->dtype() == DType::kInt64) {
        TopRow(row, n, spec, order, to, indices->flat<int64_t>().data() + r * k);
      } else if (indices->dtype() == DType::kInt16) {
        TopRow(row, n, spec, order, to, indices->flat<int16_t>().data() + r * k);
      } else {
        TopRow(row, n, spec, order, to, indices->flat<int32_t>().data() + r * k);
      }
    }
    return OkStatus();
  });
}

StatusOr<KernelFn> BindTopK(const BindContext& bind) {
  const int64_t fixed = IntAttr(*bind.node, "k", -1);
  const bool from_input = bind.node->op() == "TopKV2";
  const bool sorted = BoolAttr(*bind.node, "sorted", true);
  return KernelFn([=](KernelContext& c) -> Status {
    if (!from_input) return TopK(c, {fixed, sorted});
    RETURN_IF_ERROR(CheckScalar(c.input(1), "k"));
    const Tensor& k = c.input(1);
    if (k.dtype() == DType::kInt16) return TopK(c, {k.flat<int16_t>()[0], sorted});
    ASSIGN_OR_RETURN(int64_t value, ReadInt(k, "k"));
    return TopK(c, {value, sorted});
  });
}

// Whether fewer than k classes are above the target's; false where that cannot be said.
bool IsInTopK(std::span<const float> row, int64_t target, int64_t k) {
  if (target < 0 || target >= static_cast<int64_t>(row.size())) return false;
  const float value = row[static_cast<size_t>(target)];
  if (!std::isfinite(value)) return false;
  int64_t above = 0;
  for (float v : row) {
    if (!std::isfinite(v)) return false;
    if (v > value && ++above > k) break;
  }
  return above < k;
}

StatusOr<KernelFn> BindInTopK(const BindContext& bind) {
  const int64_t fixed = IntAttr(*bind.node, "k", 0);
  const bool from_input = bind.node->op() == "InTopKV2";
  return KernelFn([=](KernelContext& c) -> Status {
    int64_t k = fixed;
    if (from_input) {
      RETURN_IF_ERROR(CheckScalar(c.input(2), "k must be 0-D: k"));
      ASSIGN_OR_RETURN(k, ReadInt(c.input(2), "k"));
    }
    const Tensor& predictions = c.input(0);
    RETURN_IF_ERROR(CheckRank(predictions, 2, "predictions"));
    RETURN_IF_ERROR(CheckRank(c.input(1), 1, "targets"));
    ASSIGN_OR_RETURN(IntVec targets, ReadIntVector(c.input(1), "targets"));
    const int64_t rows = predictions.dim(0), cols = predictions.dim(1);
    if (rows != static_cast<int64_t>(targets.size())) {
      return InvalidArgumentError(StrCat("First dimension of predictions ", rows,
                                         " must match length of targets ", targets.size()));
    }
    ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, Shape({rows})));
    for (int64_t r = 0; r < rows; ++r) {
      const auto row = predictions.flat<float>().subspan(static_cast<size_t>(r * cols),
                                                         static_cast<size_t>(cols));
      y->flat<bool>()[static_cast<size_t>(r)] = IsInTopK(row, targets[static_cast<size_t>(r)], k);
    }
    return OkStatus();
  });
}

std::vector<KernelDef> MakeTable() {
  std::vector<DType> arg = NumberTypes();
  arg.push_back(DType::kBool);
  return MakeKernels({
      {"ArgMax", BindArg, arg},
      {"ArgMin", BindArg, arg},
      {"Cumsum", BindScan, ScanTypes::DTypes()},
      {"Cumprod", BindScan, ScanTypes::DTypes()},
      {"TopK", BindTopK, AllNumbers::DTypes()},
      {"TopKV2", BindTopK, AllNumbers::DTypes()},
      {"InTopK", BindInTopK},
      {"InTopKV2", BindInTopK},
  });
}

}  // namespace

std::span<const KernelDef> ScanKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
