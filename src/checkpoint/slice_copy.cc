// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/slice_copy.h"

#include <algorithm>

namespace slipway {
namespace {

Box Overlap(const Box& a, const Box& b) {
  Box both;
  for (size_t i = 0; i < a.start.size(); ++i) {
    const int64_t begin = std::max(a.start[i], b.start[i]);
    const int64_t end = std::min(a.start[i] + a.length[i], b.start[i] + b.length[i]);
    both.start.push_back(begin);
    both.length.push_back(std::max<int64_t>(0, end - begin));
  }
  return both;
}

int64_t Volume(const Box& box) {
  int64_t n = 1;
  for (int64_t length : box.length) n *= length;
  return n;
}

// Element index of a place of the whole tensor within the tensor that fills `box`.
int64_t IndexIn(const Box& box, const std::vector<int64_t>& place) {
  int64_t index = 0;
  for (size_t i = 0; i < place.size(); ++i) {
    index = index * box.length[i] + place[i] - box.start[i];
  }
  return index;
}

void CopyRun(const Tensor& from, int64_t from_index, Tensor* to, int64_t to_index, int64_t n) {
  if (from.dtype() == DType::kString) {
    const auto source =
        from.flat<std::string>().subspan(static_cast<size_t>(from_index), static_cast<size_t>(n));
    std::copy(source.begin(), source.end(), to->flat<std::string>().begin() + to_index);
    return;
  }
  const size_t size = DTypeSize(from.dtype());
  std::memcpy(static_cast<char*>(to->raw_data()) + static_cast<size_t>(to_index) * size,
              static_cast<const char*>(from.raw_data()) + static_cast<size_t>(from_index) * size,
              static_cast<size_t>(n) * size);
}

}  // namespace

Box BoxOf(const TensorSlice& slice, const Shape& shape) {
  Box box;
  for (int i = 0; i < shape.rank(); ++i) {
    const TensorSlice::Extent& extent = slice.extents[static_cast<size_t>(i)];
    box.start.push_back(extent.length < 0 ? 0 : extent.start);
    box.length.push_back(extent.length < 0 ? shape.dim(i) : extent.length);
  }
  return box;
}

int64_t OverlapElements(const Box& a, const Box& b) { return Volume(Overlap(a, b)); }

void CopyOverlap(const Tensor& from, const Box& from_box, Tensor* to, const Box& to_box) {
  const Box both = Overlap(from_box, to_box);
  if (Volume(both) == 0) return;
  const size_t rank = both.start.size();
  const int64_t run = rank == 0 ? 1 : both.length[rank - 1];
  std::vector<int64_t> place = both.start;
  while (true) {
    CopyRun(from, IndexIn(from_box, place), to, IndexIn(to_box, place), run);
    // The next row: all dimensions but the last count up.
    size_t i = rank < 2 ? 0 : rank - 1;
    while (i > 0 && ++place[i - 1] == both.start[i - 1] + both.length[i - 1]) {
      place[i - 1] = both.start[i - 1];
      --i;
    }
    if (i == 0) return;
  }
}

}  // namespace slipway
