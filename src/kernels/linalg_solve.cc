// SPDX-License-Identifier: Apache-2.0
//
// Factorisations and solutions by elimination: Cholesky, LU, triangular and tridiagonal systems,
// inverses, determinants, QR.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/attrs.h"
#include "kernels/broadcast.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/linalg.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

template <typename W>
W Conjugate(W x) {
  if constexpr (kIsComplex<W>) {
    return std::conj(x);
  } else {
    return x;
  }
}
double RealPart(double x) { return x; }
double RealPart(Complex128 x) { return x.real(); }

// Row-major matrices over memory of the context.
template <typename W>
struct Matrix {
  W* data = nullptr;
  int64_t rows = 0, cols = 0;
  W* row(int64_t i) const { return data + i * cols; }
  W& at(int64_t i, int64_t j) const { return data[i * cols + j]; }
};

template <typename W>
StatusOr<Matrix<W>> NewMatrix(KernelContext& c, int64_t rows, int64_t cols) {
  ASSIGN_OR_RETURN(const int64_t n, CheckedMul(rows, cols, "matrix"));
  ASSIGN_OR_RETURN(const int64_t bytes, CheckedMul(n, sizeof(W), "matrix"));
  void* memory = c.Scratch(static_cast<size_t>(bytes) + 1);
  if (memory == nullptr) return ResourceExhaustedError("No memory for a matrix");
  return Matrix<W>{static_cast<W*>(memory), rows, cols};
}

template <typename W>
void Load(const Tensor& t, int64_t index, const Matrix<W>& m) {
  LoadNumbers<W>(t, index * m.rows * m.cols, m.rows * m.cols, m.data);
}
template <typename W>
void Store(const Matrix<W>& m, Tensor* t, int64_t index) {
  StoreNumbers<W>(m.data, m.rows * m.cols, t, index * m.rows * m.cols);
}

// a - factor * b, along rows.
template <typename W>
void Subtract(W* a, const W* b, W factor, int64_t n) {
  for (int64_t j = 0; j < n; ++j) a[j] -= factor * b[j];
}

// The lower factor, in place; false if the matrix is not positive definite. Reads the lower half.
template <typename W>
bool CholeskyInPlace(const Matrix<W>& m) {
  const int64_t n = m.rows;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      W sum = m.at(i, j);
      for (int64_t k = 0; k < j; ++k) sum -= m.at(i, k) * Conjugate(m.at(j, k));
      if (i != j) {
        m.at(i, j) = sum / m.at(j, j);
        continue;
      }
      const double diagonal = RealPart(sum);
      if (!(diagonal > 0)) return false;
      m.at(i, i) = W(std::sqrt(diagonal));
    }
    std::fill(m.row(i) + i + 1, m.row(i) + n, W(0));
  }
  return true;
}

template <typename W>
Status RunCholesky(KernelContext& c) {
  const Tensor& x = c.input(0);
  ASSIGN_OR_RETURN(const MatrixBatch batch, SquareMatricesOf(x, 0));
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, x.shape()));
  ASSIGN_OR_RETURN(Matrix<W> m, NewMatrix<W>(c, batch.rows, batch.cols));
  for (int64_t b = 0; b < batch.count; ++b) {
    Load(x, b, m);
    if (!CholeskyInPlace(m)) {  // no error in TensorFlow
      for (int64_t i = 0; i < m.rows; ++i) {
        std::fill(m.row(i), m.row(i) + i + 1, W(std::numeric_limits<double>::quiet_NaN()));
        std::fill(m.row(i) + i + 1, m.row(i) + m.cols, W(0));
      }
    }
    Store(m, y, b);
  }
  return OkStatus();
}

// LU with row exchanges, in place. swaps: odd or even; order[i]: which row came to i. A zero pivot
// is left where it is.
template <typename W>
struct Elimination {
  bool singular = false, odd_swaps = false;
};
template <typename W>
Elimination<W> EliminateInPlace(const Matrix<W>& m, int64_t* order) {
  Elimination<W> result;
  const int64_t n = m.rows;
  std::iota(order, order + n, 0);
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i) {
      if (std::abs(m.at(i, k)) > std::abs(m.at(pivot, k))) pivot = i;
    }
    if (m.at(pivot, k) == W(0)) {
      result.singular = true;
      continue;
    }
    if (pivot != k) {
      std::swap_ranges(m.row(k), m.row(k) + n, m.row(pivot));
      std::swap(order[k], order[pivot]);
      result.odd_swaps = !result.odd_swaps;
    }
    for (int64_t i = k + 1; i < n; ++i) {
      m.at(i, k) /= m.at(k, k);
      Subtract(m.row(i) + k + 1, m.row(k) + k + 1, m.at(i, k), n - k - 1);
    }
  }
  return result;
}

// Solves L x = b or U x = b for all columns of b, in place; a zero on the diagonal gives infinity.
template <typename W>
void SolveTriangle(const Matrix<W>& a, bool lower, bool unit, const Matrix<W>& b) {
  const int64_t n = a.rows;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = lower ? step : n - 1 - step;
    for (int64_t k = lower ? 0 : i + 1; k < (lower ? i : n); ++k) {
      Subtract(b.row(i), b.row(k), a.at(i, k), b.cols);
    }
    if (unit) continue;
    for (int64_t j = 0; j < b.cols; ++j) b.at(i, j) /= a.at(i, i);
  }
}

template <typename W>
void Adjoin(const Matrix<W>& m) {
  for (int64_t i = 0; i < m.rows; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      const W upper = m.at(j, i);
      m.at(j, i) = Conjugate(m.at(i, j));
      m.at(i, j) = Conjugate(upper);
    }
  }
}

// x of a x = b; b's rows are permuted into `x` first. INVALID_ARGUMENT if a is singular.
template <typename W>
Status SolveBy(const Matrix<W>& a, int64_t* order, const Matrix<W>& b, const Matrix<W>& x,
               const char* singular) {
  if (EliminateInPlace(a, order).singular) return InvalidArgumentError(singular);
  for (int64_t i = 0; i < a.rows; ++i) std::copy_n(b.row(order[i]), b.cols, x.row(i));
  SolveTriangle(a, true, true, x);
  SolveTriangle(a, false, false, x);
  return OkStatus();
}

StatusOr<int64_t*> NewOrder(KernelContext& c, int64_t n) {
  void* memory = c.Scratch(static_cast<size_t>(n) * sizeof(int64_t) + 1);
  if (memory == nullptr) return ResourceExhaustedError("No memory for a permutation");
  return static_cast<int64_t*>(memory);
}

template <typename W>
Status RunSolve(KernelContext& c, bool adjoint) {
  const Tensor& matrix = c.input(0);
  const Tensor& rhs = c.input(1);
  ASSIGN_OR_RETURN(const MatrixBatch batch, SquareMatricesOf(matrix, 0));
  ASSIGN_OR_RETURN(const MatrixBatch right, MatricesOf(rhs, 1));
  if (right.rows != batch.rows) {
    return InvalidArgumentError(StrCat("Input matrix and rhs are incompatible: ",
                                       matrix.shape().ToString(), " vs. ", rhs.shape().ToString()));
  }
  if (BatchShape(matrix, 2, {}) != BatchShape(rhs, 2, {})) {
    return InvalidArgumentError(StrCat("All input tensors must have the same outer dimensions: ",
                                       matrix.shape().ToString(), " vs. ", rhs.shape().ToString()));
  }
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, rhs.shape()));
  ASSIGN_OR_RETURN(Matrix<W> a, NewMatrix<W>(c, batch.rows, batch.cols));
  ASSIGN_OR_RETURN(Matrix<W> b, NewMatrix<W>(c, right.rows, right.cols));
  ASSIGN_OR_RETURN(Matrix<W> x, NewMatrix<W>(c, right.rows, right.cols));
  ASSIGN_OR_RETURN(int64_t * order, NewOrder(c, batch.rows));
  for (int64_t i = 0; i < batch.count; ++i) {
    Load(matrix, i, a);
    if (adjoint) Adjoin(a);
    Load(rhs, i, b);
    RETURN_IF_ERROR(SolveBy(a, order, b, x, "Input matrix is not invertible."));
    Store(x, y, i);
  }
  return OkStatus();
}

template <typename W>
Status RunInverse(KernelContext& c, bool adjoint) {
  const Tensor& matrix = c.input(0);
  ASSIGN_OR_RETURN(const MatrixBatch batch, SquareMatricesOf(matrix, 0));
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, matrix.shape()));
  const int64_t n = batch.rows;
  ASSIGN_OR_RETURN(Matrix<W> a, NewMatrix<W>(c, n, n));
  ASSIGN_OR_RETURN(Matrix<W> b, NewMatrix<W>(c, n, n));
  ASSIGN_OR_RETURN(Matrix<W> x, NewMatrix<W>(c, n, n));
  ASSIGN_OR_RETURN(int64_t * order, NewOrder(c, n));
  for (int64_t i = 0; i < batch.count; ++i) {
    Load(matrix, i, a);
    if (adjoint) Adjoin(a);
    std::fill_n(b.data, n * n, W(0));
    for (int64_t k = 0; k < n; ++k) b.at(k, k) = W(1);
    RETURN_IF_ERROR(SolveBy(a, order, b, x, "Input is not invertible."));
    Store(x, y, i);
  }
  return OkStatus();
}

// The product of the pivots, or its sign (of magnitude 1) and the logarithm of its magnitude.
template <typename W>
Status RunDeterminant(KernelContext& c, bool logarithm) {
  const Tensor& matrix = c.input(0);
  ASSIGN_OR_RETURN(const MatrixBatch batch, SquareMatricesOf(matrix, 0));
  const Shape shape = BatchShape(matrix, 2, {});
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, shape));
  Tensor* log_y = nullptr;
  if (logarithm) {
    ASSIGN_OR_RETURN(log_y, c.AllocateOutput(1, shape));
  }
  ASSIGN_OR_RETURN(Matrix<W> a, NewMatrix<W>(c, batch.rows, batch.cols));
  ASSIGN_OR_RETURN(int64_t * order, NewOrder(c, batch.rows));
  for (int64_t i = 0; i < batch.count; ++i) {
    Load(matrix, i, a);
    const Elimination<W> done = EliminateInPlace(a, order);
    W product(done.odd_swaps ? -1 : 1);
    double sum = 0;
    for (int64_t k = 0; k < batch.rows; ++k) {
      const W pivot = a.at(k, k);
      if (!logarithm) {
        product *= pivot;
        continue;
      }
      const double magnitude = std::abs(pivot);
      product *= magnitude == 0 ? W(0) : pivot / W(magnitude);
      sum += std::log(magnitude);
    }
    StoreNumbers<W>(&product, 1, y, i);
    const W logged(sum);
    if (logarithm) StoreNumbers<W>(&logged, 1, log_y, i);
  }
  return OkStatus();
}

template <typename W>
Status RunLu(KernelContext& c) {
  const Tensor& matrix = c.input(0);
  ASSIGN_OR_RETURN(const MatrixBatch batch, SquareMatricesOf(matrix, 0));
  const int64_t n = batch.rows;
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, matrix.shape()));
  ASSIGN_OR_RETURN(Tensor * p, c.AllocateOutput(1, BatchShape(matrix, 2, {n})));
  ASSIGN_OR_RETURN(Matrix<W> a, NewMatrix<W>(c, n, n));
  ASSIGN_OR_RETURN(int64_t * order, NewOrder(c, n));
  for (int64_t i = 0; i < batch.count; ++i) {
    Load(matrix, i, a);
    if (EliminateInPlace(a, order).singular) {
      return InvalidArgumentError("Input is not invertible.");
    }
    Store(a, y, i);
    for (int64_t k = 0; k < n; ++k) {
      const auto at = static_cast<size_t>(i * n + k);
      if (p->dtype() == DType::kInt32) {
        p->flat<int32_t>()[at] = static_cast<int32_t>(order[k]);
      } else {
        p->flat<int64_t>()[at] = order[k];
      }
    }
  }
  return OkStatus();
}

template <typename W>
Status RunTriangularSolve(KernelContext& c, bool lower, bool adjoint) {
  const Tensor& matrix = c.input(0);
  const Tensor& rhs = c.input(1);
  ASSIGN_OR_RETURN(const MatrixBatch left, SquareMatricesOf(matrix, 0));
  ASSIGN_OR_RETURN(const MatrixBatch right, MatricesOf(rhs, 1));
  if (left.rows != right.rows) {
    return InvalidArgumentError(
        StrCat("Matrix size-incompatible: In[0]: ", matrix.shape().ToString(),
               ", In[1]: ", rhs.shape().ToString()));
  }
  const Shape batch_a = BatchShape(matrix, 2, {}), batch_b = BatchShape(rhs, 2, {});
  const Shape* shapes[] = {&batch_a, &batch_b};
  Broadcast plan;
  RETURN_IF_ERROR(Broadcast::Make(shapes, &plan));
  Shape shape = plan.output;
  shape.AddDim(right.rows);
  shape.AddDim(right.cols);
  ASSIGN_OR_RETURN(shape, Shape::FromDims(shape.dims()));
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, shape));
  ASSIGN_OR_RETURN(Matrix<W> a, NewMatrix<W>(c, left.rows, left.cols));
  ASSIGN_OR_RETURN(Matrix<W> b, NewMatrix<W>(c, right.rows, right.cols));
  const int last = plan.rank - 1;
  plan.ForEachRun(0, plan.output.num_elements(), [&](const int64_t* at, int64_t out, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      Load(matrix, at[0] + i * plan.strides[0][last], a);
      Load(rhs, at[1] + i * plan.strides[1][last], b);
      if (adjoint) Adjoin(a);
      SolveTriangle(a, lower != adjoint, false, b);
      Store(b, y, out + i);
    }
  });
  return OkStatus();
}

// A reflection that maps column k below the diagonal to a multiple of the first unit vector: its
// vector (1, tail) lies in the column, the multiple on the diagonal.
template <typename W>
W Reflect(const Matrix<W>& m, int64_t k) {
  double tail = 0;
  for (int64_t i = k + 1; i < m.rows; ++i) tail += std::norm(m.at(i, k));
  const W head = m.at(k, k);
  const double imaginary = std::abs(head - W(RealPart(head)));
  if (tail <= std::numeric_limits<double>::min() &&
      imaginary * imaginary <= std::numeric_limits<double>::min()) {
    m.at(k, k) = W(RealPart(head));
    for (int64_t i = k + 1; i < m.rows; ++i) m.at(i, k) = W(0);
    return W(0);
  }
  double beta = std::sqrt(std::norm(head) + tail);
  if (RealPart(head) >= 0) beta = -beta;
  for (int64_t i = k + 1; i < m.rows; ++i) m.at(i, k) /= head - W(beta);
  m.at(k, k) = W(beta);
  return Conjugate((W(beta) - head) / W(beta));
}

// Columns [from, cols) of `x` reflected: x -= tau v (v* x), or with conj(tau).
template <typename W>
void ApplyReflection(const Matrix<W>& m, int64_t k, W tau, const Matrix<W>& x, int64_t from) {
  for (int64_t j = from; j < x.cols; ++j) {
    W dot = x.at(k, j);
    for (int64_t i = k + 1; i < x.rows; ++i) dot += Conjugate(m.at(i, k)) * x.at(i, j);
    dot *= tau;
    x.at(k, j) -= dot;
    for (int64_t i = k + 1; i < x.rows; ++i) x.at(i, j) -= m.at(i, k) * dot;
  }
}

template <typename W>
Status RunQr(KernelContext& c, bool full) {
  const Tensor& x = c.input(0);
  ASSIGN_OR_RETURN(const MatrixBatch batch, MatricesOf(x, 0));
  const int64_t m = batch.rows, n = batch.cols, least = std::min(m, n), k = full ? m : least;
  ASSIGN_OR_RETURN(const Shape q_shape, Shape::FromDims(BatchShape(x, 2, {m, k}).dims()));
  ASSIGN_OR_RETURN(Tensor * q_out, c.AllocateOutput(0, q_shape));
  ASSIGN_OR_RETURN(Tensor * r_out, c.AllocateOutput(1, BatchShape(x, 2, {k, n})));
  ASSIGN_OR_RETURN(Matrix<W> a, NewMatrix<W>(c, m, n));
  ASSIGN_OR_RETURN(Matrix<W> q, NewMatrix<W>(c, m, k));
  ASSIGN_OR_RETURN(Matrix<W> tau, NewMatrix<W>(c, 1, least));
  for (int64_t b = 0; b < batch.count; ++b) {
    Load(x, b, a);
    for (int64_t i = 0; i < least; ++i) {
      tau.at(0, i) = Reflect(a, i);
      ApplyReflection(a, i, tau.at(0, i), a, i + 1);
    }
    std::fill_n(q.data, m * k, W(0));
    for (int64_t i = 0; i < k; ++i) q.at(i, i) = W(1);
    for (int64_t i = least; i-- > 0;) ApplyReflection(a, i, Conjugate(tau.at(0, i)), q, 0);
    Store(q, q_out, b);
    for (int64_t i = 0; i < k; ++i) {
      for (int64_t j = 0; j < std::min(i, n); ++j) a.at(i, j) = W(0);
    }
    StoreNumbers<W>(a.data, k * n, r_out, b * k * n);
  }
  return OkStatus();
}

// diagonals [..., 3, n]: above, main, below; with row exchanges where asked for.
template <typename W>
Status RunTridiagonalSolve(KernelContext& c, bool pivoting) {
  const Tensor& diagonals = c.input(0);
  const Tensor& rhs = c.input(1);
  ASSIGN_OR_RETURN(const MatrixBatch batch, MatricesOf(diagonals, 0));
  ASSIGN_OR_RETURN(const MatrixBatch right, MatricesOf(rhs, 1));
  if (batch.rows != 3) {
    return InvalidArgumentError(StrCat("Expected diagonals to have 3 rows, got ", batch.rows));
  }
  if (batch.cols != right.rows || batch.count != right.count) {
    return InvalidArgumentError(
        StrCat("The length of diagonals must match the number of rows of "
               "rhs: ",
               diagonals.shape().ToString(), " vs. ", rhs.shape().ToString()));
  }
  const int64_t n = batch.cols;
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, rhs.shape()));
  ASSIGN_OR_RETURN(Matrix<W> d, NewMatrix<W>(c, 3, n));
  ASSIGN_OR_RETURN(Matrix<W> u, NewMatrix<W>(c, n, 3));  // the eliminated rows' three entries
  ASSIGN_OR_RETURN(Matrix<W> x, NewMatrix<W>(c, right.rows, right.cols));
  for (int64_t b = 0; b < batch.count && n > 0; ++b) {
    Load(diagonals, b, d);
    Load(rhs, b, x);
    for (int64_t i = 0; i < n; ++i) {
      u.at(i, 0) = d.at(1, i);
      u.at(i, 1) = i + 1 < n ? d.at(0, i) : W(0);
      u.at(i, 2) = W(0);
    }
    for (int64_t i = 0; i + 1 < n; ++i) {
      W below = d.at(2, i + 1);
      if (pivoting && std::abs(below) > std::abs(u.at(i, 0))) {
        const W next[3] = {below, u.at(i + 1, 0), u.at(i + 1, 1)};
        below = u.at(i, 0);
        u.at(i + 1, 0) = u.at(i, 1);
        u.at(i + 1, 1) = u.at(i, 2);
        std::copy_n(next, 3, u.row(i));
        std::swap_ranges(x.row(i), x.row(i) + x.cols, x.row(i + 1));
      }
      if (u.at(i, 0) == W(0)) return InvalidArgumentError("The matrix is not invertible.");
      const W factor = below / u.at(i, 0);
      u.at(i + 1, 0) -= factor * u.at(i, 1);
      u.at(i + 1, 1) -= factor * u.at(i, 2);
      Subtract(x.row(i + 1), x.row(i), factor, x.cols);
    }
    for (int64_t i = n - 1; i >= 0; --i) {
      if (u.at(i, 0) == W(0)) return InvalidArgumentError("The matrix is not invertible.");
      if (i + 1 < n) Subtract(x.row(i), x.row(i + 1), u.at(i, 1), x.cols);
      if (i + 2 < n) Subtract(x.row(i), x.row(i + 2), u.at(i, 2), x.cols);
      for (int64_t j = 0; j < x.cols; ++j) x.at(i, j) /= u.at(i, 0);
    }
    Store(x, y, b);
  }
  return OkStatus();
}

// superdiag, maindiag, subdiag [..., 1, n] times rhs [..., n, k].
template <typename W>
Status RunTridiagonalMatMul(KernelContext& c) {
  const Tensor& rhs = c.input(3);
  ASSIGN_OR_RETURN(const MatrixBatch right, MatricesOf(rhs, 3));
  const int64_t n = right.rows;
  for (int i = 0; i < 3; ++i) {
    if (c.input(i).shape() == BatchShape(rhs, 2, {1, n})) continue;
    return InvalidArgumentError(StrCat("Input ", i, " of shape ", c.input(i).shape().ToString(),
                                       " does not fit rhs of shape ", rhs.shape().ToString()));
  }
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, rhs.shape()));
  ASSIGN_OR_RETURN(Matrix<W> d, NewMatrix<W>(c, 3, n));
  ASSIGN_OR_RETURN(Matrix<W> x, NewMatrix<W>(c, n, right.cols));
  ASSIGN_OR_RETURN(Matrix<W> out, NewMatrix<W>(c, n, right.cols));
  for (int64_t b = 0; b < right.count; ++b) {
    for (int i = 0; i < 3; ++i) LoadNumbers<W>(c.input(i), b * n, n, d.row(i));
    Load(rhs, b, x);
    std::fill_n(out.data, n * out.cols, W(0));
    for (int64_t i = 0; i < n; ++i) {
      Subtract(out.row(i), x.row(i), -d.at(1, i), x.cols);
      if (i + 1 < n) Subtract(out.row(i), x.row(i + 1), -d.at(0, i), x.cols);
      if (i > 0) Subtract(out.row(i), x.row(i - 1), -d.at(2, i), x.cols);
    }
    Store(out, y, b);
  }
  return OkStatus();
}

// Binds fn<W>(context), the precision by the type of input 0.
template <typename Fn>
KernelFn Precise(const BindContext& bind, Fn fn) {
  const DType dtype = bind.input_dtype(0);
  return KernelFn([dtype, fn](KernelContext& c) -> Status {
    return WithPrecision(dtype, [&]<typename W>() { return fn.template operator()<W>(c); });
  });
}

StatusOr<KernelFn> BindCholesky(const BindContext& bind) {
  return Precise(bind, []<typename W>(KernelContext& c) { return RunCholesky<W>(c); });
}
StatusOr<KernelFn> BindSolve(const BindContext& bind) {
  const bool adjoint = BoolAttr(*bind.node, "adjoint");
  return Precise(bind, [=]<typename W>(KernelContext& c) { return RunSolve<W>(c, adjoint); });
}
StatusOr<KernelFn> BindInverse(const BindContext& bind) {
  const bool adjoint = BoolAttr(*bind.node, "adjoint");
  return Precise(bind, [=]<typename W>(KernelContext& c) { return RunInverse<W>(c, adjoint); });
}
StatusOr<KernelFn> BindDeterminant(const BindContext& bind) {
  const bool log = bind.node->num_outputs() == 2;
  return Precise(bind, [=]<typename W>(KernelContext& c) { return RunDeterminant<W>(c, log); });
}
StatusOr<KernelFn> BindLu(const BindContext& bind) {
  return Precise(bind, []<typename W>(KernelContext& c) { return RunLu<W>(c); });
}
StatusOr<KernelFn> BindTriangularSolve(const BindContext& bind) {
  const bool lower = BoolAttr(*bind.node, "lower", true), adjoint = BoolAttr(*bind.node, "adjoint");
  return Precise(
      bind, [=]<typename W>(KernelContext& c) { return RunTriangularSolve<W>(c, lower, adjoint); });
}
StatusOr<KernelFn> BindQr(const BindContext& bind) {
  const bool full = BoolAttr(*bind.node, "full_matrices");
  return Precise(bind, [=]<typename W>(KernelContext& c) { return RunQr<W>(c, full); });
}
StatusOr<KernelFn> BindTridiagonalSolve(const BindContext& bind) {
  const bool pivoting = BoolAttr(*bind.node, "partial_pivoting", true);
  if (BoolAttr(*bind.node, "perturb_singular")) {
    return UnimplementedError("TridiagonalSolve with perturb_singular");
  }
  return Precise(bind,
                 [=]<typename W>(KernelContext& c) { return RunTridiagonalSolve<W>(c, pivoting); });
}
StatusOr<KernelFn> BindTridiagonalMatMul(const BindContext& bind) {
  return Precise(bind, []<typename W>(KernelContext& c) { return RunTridiagonalMatMul<W>(c); });
}

std::vector<KernelDef> MakeTable() {
  const std::vector<DType> types = WithComplex(Reals::DTypes());
  std::vector<DType> halves = types;
  halves.push_back(DType::kHalf);
  const auto row = [](const char* op, BindFn bind, const std::vector<DType>& dtypes) {
    return KernelRow{op, bind, dtypes, "T", {}, {}, /*expensive=*/true};
  };
  return MakeKernels({
      row("Cholesky", BindCholesky, types),
      row("LogMatrixDeterminant", BindDeterminant, types),
      row("Lu", BindLu, types),
      row("MatrixDeterminant", BindDeterminant, types),
      row("MatrixInverse", BindInverse, halves),
      row("MatrixSolve", BindSolve, types),
      row("MatrixTriangularSolve", BindTriangularSolve, types),
      row("Qr", BindQr, halves),
      row("TridiagonalMatMul", BindTridiagonalMatMul, types),
      row("TridiagonalSolve", BindTridiagonalSolve, types),
  });
}

}  // namespace

std::span<const KernelDef> LinalgSolveKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
