// SPDX-License-Identifier: Apache-2.0
//
// Vectorised passes over the channels of the pixels under one window: what depthwise convolution
// and pooling of floats are made of. For this machine's processor.
#pragma once

#include <cstdint>

namespace slipway::kernels {

struct WindowLoops {
  // y[i] = sum over t < taps of x[t][i] * w[t][i], in the order of the taps
  void (*weighted_sum)(const float* const* x, const float* const* w, int64_t taps, int64_t n,
                       float* y);
  // y[i] = the largest of x[t][i], and of the lowest float; NaN counts as smaller than anything
  void (*max)(const float* const* x, int64_t taps, int64_t n, float* y);
  // y[i] = (sum over t of x[t][i]) / by
  void (*mean)(const float* const* x, int64_t taps, float by, int64_t n, float* y);
  // y[i] = x[i] * scale[i] + shift[i]; y may be x
  void (*scale_shift)(const float* x, const float* scale, const float* shift, int64_t n, float* y);
};

const WindowLoops& Windows();

}  // namespace slipway::kernels
