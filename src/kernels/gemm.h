// SPDX-License-Identifier: Apache-2.0
//
// The product of two matrices of float, with what usually follows it: C = act(op(A) op(B) + bias).
#pragma once

#include <cstdint>
#include <string>

#include "base/thread_pool.h"

namespace slipway::kernels {

enum class Activation : uint8_t { kNone, kRelu, kRelu6, kLeakyRelu, kElu, kTanh, kSigmoid };

// All matrices are row-major; a leading dimension is the distance of two rows in memory.
// op(A) is m x k: stored so, or as k x m if transpose_a. op(B) is k x n, likewise.
struct GemmArgs {
  int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;
  int64_t lda = 0;
  bool transpose_a = false;
  const float* b = nullptr;
  int64_t ldb = 0;
  bool transpose_b = false;
  const float* packed_b = nullptr;  // what PackGemmB made of B; b must still be given
  float* c = nullptr;
  int64_t ldc = 0;
  const float* bias = nullptr;  // n values, one a column
  Activation activation = Activation::kNone;
  float alpha = 0;             // of kLeakyRelu
  ThreadPool* pool = nullptr;  // null: on this thread
};

// Sizes may be 0; with k = 0 the product is 0. C overlaps neither A nor B. An element's value does
// not depend on the number of threads. Allocates only a thread's packing buffers, once.
void Gemm(const GemmArgs& args);

// Below this many rows Gemm reads B as it is: packing it is of no use.
inline constexpr int64_t kGemmFewRows = 2;

// Constant weights are packed once: floats that PackGemmB needs for an op(B) of k x n, and the name
// of the layout, which depends on the processor.
int64_t PackedGemmBSize(int64_t n, int64_t k);
std::string PackedGemmBLayout(bool transpose_b);
// Reads n, k, b, ldb and transpose_b of `args`.
void PackGemmB(const GemmArgs& args, float* packed);

// Applies bias (or null) and activation to rows x n values in place; what Gemm does at its end.
void BiasActivation(float* c, int64_t ldc, int64_t rows, int64_t n, const float* bias,
                    Activation activation, float alpha);

}  // namespace slipway::kernels
