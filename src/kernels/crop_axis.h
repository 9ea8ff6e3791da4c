// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace slipway::kernels {

// Where output i of `size` along a dimension of a box lies in an image of `input` pixels.
struct CropAxis {
  float first, step;
  CropAxis(float low, float high, int64_t input, int64_t size) {
    const auto span = static_cast<float>(input - 1);
    first = size > 1 ? low * span : 0.5f * (low + high) * span;
    step = size > 1 ? (high - low) * span / static_cast<float>(size - 1) : 0;
  }
  float At(int64_t i) const { return first + static_cast<float>(i) * step; }
};

// Whether there is an image at `at`; false for NaN.
inline bool InImage(float at, int64_t size) {
  return at >= 0 && at <= static_cast<float>(size - 1);
}

}  // namespace slipway::kernels
