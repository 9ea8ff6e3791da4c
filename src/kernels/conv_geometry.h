// SPDX-License-Identifier: Apache-2.0
//
// A convolution's sizes, and its input as a matrix: a row for each output pixel with the values
// under its window, in the order of the filter (taps, then channels). Private to the convolutions.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "ir/window.h"
#include "kernels/checks.h"
#include "kernels/kernel.h"

namespace slipway::kernels {

// What a type is computed in.
template <typename T>
using ComputeType = std::conditional_t<std::is_same_v<T, double>, double,
                                       std::conditional_t<std::is_integral_v<T>, T, float>>;

// Offsets, in elements, of a [batch, spatial…, channels] tensor or one with channels first.
struct ImageStrides {
  int64_t image = 0, pixel = 0, channel = 0;
};

struct Conv {
  ir::WindowSpec spec;
  std::array<ir::WindowDim, 3> dims;
  int64_t batch = 0, in_channels = 0, out_channels = 0;
  int64_t groups = 1;
  int64_t in_pixels = 1, out_pixels = 1;  // of one image
  int64_t taps = 1;

  int64_t rows() const { return batch * out_pixels; }
  int64_t group_in() const { return in_channels / groups; }
  int64_t group_out() const { return out_channels / groups; }
  // Columns of a group's matrix of patches.
  int64_t depth() const { return taps * group_in(); }
  // The matrix of patches is the input itself.
  bool pointwise() const;
  ImageStrides in_strides() const;
  ImageStrides out_strides() const;
  StatusOr<Shape> input_shape() const;
  StatusOr<Shape> output_shape() const;
};

// The sizes of a convolution of `input` with a filter of [spatial…, channels, outputs]. Depthwise:
// [height, width, channels, outputs of each], with a group for each channel.
StatusOr<Conv> MakeConv(const ir::WindowSpec& spec, const Shape& input, const Shape& filter,
                        bool depthwise);
// For the gradients: the same, and out_backprop must have the output's shape.
StatusOr<Conv> MakeConvGradient(const ir::WindowSpec& spec, const Shape& input, const Shape& filter,
                                const Shape& out_backprop, bool depthwise);

// An output pixel's place.
struct ConvRow {
  int64_t image, d, h, w;
};
inline ConvRow RowAt(const Conv& c, int64_t row) {
  const int64_t pixel = row % c.out_pixels;
  const int64_t w = c.dims[2].output, h = c.dims[1].output;
  return {row / c.out_pixels, pixel / (w * h), pixel / w % h, pixel % w};
}

// fn(tap, pixel) for the input pixels of one image under the window of a row; for those outside
// the image pixel is -1.
template <typename Fn>
void ForTaps(const Conv& c, const ConvRow& row, Fn&& fn) {
  const auto& [d, h, w] = c.dims;
  int64_t tap = 0;
  for (int64_t i = 0, z = d.begin(row.d); i < d.window; ++i, z += d.dilation) {
    for (int64_t j = 0, y = h.begin(row.h); j < h.window; ++j, y += h.dilation) {
      const bool in = z >= 0 && z < d.input && y >= 0 && y < h.input;
      const int64_t line = (z * h.input + y) * w.input;
      for (int64_t k = 0, x = w.begin(row.w); k < w.window; ++k, x += w.dilation, ++tap) {
        fn(tap, in && x >= 0 && x < w.input ? line + x : -1);
      }
    }
  }
}

// Copies n channels that lie `stride` apart.
template <typename T, typename A>
void CopyChannels(const T* from, int64_t stride, int64_t n, A* to) {
  if constexpr (std::is_same_v<T, A>) {
    if (stride == 1 && n >= 16) {
      std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
      return;
    }
  }
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<A>(from[i * stride]);
}

// Rows [begin, end) of the matrix of patches of one group; c.depth() values a row.
template <typename T, typename A>
void CopyPatches(const Conv& c, const T* input, int64_t group, int64_t begin, int64_t end, A* to) {
  const ImageStrides at = c.in_strides();
  const int64_t channels = c.group_in();
  const T* from = input + group * channels * at.channel;
  // Pixels side by side in memory, a line of the window at a time.
  const bool lines = at.channel == 1 && c.groups == 1 && c.dims[2].dilation == 1;
  const int64_t width = c.dims[2].window;
  for (int64_t r = begin; r < end; ++r, to += c.depth()) {
    const ConvRow row = RowAt(c, r);
    const T* image = from + row.image * at.image;
    const int64_t left = c.dims[2].begin(row.w);
    if (lines && left >= 0 && left + width <= c.dims[2].input) {
      ForTaps(c, row, [&](int64_t tap, int64_t pixel) {
        if (tap % width != 0) return;
        if (pixel < 0) {
          std::fill_n(to + tap * channels, width * channels, A{0});
        } else {
          CopyChannels(image + pixel * at.pixel, 1, width * channels, to + tap * channels);
        }
      });
      continue;
    }
    ForTaps(c, row, [&](int64_t tap, int64_t pixel) {
      if (pixel < 0) {
        std::fill_n(to + tap * channels, channels, A{0});
      } else {
        CopyChannels(image + pixel * at.pixel, at.channel, channels, to + tap * channels);
      }
    });
  }
}

// Rows of patches that stay in the second cache; depends on the sizes alone.
inline int64_t PatchRows(const Conv& c, int64_t bytes_each) {
  constexpr int64_t kBytes = 192 << 10;
  const int64_t rows = kBytes / std::max<int64_t>(1, c.depth() * bytes_each);
  return std::clamp<int64_t>(rows / 8 * 8, 32, 512);
}

}  // namespace slipway::kernels
