// SPDX-License-Identifier: Apache-2.0
//
// NumPy broadcasting of up to three inputs. Adjacent dimensions that all inputs treat alike are
// merged, so that most cases have one or two, and the innermost is a run over which every input
// either moves by one element or stands still.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "slipway/shape.h"
#include "slipway/status.h"

namespace slipway::kernels {

struct Broadcast {
  static constexpr int kMaxInputs = 3;
  static constexpr int kMaxDims = 12;  // after merging

  Shape output;
  int num_inputs = 0;
  int rank = 0;                           // >= 1
  int64_t dims[kMaxDims];                 // of the output, merged
  int64_t strides[kMaxInputs][kMaxDims];  // in elements; 0: the input stands still

  // INVALID_ARGUMENT "Incompatible shapes: [2,3] vs. [4]".
  static Status Make(std::span<const Shape* const> inputs, Broadcast* result);

  // fn(offsets, out, n) for each run of the output elements [begin, end): input i begins at
  // offsets[i], the output at `out`, both in elements; n elements.
  template <typename Fn>
  void ForEachRun(int64_t begin, int64_t end, Fn&& fn) const {
    if (begin >= end) return;
    int64_t index[kMaxDims];
    int64_t offsets[kMaxInputs] = {};
    int64_t rest = begin;
    for (int d = rank - 1; d >= 0; --d) {
      index[d] = rest % dims[d];
      rest /= dims[d];
      for (int i = 0; i < num_inputs; ++i) offsets[i] += index[d] * strides[i][d];
    }
    const int last = rank - 1;
    int64_t at = begin;
    while (at < end) {
      const int64_t n = std::min(dims[last] - index[last], end - at);
      fn(static_cast<const int64_t*>(offsets), at, n);
      at += n;
      Advance(n, index, offsets);
    }
  }

 private:
  void Advance(int64_t n, int64_t* index, int64_t* offsets) const {
    int d = rank - 1;
    index[d] += n;
    for (int i = 0; i < num_inputs; ++i) offsets[i] += n * strides[i][d];
    while (d > 0 && index[d] == dims[d]) {
      for (int i = 0; i < num_inputs; ++i) {
        offsets[i] += strides[i][d - 1] - dims[d] * strides[i][d];
      }
      index[d] = 0;
      ++index[--d];
    }
  }
};

// The shape that both broadcast to.
StatusOr<Shape> BroadcastShape(const Shape& a, const Shape& b);

}  // namespace slipway::kernels
