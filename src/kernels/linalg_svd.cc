// SPDX-License-Identifier: Apache-2.0
//
// Singular values by Jacobi's method on one side, and least squares.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/attrs.h"
#include "kernels/linalg_matrix.h"

namespace slipway::kernels {
namespace {

// Columns that lie side by side in memory: column j of `length` numbers begins at j * length.
template <typename W>
struct Columns {
  std::vector<W> data;
  int64_t length = 0, count = 0;
  Columns(int64_t n, int64_t k) : data(static_cast<size_t>(n * k), W(0)), length(n), count(k) {}
  W* operator[](int64_t j) { return data.data() + j * length; }
  const W* operator[](int64_t j) const { return data.data() + j * length; }
};

template <typename W>
W Dot(const W* a, const W* b, int64_t n) {
  W sum(0);
  for (int64_t i = 0; i < n; ++i) sum += Conjugate(a[i]) * b[i];
  return sum;
}
template <typename W>
double Norm(const W* a, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::norm(a[i]);
  return std::sqrt(sum);
}

// The pair becomes (c a - s conj(phase) b, s phase a + c b).
template <typename W>
void Rotate(W* a, W* b, int64_t n, double c, double s, W phase) {
  for (int64_t i = 0; i < n; ++i) {
    const W x = a[i], y = b[i] * Conjugate(phase);
    a[i] = W(c) * x - W(s) * y;
    b[i] = (W(s) * x + W(c) * y);
  }
}

// a = u diag(s) v*, a of m x n with m >= n: u's columns in `a`, v's in `v`, s descending.
template <typename W>
void OneSidedJacobi(Columns<W>& a, Columns<W>& v, std::vector<double>& s) {
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  const int64_t n = a.count, m = a.length;
  for (int64_t j = 0; j < n; ++j) v[j][j] = W(1);
  bool turned = true;
  for (int sweep = 0; turned && sweep < 60; ++sweep) {
    turned = false;
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        const double alpha = std::norm(Norm(a[p], m)), beta = std::norm(Norm(a[q], m));
        const W gamma = Dot(a[p], a[q], m);
        const double size = std::abs(gamma);
        if (size <= kEpsilon * std::sqrt(alpha * beta) || size == 0) continue;
        turned = true;
        const double zeta = (beta - alpha) / (2 * size);
        const double t = (zeta >= 0 ? 1 : -1) / (std::abs(zeta) + std::hypot(1, zeta));
        const double c = 1 / std::hypot(1, t);
        const W phase = gamma / W(size);
        Rotate(a[p], a[q], m, c, c * t, phase);
        Rotate(v[p], v[q], v.length, c, c * t, phase);
      }
    }
  }
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::vector<double> norms;
  for (int64_t j = 0; j < n; ++j) norms.push_back(Norm(a[j], m));
  std::stable_sort(order.begin(), order.end(), [&](int64_t x, int64_t y) {
    return norms[static_cast<size_t>(x)] > norms[static_cast<size_t>(y)];
  });
  Columns<W> sorted_a(m, n), sorted_v(v.length, n);
  for (int64_t j = 0; j < n; ++j) {
    const int64_t from = order[static_cast<size_t>(j)];
    const double norm = norms[static_cast<size_t>(from)];
    s.push_back(norm);
    std::copy_n(v[from], v.length, sorted_v[j]);
    for (int64_t i = 0; i < m; ++i) sorted_a[j][i] = norm == 0 ? W(0) : a[from][i] / W(norm);
  }
  a = std::move(sorted_a);
  v = std::move(sorted_v);
}

// Orthonormal columns of `u` continued to `count`; those that are 0 are replaced.
template <typename W>
Columns<W> Completed(const Columns<W>& u, int64_t count) {
  const int64_t m = u.length;
  Columns<W> full(m, count);
  std::copy(u.data.begin(), u.data.end(), full.data.begin());
  for (int64_t j = 0; j < count; ++j) {
    if (j < u.count && Norm(u[j], m) > 0.5) continue;
    double best = 0;
    std::vector<W> candidate(static_cast<size_t>(m));
    for (int64_t axis = 0; axis < m && best < 0.5; ++axis) {
      std::fill(candidate.begin(), candidate.end(), W(0));
      candidate[static_cast<size_t>(axis)] = W(1);
      for (int twice = 0; twice < 2; ++twice) {
        for (int64_t k = 0; k < count; ++k) {
          if (k == j) continue;
          const W along = Dot(full[k], candidate.data(), m);
          for (int64_t i = 0; i < m; ++i) candidate[static_cast<size_t>(i)] -= along * full[k][i];
        }
      }
      const double norm = Norm(candidate.data(), m);
      if (norm <= best) continue;
      best = norm;
      for (int64_t i = 0; i < m; ++i) full[j][i] = candidate[static_cast<size_t>(i)] / W(norm);
    }
  }
  return full;
}

template <typename W>
struct Decomposition {
  Columns<W> u, v;
  std::vector<double> s;
};

// Of the row-major m x n matrix at `x`.
template <typename W>
Decomposition<W> Decompose(const W* x, int64_t m, int64_t n) {
  const bool tall = m >= n;
  const int64_t length = tall ? m : n, count = tall ? n : m;
  Columns<W> a(length, count), v(count, count);
  for (int64_t j = 0; j < count; ++j) {
    for (int64_t i = 0; i < length; ++i) a[j][i] = tall ? x[i * n + j] : Conjugate(x[j * n + i]);
  }
  std::vector<double> s;
  OneSidedJacobi(a, v, s);
  if (tall) return {std::move(a), std::move(v), std::move(s)};
  return {std::move(v), std::move(a), std::move(s)};
}

template <typename W>
void PutColumns(const Columns<W>& u, int64_t cols, Tensor* t, int64_t index) {
  const Columns<W> full = Completed(u, cols);
  std::vector<W> rows(full.data.size());
  for (int64_t j = 0; j < cols; ++j) {
    for (int64_t i = 0; i < u.length; ++i) rows[static_cast<size_t>(i * cols + j)] = full[j][i];
  }
  StoreNumbers<W>(rows.data(), u.length * cols, t, index * u.length * cols);
}

template <typename W>
StatusOr<std::vector<W>> Take(const Tensor& t, const MatrixBatch& batch, int64_t index) {
  std::vector<W> x(static_cast<size_t>(batch.rows * batch.cols));
  LoadNumbers<W>(t, index * batch.rows * batch.cols, batch.rows * batch.cols, x.data());
  const bool finite =
      std::all_of(x.begin(), x.end(), [](W v) { return std::isfinite(std::abs(v)); });
  if (!finite) return InvalidArgumentError("Input is not valid: it holds NaN or infinity");
  return x;
}

struct SvdOptions {
  bool vectors = true, full = false;
};

template <typename W>
Status RunSvd(KernelContext& c, const SvdOptions& options) {
  const Tensor& x = c.input(0);
  ASSIGN_OR_RETURN(const MatrixBatch batch, MatricesOf(x, 0));
  const int64_t m = batch.rows, n = batch.cols, k = std::min(m, n);
  const int64_t u_cols = options.full ? m : k, v_cols = options.full ? n : k;
  ASSIGN_OR_RETURN(Tensor * s, c.AllocateOutput(0, BatchShape(x, 2, {k})));
  const auto factor = [&](int i, int64_t rows, int64_t cols) -> StatusOr<Tensor*> {
    if (!options.vectors) return NoVectors(c, i);
    ASSIGN_OR_RETURN(const Shape shape, Shape::FromDims(BatchShape(x, 2, {rows, cols}).dims()));
    return c.AllocateOutput(i, shape);
  };
  ASSIGN_OR_RETURN(Tensor * u, factor(1, m, u_cols));
  ASSIGN_OR_RETURN(Tensor * v, factor(2, n, v_cols));
  for (int64_t i = 0; i < batch.count; ++i) {
    ASSIGN_OR_RETURN(const std::vector<W> a, Take<W>(x, batch, i));
    const Decomposition<W> svd = Decompose(a.data(), m, n);
    const std::vector<W> values(svd.s.begin(), svd.s.end());
    StoreNumbers<W>(values.data(), k, s, i * k);
    if (!options.vectors) continue;
    PutColumns(svd.u, u_cols, u, i);
    PutColumns(svd.v, v_cols, v, i);
  }
  return OkStatus();
}

// The least squares solution of least norm: v (s / (s^2 + l2)) u* b.
template <typename W>
Status RunSolveLs(KernelContext& c, bool fast) {
  const Tensor& x = c.input(0);
  const Tensor& rhs = c.input(1);
  ASSIGN_OR_RETURN(const MatrixBatch left, MatricesOf(x, 0));
  ASSIGN_OR_RETURN(const MatrixBatch right, MatricesOf(rhs, 1));
  if (left.rows != right.rows || BatchShape(x, 2, {}) != BatchShape(rhs, 2, {})) {
    return InvalidArgumentError(StrCat("Input matrix and rhs are incompatible: ",
                                       x.shape().ToString(), " vs. ", rhs.shape().ToString()));
  }
  ASSIGN_OR_RETURN(double l2, ReadFloat(c.input(2), "l2_regularizer"));
  if (!(l2 >= 0)) return InvalidArgumentError(StrCat("l2_regularizer must be >= 0, got ", l2));
  if (!fast) l2 = 0;
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, BatchShape(x, 2, {left.cols, right.cols})));
  for (int64_t i = 0; i < left.count && y->num_elements() > 0; ++i) {
    ASSIGN_OR_RETURN(const std::vector<W> a, Take<W>(x, left, i));
    ASSIGN_OR_RETURN(const std::vector<W> b, Take<W>(rhs, right, i));
    const Decomposition<W> svd = Decompose(a.data(), left.rows, left.cols);
    const double most = svd.s.empty() ? 0 : svd.s.front();
    std::vector<W> out(static_cast<size_t>(left.cols * right.cols), W(0));
    for (size_t k = 0; k < svd.s.size(); ++k) {
      const double value = svd.s[k];
      const bool gone = value <= most * 1e-14 * static_cast<double>(left.rows + left.cols);
      if (gone && fast && l2 == 0) {
        return InvalidArgumentError(
            "Input matrix was rank deficient or ill-conditioned. Try setting fast=False or provide "
            "a larger l2_regularizer > 0.");
      }
      if (gone) continue;
      const double weight = value / (value * value + l2);
      const W* u = svd.u[static_cast<int64_t>(k)];
      const W* v = svd.v[static_cast<int64_t>(k)];
      for (int64_t j = 0; j < right.cols; ++j) {
        W along(0);
        for (int64_t r = 0; r < left.rows; ++r) {
          along += Conjugate(u[r]) * b[static_cast<size_t>(r * right.cols + j)];
        }
        for (int64_t r = 0; r < left.cols; ++r) {
          out[static_cast<size_t>(r * right.cols + j)] += W(weight) * v[r] * along;
        }
      }
    }
    StoreNumbers<W>(out.data(), left.cols * right.cols, y, i * left.cols * right.cols);
  }
  return OkStatus();
}

StatusOr<KernelFn> BindSvd(const BindContext& bind) {
  const SvdOptions options = {BoolAttr(*bind.node, "compute_uv", true),
                              BoolAttr(*bind.node, "full_matrices")};
  return Precise(bind, [=]<typename W>(KernelContext& c) { return RunSvd<W>(c, options); });
}

StatusOr<KernelFn> BindSolveLs(const BindContext& bind) {
  const bool fast = BoolAttr(*bind.node, "fast", true);
  return Precise(bind, [=]<typename W>(KernelContext& c) { return RunSolveLs<W>(c, fast); });
}

std::vector<KernelDef> MakeTable() {
  const std::vector<DType> types = WithComplex(Reals::DTypes());
  return MakeKernels({
      {"MatrixSolveLs", BindSolveLs, types, "T", {}, {}, true},
      {"Svd", BindSvd, types, "T", {}, {}, true},
  });
}

}  // namespace

std::span<const KernelDef> LinalgSvdKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
