// SPDX-License-Identifier: Apache-2.0
//
// Convolutions: patches of the input, a cache-sized tile at a time, times the filter.
#include "kernels/conv_geometry.h"
#include "kernels/conv_product.h"
#include "kernels/depthwise.h"
#include "kernels/kernel_table.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

using ConvTypes = TypeList<float, double, Half, BFloat16, int32_t>;

template <typename T>
struct ConvRun {
  using A = ComputeType<T>;
  // Products are written straight into the output, else copied from a tile.
  bool direct() const { return std::is_same_v<T, A> && !conv.spec.channels_first; }

  const Conv& conv;
  const T* input;
  FilterMatrix<A> filter;
  T* output;
  int64_t tile_rows;
  // Elements of A that a part of the work needs: patches, and a tile of the output.
  int64_t patches() const { return tile_rows * conv.depth(); }
  int64_t scratch() const { return patches() + (direct() ? 0 : tile_rows * conv.group_out()); }

  void Store(int64_t group, int64_t begin, int64_t end, const A* tile) const {
    const ImageStrides at = conv.out_strides();
    const int64_t n = conv.group_out();
    for (int64_t r = begin; r < end; ++r, tile += n) {
      T* to = output + r / conv.out_pixels * at.image + r % conv.out_pixels * at.pixel +
              group * n * at.channel;
      for (int64_t i = 0; i < n; ++i) to[i * at.channel] = T(tile[i]);
    }
  }

  // Rows [begin, end), at most tile_rows of them. With a pool the tile itself is split.
  void Tile(int64_t begin, int64_t end, A* memory, ThreadPool* pool) const {
    A* tile = memory + patches();
    for (int64_t g = 0; g < conv.groups; ++g) {
      if (pool == nullptr) {
        CopyPatches(conv, input, g, begin, end, memory);
      } else {
        pool->ParallelFor(end - begin, 8, [&](int64_t from, int64_t to) {
          CopyPatches(conv, input, g, begin + from, begin + to, memory + from * conv.depth());
        });
      }
      if (!direct()) {
        filter.Multiply(conv, g, memory, conv.depth(), end - begin, tile, conv.group_out(), pool);
        Store(g, begin, end, tile);
      } else if constexpr (std::is_same_v<T, A>) {
        T* to = output + begin * conv.out_channels + g * conv.group_out();
        filter.Multiply(conv, g, memory, conv.depth(), end - begin, to, conv.out_channels, pool);
      }
    }
  }
};

// All rows; parts of the work have a tile each.
template <typename T>
Status RunTiles(KernelContext& ctx, ConvRun<T>& run) {
  using A = ComputeType<T>;
  const int64_t rows = run.conv.rows();
  run.tile_rows = std::min(rows, PatchRows(run.conv, sizeof(A)));
  const int64_t tiles = (rows + run.tile_rows - 1) / run.tile_rows;
  const int64_t threads = ctx.intra_op().size() + 1;
  // Too few tiles to go round: each is split instead.
  const bool split = tiles < 2 * threads && threads > 1 && rows / threads < run.tile_rows;
  const int64_t parts = split ? 1 : std::min(threads, tiles);
  const auto bytes = static_cast<size_t>(parts * run.scratch()) * sizeof(A) + 1;
  auto* memory = static_cast<A*>(ctx.Scratch(bytes));
  if (memory == nullptr) return ResourceExhaustedError("No memory for patches of a convolution");
  const auto tile = [&](int64_t t, A* room, ThreadPool* pool) {
    run.Tile(t * run.tile_rows, std::min(rows, (t + 1) * run.tile_rows), room, pool);
  };
  if (split) {
    for (int64_t t = 0; t < tiles; ++t) tile(t, memory, &ctx.intra_op());
    return OkStatus();
  }
  ctx.intra_op().ParallelFor(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      for (int64_t t = tiles * p / parts; t < tiles * (p + 1) / parts && !ctx.cancelled(); ++t) {
        tile(t, memory + p * run.scratch(), nullptr);
      }
    }
  });
  return OkStatus();
}

template <typename T>
Status RunConv(KernelContext& ctx, const Conv& c, const PackedFilter& packed, Tensor* out) {
  using A = ComputeType<T>;
  ConvRun<T> run = {c, ctx.input(0).flat<T>().data(), {}, out->flat<T>().data(), 0};
  ASSIGN_OR_RETURN(run.filter, (FilterFor<T, A>(ctx, c, ctx.input(1), packed, false)));
  if constexpr (std::is_same_v<T, float>) {
    if (c.pointwise()) {
      run.filter.Multiply(c, 0, run.input, c.in_channels, c.rows(), run.output, c.out_channels,
                          &ctx.intra_op());
      return OkStatus();
    }
  }
  return RunTiles(ctx, run);
}

StatusOr<KernelFn> BindConv(const BindContext& bind) {
  ASSIGN_OR_RETURN(const ir::WindowSpec spec,
                   ir::ReadWindowSpec(*bind.node, {.dilations = "dilations"}));
  PackedFilter packed;
  const auto input = bind.input_shapes[0].ToShape(), filter = bind.input_shapes[1].ToShape();
  if (input.has_value() && filter.has_value()) {
    const auto planned = MakeConv(spec, *input, *filter, false);
    if (planned.ok() && planned->groups > 0 && !IsDepthwise(*planned)) {
      ASSIGN_OR_RETURN(packed, PackConstantFilter(bind, 1, *planned, false));
    }
  }
  return KernelFn([spec, packed](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(const Conv c,
                     MakeConv(spec, ctx.input(0).shape(), ctx.input(1).shape(), false));
    ASSIGN_OR_RETURN(const Shape shape, c.output_shape());
    ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
    if (out->num_elements() == 0) return OkStatus();
    if (c.depth() == 0) {
      std::memset(out->raw_data(), 0, out->byte_size());
      return OkStatus();
    }
    if (IsDepthwise(c) && ctx.input(0).dtype() == DType::kFloat) {
      return RunDepthwise(ctx, c, ctx.input(0), ctx.input(1), out);
    }
    return SwitchType<Status>(ConvTypes{}, out->dtype(),
                              [&]<typename T>() { return RunConv<T>(ctx, c, packed, out); });
  });
}

}  // namespace

std::span<const KernelDef> ConvKernels() {
  static const std::vector<KernelDef> table = MakeKernels({
      {"Conv2D", BindConv, ConvTypes::DTypes(), "T", {}, {}, true},
      {"Conv3D", BindConv, FloatTypes(), "T", {}, {}, true},
  });
  return table;
}

}  // namespace slipway::kernels
