// SPDX-License-Identifier: Apache-2.0
//
// The vectorised inside of Gemm: one tile of C, one row of C, panels of B. Private to gemm.cc.
#pragma once

#include <cstdint>

namespace slipway::kernels {

// A tile: c[r * ldc + j] (+)= sum over p < k of a[r * a_row + p * a_step] * b[p * b_step + j],
// and then, if wanted, the bias of its column and max(0, …).
struct GemmTile {
  const float* a = nullptr;
  int64_t a_row = 0, a_step = 0;
  const float* b = nullptr;
  int64_t b_step = 0;
  float* c = nullptr;
  int64_t ldc = 0;
  int64_t k = 0;
  int64_t cols = 0;  // at most the target's width; no more of B and C than these is touched
  bool accumulate = false;
  const float* bias = nullptr;
  bool relu = false;
};

struct GemmTarget {
  int64_t width;  // columns of a tile
  int64_t rows;   // of a tile
  // `rows` of C at t.c, any number, in the largest tiles that fit.
  void (*tiles)(const GemmTile& t, int64_t rows);
  // y[j] = sum over p < k of x[p * x_stride] * b[p * ldb + j], j < n
  void (*row)(const float* x, int64_t x_stride, const float* b, int64_t ldb, int64_t k, float* y,
              int64_t n);
  float (*dot)(const float* x, const float* y, int64_t k);
  // to[p * width + j] = from[j * ld + p], j < cols, p < k; columns behind them 0.
  void (*pack_transposed)(const float* from, int64_t ld, int64_t cols, int64_t k, int64_t width,
                          float* to);
};

// For this machine's processor.
const GemmTarget& BestGemmTarget();

}  // namespace slipway::kernels
