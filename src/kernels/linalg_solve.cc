// SPDX-License-Identifier: Apache-2.0
//
// Factorisations and solutions by elimination: Cholesky, LU, triangular systems, inverses,
// determinants.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/attrs.h"
#include "kernels/broadcast.h"
#include "kernels/linalg_matrix.h"

namespace slipway::kernels {
namespace {

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

// y = the x of a x = b for each matrix of a batch; load(i, b) fills the right side of matrix i.
template <typename W, typename LoadRight>
Status SolveAll(KernelContext& c, bool adjoint, int64_t columns, const char* singular, Tensor* y,
                LoadRight load) {
  const Tensor& matrix = c.input(0);
  ASSIGN_OR_RETURN(const MatrixBatch batch, SquareMatricesOf(matrix, 0));
  ASSIGN_OR_RETURN(Matrix<W> a, NewMatrix<W>(c, batch.rows, batch.cols));
  ASSIGN_OR_RETURN(Matrix<W> b, NewMatrix<W>(c, batch.rows, columns));
  ASSIGN_OR_RETURN(Matrix<W> x, NewMatrix<W>(c, batch.rows, columns));
  ASSIGN_OR_RETURN(int64_t * order, NewOrder(c, batch.rows));
  for (int64_t i = 0; i < batch.count; ++i) {
    Load(matrix, i, a);
    if (adjoint) Adjoin(a);
    load(i, b);
    RETURN_IF_ERROR(SolveBy(a, order, b, x, singular));
    Store(x, y, i);
  }
  return OkStatus();
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
  return SolveAll<W>(c, adjoint, right.cols, "Input matrix is not invertible.", y,
                     [&](int64_t i, const Matrix<W>& b) { Load(rhs, i, b); });
}

template <typename W>
Status RunInverse(KernelContext& c, bool adjoint) {
  const Tensor& matrix = c.input(0);
  ASSIGN_OR_RETURN(const MatrixBatch batch, SquareMatricesOf(matrix, 0));
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, matrix.shape()));
  return SolveAll<W>(c, adjoint, batch.rows, "Input is not invertible.", y,
                     [&](int64_t, const Matrix<W>& b) {
                       std::fill_n(b.data, b.rows * b.cols, W(0));
                       for (int64_t k = 0; k < b.rows; ++k) b.at(k, k) = W(1);
                     });
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

std::vector<KernelDef> MakeTable() {
  const std::vector<DType> types = WithComplex(Reals::DTypes());
  std::vector<DType> halves = types;
  halves.push_back(DType::kHalf);
  return MakeKernels({
      {"Cholesky", BindCholesky, types, "T", {}, {}, true},
      {"LogMatrixDeterminant", BindDeterminant, types, "T", {}, {}, true},
      {"Lu", BindLu, types, "T", {}, {}, true},
      {"MatrixDeterminant", BindDeterminant, types, "T", {}, {}, true},
      {"MatrixInverse", BindInverse, halves, "T", {}, {}, true},
      {"MatrixSolve", BindSolve, types, "T", {}, {}, true},
      {"MatrixTriangularSolve", BindTriangularSolve, types, "T", {}, {}, true},
  });
}

}  // namespace

std::span<const KernelDef> LinalgSolveKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
