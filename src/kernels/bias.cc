// SPDX-License-Identifier: Apache-2.0
//
// Biases: one number a channel, added, and the sums of their gradients.
#include <algorithm>
#include <complex>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/elementwise.h"
#include "kernels/kernel_table.h"
#include "kernels/simd_rows.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

bool ChannelsFirst(const ir::Node& node) {
  return AttrOr<std::string>(node, "data_format", "NHWC").starts_with("NC");
}

Status CheckBias(const Tensor& value, const Tensor& bias, bool channels_first) {
  if (value.rank() < 2) {
    return InvalidArgumentError(
        StrCat("Input tensor must be at least 2D: ", value.shape().ToString()));
  }
  if (bias.rank() != 1) {
    return InvalidArgumentError(StrCat("Biases must be 1D: ", bias.shape().ToString()));
  }
  const int channel = channels_first ? 1 : value.rank() - 1;
  if (bias.dim(0) == value.dim(channel)) return OkStatus();
  return InvalidArgumentError(StrCat("Must provide as many biases as the ",
                                     channels_first ? "channel dimension" : "last dimension",
                                     " of the input tensor: ", bias.shape().ToString(), " vs. ",
                                     value.shape().ToString()));
}

// value + bias, as [outer, channels, inner] + [channels, 1].
Status AddBias(KernelContext& ctx, const BinaryKernel& add, const Tensor& value, const Tensor& bias,
               Tensor* out, int64_t inner) {
  const int64_t n = value.num_elements(), channels = bias.dim(0);
  if (n == 0) return OkStatus();
  const auto size = static_cast<int64_t>(DTypeSize(add.dtype));
  const auto* x = static_cast<const char*>(value.raw_data());
  const auto* b = static_cast<const char*>(bias.raw_data());
  auto* y = static_cast<char*>(out->raw_data());
  const int64_t run = inner == 1 ? channels : inner;
  ctx.intra_op().ParallelFor(n / run, std::max<int64_t>(1, kElementGrain / run),
                             [&](int64_t begin, int64_t end) {
                               for (int64_t r = begin; r < end; ++r) {
                                 const int64_t at = r * run * size;
                                 if (inner == 1) {
                                   add.Run(x + at, 1, b, 1, y + at, run);
                                 } else {
                                   add.Run(x + at, 1, b + r % channels * size, 0, y + at, run);
                                 }
                               }
                             });
  return OkStatus();
}

using BiasTypes = TypeList<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
                           uint32_t, uint64_t, std::complex<float>, std::complex<double>>;

StatusOr<KernelFn> BindBiasAdd(const BindContext& c) {
  const bool channels_first = ChannelsFirst(*c.node);
  const DType dtype = c.input_dtype(0);
  BinaryKernel add;
  add.dtype = add.out_dtype = dtype;
  const DType compute = IsHalfSize(dtype) ? DType::kFloat : dtype;
  add.loop = SwitchType<BinaryLoop>(BiasTypes{}, compute, []<typename T>() -> BinaryLoop {
    return &BinaryLoopOf<T, T, WrapAdd<T>>;
  });
  if (compute == DType::kFloat) add.loop = FastBinaryLoop(FastBinary::kAdd);
  return KernelFn([=](KernelContext& ctx) -> Status {
    const Tensor& value = ctx.input(0);
    const Tensor& bias = ctx.input(1);
    RETURN_IF_ERROR(CheckBias(value, bias, channels_first));
    ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, value.shape()));
    int64_t inner = 1;
    for (int d = 2; channels_first && d < value.rank(); ++d) inner *= value.dim(d);
    return AddBias(ctx, add, value, bias, out, inner);
  });
}

// Sums of [outer, channels, inner] for each channel, accumulated in A.
template <typename T, typename A>
void SumChannels(const Tensor& dy, int64_t outer, int64_t channels, int64_t inner, A* sums) {
  std::fill_n(sums, channels, A{0});
  const T* x = dy.flat<T>().data();
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t c = 0; c < channels; ++c) {
      A sum{0};
      for (int64_t i = 0; i < inner; ++i) sum = WrapAdd(sum, static_cast<A>(*x++));
      sums[c] = WrapAdd(sums[c], sum);
    }
  }
}

void SumFloatRows(KernelContext& ctx, const float* x, int64_t rows, int64_t cols, float* sums) {
  const int64_t grain = std::max<int64_t>(64, kElementGrain / std::max<int64_t>(1, rows));
  ctx.intra_op().ParallelFor(cols, grain, [&](int64_t begin, int64_t end) {
    Rows().column_sums(x + begin, cols, rows, end - begin, sums + begin);
  });
}

template <typename H>
Status SumHalfChannels(KernelContext& ctx, const Tensor& dy, int64_t outer, int64_t channels,
                       int64_t inner, Tensor* out) {
  auto* sums = static_cast<float*>(ctx.Scratch(static_cast<size_t>(channels) * sizeof(float) + 1));
  if (sums == nullptr) return ResourceExhaustedError("No memory for the sums of BiasAddGrad");
  SumChannels<H, float>(dy, outer, channels, inner, sums);
  for (int64_t c = 0; c < channels; ++c) out->flat<H>()[static_cast<size_t>(c)] = H(sums[c]);
  return OkStatus();
}

StatusOr<KernelFn> BindBiasAddGrad(const BindContext& c) {
  const bool channels_first = ChannelsFirst(*c.node);
  return KernelFn([channels_first](KernelContext& ctx) -> Status {
    const Tensor& dy = ctx.input(0);
    if (dy.rank() < 2) {
      return InvalidArgumentError(
          StrCat("Input tensor must be at least 2D: ", dy.shape().ToString()));
    }
    const int channel = channels_first ? 1 : dy.rank() - 1;
    const int64_t channels = dy.dim(channel);
    int64_t inner = 1;
    for (int d = channel + 1; d < dy.rank(); ++d) inner *= dy.dim(d);
    const int64_t block = channels * inner;
    const int64_t outer = block == 0 ? 0 : dy.num_elements() / block;
    ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, Shape({channels})));
    if (dy.dtype() == DType::kFloat && inner == 1) {
      SumFloatRows(ctx, dy.flat<float>().data(), outer, channels, out->flat<float>().data());
      return OkStatus();
    }
    if (dy.dtype() == DType::kHalf) {
      return SumHalfChannels<Half>(ctx, dy, outer, channels, inner, out);
    }
    if (dy.dtype() == DType::kBFloat16) {
      return SumHalfChannels<BFloat16>(ctx, dy, outer, channels, inner, out);
    }
    SwitchType<int>(BiasTypes{}, dy.dtype(), [&]<typename T>() {
      SumChannels<T, T>(dy, outer, channels, inner, out->flat<T>().data());
      return 0;
    });
    return OkStatus();
  });
}

std::vector<KernelDef> MakeTable() {
  return MakeKernels({
      {"BiasAdd", BindBiasAdd, WithComplex(NumberTypes()), "T", {{0, 0}}},
      {"BiasAddV1", BindBiasAdd, WithComplex(NumberTypes()), "T", {{0, 0}}},
      {"BiasAddGrad", BindBiasAddGrad, WithComplex(NumberTypes())},
  });
}

}  // namespace

std::span<const KernelDef> BiasKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
