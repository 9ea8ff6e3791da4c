// SPDX-License-Identifier: Apache-2.0
//
// Shape arithmetic in graphs whose batch dimension is not known.
#pragma once

#include <utility>
#include <vector>

#include "ir/builder.h"

namespace slipway::nn {

// Dimension 0 as an int32 scalar.
ir::Output BatchSize(ir::GraphBuilder& builder, ir::Output x);
// The number of elements as a float32 scalar; a constant where the shape is known.
ir::Output ElementCount(ir::GraphBuilder& builder, ir::Output x);
// [a, b, c] as [a·b, c], and back to [a, b, last] after a product.
ir::Output FoldToMatrix(ir::GraphBuilder& builder, ir::Output x, int64_t last);
ir::Output UnfoldFromMatrix(ir::GraphBuilder& builder, ir::Output rows, ir::Output like,
                            int64_t last);
// Sum or mean over the given axes (all if empty).
ir::Output Reduce(ir::GraphBuilder& builder, const char* op, ir::Output x,
                  std::vector<int32_t> axes = {}, bool keep_dims = false);
// Axes begin, begin + 1 … end - 1.
std::vector<int32_t> AxisRange(int begin, int end);
// Keras's rule for labels against predictions: if the ranks differ by one and the longer one ends
// in 1, that axis goes, or the other gains one if it has rank 1.
std::pair<ir::Output, ir::Output> SameRank(ir::GraphBuilder& builder, ir::Output a, ir::Output b);

}  // namespace slipway::nn
