// SPDX-License-Identifier: Apache-2.0
//
// Shapes as values, other shapes of the same values, and tensors made from sizes.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/attrs.h"
#include "kernels/broadcast.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/strided_copy.h"
#include "kernels/tensor_list.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

template <Status (*kRun)(KernelContext&)>
StatusOr<KernelFn> BindPlain(const BindContext&) {
  return KernelFn(kRun);
}

// A vector (or scalar) of the output's own integer type.
Status PutInt(Tensor* out, int64_t i, int64_t value) {
  const auto at = static_cast<size_t>(i);
  if (out->dtype() == DType::kInt64) {
    out->flat<int64_t>()[at] = value;
    return OkStatus();
  }
  if (value > std::numeric_limits<int32_t>::max()) {
    return InvalidArgumentError(StrCat("Size ", value, " does not fit int32; use out_type int64"));
  }
  out->flat<int32_t>()[at] = static_cast<int32_t>(value);
  return OkStatus();
}

Status PutShape(KernelContext& c, int i) {
  const Shape& shape = c.input(i).shape();
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(i, Shape({shape.rank()})));
  for (int d = 0; d < shape.rank(); ++d) RETURN_IF_ERROR(PutInt(out, d, shape.dim(d)));
  return OkStatus();
}

Status RunShapes(KernelContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) RETURN_IF_ERROR(PutShape(c, i));
  return OkStatus();
}

Status RunSize(KernelContext& c) {
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, Shape()));
  return PutInt(out, 0, c.input(0).num_elements());
}

Status RunRank(KernelContext& c) {
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, Shape()));
  return PutInt(out, 0, c.input(0).rank());
}

// The wanted sizes, of which one may be -1: what is left. Where another is 0, zeros on both sides
// are left out of what is divided, as TensorFlow does.
StatusOr<Shape> ReshapeTo(const Tensor& x, IntVec sizes) {
  int64_t known = 1;
  int missing = -1;
  bool has_zero = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1) {
      if (missing >= 0) {
        return InvalidArgumentError(
            StrCat("Only one input size may be -1, not both ", missing, " and ", i));
      }
      missing = static_cast<int>(i);
    } else if (sizes[i] < 0) {
      return InvalidArgumentError(StrCat("Size ", i, " must be non-negative, not ", sizes[i]));
    } else if (sizes[i] == 0) {
      has_zero = true;
    } else {
      ASSIGN_OR_RETURN(known, CheckedMul(known, sizes[i], "Reshape"));
    }
  }
  if (missing >= 0) {
    int64_t to_divide = 1;
    for (int64_t d : x.shape().dims()) to_divide *= d == 0 && has_zero ? 1 : d;
    if (to_divide % known != 0 && !(has_zero && x.num_elements() == 0)) {
      return InvalidArgumentError(StrCat("Input to reshape is a tensor with ", to_divide,
                                         " values, but the requested shape requires a multiple of ",
                                         known));
    }
    sizes[static_cast<size_t>(missing)] = to_divide / known;
  }
  ASSIGN_OR_RETURN(Shape shape, Shape::FromDims(sizes.span()));
  if (shape.num_elements() != x.num_elements()) {
    return InvalidArgumentError(StrCat("Input to reshape is a tensor with ", x.num_elements(),
                                       " values, but the requested shape has ",
                                       shape.num_elements()));
  }
  return shape;
}

Status RunReshape(KernelContext& c) {
  const Tensor& x = c.input(0);
  ASSIGN_OR_RETURN(IntVec sizes, ReadIntVector(c.input(1), "sizes input"));
  ASSIGN_OR_RETURN(Shape shape, ReshapeTo(x, std::move(sizes)));
  c.SetOutput(0, x.Reshaped(shape));
  return OkStatus();
}

Status RunExpandDims(KernelContext& c) {
  const Tensor& x = c.input(0);
  ASSIGN_OR_RETURN(int64_t given, ReadInt(c.input(1), "dim"));
  if (given < -1 - x.rank() || given > x.rank()) {
    return InvalidArgumentError(
        StrCat("Tried to expand dim index ", given, " for tensor with ", x.rank(), " dimensions."));
  }
  const int64_t at = given < 0 ? given + x.rank() + 1 : given;
  IntVec dims;
  for (int d = 0; d <= x.rank(); ++d) {
    if (d == at) dims.push_back(1);
    if (d < x.rank()) dims.push_back(x.dim(d));
  }
  ASSIGN_OR_RETURN(Shape shape, Shape::FromDims(dims.span()));
  c.SetOutput(0, x.Reshaped(shape));
  return OkStatus();
}

StatusOr<KernelFn> BindSqueeze(const BindContext& bind) {
  const auto axes = AttrOr<std::vector<int64_t>>(*bind.node, "squeeze_dims", {});
  return KernelFn([axes](KernelContext& c) -> Status {
    const Tensor& x = c.input(0);
    std::array<bool, Shape::kMaxRank> drop{};
    for (int64_t axis : axes) {
      if (axis < -x.rank() || axis >= x.rank()) {
        return InvalidArgumentError(StrCat("Tried to squeeze dim index ", axis, " for tensor with ",
                                           x.rank(), " dimensions."));
      }
      drop[static_cast<size_t>(axis < 0 ? axis + x.rank() : axis)] = true;
    }
    Shape shape;
    for (int d = 0; d < x.rank(); ++d) {
      const bool named = drop[static_cast<size_t>(d)];
      if (named && x.dim(d) != 1) {
        return InvalidArgumentError(
            StrCat("Can not squeeze dim[", d, "], expected a dimension of 1, got ", x.dim(d)));
      }
      if (!named && !(axes.empty() && x.dim(d) == 1)) shape.AddDim(x.dim(d));
    }
    c.SetOutput(0, x.Reshaped(shape));
    return OkStatus();
  });
}

Status CheckPermutation(const IntVec& perm, int rank) {
  std::array<bool, Shape::kMaxRank> seen{};
  for (int64_t d : perm) {
    const int64_t at = d < 0 ? d + rank : d;
    if (at < 0 || at >= rank) {
      return InvalidArgumentError(StrCat(d, " is out of range [0 .. ", rank, ")"));
    }
    if (std::exchange(seen[static_cast<size_t>(at)], true)) {
      return InvalidArgumentError(StrCat(d, " is duplicated in the permutation"));
    }
  }
  return OkStatus();
}

Status RunTranspose(KernelContext& c) {
  const Tensor& x = c.input(0);
  ASSIGN_OR_RETURN(IntVec perm, ReadIntVector(c.input(1), "perm"));
  if (perm.rank() != x.rank()) {
    return InvalidArgumentError(StrCat("transpose expects a vector of size ", x.rank(),
                                       ". But input(1) is a vector of size ", perm.size()));
  }
  RETURN_IF_ERROR(CheckPermutation(perm, x.rank()));
  const IntVec strides = RowMajorStrides(x.shape());
  Shape shape;
  IntVec from;
  for (int64_t d : perm) {
    const int at = static_cast<int>(d < 0 ? d + x.rank() : d);
    shape.AddDim(x.dim(at));
    from.push_back(strides[static_cast<size_t>(at)]);
  }
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, shape));
  StridedCopy(x.dtype(), shape.dims(), x.raw_data(), from.span(), y->raw_data(),
              RowMajorStrides(shape).span(), &c.intra_op());
  return OkStatus();
}

Status RunInvertPermutation(KernelContext& c) {
  const Tensor& x = c.input(0);
  ASSIGN_OR_RETURN(IntVec perm, ReadIntVector(x, "invert_permutation input"));
  const auto n = static_cast<int64_t>(perm.size());
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, x.shape()));
  for (int64_t i = 0; i < n; ++i) RETURN_IF_ERROR(PutInt(y, i, 0));
  std::vector<bool> seen(perm.size());
  for (int64_t i = 0; i < n; ++i) {
    const int64_t to = perm[static_cast<size_t>(i)];
    if (to < 0 || to >= n) {
      return InvalidArgumentError(StrCat(to, " is not between 0 and ", n));
    }
    if (seen[static_cast<size_t>(to)]) {
      return InvalidArgumentError(StrCat(to, " is duplicated in the input."));
    }
    seen[static_cast<size_t>(to)] = true;
    RETURN_IF_ERROR(PutInt(y, to, i));
  }
  return OkStatus();
}

Status RunFill(KernelContext& c) {
  ASSIGN_OR_RETURN(Shape shape, ReadShape(c.input(0), "dims"));
  // TensorFlow takes a vector of one element, too.
  if (c.input(1).rank() > 1 || c.input(1).num_elements() != 1) {
    return InvalidArgumentError(
        StrCat("value must represent a scalar, got shape ", c.input(1).shape().ToString()));
  }
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, shape));
  FillElements(y->dtype(), c.input(1).raw_data(), y->raw_data(), y->num_elements());
  return OkStatus();
}

Status RunZerosLike(KernelContext& c) {
  if (c.input(0).dtype() == DType::kVariant) {
    ASSIGN_OR_RETURN(Tensor zeros, ZerosLikeList(c.input(0)));
    c.SetOutput(0, std::move(zeros));
    return OkStatus();
  }
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, c.input(0).shape()));
  if (IsObject(y->dtype())) {
    const Tensor empty(y->dtype(), Shape());
    FillElements(y->dtype(), empty.raw_data(), y->raw_data(), y->num_elements());
  } else if (y->num_elements() > 0) {
    std::memset(y->raw_data(), 0, y->byte_size());
  }
  return OkStatus();
}

Status RunOnesLike(KernelContext& c) {
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, c.input(0).shape()));
  if (IsHalfSize(y->dtype())) {
    const uint16_t one = y->dtype() == DType::kHalf ? Half(1.0f).bits : BFloat16(1.0f).bits;
    FillElements(y->dtype(), &one, y->raw_data(), y->num_elements());
    return OkStatus();
  }
  SwitchType<int>(TypeList<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
                           uint32_t, uint64_t, bool, std::complex<float>, std::complex<double>>{},
                  y->dtype(), [&]<typename T>() {
                    std::fill_n(y->flat<T>().data(), y->num_elements(), static_cast<T>(1));
                    return 0;
                  });
  return OkStatus();
}

template <typename T>
StatusOr<int64_t> RangeSize(T start, T limit, T delta) {
  if (delta == 0) return InvalidArgumentError("Requires delta != 0: 0");
  if (delta > 0 && start > limit) {
    return InvalidArgumentError(
        StrCat("Requires start <= limit when delta > 0: ", start, "/", limit));
  }
  if (delta < 0 && start < limit) {
    return InvalidArgumentError(
        StrCat("Requires start >= limit when delta < 0: ", start, "/", limit));
  }
  if constexpr (std::is_integral_v<T>) {
    // As unsigned numbers, so that no difference overflows.
    using U = std::make_unsigned_t<T>;
    const U distance = delta > 0 ? static_cast<U>(limit) - static_cast<U>(start)
                                 : static_cast<U>(start) - static_cast<U>(limit);
    const U step = delta > 0 ? static_cast<U>(delta) : U{0} - static_cast<U>(delta);
    const U size = distance / step + (distance % step != 0);
    if (size > static_cast<U>(std::numeric_limits<T>::max())) {
      return InvalidArgumentError(StrCat("Range of ", size, " elements is too long"));
    }
    return static_cast<int64_t>(size);
  } else {
    const double size = std::ceil(std::abs((static_cast<double>(limit) - start) / delta));
    if (!(size < 9.0e18)) return InvalidArgumentError(StrCat("Range of ", size, " elements"));
    return static_cast<int64_t>(size);
  }
}

Status RunRange(KernelContext& c) {
  static constexpr const char* kNames[] = {"start", "limit", "delta"};
  for (int i = 0; i < 3; ++i) RETURN_IF_ERROR(CheckScalar(c.input(i), kNames[i]));
  return SwitchType<Status>(
      TypeList<int32_t, int64_t, float, double>{}, c.input(0).dtype(), [&]<typename T>() -> Status {
        const T start = c.input(0).scalar<T>(), delta = c.input(2).scalar<T>();
        ASSIGN_OR_RETURN(int64_t size, RangeSize<T>(start, c.input(1).scalar<T>(), delta));
        ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, Shape({size})));
        T* out = y->flat<T>().data();
        for (int64_t i = 0; i < size; ++i) {
          if constexpr (std::is_integral_v<T>) {
            out[i] = WrapAdd(start, WrapMul(static_cast<T>(i), delta));
          } else {
            out[i] = start + static_cast<T>(i) * delta;
          }
        }
        return OkStatus();
      });
}

Status RunLinSpace(KernelContext& c) {
  static constexpr const char* kNames[] = {"start", "stop", "num"};
  for (int i = 0; i < 3; ++i) RETURN_IF_ERROR(CheckScalar(c.input(i), kNames[i]));
  ASSIGN_OR_RETURN(int64_t num, ReadInt(c.input(2), "num"));
  if (num <= 0) return InvalidArgumentError(StrCat("Requires num > 0: ", num));
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, Shape({num})));
  return SwitchType<Status>(Reals{}, y->dtype(), [&]<typename T>() {
    const T start = c.input(0).scalar<T>(), stop = c.input(1).scalar<T>();
    T* out = y->flat<T>().data();
    out[0] = start;
    if (num == 1) return OkStatus();
    const T step = (stop - start) / static_cast<T>(num - 1);
    for (int64_t i = 1; i < num - 1; ++i) out[i] = start + step * static_cast<T>(i);
    out[num - 1] = stop;
    return OkStatus();
  });
}

Status RunBroadcastTo(KernelContext& c) {
  const Tensor& x = c.input(0);
  ASSIGN_OR_RETURN(Shape shape, ReadShape(c.input(1), "shape"));
  const auto joined = BroadcastShape(x.shape(), shape);
  if (!joined.ok() || !(*joined == shape)) {
    return InvalidArgumentError(StrCat("Incompatible shapes: ", x.shape().ToString(), " vs. ",
                                       shape.ToString(), " (broadcast to the second)"));
  }
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, shape));
  const IntVec own = RowMajorStrides(x.shape());
  IntVec from;
  for (int d = 0; d < shape.rank(); ++d) {
    const int at = d - (shape.rank() - x.rank());
    from.push_back(at < 0 || x.dim(at) == 1 ? 0 : own[static_cast<size_t>(at)]);
  }
  StridedCopy(x.dtype(), shape.dims(), x.raw_data(), from.span(), y->raw_data(),
              RowMajorStrides(shape).span(), &c.intra_op());
  return OkStatus();
}

StatusOr<Shape> ReadBroadcastArgument(const KernelContext& c, int i) {
  return ReadShape(c.input(i), i == 0 ? "s0" : "s1");
}

Status RunBroadcastArgs(KernelContext& c) {
  ASSIGN_OR_RETURN(Shape a, ReadBroadcastArgument(c, 0));
  ASSIGN_OR_RETURN(Shape b, ReadBroadcastArgument(c, 1));
  ASSIGN_OR_RETURN(Shape joined, BroadcastShape(a, b));
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, Shape({joined.rank()})));
  for (int d = 0; d < joined.rank(); ++d) RETURN_IF_ERROR(PutInt(out, d, joined.dim(d)));
  return OkStatus();
}

// For each side, the dimensions over which its gradient is summed: those that it lacks or has as 1.
Status RunBroadcastGradientArgs(KernelContext& c) {
  ASSIGN_OR_RETURN(Shape a, ReadBroadcastArgument(c, 0));
  ASSIGN_OR_RETURN(Shape b, ReadBroadcastArgument(c, 1));
  ASSIGN_OR_RETURN(Shape joined, BroadcastShape(a, b));
  for (int side = 0; side < 2; ++side) {
    const Shape& own = side == 0 ? a : b;
    IntVec axes;
    for (int d = 0; d < joined.rank() && !(a == b); ++d) {
      const int at = d - (joined.rank() - own.rank());
      if (at < 0 || own.dim(at) == 1) axes.push_back(d);
    }
    ASSIGN_OR_RETURN(Tensor * out,
                     c.AllocateOutput(side, Shape({static_cast<int64_t>(axes.size())})));
    for (size_t i = 0; i < axes.size(); ++i) {
      RETURN_IF_ERROR(PutInt(out, static_cast<int64_t>(i), axes[i]));
    }
  }
  return OkStatus();
}

Status RunWhere(KernelContext& c) {
  const Tensor& x = c.input(0);
  return SwitchType<Status>(
      TypeList<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
               uint64_t, bool, Half, BFloat16, std::complex<float>, std::complex<double>>{},
      x.dtype(), [&]<typename T>() -> Status {
        const auto values = x.flat<T>();
        const auto counts = [](T v) { return Widen(v) != WideOf<T>{0}; };
        const int64_t count = std::count_if(values.begin(), values.end(), counts);
        ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, Shape({count, x.rank()})));
        int64_t* to = out->flat<int64_t>().data();
        for (size_t i = 0; i < values.size(); ++i) {
          if (!counts(values[i])) continue;
          auto rest = static_cast<int64_t>(i);
          for (int d = x.rank() - 1; d >= 0; --d) {
            to[d] = rest % x.dim(d);
            rest /= x.dim(d);
          }
          to += x.rank();
        }
        return OkStatus();
      });
}

std::vector<KernelDef> MakeTable() {
  std::vector<DType> countable = Numbers::DTypes();
  countable.push_back(DType::kBool);
  countable.push_back(DType::kHalf);
  countable.push_back(DType::kBFloat16);
  countable = WithComplex(countable);
  const std::vector<std::pair<int, int>> view = {{0, 0}};
  return MakeKernels({
      {"Shape", BindPlain<RunShapes>},
      {"ShapeN", BindPlain<RunShapes>},
      {"Size", BindPlain<RunSize>},
      {"Rank", BindPlain<RunRank>},
      {"Reshape", BindPlain<RunReshape>, {}, "T", {}, view},
      {"ExpandDims", BindPlain<RunExpandDims>, {}, "T", {}, view},
      {"Squeeze", BindSqueeze, {}, "T", {}, view},
      {"Transpose", BindPlain<RunTranspose>},
      {"InvertPermutation", BindPlain<RunInvertPermutation>},
      {"Fill", BindPlain<RunFill>},
      {"ZerosLike", BindPlain<RunZerosLike>},
      {"OnesLike", BindPlain<RunOnesLike>, countable},
      {"Range",
       BindPlain<RunRange>,
       {DType::kInt32, DType::kInt64, DType::kFloat, DType::kDouble},
       "Tidx"},
      {"LinSpace", BindPlain<RunLinSpace>, Reals::DTypes()},
      {"BroadcastTo", BindPlain<RunBroadcastTo>},
      {"BroadcastArgs", BindPlain<RunBroadcastArgs>},
      {"BroadcastGradientArgs", BindPlain<RunBroadcastGradientArgs>},
      {"Where", BindPlain<RunWhere>, countable},
  });
}

}  // namespace

std::span<const KernelDef> ShapeKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
