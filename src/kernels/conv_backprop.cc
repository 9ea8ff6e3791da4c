// SPDX-License-Identifier: Apache-2.0
//
// Gradients of convolutions, of the input (which transposed convolutions are made of) and of the
// filter.
#include "kernels/conv_geometry.h"
#include "kernels/conv_product.h"
#include "kernels/kernel_table.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

using InputGradTypes = TypeList<float, double, Half, BFloat16, int32_t>;

// The gradient of a convolution of T, with sums and products in A.
template <typename T>
struct ConvBackprop {
  using A = ComputeType<T>;
  KernelContext& ctx;
  const Conv& conv;
  const T* dy;

  // A group's channels of rows [begin, end) of dy as a matrix: where they lie, or copied to `room`.
  struct Matrix {
    const A* values;
    int64_t ld;
  };
  Matrix Rows(int64_t group, int64_t begin, int64_t end, A* room) const {
    const int64_t n = conv.group_out();
    if constexpr (std::is_same_v<T, A>) {
      if (!conv.spec.channels_first) {
        return {dy + begin * conv.out_channels + group * n, conv.out_channels};
      }
    }
    const ImageStrides at = conv.out_strides();
    for (int64_t r = begin; r < end; ++r) {
      const T* from = dy + r / conv.out_pixels * at.image + r % conv.out_pixels * at.pixel +
                      group * n * at.channel;
      CopyChannels(from, at.channel, n, room + (r - begin) * n);
    }
    return {room, n};
  }

  // Adds rows [begin, end) of a matrix of patches to the lines [from, to) of their image.
  void AddPatches(int64_t group, int64_t begin, int64_t end, int64_t from, int64_t to,
                  const A* patches, A* dx) const {
    const ImageStrides at = conv.in_strides();
    const int64_t channels = conv.group_in(), width = conv.dims[2].input;
    for (int64_t r = begin; r < end; ++r, patches += conv.depth()) {
      const ConvRow row = RowAt(conv, r);
      A* image = dx + row.image * at.image + group * channels * at.channel;
      ForTaps(conv, row, [&](int64_t tap, int64_t pixel) {
        if (pixel < from * width || pixel >= to * width) return;
        A* sum = image + pixel * at.pixel;
        const A* add = patches + tap * channels;
        for (int64_t i = 0; i < channels; ++i) {
          sum[i * at.channel] = WrapAdd(sum[i * at.channel], add[i]);
        }
      });
    }
  }

  // One image. With a pool products and sums are split, else all is done on this thread.
  void Image(const FilterMatrix<A>& filter, int64_t image, int64_t tile_rows, A* memory,
             ThreadPool* pool, A* dx) const {
    A* room = memory + tile_rows * conv.depth();
    const int64_t lines = conv.dims[0].input * conv.dims[1].input;
    const int64_t last = (image + 1) * conv.out_pixels;
    for (int64_t begin = image * conv.out_pixels; begin < last; begin += tile_rows) {
      const int64_t end = std::min(last, begin + tile_rows);
      for (int64_t g = 0; g < conv.groups; ++g) {
        const Matrix m = Rows(g, begin, end, room);
        filter.Multiply(conv, g, m.values, m.ld, end - begin, memory, conv.depth(), pool);
        auto add = [&](int64_t from, int64_t to) {
          AddPatches(g, begin, end, from, to, memory, dx);
        };
        if (pool == nullptr) {
          add(0, lines);
        } else {
          pool->ParallelFor(lines, std::max<int64_t>(1, lines / (pool->size() + 1)), add);
        }
      }
    }
  }

  Status Input(const FilterMatrix<A>& filter, A* dx) const {
    const int64_t threads = ctx.intra_op().size() + 1;
    const int64_t tile_rows = std::min(conv.out_pixels, PatchRows(conv, sizeof(A)));
    const int64_t room = tile_rows * (conv.depth() + conv.group_out());
    const bool by_image = conv.batch >= threads;
    const int64_t parts = by_image ? threads : 1;
    auto* memory = static_cast<A*>(ctx.Scratch(static_cast<size_t>(parts * room) * sizeof(A) + 1));
    if (memory == nullptr) return ResourceExhaustedError("No memory for patches of a gradient");
    ctx.intra_op().ParallelFor(parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        for (int64_t i = conv.batch * p / parts; i < conv.batch * (p + 1) / parts; ++i) {
          Image(filter, i, tile_rows, memory + p * room, by_image ? nullptr : &ctx.intra_op(), dx);
        }
      }
    });
    return OkStatus();
  }

  // product[depth x group_out] = patches^T rows
  void FilterProduct(const A* patches, const Matrix& m, int64_t rows, A* product) const {
    if constexpr (std::is_same_v<A, float>) {
      GemmArgs g;
      g.m = conv.depth();
      g.n = conv.group_out();
      g.k = rows;
      g.a = patches;
      g.lda = conv.depth();
      g.transpose_a = true;
      g.b = m.values;
      g.ldb = m.ld;
      g.c = product;
      g.ldc = g.n;
      g.pool = &ctx.intra_op();
      Gemm(g);
    } else {
      PlainProduct<A>(conv.depth(), conv.group_out(), rows, patches, conv.depth(), true, m.values,
                      m.ld, false, product, conv.group_out());
    }
  }

  Status Filter(const T* input, A* dw) const {
    const int64_t tile_rows = std::min(conv.rows(), 4 * PatchRows(conv, sizeof(A)));
    const int64_t depth = conv.depth(), n = conv.group_out();
    const int64_t room = tile_rows * (depth + n) + depth * n;
    auto* patches = static_cast<A*>(ctx.Scratch(static_cast<size_t>(room) * sizeof(A) + 1));
    if (patches == nullptr) return ResourceExhaustedError("No memory for patches of a gradient");
    A* product = patches + tile_rows * depth;
    A* copied = product + depth * n;
    for (int64_t begin = 0; begin < conv.rows(); begin += tile_rows) {
      const int64_t end = std::min(conv.rows(), begin + tile_rows);
      for (int64_t g = 0; g < conv.groups; ++g) {
        ctx.intra_op().ParallelFor(end - begin, 16, [&](int64_t from, int64_t to) {
          CopyPatches(conv, input, g, begin + from, begin + to, patches + from * depth);
        });
        FilterProduct(patches, Rows(g, begin, end, copied), end - begin, product);
        for (int64_t i = 0; i < depth; ++i) {
          A* sum = dw + i * conv.out_channels + g * n;
          for (int64_t j = 0; j < n; ++j) sum[j] += product[i * n + j];
        }
      }
    }
    return OkStatus();
  }
};

// Runs `compute(sums)` on the zeroed output, or on wider sums that are rounded into it.
template <typename T, typename Fn>
Status WithSums(KernelContext& ctx, Tensor* out, Fn&& compute) {
  using A = ComputeType<T>;
  const auto n = static_cast<size_t>(out->num_elements());
  if constexpr (std::is_same_v<T, A>) {
    std::fill_n(out->flat<T>().data(), n, A{0});
    return compute(out->flat<T>().data());
  } else {
    auto* sums = static_cast<A*>(ctx.Scratch(n * sizeof(A) + 1));
    if (sums == nullptr) return ResourceExhaustedError("No memory for the sums of a gradient");
    std::fill_n(sums, n, A{0});
    RETURN_IF_ERROR(compute(sums));
    for (size_t i = 0; i < n; ++i) out->flat<T>()[i] = T(sums[i]);
    return OkStatus();
  }
}

// input_sizes: all of them, or the spatial ones alone (2 or 3), the others following from dy and
// the filter.
StatusOr<Shape> InputShape(const ir::WindowSpec& spec, const Tensor& sizes, const Tensor& filter,
                           const Tensor& dy) {
  ASSIGN_OR_RETURN(const IntVec values, ReadIntVector(sizes, "input_sizes"));
  if (values.rank() == spec.rank()) return ReadShape(sizes, "input_sizes");
  if (values.rank() != spec.spatial || filter.rank() != spec.rank() || dy.rank() != spec.rank()) {
    return InvalidArgumentError(StrCat("input_sizes must have ", spec.rank(), " or ", spec.spatial,
                                       " elements, but got ", values.rank()));
  }
  IntVec all(static_cast<size_t>(spec.rank()), dy.dim(0));
  all[static_cast<size_t>(spec.channel_axis())] = filter.dim(spec.rank() - 2);
  for (int i = 0; i < spec.spatial; ++i) {
    all[static_cast<size_t>(spec.axis(i + 3 - spec.spatial))] = values[static_cast<size_t>(i)];
  }
  return Shape::FromDims(all.span());
}

StatusOr<KernelFn> BindInputGradient(const BindContext& bind) {
  ASSIGN_OR_RETURN(const ir::WindowSpec spec,
                   ir::ReadWindowSpec(*bind.node, {.dilations = "dilations"}));
  PackedFilter packed;
  const auto filter = bind.input_shapes[1].ToShape();
  const Tensor* sizes = bind.constant(0);
  if (filter.has_value() && sizes != nullptr) {
    const auto shape = ReadShape(*sizes, "input_sizes");
    const auto planned =
        shape.ok() ? MakeConv(spec, *shape, *filter, false) : StatusOr<Conv>(shape.status());
    if (planned.ok()) {
      ASSIGN_OR_RETURN(packed, PackConstantFilter(bind, 1, *planned, true));
    }
  }
  return KernelFn([spec, packed](KernelContext& ctx) -> Status {
    const Tensor& dy = ctx.input(2);
    ASSIGN_OR_RETURN(const Shape shape, InputShape(spec, ctx.input(0), ctx.input(1), dy));
    ASSIGN_OR_RETURN(const Conv c,
                     MakeConvGradient(spec, shape, ctx.input(1).shape(), dy.shape(), false));
    ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
    if (out->num_elements() == 0) return OkStatus();
    if (dy.num_elements() == 0 || c.depth() == 0) {
      std::memset(out->raw_data(), 0, out->byte_size());
      return OkStatus();
    }
    return SwitchType<Status>(InputGradTypes{}, out->dtype(), [&]<typename T>() -> Status {
      using A = ComputeType<T>;
      ASSIGN_OR_RETURN(const FilterMatrix<A> matrix,
                       (FilterFor<T, A>(ctx, c, ctx.input(1), packed, true)));
      const ConvBackprop<T> backprop = {ctx, c, dy.flat<T>().data()};
      return WithSums<T>(ctx, out, [&](A* dx) { return backprop.Input(matrix, dx); });
    });
  });
}

StatusOr<KernelFn> BindFilterGradient(const BindContext& bind) {
  ASSIGN_OR_RETURN(const ir::WindowSpec spec,
                   ir::ReadWindowSpec(*bind.node, {.dilations = "dilations"}));
  return KernelFn([spec](KernelContext& ctx) -> Status {
    const Tensor& input = ctx.input(0);
    const Tensor& dy = ctx.input(2);
    ASSIGN_OR_RETURN(const Shape shape, ReadShape(ctx.input(1), "filter_sizes"));
    ASSIGN_OR_RETURN(const Conv c, MakeConvGradient(spec, input.shape(), shape, dy.shape(), false));
    ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
    if (out->num_elements() == 0) return OkStatus();
    if (dy.num_elements() == 0) {
      std::memset(out->raw_data(), 0, out->byte_size());
      return OkStatus();
    }
    return SwitchType<Status>(Floats{}, out->dtype(), [&]<typename T>() {
      const ConvBackprop<T> backprop = {ctx, c, dy.flat<T>().data()};
      return WithSums<T>(ctx, out, [&](ComputeType<T>* dw) {
        return backprop.Filter(input.flat<T>().data(), dw);
      });
    });
  });
}

}  // namespace

std::span<const KernelDef> ConvBackpropKernels() {
  static const std::vector<KernelDef> table = MakeKernels({
      {"Conv2DBackpropInput", BindInputGradient, InputGradTypes::DTypes(), "T", {}, {}, true},
      {"Conv2DBackpropFilter", BindFilterGradient, FloatTypes(), "T", {}, {}, true},
      {"Conv3DBackpropInputV2", BindInputGradient, FloatTypes(), "T", {}, {}, true},
      {"Conv3DBackpropFilterV2", BindFilterGradient, FloatTypes(), "T", {}, {}, true},
  });
  return table;
}

}  // namespace slipway::kernels
