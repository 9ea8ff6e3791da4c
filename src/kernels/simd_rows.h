// SPDX-License-Identifier: Apache-2.0
//
// Vectorised passes over one row of floats: what reductions, softmax and optimizers are made of.
// For this machine's processor; a result does not depend on how the row is aligned.
#pragma once

#include <cstdint>

namespace slipway::kernels {

struct AdamStep {
  float rate;  // learning rate with both bias corrections
  float beta1, beta2, epsilon;
  bool nesterov;
};

struct SoftmaxStats {
  float max;  // of the row
  float sum;  // of exp(x[i] - max)
};

struct RowLoops {
  float (*sum)(const float* x, int64_t n);
  // NaN if any is; n >= 1.
  float (*max)(const float* x, int64_t n);
  float (*sum_squares)(const float* x, int64_t n);
  // y[i] = exp(x[i] - shift); their sum. y may be x.
  float (*exp_sum)(const float* x, float shift, float* y, int64_t n);
  // y[i] = exp(x[i]) / sum of exp(x); NaN if any is. n >= 1; y may be x.
  SoftmaxStats (*softmax)(const float* x, float* y, int64_t n);
  // sums[j] = the sum of x[r * ld + j] over r < rows
  void (*column_sums)(const float* x, int64_t ld, int64_t rows, int64_t cols, float* sums);
  // y[i] = x[i] * by
  void (*scale)(const float* x, float by, float* y, int64_t n);
  // y[i] += x[i] * by
  void (*add_scaled)(const float* x, float by, float* y, int64_t n);
  // y[i] = max(y[i], x[i]); NaN stays
  void (*max_into)(const float* x, float* y, int64_t n);
  // TensorFlow's rule: accum = accum * momentum + grad, then the step along accum
  void (*momentum)(float* var, float* accum, const float* grad, float rate, float momentum,
                   bool nesterov, int64_t n);
  // Keras's rule: accum = accum * momentum - grad * rate is the step itself
  void (*keras_momentum)(float* var, float* accum, const float* grad, float rate, float momentum,
                         bool nesterov, int64_t n);
  void (*adam)(float* var, float* m, float* v, const float* grad, const AdamStep& step, int64_t n);
};

const RowLoops& Rows();

}  // namespace slipway::kernels
