// SPDX-License-Identifier: Apache-2.0
//
// Resampling of images: along each dimension an output is a weighted sum of a few inputs.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/kernel.h"

namespace slipway::kernels {

struct Tap {
  int64_t index;
  float weight;
};

// For every output along one dimension: taps[begin[o], begin[o + 1]).
struct TapTable {
  std::vector<Tap> taps;
  std::vector<int64_t> begin = {0};
  void Add(int64_t index, float weight) { taps.push_back({index, weight}); }
  void EndOutput() { begin.push_back(static_cast<int64_t>(taps.size())); }
};

// Where output i of a resize lies in the input.
struct ResizeScale {
  float scale = 1;
  bool half_pixel = false;
  float At(int64_t i) const {
    const auto x = static_cast<float>(i);
    return half_pixel ? (x + 0.5f) * scale - 0.5f : x * scale;
  }
};
ResizeScale MakeResizeScale(int64_t input, int64_t output, bool align_corners, bool half_pixel);

// The input pixel that each output of ResizeNearestNeighbor takes.
std::vector<int64_t> NearestPlaces(int64_t input, int64_t output, bool align_corners,
                                   bool half_pixel);
TapTable BilinearTaps(int64_t input, int64_t output, const ResizeScale& scale);
// With half-pixel centres the weights are those of Keys (a = -0.5) and what lies outside has none;
// else a = -0.75 and the border is repeated. Both from a table of 1024 places.
TapTable BicubicTaps(int64_t input, int64_t output, const ResizeScale& scale);
TapTable AreaTaps(int64_t input, int64_t output, float scale);

// images [batch, height, width, channels] of numbers to float: rows by `rows`, then columns.
Status Resample(KernelContext& ctx, const Tensor& images, const TapTable& rows,
                const TapTable& columns, Tensor* out);

}  // namespace slipway::kernels
