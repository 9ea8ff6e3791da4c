// SPDX-License-Identifier: Apache-2.0
//
// QR by reflections.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/attrs.h"
#include "kernels/linalg_matrix.h"

namespace slipway::kernels {
namespace {

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

StatusOr<KernelFn> BindQr(const BindContext& bind) {
  const bool full = BoolAttr(*bind.node, "full_matrices");
  return Precise(bind, [=]<typename W>(KernelContext& c) { return RunQr<W>(c, full); });
}

std::vector<KernelDef> MakeTable() {
  std::vector<DType> halves = WithComplex(Reals::DTypes());
  halves.push_back(DType::kHalf);
  return MakeKernels({
      {"Qr", BindQr, halves, "T", {}, {}, true},
  });
}

}  // namespace

std::span<const KernelDef> LinalgQrKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
