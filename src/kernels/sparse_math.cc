// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of sparse tensors: sums, products, reductions, softmax.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <map>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/gemm.h"
#include "kernels/kernel_table.h"
#include "kernels/sparse.h"
#include "kernels/strided_copy.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

using SparseTypes =
    TypeList<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
             uint64_t, Half, BFloat16, std::complex<float>, std::complex<double>>;

template <typename T>
const T* ValuesOf(const SparseView& s) {
  return s.values->flat<T>().data();
}

Status CheckSameSparseShape(const SparseView& a, const SparseView& b) {
  if (std::equal(a.shape.begin(), a.shape.end(), b.shape.begin(), b.shape.end())) {
    return OkStatus();
  }
  return InvalidArgumentError(StrCat("Operands' shapes do not match: got [", StrJoin(a.shape, ","),
                                     "] and [", StrJoin(b.shape, ","), "]"));
}

// Which elements of a and b (or -1) make each element of their union, both being in order.
std::vector<std::pair<int64_t, int64_t>> UnionOf(const SparseView& a, const SparseView& b) {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  int64_t i = 0, j = 0;
  while (i < a.count || j < b.count) {
    const int order = i == a.count   ? 1
                      : j == b.count ? -1
                                     : CompareIndices(a.at(i), b.at(j), a.rank);
    pairs.emplace_back(order <= 0 ? i++ : -1, order >= 0 ? j++ : -1);
  }
  return pairs;
}

double Magnitude(double v) { return std::abs(v); }
double Magnitude(std::complex<double> v) { return std::abs(v); }

template <typename T>
double MagnitudeOf(T v) {
  if constexpr (kIsComplex<T>) return Magnitude(std::complex<double>(v));
  if constexpr (!kIsComplex<T>) return Magnitude(static_cast<double>(Widen(v)));
}

StatusOr<double> ReadThreshold(const Tensor& t) {
  RETURN_IF_ERROR(CheckScalar(t, "The magnitude threshold must be a scalar: thresh"));
  return SwitchType<double>(AllNumbers{}, t.dtype(), [&]<typename T>() {
    return static_cast<double>(Widen(t.flat<T>()[0]));
  });
}

// The union, but for what both have and whose sum is below the threshold.
Status RunSparseAdd(KernelContext& c) {
  ASSIGN_OR_RETURN(const SparseView a, SparseInput(c, 0));
  ASSIGN_OR_RETURN(const SparseView b, SparseInput(c, 3));
  RETURN_IF_ERROR(CheckSameSparseShape(a, b));
  ASSIGN_OR_RETURN(const double threshold, ReadThreshold(c.input(6)));
  const auto pairs = UnionOf(a, b);
  RETURN_IF_ERROR(PutShape(c, 2, a.shape));
  return SwitchType<Status>(SparseTypes{}, a.values->dtype(), [&]<typename T>() -> Status {
    std::vector<std::pair<const int64_t*, T>> kept;
    for (const auto& [i, j] : pairs) {
      const T sum = i < 0   ? ValuesOf<T>(b)[j]
                    : j < 0 ? ValuesOf<T>(a)[i]
                            : WrapAdd(ValuesOf<T>(a)[i], ValuesOf<T>(b)[j]);
      if (i < 0 || j < 0 || threshold <= MagnitudeOf(sum))
        kept.emplace_back(i < 0 ? b.at(j) : a.at(i), sum);
    }
    const auto n = static_cast<int64_t>(kept.size());
    ASSIGN_OR_RETURN(int64_t * indices, PutIndices(c, 0, n, a.rank));
    ASSIGN_OR_RETURN(Tensor * values, c.AllocateOutput(1, Shape({n})));
    for (int64_t k = 0; k < n; ++k) {
      std::copy_n(kept[static_cast<size_t>(k)].first, a.rank, indices + k * a.rank);
      values->flat<T>()[static_cast<size_t>(k)] = kept[static_cast<size_t>(k)].second;
    }
    return OkStatus();
  });
}

// Elementwise over the union; what is missing is 0.
StatusOr<KernelFn> BindExtreme(const BindContext& bind) {
  const bool largest = bind.node->op() == "SparseSparseMaximum";
  return KernelFn([largest](KernelContext& c) -> Status {
    ASSIGN_OR_RETURN(const SparseView a, SparseInput(c, 0));
    ASSIGN_OR_RETURN(const SparseView b, SparseInput(c, 3));
    RETURN_IF_ERROR(CheckSameSparseShape(a, b));
    const auto pairs = UnionOf(a, b);
    const auto n = static_cast<int64_t>(pairs.size());
    ASSIGN_OR_RETURN(int64_t * indices, PutIndices(c, 0, n, a.rank));
    ASSIGN_OR_RETURN(Tensor * values, c.AllocateOutput(1, Shape({n})));
    return SwitchType<Status>(AllNumbers{}, a.values->dtype(), [&]<typename T>() {
      for (int64_t k = 0; k < n; ++k) {
        const auto [i, j] = pairs[static_cast<size_t>(k)];
        std::copy_n(i < 0 ? b.at(j) : a.at(i), a.rank, indices + k * a.rank);
        const WideOf<T> x = i < 0 ? WideOf<T>{} : Widen(ValuesOf<T>(a)[i]);
        const WideOf<T> y = j < 0 ? WideOf<T>{} : Widen(ValuesOf<T>(b)[j]);
        values->flat<T>()[static_cast<size_t>(k)] = T(largest ? std::max(x, y) : std::min(x, y));
      }
      return OkStatus();
    });
  });
}

Status CheckAxes(const SparseView& s, const IntVec& axes, std::vector<bool>* reduced) {
  reduced->assign(static_cast<size_t>(s.rank), false);
  for (int64_t axis : axes) {
    if (axis < -s.rank || axis >= s.rank) {
      return InvalidArgumentError(StrCat("Invalid reduction dimension ", axis, ", for input with ",
                                         s.rank, " dimensions."));
    }
    (*reduced)[static_cast<size_t>(axis < 0 ? axis + s.rank : axis)] = true;
  }
  return OkStatus();
}

// Elements that are reduced together, by the index of what is kept (0 where reduced).
struct Groups {
  std::vector<bool> reduced;
  IntVec shape;  // of the output
  std::map<std::vector<int64_t>, std::vector<int64_t>> members;
};

StatusOr<Groups> GroupByKept(const KernelContext& c, const SparseView& s, bool keep_dims) {
  Groups groups;
  ASSIGN_OR_RETURN(const IntVec axes, ReadIntVector(c.input(3), "reduction_axes", true));
  RETURN_IF_ERROR(CheckAxes(s, axes, &groups.reduced));
  for (int d = 0; d < s.rank; ++d) {
    const auto at = static_cast<size_t>(d);
    if (!groups.reduced[at]) groups.shape.push_back(s.shape[at]);
    if (groups.reduced[at] && keep_dims) groups.shape.push_back(1);
  }
  for (int64_t i = 0; i < s.count; ++i) {
    std::vector<int64_t> key;
    for (int d = 0; d < s.rank; ++d) {
      const bool gone = groups.reduced[static_cast<size_t>(d)];
      if (!gone) key.push_back(s.at(i)[d]);
      if (gone && keep_dims) key.push_back(0);
    }
    groups.members[std::move(key)].push_back(i);
  }
  return groups;
}

template <typename T>
T ReduceMembers(const SparseView& s, const std::vector<int64_t>& members, bool largest) {
  WideOf<T> total = Widen(ValuesOf<T>(s)[members[0]]);
  for (size_t k = 1; k < members.size(); ++k) {
    const WideOf<T> v = Widen(ValuesOf<T>(s)[members[k]]);
    if constexpr (!kIsComplex<T>) {
      if (largest) {
        total = std::max(total, v);
        continue;
      }
    }
    total = WrapAdd(total, v);
  }
  return T(total);
}

StatusOr<KernelFn> BindReduce(const BindContext& bind) {
  const std::string& op = bind.node->op();
  const bool largest = op.find("Max") != std::string::npos, sparse = op.ends_with("Sparse");
  const bool keep_dims = BoolAttr(*bind.node, "keep_dims");
  return KernelFn([=](KernelContext& c) -> Status {
    ASSIGN_OR_RETURN(const SparseView s, SparseInput(c, 0));
    ASSIGN_OR_RETURN(const Groups groups, GroupByKept(c, s, keep_dims));
    const auto n = static_cast<int64_t>(groups.members.size());
    int64_t* indices = nullptr;
    if (sparse) {
      ASSIGN_OR_RETURN(indices, PutIndices(c, 0, n, groups.shape.rank()));
      RETURN_IF_ERROR(PutShape(c, 2, groups.shape.span()));
    }
    ASSIGN_OR_RETURN(const Shape dense, Shape::FromDims(groups.shape.span()));
    ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(sparse ? 1 : 0, sparse ? Shape({n}) : dense));
    if (y->num_elements() > 0) std::memset(y->raw_data(), 0, y->byte_size());
    return SwitchType<Status>(SparseTypes{}, y->dtype(), [&]<typename T>() {
      int64_t next = 0;
      for (const auto& [key, members] : groups.members) {
        int64_t at = next++;
        if (sparse) {
          indices = std::copy(key.begin(), key.end(), indices);
        } else {
          at = 0;
          for (size_t d = 0; d < key.size(); ++d) at = at * groups.shape[d] + key[d];
        }
        y->flat<T>()[static_cast<size_t>(at)] = ReduceMembers<T>(s, members, largest);
      }
      return OkStatus();
    });
  });
}

// Over the last dimension of elements that are in order.
Status RunSoftmax(KernelContext& c) {
  ASSIGN_OR_RETURN(const SparseView s, SparseInput(c, 0));
  if (s.rank < 2) {
    return InvalidArgumentError(StrCat("Input should have rank >= 2, got rank ", s.rank));
  }
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, Shape({s.count})));
  return SwitchType<Status>(Floats{}, y->dtype(), [&]<typename T>() {
    using W = WideOf<T>;
    const T* x = ValuesOf<T>(s);
    T* out = y->flat<T>().data();
    for (int64_t begin = 0; begin < s.count;) {
      int64_t end = begin;
      W most = Widen(x[begin]), sum = 0;
      for (; end < s.count && CompareIndices(s.at(begin), s.at(end), s.rank - 1) == 0; ++end) {
        most = std::max(most, Widen(x[end]));
      }
      for (int64_t i = begin; i < end; ++i) sum += std::exp(Widen(x[i]) - most);
      for (int64_t i = begin; i < end; ++i) out[i] = T(std::exp(Widen(x[i]) - most) / sum);
      begin = end;
    }
    return OkStatus();
  });
}

// dense + sparse, of one shape.
Status RunDenseAdd(KernelContext& c) {
  const Tensor& b = c.input(3);
  ASSIGN_OR_RETURN(const IntVec indices, ReadInts(c.input(0), "a_indices"));
  ASSIGN_OR_RETURN(const IntVec shape, ReadIntVector(c.input(2), "a_shape"));
  const Tensor& values = c.input(1);
  RETURN_IF_ERROR(CheckRank(c.input(0), 2, "Input a_indices should be a matrix: a_indices"));
  RETURN_IF_ERROR(CheckRank(values, 1, "Input a_values should be a vector: a_values"));
  if (shape.rank() != b.rank() || c.input(0).dim(1) != b.rank() ||
      c.input(0).dim(0) != values.dim(0)) {
    return InvalidArgumentError(StrCat(
        "Two operands have different dimensions; received: ", shape.rank(), " and ", b.rank()));
  }
  for (int d = 0; d < b.rank(); ++d) {
    if (shape[static_cast<size_t>(d)] == b.dim(d)) continue;
    return InvalidArgumentError(StrCat("Dimension ", d,
                                       " does not equal (no broadcasting is "
                                       "supported): sparse side ",
                                       shape[static_cast<size_t>(d)], " vs dense side ", b.dim(d)));
  }
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, b.shape()));
  if (y->raw_data() != b.raw_data()) {
    CopyElements(b.dtype(), b.raw_data(), y->raw_data(), b.num_elements());
  }
  return SwitchType<Status>(SparseTypes{}, y->dtype(), [&]<typename T>() -> Status {
    for (int64_t i = 0; i < values.dim(0); ++i) {
      int64_t at = 0;
      for (int d = 0; d < b.rank(); ++d) {
        const int64_t index = indices[static_cast<size_t>(i * b.rank() + d)];
        if (index < 0 || index >= b.dim(d)) {
          return InvalidArgumentError(StrCat("Sparse tensor has some invalid index on dimension ",
                                             d, ": ", index, " is not in [0, ", b.dim(d), ")"));
        }
        at = at * b.dim(d) + index;
      }
      T& to = y->flat<T>()[static_cast<size_t>(at)];
      to = WrapAdd(to, values.flat<T>()[static_cast<size_t>(i)]);
    }
    return OkStatus();
  });
}

struct Product {
  bool adjoint_a = false, adjoint_b = false;
  int64_t m = 0, k = 0, n = 0;
};

template <typename T>
T Conjugated(T v, bool yes) {
  if constexpr (kIsComplex<T>) return yes ? std::conj(v) : v;
  return v;
}

template <typename T>
Status MultiplySparse(KernelContext& c, const Product& p, const IntVec& indices, Tensor* y) {
  using W = WideOf<T>;
  const Tensor& b = c.input(3);
  const T* values = c.input(1).flat<T>().data();
  const T* dense = b.flat<T>().data();
  auto* sums = static_cast<W*>(c.Scratch(static_cast<size_t>(p.m * p.n) * sizeof(W) + 1));
  if (sums == nullptr) return ResourceExhaustedError("No memory for the product's sums");
  std::fill_n(sums, p.m * p.n, W{});
  for (int64_t e = 0; e < c.input(1).num_elements(); ++e) {
    const int64_t i = indices[static_cast<size_t>(2 * e + (p.adjoint_a ? 1 : 0))];
    const int64_t k = indices[static_cast<size_t>(2 * e + (p.adjoint_a ? 0 : 1))];
    if (i < 0 || i >= p.m || k < 0 || k >= p.k) {
      const bool first = k < 0 || k >= p.k;
      return InvalidArgumentError(StrCat(first ? "k (" : "m (", first ? k : i, ") from index[", e,
                                         ",", first == p.adjoint_a ? 0 : 1,
                                         "] out of bounds (>=", first ? p.k : p.m, ")"));
    }
    const W a = Conjugated<W>(Widen(values[e]), p.adjoint_a);
    for (int64_t j = 0; j < p.n; ++j) {
      const W x = Conjugated<W>(Widen(dense[p.adjoint_b ? j * p.k + k : k * p.n + j]), p.adjoint_b);
      sums[i * p.n + j] = WrapAdd(sums[i * p.n + j], WrapMul(a, x));
    }
  }
  for (int64_t i = 0; i < p.m * p.n; ++i) y->flat<T>()[static_cast<size_t>(i)] = T(sums[i]);
  return OkStatus();
}

StatusOr<KernelFn> BindDenseMatMul(const BindContext& bind) {
  const bool adjoint_a = BoolAttr(*bind.node, "adjoint_a");
  const bool adjoint_b = BoolAttr(*bind.node, "adjoint_b");
  return KernelFn([=](KernelContext& c) -> Status {
    const Tensor& b = c.input(3);
    ASSIGN_OR_RETURN(const IntVec shape, ReadIntVector(c.input(2), "Tensor 'a_shape'"));
    RETURN_IF_ERROR(CheckRank(b, 2, "Tensor 'b' is not a matrix: b"));
    RETURN_IF_ERROR(CheckRank(c.input(0), 2, "Tensor 'a_indices' is not a matrix: a_indices"));
    RETURN_IF_ERROR(CheckRank(c.input(1), 1, "Tensor 'a_values' is not a vector: a_values"));
    if (shape.size() != 2) return InvalidArgumentError("Tensor 'a_shape' must have 2 elements");
    if (c.input(0).dim(1) != 2 || c.input(0).dim(0) != c.input(1).dim(0)) {
      return InvalidArgumentError(
          "Number of columns of a_indices does not match number of entries "
          "in a_shape, or of rows that of a_values");
    }
    Product p = {adjoint_a, adjoint_b};
    p.m = shape[adjoint_a ? 1 : 0];
    p.k = shape[adjoint_a ? 0 : 1];
    p.n = b.dim(adjoint_b ? 0 : 1);
    if (p.k != b.dim(adjoint_b ? 1 : 0)) {
      return InvalidArgumentError(
          StrCat("Cannot multiply A and B because inner dimension does not match: ", p.k, " vs. ",
                 b.dim(adjoint_b ? 1 : 0), ".  Did you forget a transpose?  Dimensions of A: [",
                 shape[0], ", ", shape[1], ").  Dimensions of B: ", b.shape().ToString()));
    }
    const IntVec dims(std::array<int64_t, 2>{p.m, p.n});
    ASSIGN_OR_RETURN(const Shape out_shape, Shape::FromDims(dims.span()));
    ASSIGN_OR_RETURN(const IntVec indices, ReadInts(c.input(0), "a_indices"));
    ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, out_shape));
    return SwitchType<Status>(SparseTypes{}, y->dtype(),
                              [&]<typename T>() { return MultiplySparse<T>(c, p, indices, y); });
  });
}

// Float factors, whichever of the two float types they have.
StatusOr<const float*> FloatFactor(KernelContext& c, const Tensor& x) {
  if (x.dtype() == DType::kFloat) return x.flat<float>().data();
  auto* wide =
      static_cast<float*>(c.Scratch(static_cast<size_t>(x.num_elements()) * sizeof(float) + 1));
  if (wide == nullptr) return ResourceExhaustedError("No memory to widen a factor");
  std::transform(x.flat<BFloat16>().begin(), x.flat<BFloat16>().end(), wide,
                 [](BFloat16 v) { return static_cast<float>(v); });
  return static_cast<const float*>(wide);
}

// Dense matrices of which many elements are 0: a product like any other.
StatusOr<KernelFn> BindSparseMatMul(const BindContext& bind) {
  const bool ta = BoolAttr(*bind.node, "transpose_a"), tb = BoolAttr(*bind.node, "transpose_b");
  return KernelFn([=](KernelContext& c) -> Status {
    const Tensor& a = c.input(0);
    const Tensor& b = c.input(1);
    RETURN_IF_ERROR(CheckRank(a, 2, "a is not a matrix: a"));
    RETURN_IF_ERROR(CheckRank(b, 2, "b is not a matrix: b"));
    GemmArgs args;
    args.m = a.dim(ta ? 1 : 0);
    args.k = a.dim(ta ? 0 : 1);
    args.n = b.dim(tb ? 0 : 1);
    if (args.k != b.dim(tb ? 1 : 0)) {
      return InvalidArgumentError(StrCat("Matrix size incompatible: a: ", a.shape().ToString(),
                                         ", b: ", b.shape().ToString()));
    }
    ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, Shape({args.m, args.n})));
    ASSIGN_OR_RETURN(args.a, FloatFactor(c, a));
    ASSIGN_OR_RETURN(args.b, FloatFactor(c, b));
    args.transpose_a = ta;
    args.transpose_b = tb;
    args.lda = a.dim(1);
    args.ldb = b.dim(1);
    args.c = y->flat<float>().data();
    args.ldc = args.n;
    args.pool = &c.intra_op();
    Gemm(args);
    return OkStatus();
  });
}

template <typename T>
T Applied(char op, T x, T y) {
  if (op == 'A') return WrapAdd(x, y);
  if (op == 'M') return WrapMul(x, y);
  if constexpr (std::is_integral_v<T>) {
    if constexpr (std::is_signed_v<T>) {
      if (y == -1) return WrapSub(T{0}, x);
    }
    return y == 0 ? T{0} : static_cast<T>(x / y);
  } else {
    return T(Widen(x) / Widen(y));
  }
}

// The elements with those of a dense tensor that broadcasts to their shape.
StatusOr<KernelFn> BindCwise(const BindContext& bind) {
  const char op = bind.node->op()[std::strlen("SparseDenseCwise")];
  return KernelFn([op](KernelContext& c) -> Status {
    ASSIGN_OR_RETURN(const SparseView s, SparseInput(c, 0));
    const Tensor& dense = c.input(3);
    const int shift = s.rank - dense.rank();
    bool fits = shift >= 0;
    for (int d = 0; fits && d < dense.rank(); ++d) {
      fits = dense.dim(d) == 1 || dense.dim(d) == s.shape[static_cast<size_t>(shift + d)];
    }
    if (!fits) {
      return InvalidArgumentError(
          StrCat("SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible "
                 "shapes: [",
                 StrJoin(s.shape, ","), "] vs. ", dense.shape().ToString()));
    }
    const IntVec strides = RowMajorStrides(dense.shape());
    ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, Shape({s.count})));
    return SwitchType<Status>(AllNumbers{}, y->dtype(), [&]<typename T>() {
      for (int64_t i = 0; i < s.count; ++i) {
        int64_t at = 0;
        for (int d = 0; d < dense.rank(); ++d) {
          if (dense.dim(d) != 1) at += s.at(i)[shift + d] * strides[static_cast<size_t>(d)];
        }
        y->flat<T>()[static_cast<size_t>(i)] =
            Applied<T>(op, ValuesOf<T>(s)[i], dense.flat<T>()[static_cast<size_t>(at)]);
      }
      return OkStatus();
    });
  });
}

template <Status (*kRun)(KernelContext&)>
StatusOr<KernelFn> BindPlain(const BindContext&) {
  return KernelFn(kRun);
}

std::vector<KernelDef> MakeTable() {
  const std::vector<DType> all = SparseTypes::DTypes(), ordered = AllNumbers::DTypes();
  return MakeKernels({
      {"SparseAdd", BindPlain<RunSparseAdd>, all},
      {"SparseDenseCwiseAdd", BindCwise, ordered},
      {"SparseDenseCwiseDiv", BindCwise, ordered},
      {"SparseDenseCwiseMul", BindCwise, ordered},
      {"SparseMatMul", BindSparseMatMul, {}, "T", {}, {}, true},
      {"SparseReduceMax", BindReduce, ordered},
      {"SparseReduceMaxSparse", BindReduce, ordered},
      {"SparseReduceSum", BindReduce, all},
      {"SparseReduceSumSparse", BindReduce, all},
      {"SparseSoftmax", BindPlain<RunSoftmax>, FloatTypes()},
      {"SparseSparseMaximum", BindExtreme, ordered},
      {"SparseSparseMinimum", BindExtreme, ordered},
      {"SparseTensorDenseAdd", BindPlain<RunDenseAdd>, all, "T", {{3, 0}}},
      {"SparseTensorDenseMatMul", BindDenseMatMul, all},
  });
}

}  // namespace

std::span<const KernelDef> SparseMathKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
