// SPDX-License-Identifier: Apache-2.0
//
// What the ops of linear algebra share: they work on the last two dimensions, in double precision
// (complex where the input is), whatever precision the tensors have.
#pragma once

#include <complex>
#include <cstdint>

#include "kernels/kernel.h"

namespace slipway::kernels {

using Complex128 = std::complex<double>;

// A batch of matrices: a tensor's last two dimensions, and how many there are.
struct MatrixBatch {
  int64_t count = 0, rows = 0, cols = 0;
};
// INVALID_ARGUMENT "Input tensor 0 must have rank >= 2" if it has no matrices.
StatusOr<MatrixBatch> MatricesOf(const Tensor& t, int input);
// The same, which must be square: "Input matrix must be square, got 2 != 3".
StatusOr<MatrixBatch> SquareMatricesOf(const Tensor& t, int input);

// The batch dimensions of `t` (all but the last `taken`) and these.
Shape BatchShape(const Tensor& t, int taken, std::initializer_list<int64_t> dims);

// Output i where no vectors are wanted: a scalar, whose value TensorFlow leaves open.
StatusOr<Tensor*> NoVectors(KernelContext& c, int i);

// n elements from `offset` of a tensor as double or complex<double>, and back.
// REQUIRES: W is complex if the tensor is.
template <typename W>
void LoadNumbers(const Tensor& t, int64_t offset, int64_t n, W* out);
template <typename W>
void StoreNumbers(const W* values, int64_t n, Tensor* t, int64_t offset);

// fn.operator()<W>() with double, or complex<double> for complex dtypes.
template <typename Fn>
Status WithPrecision(DType dtype, Fn&& fn) {
  if (dtype == DType::kComplex64 || dtype == DType::kComplex128) {
    return fn.template operator()<Complex128>();
  }
  return fn.template operator()<double>();
}

}  // namespace slipway::kernels
