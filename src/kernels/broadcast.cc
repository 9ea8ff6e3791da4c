// SPDX-License-Identifier: Apache-2.0
#include "kernels/broadcast.h"

#include "base/strings.h"

namespace slipway::kernels {
namespace {

Status Incompatible(std::span<const Shape* const> inputs) {
  std::string text = "Incompatible shapes: ";
  for (size_t i = 0; i < inputs.size(); ++i) {
    StrAppend(&text, i == 0 ? "" : " vs. ", inputs[i]->ToString());
  }
  return InvalidArgumentError(std::move(text));
}

// Size of `shape` at dimension d of an output of `rank`.
int64_t DimAt(const Shape& shape, int d, int rank) {
  const int own = d - (rank - shape.rank());
  return own < 0 ? 1 : shape.dim(own);
}

}  // namespace

Status Broadcast::Make(std::span<const Shape* const> inputs, Broadcast* result) {
  Broadcast& b = *result;
  b.num_inputs = static_cast<int>(inputs.size());
  int rank = 0;
  for (const Shape* s : inputs) rank = std::max(rank, s->rank());
  b.output = Shape();
  b.rank = 0;
  unsigned previous = 0;
  for (int d = 0; d < rank; ++d) {
    int64_t size = 1;
    for (const Shape* s : inputs) {
      const int64_t own = DimAt(*s, d, rank);
      if (own == 1) continue;
      if (size != 1 && own != size) return Incompatible(inputs);
      size = own;
    }
    b.output.AddDim(size);
    if (size == 1) continue;
    unsigned moves = 0;
    for (int i = 0; i < b.num_inputs; ++i) {
      if (DimAt(*inputs[static_cast<size_t>(i)], d, rank) != 1) moves |= 1u << i;
    }
    if (b.rank > 0 && moves == previous) {
      b.dims[b.rank - 1] *= size;
    } else {
      if (b.rank == kMaxDims) {
        return UnimplementedError(StrCat("Broadcasting to ", b.output.ToString(),
                                         " alternates over more than ", kMaxDims, " dimensions"));
      }
      for (int i = 0; i < b.num_inputs; ++i) b.strides[i][b.rank] = (moves >> i) & 1;
      b.dims[b.rank++] = size;
    }
    previous = moves;
  }
  if (b.rank == 0) {
    b.dims[0] = 1;
    for (int i = 0; i < b.num_inputs; ++i) b.strides[i][0] = 1;
    b.rank = 1;
  }
  auto checked = Shape::FromDims(b.output.dims());
  if (!checked.ok()) return std::move(checked).status();
  for (int i = 0; i < b.num_inputs; ++i) {
    int64_t stride = 1;
    for (int d = b.rank - 1; d >= 0; --d) {
      if (b.strides[i][d] == 0) continue;
      b.strides[i][d] = stride;
      stride *= b.dims[d];
    }
  }
  return OkStatus();
}

StatusOr<Shape> BroadcastShape(const Shape& a, const Shape& b) {
  const Shape* inputs[] = {&a, &b};
  Broadcast broadcast;
  RETURN_IF_ERROR(Broadcast::Make(inputs, &broadcast));
  return broadcast.output;
}

}  // namespace slipway::kernels
