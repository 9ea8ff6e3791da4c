// SPDX-License-Identifier: Apache-2.0
//
// Sliding windows: what convolutions, pooling and patches have in common. Sizes, paddings and
// messages are TensorFlow's.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "slipway/status.h"

namespace slipway::ir {

enum class Padding : uint8_t { kValid, kSame, kExplicit };

// A window along one dimension. A dimension that an op does not have is one of size 1.
struct WindowDim {
  int64_t input = 1;
  int64_t window = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t before = 0, after = 0;  // padding
  int64_t output = 1;

  int64_t reach() const { return (window - 1) * dilation + 1; }
  // Where the window of output o begins; may lie outside.
  int64_t begin(int64_t o) const { return o * stride - before; }
};

// Computes output, and before and after unless padding is kExplicit. INVALID_ARGUMENT for windows,
// strides and dilations that are not positive or do not fit 31 bits, and for an output that would
// be negative.
Status ComputeWindow(Padding padding, WindowDim* dim);

// What a node says of its windows. Spatial dimensions are the last of the three.
struct WindowSpec {
  int spatial = 2;  // 2 or 3
  bool channels_first = false;
  Padding padding = Padding::kValid;
  std::array<WindowDim, 3> dims;  // stride, dilation, window (if there is ksize), paddings
  // Of batch and channels, which most ops want to be 1.
  int64_t batch_window = 1, channel_window = 1, batch_stride = 1, channel_stride = 1;

  int rank() const { return spatial + 2; }
  int channel_axis() const { return channels_first ? 1 : rank() - 1; }
  // The axis of dims[i]. REQUIRES: i >= 3 - spatial.
  int axis(int i) const { return i - (3 - spatial) + (channels_first ? 2 : 1); }
};

// The attributes that hold the lists of a number for each dimension; null: the op has none.
struct WindowAttrNames {
  const char* window = nullptr;
  const char* strides = "strides";
  const char* dilations = nullptr;
};
StatusOr<WindowSpec> ReadWindowSpec(const Node& node, const WindowAttrNames& names);

// Puts lists of a number for each dimension into a spec, as MaxPoolV2 is given them as inputs.
// INVALID_ARGUMENT for a list of the wrong length.
Status SetWindow(const std::vector<int64_t>& ksize, WindowSpec* spec);
Status SetStrides(const std::vector<int64_t>& strides, WindowSpec* spec);

}  // namespace slipway::ir
