// SPDX-License-Identifier: Apache-2.0
//
// Larger tensors from smaller ones: padding, tiling; and reversal.
#include <algorithm>
#include <cstring>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/strided_copy.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

char* ElementOf(const Tensor& t, int64_t element) {
  return static_cast<char*>(t.raw_data()) + element * static_cast<int64_t>(DTypeSize(t.dtype()));
}

struct Padding {
  IntVec before;
  Shape output;
};
StatusOr<Padding> ReadPadding(const Tensor& x, const Tensor& paddings) {
  if (paddings.rank() != 2 || paddings.dim(1) != 2 || paddings.dim(0) != x.rank()) {
    return InvalidArgumentError(
        StrCat("paddings must be a matrix with 2 columns and one row for "
               "each dimension of input ",
               x.shape().ToString(), ": ", paddings.shape().ToString()));
  }
  ASSIGN_OR_RETURN(IntVec values, ReadInts(paddings, "paddings"));
  Padding padding;
  IntVec dims;
  for (int d = 0; d < x.rank(); ++d) {
    const int64_t before = values[static_cast<size_t>(2 * d)];
    const int64_t after = values[static_cast<size_t>(2 * d + 1)];
    if (before < 0 || after < 0) {
      return InvalidArgumentError(StrCat("Paddings must be non-negative: ", before, " ", after));
    }
    int64_t size = 0;
    if (__builtin_add_overflow(before, after, &size) ||
        __builtin_add_overflow(size, x.dim(d), &size)) {
      return InvalidArgumentError(StrCat("Paddings are too large: ", before, " ", after));
    }
    padding.before.push_back(before);
    dims.push_back(size);
  }
  ASSIGN_OR_RETURN(padding.output, Shape::FromDims(dims.span()));
  return padding;
}

Status RunPad(KernelContext& c) {
  const Tensor& x = c.input(0);
  ASSIGN_OR_RETURN(Padding padding, ReadPadding(x, c.input(1)));
  Tensor zero(x.dtype(), Shape());
  if (!IsObject(x.dtype())) std::memset(zero.raw_data(), 0, zero.byte_size());
  const Tensor* value = &zero;
  if (c.num_inputs() > 2) {
    RETURN_IF_ERROR(CheckScalar(c.input(2), "constant_values"));
    value = &c.input(2);
  }
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, padding.output));
  FillElements(x.dtype(), value->raw_data(), y->raw_data(), y->num_elements());
  if (x.num_elements() == 0) return OkStatus();
  const IntVec to = RowMajorStrides(padding.output);
  int64_t offset = 0;
  for (size_t d = 0; d < to.size(); ++d) offset += padding.before[d] * to[d];
  StridedCopy(x.dtype(), x.shape().dims(), x.raw_data(), RowMajorStrides(x.shape()).span(),
              ElementOf(*y, offset), to.span(), &c.intra_op());
  return OkStatus();
}

// The input position that is mirrored to output position `at` (counted from the input's begin).
int64_t Mirrored(int64_t at, int64_t n, int64_t offset) {
  if (at < 0) return -at - 1 + offset;
  if (at >= n) return 2 * n - 1 - at - offset;
  return at;
}

// 1 where the border itself is not repeated.
StatusOr<int64_t> MirrorOffset(const BindContext& bind) {
  const std::string mode = AttrOr<std::string>(*bind.node, "mode", "");
  if (mode == "REFLECT") return 1;
  if (mode == "SYMMETRIC") return 0;
  return InvalidArgumentError(StrCat("mode must be either REFLECT or SYMMETRIC, not ", mode));
}

Status CheckMirror(const Shape& inner, const Shape& padded, const IntVec& before, int64_t offset) {
  for (int d = 0; d < inner.rank(); ++d) {
    const int64_t front = before[static_cast<size_t>(d)];
    const int64_t after = padded.dim(d) - inner.dim(d) - front;
    if (front <= inner.dim(d) - offset && after <= inner.dim(d) - offset) continue;
    return InvalidArgumentError(StrCat(
        "paddings must be ", offset == 1 ? "less than" : "no greater than", " the dimension size: ",
        front, ", ", after, offset == 1 ? " not less than " : " greater than ", inner.dim(d)));
  }
  return OkStatus();
}

// fn(i, from) for each element i of the padded tensor and the element of the inner one that it is a
// copy of.
template <typename Fn>
void ForMirrored(const Shape& inner, const Shape& padded, const IntVec& before, int64_t offset,
                 const Fn& fn) {
  const IntVec strides = RowMajorStrides(inner);
  const int64_t count = padded.num_elements();
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, from = 0;
    for (int d = inner.rank() - 1; d >= 0; --d) {
      const auto k = static_cast<size_t>(d);
      const int64_t at = rest % padded.dim(d) - before[k];
      rest /= padded.dim(d);
      from += Mirrored(at, inner.dim(d), offset) * strides[k];
    }
    fn(i, from);
  }
}

StatusOr<KernelFn> BindMirrorPad(const BindContext& bind) {
  ASSIGN_OR_RETURN(const int64_t offset, MirrorOffset(bind));
  return KernelFn([offset](KernelContext& c) -> Status {
    const Tensor& x = c.input(0);
    ASSIGN_OR_RETURN(Padding padding, ReadPadding(x, c.input(1)));
    RETURN_IF_ERROR(CheckMirror(x.shape(), padding.output, padding.before, offset));
    ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, padding.output));
    ForMirrored(x.shape(), padding.output, padding.before, offset, [&](int64_t i, int64_t from) {
      CopyElements(x.dtype(), ElementOf(x, from), ElementOf(*y, i), 1);
    });
    return OkStatus();
  });
}

// What arrives at the copies of an element is summed.
StatusOr<KernelFn> BindMirrorPadGrad(const BindContext& bind) {
  ASSIGN_OR_RETURN(const int64_t offset, MirrorOffset(bind));
  return KernelFn([offset](KernelContext& c) -> Status {
    const Tensor& dy = c.input(0);
    ASSIGN_OR_RETURN(const Padding larger, ReadPadding(dy, c.input(1)));
    IntVec dims;
    for (int d = 0; d < dy.rank(); ++d) {
      dims.push_back(std::max<int64_t>(0, 2 * dy.dim(d) - larger.output.dim(d)));
    }
    ASSIGN_OR_RETURN(const Shape inner, Shape::FromDims(dims.span()));
    RETURN_IF_ERROR(CheckMirror(inner, dy.shape(), larger.before, offset));
    ASSIGN_OR_RETURN(Tensor * dx, c.AllocateOutput(0, inner));
    SwitchType<int>(AllNumbers{}, dy.dtype(), [&]<typename T>() {
      const T* from = dy.flat<T>().data();
      T* to = dx->flat<T>().data();
      std::fill_n(to, dx->num_elements(), T(0));
      ForMirrored(inner, dy.shape(), larger.before, offset,
                  [&](int64_t i, int64_t at) { to[at] = WrapAdd(to[at], from[i]); });
      return 0;
    });
    return OkStatus();
  });
}

Status RunTile(KernelContext& c) {
  const Tensor& x = c.input(0);
  ASSIGN_OR_RETURN(IntVec multiples, ReadIntVector(c.input(1), "multiples"));
  if (multiples.rank() != x.rank()) {
    return InvalidArgumentError(StrCat("Expected multiples argument to be a vector of length ",
                                       x.rank(), " but got length ", multiples.size()));
  }
  IntVec dims;
  for (int d = 0; d < x.rank(); ++d) {
    const int64_t m = multiples[static_cast<size_t>(d)];
    if (m < 0) {
      return InvalidArgumentError(StrCat("Expected multiples[", d, "] >= 0, but got ", m));
    }
    ASSIGN_OR_RETURN(int64_t size, CheckedMul(x.dim(d), m, "Tile"));
    dims.push_back(size);
  }
  ASSIGN_OR_RETURN(Shape shape, Shape::FromDims(dims.span()));
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, shape));
  if (shape.num_elements() == 0) return OkStatus();
  // Each dimension as [copies, size].
  const IntVec own = RowMajorStrides(x.shape()), out = RowMajorStrides(shape);
  IntVec sizes, from, to;
  for (int d = 0; d < x.rank(); ++d) {
    const auto i = static_cast<size_t>(d);
    sizes.push_back(multiples[i]);
    from.push_back(0);
    to.push_back(x.dim(d) * out[i]);
    sizes.push_back(x.dim(d));
    from.push_back(own[i]);
    to.push_back(out[i]);
  }
  StridedCopy(x.dtype(), sizes.span(), x.raw_data(), from.span(), y->raw_data(), to.span(),
              &c.intra_op());
  return OkStatus();
}

Status RunReverse(KernelContext& c) {
  const Tensor& x = c.input(0);
  ASSIGN_OR_RETURN(IntVec axes, ReadIntVector(c.input(1), "axis"));
  IntVec from = RowMajorStrides(x.shape());
  std::array<bool, Shape::kMaxRank> seen{};
  int64_t offset = 0;
  for (int64_t axis : axes) {
    if (axis < -x.rank() || axis >= x.rank()) {
      return InvalidArgumentError(
          StrCat("'axis'[", axis, "] is out of valid range [-", x.rank(), ", ", x.rank() - 1, "]"));
    }
    const auto d = static_cast<size_t>(axis < 0 ? axis + x.rank() : axis);
    if (std::exchange(seen[d], true)) {
      return InvalidArgumentError(StrCat("axis ", d, " specified more than once."));
    }
    offset += (x.dim(static_cast<int>(d)) - 1) * from[d];
    from[d] = -from[d];
  }
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, x.shape()));
  if (x.num_elements() == 0) return OkStatus();
  StridedCopy(x.dtype(), x.shape().dims(), ElementOf(x, offset), from.span(), y->raw_data(),
              RowMajorStrides(x.shape()).span(), &c.intra_op());
  return OkStatus();
}

template <Status (*kRun)(KernelContext&)>
StatusOr<KernelFn> BindPlain(const BindContext&) {
  return KernelFn(kRun);
}

std::vector<KernelDef> MakeTable() {
  return MakeKernels({
      {"Pad", BindPlain<RunPad>},
      {"PadV2", BindPlain<RunPad>},
      {"MirrorPad", BindMirrorPad},
      {"MirrorPadGrad", BindMirrorPadGrad, AllNumbers::DTypes()},
      {"Tile", BindPlain<RunTile>},
      {"ReverseV2", BindPlain<RunReverse>},
  });
}

}  // namespace

std::span<const KernelDef> PadKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
