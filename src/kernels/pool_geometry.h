// SPDX-License-Identifier: Apache-2.0
//
// Pooling's sizes, and loops over its windows. Private to the pooling kernels.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "ir/window.h"
#include "kernels/checks.h"
#include "kernels/kernel.h"

namespace slipway::kernels {

struct Pool {
  ir::WindowSpec spec;
  std::array<ir::WindowDim, 3> dims;
  int64_t batch = 0, channels = 0;
  int64_t in_pixels = 1, out_pixels = 1;  // of one image
  // Of neighbouring pixels and channels, in elements.
  int64_t pixel() const { return spec.channels_first ? 1 : channels; }
  int64_t channel_in() const { return spec.channels_first ? in_pixels : 1; }
  int64_t channel_out() const { return spec.channels_first ? out_pixels : 1; }
  StatusOr<Shape> output_shape() const;
};

// INVALID_ARGUMENT unless `input` has the rank of the spec; UNIMPLEMENTED for windows over batch or
// channels.
StatusOr<Pool> MakePool(const ir::WindowSpec& spec, const Shape& input);

// What lies inside the image of a window along one dimension: [begin, end).
struct WindowRange {
  int64_t begin, end;
};
inline WindowRange Inside(const ir::WindowDim& d, int64_t o) {
  const int64_t begin = d.begin(o);
  return {std::max<int64_t>(begin, 0), std::min(begin + d.window, d.input)};
}

// fn(output pixel, d, h, w ranges) for output lines [begin, end) of an image, a line being all
// pixels that differ in the last dimension only.
template <typename Fn>
void ForWindows(const Pool& p, int64_t begin, int64_t end, Fn&& fn) {
  const auto& [d, h, w] = p.dims;
  for (int64_t line = begin; line < end; ++line) {
    const WindowRange z = Inside(d, line / h.output), y = Inside(h, line % h.output);
    for (int64_t x = 0; x < w.output; ++x) fn(line * w.output + x, z, y, Inside(w, x));
  }
}

// fn(input pixel) for each pixel of a window.
template <typename Fn>
void ForPixels(const Pool& p, WindowRange z, WindowRange y, WindowRange x, Fn&& fn) {
  for (int64_t i = z.begin; i < z.end; ++i) {
    for (int64_t j = y.begin; j < y.end; ++j) {
      const int64_t line = (i * p.dims[1].input + j) * p.dims[2].input;
      for (int64_t k = x.begin; k < x.end; ++k) fn(line + k);
    }
  }
}

inline int64_t WindowSize(WindowRange z, WindowRange y, WindowRange x) {
  const auto size = [](WindowRange r) { return std::max<int64_t>(0, r.end - r.begin); };
  return size(z) * size(y) * size(x);
}

}  // namespace slipway::kernels
