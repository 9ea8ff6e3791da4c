// SPDX-License-Identifier: Apache-2.0
//
// Copies between boxes of one tensor: how a partitioned tensor is put together.
#pragma once

#include <cstdint>
#include <vector>

#include "checkpoint/bundle.h"
#include "slipway/tensor.h"

namespace slipway {

// Where a piece begins and how long it is, in each dimension of the whole tensor.
struct Box {
  std::vector<int64_t> start;
  std::vector<int64_t> length;
};

// REQUIRES: slice.ShapeIn(shape) is ok.
Box BoxOf(const TensorSlice& slice, const Shape& shape);
int64_t OverlapElements(const Box& a, const Box& b);

// Copies what both boxes share from the tensor that fills `from_box` to the one that fills
// `to_box`. REQUIRES: same dtype, shapes as the boxes' lengths.
void CopyOverlap(const Tensor& from, const Box& from_box, Tensor* to, const Box& to_box);

}  // namespace slipway
