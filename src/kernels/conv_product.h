// SPDX-License-Identifier: Apache-2.0
//
// The matrix products inside convolutions: of floats by Gemm, of other types the obvious way; and
// filters packed for them. Private to the convolutions.
#pragma once

#include <memory>

#include "kernels/conv_geometry.h"
#include "kernels/gemm.h"
#include "kernels/types.h"

namespace slipway::kernels {

// C = op(A) op(B) of a type that has no Gemm.
template <typename A>
void PlainProduct(int64_t m, int64_t n, int64_t k, const A* a, int64_t lda, bool transpose_a,
                  const A* b, int64_t ldb, bool transpose_b, A* c, int64_t ldc) {
  for (int64_t i = 0; i < m; ++i) {
    A* to = c + i * ldc;
    std::fill_n(to, n, A{0});
    for (int64_t p = 0; p < k; ++p) {
      const A x = transpose_a ? a[p * lda + i] : a[i * lda + p];
      if (transpose_b) {
        for (int64_t j = 0; j < n; ++j) to[j] = WrapAdd(to[j], WrapMul(x, b[j * ldb + p]));
      } else {
        const A* row = b + p * ldb;
        for (int64_t j = 0; j < n; ++j) to[j] = WrapAdd(to[j], WrapMul(x, row[j]));
      }
    }
  }
}

// A filter of [taps, group_in, out_channels] as the right side of products: group after group, as
// it is or (for the gradient of the input) transposed.
template <typename A>
struct FilterMatrix {
  const A* values = nullptr;
  const float* panels = nullptr;  // of every group; floats only
  int64_t panel_size = 0;         // of one group
  bool transposed = false;

  // c[rows x n] = a[rows x k] times the matrix of a group.
  void Multiply(const Conv& conv, int64_t group, const A* a, int64_t lda, int64_t rows, A* c,
                int64_t ldc, ThreadPool* pool) const {
    const int64_t n = transposed ? conv.depth() : conv.group_out();
    const int64_t k = transposed ? conv.group_out() : conv.depth();
    const A* b = values + group * conv.group_out();
    if constexpr (std::is_same_v<A, float>) {
      GemmArgs g;
      g.m = rows;
      g.n = n;
      g.k = k;
      g.a = a;
      g.lda = lda;
      g.b = b;
      g.ldb = conv.out_channels;
      g.transpose_b = transposed;
      g.packed_b = panels + group * panel_size;
      g.c = c;
      g.ldc = ldc;
      g.pool = pool;
      Gemm(g);
    } else {
      PlainProduct<A>(rows, n, k, a, lda, false, b, conv.out_channels, transposed, c, ldc);
    }
  }
};

// Floats that PackFilter writes.
int64_t PackedFilterSize(const Conv& c, bool transposed);
void PackFilter(const Conv& c, const float* filter, bool transposed, float* panels);

// A constant filter of floats, packed once for all plans; `input` is the index of the filter.
struct PackedFilter {
  const void* from = nullptr;
  Shape shape;
  int64_t groups = 0;
  std::shared_ptr<const Tensor> panels;

  const float* For(const Tensor& filter, const Conv& c) const {
    const bool same = panels != nullptr && filter.raw_data() == from && c.groups == groups &&
                      filter.shape() == shape;
    return same ? panels->flat<float>().data() : nullptr;
  }
};
// Nothing packed unless the filter is constant. `c` is the convolution of the plan.
StatusOr<PackedFilter> PackConstantFilter(const BindContext& bind, int input, const Conv& c,
                                          bool transposed);

// The filter of a run, widened and packed into the context's memory where that is needed.
template <typename T, typename A>
StatusOr<FilterMatrix<A>> FilterFor(KernelContext& ctx, const Conv& c, const Tensor& filter,
                                    const PackedFilter& packed, bool transposed) {
  FilterMatrix<A> matrix;
  matrix.transposed = transposed;
  if constexpr (std::is_same_v<T, A>) {
    matrix.values = filter.flat<T>().data();
  } else {
    const auto n = static_cast<size_t>(filter.num_elements());
    auto* wide = static_cast<A*>(ctx.Scratch(n * sizeof(A) + 1));
    if (wide == nullptr) return ResourceExhaustedError("No memory to widen a filter");
    for (size_t i = 0; i < n; ++i) wide[i] = static_cast<A>(filter.flat<T>()[i]);
    matrix.values = wide;
  }
  if constexpr (std::is_same_v<A, float>) {
    const int64_t size = PackedFilterSize(c, transposed);
    matrix.panel_size = size / c.groups;
    matrix.panels = packed.For(filter, c);
    if (matrix.panels == nullptr) {
      auto* panels =
          static_cast<float*>(ctx.Scratch(static_cast<size_t>(size) * sizeof(float) + 1));
      if (panels == nullptr) return ResourceExhaustedError("No memory to pack a filter");
      PackFilter(c, matrix.values, transposed, panels);
      matrix.panels = panels;
    }
  }
  return matrix;
}

}  // namespace slipway::kernels
