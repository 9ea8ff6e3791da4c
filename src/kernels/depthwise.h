// SPDX-License-Identifier: Apache-2.0
//
// Depthwise convolution, which a convolution with a group for each channel is too.
#pragma once

#include "kernels/conv_geometry.h"

namespace slipway::kernels {

// A group for each of several channels, channels last.
inline bool IsDepthwise(const Conv& c) {
  return c.groups > 1 && c.groups == c.in_channels && !c.spec.channels_first;
}

// `out` = the convolution of input with filter, of any floating type. REQUIRES: IsDepthwise, or one
// channel; an output that is not empty.
Status RunDepthwise(KernelContext& ctx, const Conv& c, const Tensor& input, const Tensor& filter,
                    Tensor* out);

}  // namespace slipway::kernels
