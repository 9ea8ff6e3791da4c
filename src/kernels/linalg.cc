// SPDX-License-Identifier: Apache-2.0
#include "kernels/linalg.h"

#include <algorithm>
#include <cstring>

#include "kernels/checks.h"
#include "kernels/strided_copy.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

template <typename W>
using SourceTypes =
    std::conditional_t<std::is_same_v<W, double>, TypeList<float, double, Half, BFloat16>,
                       TypeList<std::complex<float>, std::complex<double>, float, double>>;

}  // namespace

StatusOr<MatrixBatch> MatricesOf(const Tensor& t, int input) {
  if (t.rank() < 2) {
    return InvalidArgumentError(
        StrCat("Input tensor ", input, " must have rank >= 2, got ", t.rank()));
  }
  return MatrixBatch{ProductOfDims(t.shape(), 0, t.rank() - 2), t.dim(t.rank() - 2),
                     t.dim(t.rank() - 1)};
}

StatusOr<MatrixBatch> SquareMatricesOf(const Tensor& t, int input) {
  ASSIGN_OR_RETURN(const MatrixBatch batch, MatricesOf(t, input));
  if (batch.rows == batch.cols) return batch;
  return InvalidArgumentError(
      StrCat("Input matrix must be square, got ", batch.rows, " != ", batch.cols));
}

Shape BatchShape(const Tensor& t, int taken, std::initializer_list<int64_t> dims) {
  Shape shape(t.shape().dims().first(static_cast<size_t>(t.rank() - taken)));
  for (int64_t d : dims) shape.AddDim(d);
  return shape;
}

StatusOr<Tensor*> NoVectors(KernelContext& c, int i) {
  ASSIGN_OR_RETURN(Tensor * none, c.AllocateOutput(i, Shape()));
  std::memset(none->raw_data(), 0, none->byte_size());
  return none;
}

template <typename W>
void LoadNumbers(const Tensor& t, int64_t offset, int64_t n, W* out) {
  SwitchType<int>(SourceTypes<W>{}, t.dtype(), [&]<typename T>() {
    const T* from = t.flat<T>().data() + offset;
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<W>(Widen(from[i]));
    return 0;
  });
}

// A real T takes the real part.
template <typename T, typename W>
T Narrowed(const W& value) {
  if constexpr (kIsComplex<W> && !kIsComplex<T>) {
    return static_cast<T>(value.real());
  } else {
    return T(static_cast<WideOf<T>>(value));
  }
}

template <typename W>
void StoreNumbers(const W* values, int64_t n, Tensor* t, int64_t offset) {
  SwitchType<int>(SourceTypes<W>{}, t->dtype(), [&]<typename T>() {
    T* to = t->flat<T>().data() + offset;
    for (int64_t i = 0; i < n; ++i) to[i] = Narrowed<T>(values[i]);
    return 0;
  });
}

template void LoadNumbers<double>(const Tensor&, int64_t, int64_t, double*);
template void LoadNumbers<Complex128>(const Tensor&, int64_t, int64_t, Complex128*);
template void StoreNumbers<double>(const double*, int64_t, Tensor*, int64_t);
template void StoreNumbers<Complex128>(const Complex128*, int64_t, Tensor*, int64_t);

}  // namespace slipway::kernels
