// SPDX-License-Identifier: Apache-2.0
//
// Matrices in a kernel's scratch memory, in the precision that linear algebra computes with.
#pragma once

#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/linalg.h"
#include "kernels/types.h"

namespace slipway::kernels {

template <typename W>
W Conjugate(W x) {
  if constexpr (kIsComplex<W>) {
    return std::conj(x);
  } else {
    return x;
  }
}
inline double RealPart(double x) { return x; }
inline double RealPart(Complex128 x) { return x.real(); }

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

// Binds fn<W>(context), the precision by the type of input 0.
template <typename Fn>
KernelFn Precise(const BindContext& bind, Fn fn) {
  const DType dtype = bind.input_dtype(0);
  return KernelFn([dtype, fn](KernelContext& c) -> Status {
    return WithPrecision(dtype, [&]<typename W>() { return fn.template operator()<W>(c); });
  });
}

}  // namespace slipway::kernels
