// SPDX-License-Identifier: Apache-2.0
//
// Eigenvalues, in the order and with the signs that Eigen gives them, as TensorFlow does.
#include <eigen3/Eigen/Eigenvalues>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/linalg.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

template <typename W>
using Dense = Eigen::Matrix<W, Eigen::Dynamic, Eigen::Dynamic>;
template <typename W>
using RowMajor = Eigen::Matrix<W, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Matrix `index` of a batch.
template <typename W>
RowMajor<W> Take(const Tensor& t, const MatrixBatch& batch, int64_t index) {
  RowMajor<W> m(batch.rows, batch.cols);
  LoadNumbers<W>(t, index * batch.rows * batch.cols, batch.rows * batch.cols, m.data());
  return m;
}
template <typename W, typename Expression>
void Put(const Expression& m, Tensor* t, int64_t index) {
  const RowMajor<W> dense = m;
  StoreNumbers<W>(dense.data(), dense.size(), t, index * dense.size());
}

Status CheckFinite(bool finite) {
  return finite ? OkStatus() : InvalidArgumentError("Input is not valid: it holds NaN or infinity");
}

// Eigenvalues and, where asked for, vectors of every matrix of W as numbers of R; `kind` is for the
// error. solve(matrix) gives Eigen's solver.
template <typename W, typename R, typename Solve>
Status RunEigen(KernelContext& c, bool vectors, std::string_view kind, Solve solve) {
  const Tensor& x = c.input(0);
  ASSIGN_OR_RETURN(const MatrixBatch batch, SquareMatricesOf(x, 0));
  const int64_t n = batch.rows;
  ASSIGN_OR_RETURN(Tensor * e, c.AllocateOutput(0, BatchShape(x, 2, {n})));
  ASSIGN_OR_RETURN(Tensor * v, vectors ? c.AllocateOutput(1, x.shape()) : NoVectors(c, 1));
  for (int64_t i = 0; i < batch.count && n > 0; ++i) {
    const Dense<W> m = Take<W>(x, batch, i);
    RETURN_IF_ERROR(CheckFinite(m.allFinite()));
    const auto solved = solve(m);
    if (solved.info() != Eigen::Success) {
      return InvalidArgumentError(
          StrCat(kind, " decomposition was not successful. The input might not be valid."));
    }
    Put<R>(solved.eigenvalues().template cast<R>(), e, i);
    if (vectors) Put<R>(solved.eigenvectors(), v, i);
  }
  return OkStatus();
}

StatusOr<KernelFn> BindSelfAdjoint(const BindContext& bind) {
  const DType dtype = bind.input_dtype(0);
  const bool vectors = BoolAttr(*bind.node, "compute_v", true);
  const int mode = vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly;
  return KernelFn([=](KernelContext& c) {
    return WithPrecision(dtype, [&]<typename W>() {
      return RunEigen<W, W>(c, vectors, "Self-adjoint eigen", [&](const Dense<W>& m) {
        return Eigen::SelfAdjointEigenSolver<Dense<W>>(m, mode);
      });
    });
  });
}

// The eigenvalues of any square matrix are complex, whatever it holds; a real one's have an order
// of their own.
StatusOr<KernelFn> BindEig(const BindContext& bind) {
  const bool vectors = BoolAttr(*bind.node, "compute_v", true);
  const bool complex = IsComplex(bind.input_dtype(0));
  return KernelFn([=](KernelContext& c) {
    const auto run = [&]<typename W, typename Solver>() {
      return RunEigen<W, Complex128>(c, vectors, "Eigen",
                                     [&](const Dense<W>& m) { return Solver(m, vectors); });
    };
    using OfComplex = Eigen::ComplexEigenSolver<Dense<Complex128>>;
    using OfReal = Eigen::EigenSolver<Dense<double>>;
    return complex ? run.template operator()<Complex128, OfComplex>()
                   : run.template operator()<double, OfReal>();
  });
}

std::vector<KernelDef> MakeTable() {
  const std::vector<DType> types = WithComplex(Reals::DTypes());
  return MakeKernels({
      {"Eig", BindEig, types, "T", {}, {}, true},
      {"SelfAdjointEigV2", BindSelfAdjoint, types, "T", {}, {}, true},
  });
}

}  // namespace

std::span<const KernelDef> LinalgSpectralKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
