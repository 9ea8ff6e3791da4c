// SPDX-License-Identifier: Apache-2.0
//
// The vectorised inside of Gemm: one tile of C from packed panels of A and B. Private to gemm.cc.
#pragma once

#include <cstdint>

namespace slipway::kernels {

inline constexpr int64_t kGemmRows = 6;           // of a tile
inline constexpr int64_t kGemmMaxTileWidth = 32;  // columns, the widest target's

struct GemmTarget {
  int64_t width;  // columns of a tile
  // c[r * ldc + j] (+)= sum over p < k of a[p * kGemmRows + r] * b[p * width + j]
  void (*tile)(const float* a, const float* b, int64_t k, float* c, int64_t ldc, bool accumulate);
  // y[j] = sum over p < k of x[p * x_stride] * b[p * ldb + j], j < n
  void (*row)(const float* x, int64_t x_stride, const float* b, int64_t ldb, int64_t k, float* y,
              int64_t n);
  float (*dot)(const float* x, const float* y, int64_t k);
};

// For this machine's processor.
const GemmTarget& BestGemmTarget();

}  // namespace slipway::kernels
