// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/elementwise.h"
#include "kernels/kernel_table.h"
#include "kernels/strided_copy.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

template <typename T>
constexpr int kFractionBits = std::numeric_limits<T>::digits - 1;
template <>
constexpr int kFractionBits<Half> = 10;
template <>
constexpr int kFractionBits<BFloat16> = 7;

// What an x86 conversion gives beyond the range and for NaN, without C++'s undefined behaviour.
template <typename I, typename F>
I ToSigned(F v) {
  constexpr F kBound = static_cast<F>(std::numeric_limits<I>::max() / 2 + 1) * 2;
  return v >= -kBound && v < kBound ? static_cast<I>(v) : std::numeric_limits<I>::min();
}

template <typename To, typename F>
To FromReal(F v) {
  if constexpr (std::is_same_v<To, uint64_t>) {
    constexpr F kHalf = static_cast<F>(9223372036854775808.0);
    if (v >= kHalf * 2) return 0;
    if (v >= kHalf) return static_cast<uint64_t>(v);
    return static_cast<uint64_t>(ToSigned<int64_t>(v));
  } else if constexpr (sizeof(To) == 8 || std::is_same_v<To, uint32_t>) {
    return static_cast<To>(ToSigned<int64_t>(v));
  } else {
    return static_cast<To>(ToSigned<int32_t>(v));
  }
}

template <typename To, typename From>
To Convert(From v) {
  if constexpr (kIsHalf<From>) {
    return Convert<To>(static_cast<float>(v));
  } else if constexpr (kIsComplex<From> && kIsComplex<To>) {
    return static_cast<To>(v);
  } else if constexpr (kIsComplex<From>) {
    if constexpr (std::is_same_v<To, bool>) return v.real() != 0;  // as TensorFlow
    return Convert<To>(v.real());
  } else if constexpr (kIsComplex<To>) {
    return To(static_cast<typename To::value_type>(v));
  } else if constexpr (kIsHalf<To>) {
    return To(static_cast<float>(v));
  } else if constexpr (std::is_same_v<To, bool>) {
    return v != From{0};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return FromReal<To>(v);
  } else {
    return static_cast<To>(v);
  }
}

template <typename From, typename To>
void ConvertRun(const void* from, void* to, int64_t n) {
  const From* x = static_cast<const From*>(from);
  To* y = static_cast<To*>(to);
  for (int64_t i = 0; i < n; ++i) y[i] = Convert<To>(x[i]);
}

using CastTypes =
    TypeList<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
             uint64_t, bool, Half, BFloat16, std::complex<float>, std::complex<double>>;
using CastLoop = void (*)(const void*, void*, int64_t);

CastLoop LoopFor(DType from, DType to) {
  return SwitchType<CastLoop>(CastTypes{}, from, [to]<typename From>() {
    return SwitchType<CastLoop>(CastTypes{}, to,
                                []<typename To>() -> CastLoop { return &ConvertRun<From, To>; });
  });
}

// Towards zero: the bits of the fraction that To has no room for are dropped first.
template <typename From, typename To>
void TruncateRun(const void* from, void* to, int64_t n) {
  using Bits = std::conditional_t<sizeof(From) == 8, uint64_t, uint32_t>;
  constexpr int kDropped = kFractionBits<From> - kFractionBits<To>;
  const From* x = static_cast<const From*>(from);
  To* y = static_cast<To*>(to);
  for (int64_t i = 0; i < n; ++i) {
    const Bits kept = std::bit_cast<Bits>(x[i]) >> kDropped << kDropped;
    y[i] = Convert<To>(std::isnan(x[i]) ? x[i] : std::bit_cast<From>(kept));
  }
}

CastLoop TruncatingLoopFor(DType from, DType to) {
  return SwitchType<CastLoop>(TypeList<float, double>{}, from, [to]<typename From>() {
    return SwitchType<CastLoop>(TypeList<float, Half, BFloat16>{}, to,
                                []<typename To>() -> CastLoop { return &TruncateRun<From, To>; });
  });
}

StatusOr<KernelFn> BindCast(const BindContext& c) {
  const DType from = c.input_dtype(0), to = c.node->dtype(0);
  const bool truncates = BoolAttr(*c.node, "Truncate") && IsFloating(from) && IsFloating(to) &&
                         DTypeSize(to) < DTypeSize(from);
  const CastLoop loop = truncates ? TruncatingLoopFor(from, to) : LoopFor(from, to);
  if (loop == nullptr && from != to) {
    return UnimplementedError(StrCat("Cast ", DTypeName(from), " to ", DTypeName(to)));
  }
  return KernelFn([from, to, loop](KernelContext& ctx) -> Status {
    const Tensor& x = ctx.input(0);
    ASSIGN_OR_RETURN(Tensor * y, ctx.AllocateOutput(0, x.shape()));
    if (from == to) {
      // Copied: a view must be declared for the op, and most casts are none.
      CopyElements(from, x.raw_data(), y->raw_data(), x.num_elements());
      return OkStatus();
    }
    const auto in = static_cast<int64_t>(DTypeSize(from)),
               out = static_cast<int64_t>(DTypeSize(to));
    ctx.intra_op().ParallelFor(x.num_elements(), kElementGrain, [&](int64_t begin, int64_t end) {
      loop(static_cast<const char*>(x.raw_data()) + begin * in,
           static_cast<char*>(y->raw_data()) + begin * out, end - begin);
    });
    return OkStatus();
  });
}

// The same bytes; a last dimension comes or goes where the sizes differ.
StatusOr<Shape> BitcastShape(const Shape& shape, size_t from, size_t to) {
  Shape result = shape;
  if (from > to) {
    result.AddDim(static_cast<int64_t>(from / to));
  } else if (from < to) {
    const auto ratio = static_cast<int64_t>(to / from);
    if (shape.rank() == 0 || shape.dim(shape.rank() - 1) != ratio) {
      return InvalidArgumentError(StrCat("Cannot bitcast from ", from, " to ", to,
                                         " bytes an element: the last dimension of ",
                                         shape.ToString(), " is not ", ratio));
    }
    result = Shape(shape.dims().first(static_cast<size_t>(shape.rank() - 1)));
  }
  return result;
}

StatusOr<KernelFn> BindBitcast(const BindContext& c) {
  const size_t from = DTypeSize(c.input_dtype(0)), to = DTypeSize(c.node->dtype(0));
  if (IsObject(c.input_dtype(0)) || IsObject(c.node->dtype(0))) {
    return InvalidArgumentError("Bitcast of strings, resources or variants");
  }
  return KernelFn([from, to](KernelContext& ctx) -> Status {
    const Tensor& x = ctx.input(0);
    ASSIGN_OR_RETURN(Shape shape, BitcastShape(x.shape(), from, to));
    ASSIGN_OR_RETURN(Tensor * y, ctx.AllocateOutput(0, shape));
    if (x.num_elements() > 0) std::memcpy(y->raw_data(), x.raw_data(), x.byte_size());
    return OkStatus();
  });
}

std::vector<KernelDef> MakeTable() {
  std::vector<KernelDef> table = MakeKernels({
      {"Cast", BindCast},
      {"Bitcast", BindBitcast},
  });
  table[0].types = {{"SrcT", CastTypes::DTypes()}, {"DstT", CastTypes::DTypes()}};
  return table;
}

}  // namespace

std::span<const KernelDef> CastKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
