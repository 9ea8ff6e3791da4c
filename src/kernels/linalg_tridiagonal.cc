// SPDX-License-Identifier: Apache-2.0
//
// Systems and products of tridiagonal matrices, which are given by their three diagonals.
#include <algorithm>
#include <cmath>

#include "kernels/attrs.h"
#include "kernels/linalg_matrix.h"

namespace slipway::kernels {
namespace {

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
  return MakeKernels({
      {"TridiagonalMatMul", BindTridiagonalMatMul, types, "T", {}, {}, true},
      {"TridiagonalSolve", BindTridiagonalSolve, types, "T", {}, {}, true},
  });
}

}  // namespace

std::span<const KernelDef> LinalgTridiagonalKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
