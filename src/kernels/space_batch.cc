// SPDX-License-Identifier: Apache-2.0
//
// Moving pixels between space and depth, and between space and batch.
#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/strided_copy.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

// Batch, rows, columns and channels of a 4-D tensor, with the places of their axes.
struct Axes {
  int h, w, c;
};
Axes AxesOf(const ir::Node& node) {
  const bool first = AttrOr<std::string>(node, "data_format", "NHWC").starts_with("NC");
  return first ? Axes{2, 3, 1} : Axes{1, 2, 3};
}

// Both ops are one copy over [batch, h, row of the block, w, column of the block, channels].
struct SpaceDepth {
  Axes axes;
  int64_t block;
  bool to_depth;

  Status Run(KernelContext& ctx) const {
    const Tensor& x = ctx.input(0);
    RETURN_IF_ERROR(CheckRank(x, 4, "Input"));
    ASSIGN_OR_RETURN(const Shape shape, OutputShape(x.shape()));
    ASSIGN_OR_RETURN(Tensor * y, ctx.AllocateOutput(0, shape));
    if (y->num_elements() == 0) return OkStatus();
    const Shape& space = to_depth ? x.shape() : shape;
    const Shape& depth = to_depth ? shape : x.shape();
    const IntVec s = RowMajorStrides(space), d = RowMajorStrides(depth);
    const auto h = static_cast<size_t>(axes.h), w = static_cast<size_t>(axes.w),
               c = static_cast<size_t>(axes.c);
    const int64_t channels = space.dim(axes.c);
    const std::array<int64_t, 6> dims = {space.dim(0), depth.dim(axes.h), block, depth.dim(axes.w),
                                         block,        channels};
    const std::array<int64_t, 6> in_space = {s[0], s[h] * block, s[h], s[w] * block, s[w], s[c]};
    const std::array<int64_t, 6> in_depth = {
        d[0], d[h], d[c] * channels * block, d[w], d[c] * channels, d[c]};
    StridedCopy(x.dtype(), dims, x.raw_data(), to_depth ? in_space : in_depth, y->raw_data(),
                to_depth ? in_depth : in_space, &ctx.intra_op());
    return OkStatus();
  }

  StatusOr<Shape> OutputShape(const Shape& in) const {
    Shape out = in;
    const int64_t h = in.dim(axes.h), w = in.dim(axes.w), c = in.dim(axes.c);
    if (to_depth) {
      if (h % block != 0 || w % block != 0) {
        return InvalidArgumentError(StrCat("Image width ", w, " and height ", h,
                                           " should be divisible by block_size: ", block));
      }
      out.set_dim(axes.h, h / block);
      out.set_dim(axes.w, w / block);
      ASSIGN_OR_RETURN(const int64_t depth, CheckedMul(c, block * block, "Output depth"));
      out.set_dim(axes.c, depth);
    } else {
      if (c % (block * block) != 0) {
        return InvalidArgumentError(
            StrCat("Input depth dimension ", c, " should be divisible by: ", block * block));
      }
      ASSIGN_OR_RETURN(const int64_t rows, CheckedMul(h, block, "Output height"));
      ASSIGN_OR_RETURN(const int64_t columns, CheckedMul(w, block, "Output width"));
      out.set_dim(axes.h, rows);
      out.set_dim(axes.w, columns);
      out.set_dim(axes.c, c / (block * block));
    }
    return Shape::FromDims(out.dims());
  }
};

StatusOr<KernelFn> BindSpaceDepth(const BindContext& bind) {
  if (AttrOr<std::string>(*bind.node, "data_format", "NHWC") == "NCHW_VECT_C") {
    return UnimplementedError(StrCat(bind.node->op(), " with data format NCHW_VECT_C; use NHWC"));
  }
  const SpaceDepth op = {AxesOf(*bind.node), IntAttr(*bind.node, "block_size", 2),
                         bind.node->op() == "SpaceToDepth"};
  if (op.block < 1 || op.block > (int64_t{1} << 30)) {
    return InvalidArgumentError(StrCat("Block size should be > 1 : ", op.block));
  }
  return KernelFn([op](KernelContext& ctx) { return op.Run(ctx); });
}

// Space to batch and back. The batch side's first dimension is the place in the block, then the
// image; `start` is the padding or crop before each dimension.
struct SpaceBatch {
  IntVec block, start, stop;
  bool to_batch = false;
  int64_t cells = 1;  // of a block
};

StatusOr<SpaceBatch> ReadSpaceBatch(KernelContext& ctx, int64_t block_size, bool to_batch) {
  SpaceBatch s;
  s.to_batch = to_batch;
  if (block_size > 0) {
    s.block = IntVec(2, block_size);
  } else {
    ASSIGN_OR_RETURN(s.block, ReadIntVector(ctx.input(1), "block_shape"));
  }
  const Tensor& pads = ctx.input(ctx.num_inputs() - 1);
  const std::string_view what = to_batch ? "paddings" : "crops";
  const auto n = static_cast<int64_t>(s.block.size());
  if (!(pads.shape() == Shape({n, 2}))) {
    return InvalidArgumentError(
        StrCat(what, " should have shape [", n, ",2], not ", pads.shape().ToString()));
  }
  ASSIGN_OR_RETURN(const IntVec values, ReadInts(pads, what));
  for (size_t i = 0; i < s.block.size(); ++i) {
    if (s.block[i] < 1) {
      return InvalidArgumentError(StrCat("All values in block_shape must be positive, got value, ",
                                         s.block[i], " at index ", i, "."));
    }
    ASSIGN_OR_RETURN(s.cells, CheckedMul(s.cells, s.block[i], "Product of block sizes"));
    if (values[2 * i] < 0 || values[2 * i + 1] < 0 || values[2 * i] > (int64_t{1} << 40) ||
        values[2 * i + 1] > (int64_t{1} << 40)) {
      return InvalidArgumentError(StrCat(to_batch ? "Paddings" : "Crops",
                                         " must be non-negative and of less than 41 bits, got ",
                                         values[2 * i], " and ", values[2 * i + 1]));
    }
    s.start.push_back(values[2 * i]);
    s.stop.push_back(values[2 * i + 1]);
  }
  return s;
}

StatusOr<Shape> SpaceBatchShape(const SpaceBatch& s, const Shape& in) {
  if (static_cast<size_t>(in.rank()) < s.block.size() + 1) {
    return InvalidArgumentError(
        StrCat("input rank should be >= ", s.block.size() + 1, " instead of ", in.rank()));
  }
  IntVec out(in.dims());
  if (s.to_batch) {
    ASSIGN_OR_RETURN(out[0], CheckedMul(in.dim(0), s.cells, "Output batch"));
  } else {
    if (in.dim(0) % s.cells != 0) {
      return InvalidArgumentError(StrCat("Input batch dimension (", in.dim(0),
                                         ") is not divisible by product of block sizes (", s.cells,
                                         ")"));
    }
    out[0] = in.dim(0) / s.cells;
  }
  for (size_t i = 0; i < s.block.size(); ++i) {
    const int64_t size = in.dim(static_cast<int>(i + 1)), pad = s.start[i] + s.stop[i];
    if (s.to_batch) {
      if ((size + pad) % s.block[i] != 0) {
        return InvalidArgumentError(StrCat("padded_shape[", i, "]=", size + pad,
                                           " is not divisible by block_shape[", i,
                                           "]=", s.block[i]));
      }
      out[i + 1] = (size + pad) / s.block[i];
    } else {
      ASSIGN_OR_RETURN(const int64_t whole, CheckedMul(size, s.block[i], "Output size"));
      if (whole < pad) {
        return InvalidArgumentError(
            StrCat("cropped_shape[", i, "]=", whole - pad, " must be non-negative"));
      }
      out[i + 1] = whole - pad;
    }
  }
  return Shape::FromDims(out.span());
}

// Along one dimension, for the cells of a block at `cell`: positions of the batch side whose place
// in space lies inside, [first, first + count), the first one at `at` in space.
struct Span {
  int64_t first, count, at;
};
Span SpanOf(int64_t space, int64_t batch, int64_t block, int64_t start, int64_t cell) {
  const int64_t first = std::max<int64_t>(0, (start - cell + block - 1) / block);
  const int64_t at = first * block + cell - start;
  const int64_t fits = at >= space ? 0 : (space - at + block - 1) / block;
  return {first, std::clamp<int64_t>(batch - first, 0, fits), at};
}

// One strided copy for each place in the block.
void CopyCells(KernelContext& ctx, const SpaceBatch& s, const Tensor& x, Tensor* y) {
  const Shape& space = s.to_batch ? x.shape() : y->shape();
  const Shape& batch = s.to_batch ? y->shape() : x.shape();
  const IntVec in_space = RowMajorStrides(space), in_batch = RowMajorStrides(batch);
  const auto size = static_cast<int64_t>(DTypeSize(x.dtype()));
  for (int64_t cell = 0; cell < s.cells; ++cell) {
    IntVec dims(space.dims()), from = in_space;
    int64_t at_space = 0, at_batch = cell * space.dim(0) * in_batch[0];
    bool empty = false;
    for (size_t i = s.block.size(), rest = static_cast<size_t>(cell); i-- > 0;) {
      const auto block = static_cast<size_t>(s.block[i]);
      const Span span =
          SpanOf(space.dim(static_cast<int>(i + 1)), batch.dim(static_cast<int>(i + 1)), s.block[i],
                 s.start[i], static_cast<int64_t>(rest % block));
      rest /= block;
      dims[i + 1] = span.count;
      from[i + 1] *= s.block[i];
      empty = empty || span.count == 0;
      at_space += span.at * in_space[i + 1];
      at_batch += span.first * in_batch[i + 1];
    }
    if (empty) continue;
    const auto* source = static_cast<const char*>(x.raw_data());
    auto* target = static_cast<char*>(y->raw_data());
    if (s.to_batch) {
      StridedCopy(x.dtype(), dims.span(), source + at_space * size, from.span(),
                  target + at_batch * size, in_batch.span(), &ctx.intra_op());
    } else {
      StridedCopy(x.dtype(), dims.span(), source + at_batch * size, in_batch.span(),
                  target + at_space * size, from.span(), &ctx.intra_op());
    }
  }
}

StatusOr<KernelFn> BindSpaceBatch(const BindContext& bind) {
  const int64_t block_size = IntAttr(*bind.node, "block_size", 0);
  const bool to_batch = bind.node->op().starts_with("SpaceToBatch");
  return KernelFn([=](KernelContext& ctx) -> Status {
    const Tensor& x = ctx.input(0);
    ASSIGN_OR_RETURN(const SpaceBatch s, ReadSpaceBatch(ctx, block_size, to_batch));
    ASSIGN_OR_RETURN(const Shape shape, SpaceBatchShape(s, x.shape()));
    ASSIGN_OR_RETURN(Tensor * y, ctx.AllocateOutput(0, shape));
    if (y->num_elements() == 0) return OkStatus();
    if (to_batch) std::memset(y->raw_data(), 0, y->byte_size());
    if (x.num_elements() > 0) CopyCells(ctx, s, x, y);
    return OkStatus();
  });
}

}  // namespace

std::span<const KernelDef> SpaceBatchKernels() {
  static const std::vector<KernelDef> table = [] {
    std::vector<DType> plain = NumberTypes();
    plain.push_back(DType::kBool);
    std::vector<DType> all = plain;
    for (DType t : {DType::kComplex64, DType::kComplex128, DType::kQInt8}) all.push_back(t);
    return MakeKernels({
        {"BatchToSpace", BindSpaceBatch, plain},
        {"BatchToSpaceND", BindSpaceBatch, plain},
        {"DepthToSpace", BindSpaceDepth, all},
        {"SpaceToBatch", BindSpaceBatch, plain},
        {"SpaceToBatchND", BindSpaceBatch, plain},
        {"SpaceToDepth", BindSpaceDepth, all},
    });
  }();
  return table;
}

}  // namespace slipway::kernels
