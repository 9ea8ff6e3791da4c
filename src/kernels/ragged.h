// SPDX-License-Identifier: Apache-2.0
//
// What the ops on ragged tensors share.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/kernel.h"

namespace slipway::kernels {

using Lengths = std::vector<int64_t>;

// Row splits as INVALID_ARGUMENT demands them: from 0, not falling, up to `total` (-1: any).
StatusOr<Lengths> CheckedSplits(const Tensor& tensor, int64_t total);
// The nested splits that stand in inputs [first, first + rank), over these values.
StatusOr<std::vector<Lengths>> NestedSplits(const KernelContext& c, int first, int rank,
                                            const Tensor& values);

}  // namespace slipway::kernels
