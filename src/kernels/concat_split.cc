// SPDX-License-Identifier: Apache-2.0
//
// Several tensors into one and back, along one axis.
#include <algorithm>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/strided_copy.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

// Copies `rows` runs of `run` elements between memories whose runs are `from_step` and `to_step`
// elements apart.
void CopyRows(DType dtype, const void* from, int64_t from_at, int64_t from_step, void* to,
              int64_t to_at, int64_t to_step, int64_t rows, int64_t run) {
  const auto size = static_cast<int64_t>(DTypeSize(dtype));
  for (int64_t r = 0; r < rows; ++r) {
    CopyElements(dtype, static_cast<const char*>(from) + (from_at + r * from_step) * size,
                 static_cast<char*>(to) + (to_at + r * to_step) * size, run);
  }
}

Status CheckConcat(const Tensor& first, const Tensor& other, int index, int axis) {
  if (other.rank() != first.rank()) {
    return InvalidArgumentError(
        StrCat("ConcatOp : Ranks of all input tensors should match: "
               "shape[0] = ",
               first.shape().ToString(), " vs. shape[", index, "] = ", other.shape().ToString()));
  }
  for (int d = 0; d < first.rank(); ++d) {
    if (d == axis || first.dim(d) == other.dim(d)) continue;
    return InvalidArgumentError(
        StrCat("ConcatOp : Dimension ", d, " in both shapes must be equal: shape[0] = ",
               first.shape().ToString(), " vs. shape[", index, "] = ", other.shape().ToString()));
  }
  return OkStatus();
}

Status RunConcat(KernelContext& c) {
  const int count = c.num_inputs() - 1;
  const Tensor& axis_tensor = c.input(count);
  ASSIGN_OR_RETURN(int64_t given, ReadInt(axis_tensor, "Concat axis"));
  const Tensor& first = c.input(0);
  if (given < -first.rank() || given >= first.rank()) {
    return InvalidArgumentError(
        StrCat("ConcatOp : Expected concatenating dimensions in the range "
               "[",
               -first.rank(), ", ", first.rank(), "), but got ", given));
  }
  const int axis = static_cast<int>(given < 0 ? given + first.rank() : given);
  IntVec dims(first.shape().dims());
  int64_t total = 0;
  for (int i = 0; i < count; ++i) {
    RETURN_IF_ERROR(CheckConcat(first, c.input(i), i, axis));
    if (__builtin_add_overflow(total, c.input(i).dim(axis), &total)) {
      return InvalidArgumentError(StrCat("ConcatOp : The sizes along dimension ", axis,
                                         " are together more than a dimension can be"));
    }
  }
  dims[static_cast<size_t>(axis)] = total;
  ASSIGN_OR_RETURN(Shape shape, Shape::FromDims(dims.span()));
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  const int64_t rows = ProductOfDims(shape, 0, axis);
  const int64_t inner = ProductOfDims(shape, axis + 1, shape.rank());
  int64_t at = 0;
  for (int i = 0; i < count; ++i) {
    const Tensor& x = c.input(i);
    const int64_t run = x.dim(axis) * inner;
    CopyRows(x.dtype(), x.raw_data(), 0, run, out->raw_data(), at, total * inner, rows, run);
    at += run;
  }
  return OkStatus();
}

Status RunConcatOffset(KernelContext& c) {
  ASSIGN_OR_RETURN(int64_t given, ReadInt(c.input(0), "concat_dim"));
  ASSIGN_OR_RETURN(IntVec first, ReadIntVector(c.input(1), "shape"));
  ASSIGN_OR_RETURN(int axis, NormalizeAxis(given, first.rank(), "Concat dim"));
  int64_t offset = 0;
  for (int i = 1; i < c.num_inputs(); ++i) {
    ASSIGN_OR_RETURN(IntVec own, ReadIntVector(c.input(i), "shape"));
    if (own.size() != first.size()) {
      return InvalidArgumentError(
          StrCat("input ", i, " should contain ", first.size(), " elements, but got ", own.size()));
    }
    for (int d = 0; d < own.rank(); ++d) {
      const auto at = static_cast<size_t>(d);
      if (d == axis || own[at] == first[at]) continue;
      return InvalidArgumentError(StrCat("All dimensions except ", axis, " must match. Input ",
                                         i - 1, " has ", own[at], " at ", d, " and input 0 has ",
                                         first[at]));
    }
    ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(i - 1, c.input(i).shape()));
    for (int d = 0; d < own.rank(); ++d) {
      const auto at = static_cast<size_t>(d);
      const int64_t value = d == axis ? offset : 0;
      if (out->dtype() == DType::kInt64) {
        out->flat<int64_t>()[at] = value;
      } else {
        out->flat<int32_t>()[at] = static_cast<int32_t>(value);
      }
    }
    if (__builtin_add_overflow(offset, own[static_cast<size_t>(axis)], &offset)) {
      return InvalidArgumentError("The sizes to concatenate are too large");
    }
  }
  return OkStatus();
}

StatusOr<KernelFn> BindPack(const BindContext& bind) {
  const int64_t given = IntAttr(*bind.node, "axis");
  return KernelFn([given](KernelContext& c) -> Status {
    if (c.num_inputs() < 1) return InvalidArgumentError("Pack needs at least one input");
    const Tensor& first = c.input(0);
    if (given < -first.rank() - 1 || given > first.rank()) {
      return InvalidArgumentError(
          StrCat("axis = ", given, " not in [", -first.rank() - 1, ", ", first.rank() + 1, ")"));
    }
    const int axis = static_cast<int>(given < 0 ? given + first.rank() + 1 : given);
    for (int i = 1; i < c.num_inputs(); ++i) {
      if (c.input(i).shape() == first.shape()) continue;
      return InvalidArgumentError(
          StrCat("Shapes of all inputs must match: values[0].shape = ", first.shape().ToString(),
                 " != values[", i, "].shape = ", c.input(i).shape().ToString()));
    }
    IntVec dims;
    for (int d = 0; d <= first.rank(); ++d) {
      if (d == axis) dims.push_back(c.num_inputs());
      if (d < first.rank()) dims.push_back(first.dim(d));
    }
    ASSIGN_OR_RETURN(Shape shape, Shape::FromDims(dims.span()));
    ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    const int64_t rows = ProductOfDims(first.shape(), 0, axis);
    const int64_t run = ProductOfDims(first.shape(), axis, first.rank());
    for (int i = 0; i < c.num_inputs(); ++i) {
      CopyRows(first.dtype(), c.input(i).raw_data(), 0, run, out->raw_data(), i * run,
               c.num_inputs() * run, rows, run);
    }
    return OkStatus();
  });
}

StatusOr<KernelFn> BindUnpack(const BindContext& bind) {
  const int64_t given = IntAttr(*bind.node, "axis");
  const int count = bind.node->num_outputs();
  return KernelFn([given, count](KernelContext& c) -> Status {
    const Tensor& x = c.input(0);
    if (given < -x.rank() || given >= x.rank()) {
      return InvalidArgumentError(
          StrCat("axis = ", given, " not in [", -x.rank(), ", ", x.rank(), ")"));
    }
    const int axis = static_cast<int>(given < 0 ? given + x.rank() : given);
    if (x.dim(axis) != count) {
      return InvalidArgumentError(StrCat("Input shape axis ", axis, " must equal ", count,
                                         ", got shape ", x.shape().ToString()));
    }
    Shape shape;
    for (int d = 0; d < x.rank(); ++d) {
      if (d != axis) shape.AddDim(x.dim(d));
    }
    const int64_t rows = ProductOfDims(x.shape(), 0, axis);
    const int64_t run = ProductOfDims(x.shape(), axis + 1, x.rank());
    for (int i = 0; i < count; ++i) {
      ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(i, shape));
      CopyRows(x.dtype(), x.raw_data(), i * run, count * run, out->raw_data(), 0, run, rows, run);
    }
    return OkStatus();
  });
}

// Pieces of these sizes along the axis. REQUIRES: they sum to its size.
Status SplitInto(KernelContext& c, const Tensor& x, int axis, const IntVec& sizes) {
  const int64_t rows = ProductOfDims(x.shape(), 0, axis);
  const int64_t inner = ProductOfDims(x.shape(), axis + 1, x.rank());
  int64_t at = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    Shape shape = x.shape();
    shape.set_dim(axis, sizes[i]);
    ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(static_cast<int>(i), shape));
    const int64_t run = sizes[i] * inner;
    CopyRows(x.dtype(), x.raw_data(), at, x.dim(axis) * inner, out->raw_data(), 0, run, rows, run);
    at += run;
  }
  return OkStatus();
}

StatusOr<int> SplitAxis(const Tensor& axis, const Tensor& x) {
  ASSIGN_OR_RETURN(int64_t given, ReadInt(axis, "split_dim"));
  if (given < -x.rank() || given >= x.rank()) {
    return InvalidArgumentError(StrCat("-input rank(-", x.rank(), ") <= split_dim < input rank (",
                                       x.rank(), "), but got ", given));
  }
  return static_cast<int>(given < 0 ? given + x.rank() : given);
}

StatusOr<KernelFn> BindSplit(const BindContext& bind) {
  const int64_t count = bind.node->num_outputs();
  return KernelFn([count](KernelContext& c) -> Status {
    const Tensor& x = c.input(1);
    ASSIGN_OR_RETURN(int axis, SplitAxis(c.input(0), x));
    if (count < 1 || x.dim(axis) % count != 0) {
      return InvalidArgumentError(
          StrCat("Number of ways to split should evenly divide the split "
                 "dimension, but got split_dim ",
                 axis, " (size = ", x.dim(axis), ") and num_split ", count));
    }
    return SplitInto(c, x, axis, IntVec(static_cast<size_t>(count), x.dim(axis) / count));
  });
}

// The sizes with a -1 replaced by what is left.
StatusOr<IntVec> CompleteSizes(IntVec sizes, int64_t total) {
  int64_t known = 0;
  int missing = -1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1 && missing < 0) {
      missing = static_cast<int>(i);
    } else if (sizes[i] < 0) {
      return InvalidArgumentError(StrCat("Split size at index ", i,
                                         " must be >= 0 (one of them "
                                         "may be -1). Got: ",
                                         sizes[i]));
    } else if (__builtin_add_overflow(known, sizes[i], &known)) {
      return InvalidArgumentError("Split sizes are too large");
    }
  }
  if (missing >= 0 ? known > total : known != total) {
    return InvalidArgumentError(
        StrCat("Determined shape must either match input shape along split_dim exactly if fully "
               "specified, or be less than the size of the input along split_dim if not fully "
               "specified.  Got: ",
               known, " for a dimension of ", total));
  }
  if (missing >= 0) sizes[static_cast<size_t>(missing)] = total - known;
  return sizes;
}

StatusOr<KernelFn> BindSplitV(const BindContext& bind) {
  const int count = bind.node->num_outputs();
  return KernelFn([count](KernelContext& c) -> Status {
    const Tensor& x = c.input(0);
    const Tensor& given = c.input(1);
    RETURN_IF_ERROR(CheckRank(given, 1, "size_splits"));
    IntVec sizes;
    if (given.dtype() == DType::kInt8) {
      for (int8_t v : given.flat<int8_t>()) sizes.push_back(v);
    } else {
      ASSIGN_OR_RETURN(sizes, ReadIntVector(given, "size_splits"));
    }
    if (static_cast<int>(sizes.size()) != count) {
      return InvalidArgumentError(
          StrCat("size_splits has ", sizes.size(), " elements, wanted ", count));
    }
    ASSIGN_OR_RETURN(int axis, SplitAxis(c.input(2), x));
    ASSIGN_OR_RETURN(sizes, CompleteSizes(std::move(sizes), x.dim(axis)));
    return SplitInto(c, x, axis, sizes);
  });
}

template <Status (*kRun)(KernelContext&)>
StatusOr<KernelFn> BindPlain(const BindContext&) {
  return KernelFn(kRun);
}

std::vector<KernelDef> MakeTable() {
  return MakeKernels({
      {"ConcatV2", BindPlain<RunConcat>},
      {"ConcatOffset", BindPlain<RunConcatOffset>},
      {"Pack", BindPack},
      {"Unpack", BindUnpack},
      {"Split", BindSplit},
      {"SplitV", BindSplitV},
  });
}

}  // namespace

std::span<const KernelDef> ConcatSplitKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
