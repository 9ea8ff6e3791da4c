// SPDX-License-Identifier: Apache-2.0
#include "kernels/resample.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernels/simd_rows.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

constexpr int64_t kCubicPlaces = 1024;

// The weights of the two nearest pixels on one side, at a distance of place / 1024.
struct CubicPair {
  float near, far;
};
using CubicTable = std::vector<CubicPair>;
CubicTable MakeCubicTable(double a) {
  CubicTable table(kCubicPlaces + 1);
  for (int64_t i = 0; i <= kCubicPlaces; ++i) {
    const double x = static_cast<double>(i) / kCubicPlaces, y = x + 1;
    table[static_cast<size_t>(i)] = {static_cast<float>(((a + 2) * x - (a + 3)) * x * x + 1),
                                     static_cast<float>(((a * y - 5 * a) * y + 8 * a) * y - 4 * a)};
  }
  return table;
}

// One output row: the weighted sum of input rows, then of its pixels.
template <typename T>
struct RowResampler {
  const T* image;
  int64_t width, channels;
  const TapTable &rows, &columns;

  // Of one input row, `row` += weight * values.
  void AddRow(int64_t index, float weight, float* wide, float* row) const {
    const int64_t n = width * channels;
    const T* from = image + index * n;
    if constexpr (std::is_same_v<T, float>) {
      Rows().add_scaled(from, weight, row, n);
    } else {
      for (int64_t i = 0; i < n; ++i) wide[i] = static_cast<float>(from[i]);
      Rows().add_scaled(wide, weight, row, n);
    }
  }

  void Run(int64_t y, float* wide, float* row, float* to) const {
    std::fill_n(row, width * channels, 0.0f);
    const auto at = static_cast<size_t>(y);
    for (int64_t t = rows.begin[at]; t < rows.begin[at + 1]; ++t) {
      const Tap& tap = rows.taps[static_cast<size_t>(t)];
      AddRow(tap.index, tap.weight, wide, row);
    }
    for (size_t x = 0; x + 1 < columns.begin.size(); ++x, to += channels) {
      std::fill_n(to, channels, 0.0f);
      for (int64_t t = columns.begin[x]; t < columns.begin[x + 1]; ++t) {
        const Tap& tap = columns.taps[static_cast<size_t>(t)];
        const float* from = row + tap.index * channels;
        for (int64_t c = 0; c < channels; ++c) to[c] += tap.weight * from[c];
      }
    }
  }
};

template <typename T>
Status ResampleImages(KernelContext& ctx, const Tensor& images, const TapTable& rows,
                      const TapTable& columns, Tensor* out) {
  const int64_t height = images.dim(1), width = images.dim(2), channels = images.dim(3);
  const int64_t lines = out->dim(1), total = out->dim(0) * lines, n = width * channels;
  const int64_t parts = std::min<int64_t>(ctx.intra_op().size() + 1, total);
  auto* memory =
      static_cast<float*>(ctx.Scratch(static_cast<size_t>(2 * parts * n) * sizeof(float) + 1));
  if (memory == nullptr) return ResourceExhaustedError("No memory to resize images");
  ctx.intra_op().ParallelFor(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      float* wide = memory + 2 * p * n;
      for (int64_t i = total * p / parts; i < total * (p + 1) / parts; ++i) {
        const RowResampler<T> resampler = {images.flat<T>().data() + i / lines * height * n, width,
                                           channels, rows, columns};
        resampler.Run(i % lines, wide, wide + n,
                      out->flat<float>().data() + i * out->dim(2) * channels);
      }
    }
  });
  return OkStatus();
}

}  // namespace

ResizeScale MakeResizeScale(int64_t input, int64_t output, bool align_corners, bool half_pixel) {
  const bool corners = align_corners && output > 1 && input > 1;
  return {corners ? static_cast<float>(input - 1) / static_cast<float>(output - 1)
                  : static_cast<float>(input) / static_cast<float>(output),
          half_pixel};
}

std::vector<int64_t> NearestPlaces(int64_t input, int64_t output, bool align_corners,
                                   bool half_pixel) {
  const float scale = MakeResizeScale(input, output, align_corners, false).scale;
  std::vector<int64_t> places;
  for (int64_t i = 0; i < output; ++i) {
    const float at = (static_cast<float>(i) + (half_pixel ? 0.5f : 0.0f)) * scale;
    const auto place = static_cast<int64_t>(align_corners ? std::round(at) : std::floor(at));
    places.push_back(std::clamp<int64_t>(place, 0, input - 1));
  }
  return places;
}

TapTable BilinearTaps(int64_t input, int64_t output, const ResizeScale& scale) {
  TapTable table;
  for (int64_t i = 0; i < output; ++i) {
    const float at = scale.At(i), below = std::floor(at);
    const int64_t upper = std::min(static_cast<int64_t>(std::ceil(at)), input - 1);
    const int64_t lower = std::min(std::max<int64_t>(static_cast<int64_t>(below), 0), upper);
    const float part = at - below;
    if (lower == upper) {
      table.Add(lower, 1);
    } else {
      table.Add(lower, 1 - part);
      table.Add(upper, part);
    }
    table.EndOutput();
  }
  return table;
}

TapTable BicubicTaps(int64_t input, int64_t output, const ResizeScale& scale) {
  const CubicTable cubic = MakeCubicTable(scale.half_pixel ? -0.5 : -0.75);
  TapTable table;
  for (int64_t i = 0; i < output; ++i) {
    const float at = scale.At(i);
    const auto whole = static_cast<int64_t>(std::floor(at));
    const auto place = static_cast<size_t>(
        std::lrint((at - static_cast<float>(whole)) * static_cast<float>(kCubicPlaces)));
    const CubicPair &left = cubic[place], &right = cubic[kCubicPlaces - place];
    std::array<float, 4> weights = {left.far, left.near, right.near, right.far};
    float sum = 0;
    for (int64_t k = 0; k < 4; ++k) {
      const int64_t index = whole - 1 + k;
      if (scale.half_pixel && (index < 0 || index >= input)) weights[static_cast<size_t>(k)] = 0;
      sum += weights[static_cast<size_t>(k)];
    }
    const bool normal =
        scale.half_pixel && std::abs(sum) >= 1000 * std::numeric_limits<float>::min();
    for (int64_t k = 0; k < 4; ++k) {
      const float weight = weights[static_cast<size_t>(k)];
      table.Add(std::clamp<int64_t>(whole - 1 + k, 0, input - 1), normal ? weight / sum : weight);
    }
    table.EndOutput();
  }
  return table;
}

TapTable AreaTaps(int64_t input, int64_t output, float scale) {
  TapTable table;
  for (int64_t o = 0; o < output; ++o) {
    const float begin = static_cast<float>(o) * scale, end = static_cast<float>(o + 1) * scale;
    const auto last = static_cast<int64_t>(std::ceil(end));
    for (auto i = static_cast<int64_t>(std::floor(begin)); i < last; ++i) {
      const auto x = static_cast<float>(i);
      const float covered =
          x < begin ? (x + 1 > end ? scale : x + 1 - begin) : (x + 1 > end ? end - x : 1.0f);
      table.Add(std::clamp<int64_t>(i, 0, input - 1), covered / scale);
    }
    table.EndOutput();
  }
  return table;
}

Status Resample(KernelContext& ctx, const Tensor& images, const TapTable& rows,
                const TapTable& columns, Tensor* out) {
  if (out->num_elements() == 0) return OkStatus();
  using Types =
      TypeList<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t>;
  return SwitchType<Status>(Types{}, images.dtype(), [&]<typename T>() {
    return ResampleImages<T>(ctx, images, rows, columns, out);
  });
}

}  // namespace slipway::kernels
