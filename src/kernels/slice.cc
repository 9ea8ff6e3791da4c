// SPDX-License-Identifier: Apache-2.0
//
// Slice, StridedSlice and its gradient.
#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/strided_copy.h"
#include "kernels/variable_access.h"

namespace slipway::kernels {
namespace {

const void* ElementOf(const Tensor& t, int64_t element) {
  return static_cast<const char*>(t.raw_data()) +
         element * static_cast<int64_t>(DTypeSize(t.dtype()));
}

Status RunSlice(KernelContext& c) {
  const Tensor& x = c.input(0);
  ASSIGN_OR_RETURN(IntVec begin, ReadIntVector(c.input(1), "begin"));
  ASSIGN_OR_RETURN(IntVec size, ReadIntVector(c.input(2), "size"));
  if (begin.rank() != x.rank() || size.rank() != x.rank()) {
    return InvalidArgumentError(
        StrCat("Expected begin and size arguments to be 1-D tensors of "
               "size ",
               x.rank(), ", but got shapes ", c.input(1).shape().ToString(), " and ",
               c.input(2).shape().ToString(), " instead."));
  }
  const IntVec strides = RowMajorStrides(x.shape());
  int64_t offset = 0;
  for (int d = 0; d < x.rank(); ++d) {
    const auto i = static_cast<size_t>(d);
    const int64_t whole = x.dim(d);
    if (begin[i] < 0 || begin[i] > whole) {
      return InvalidArgumentError(
          StrCat("Expected begin[", d, "] in [0, ", whole, "], but got ", begin[i]));
    }
    if (size[i] == -1) size[i] = whole - begin[i];
    if (size[i] < 0 || size[i] > whole - begin[i]) {
      return InvalidArgumentError(
          StrCat("Expected size[", d, "] in [0, ", whole - begin[i], "], but got ", size[i]));
    }
    offset += begin[i] * strides[i];
  }
  const Shape shape(size.span());
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, shape));
  if (y->num_elements() == 0) return OkStatus();
  StridedCopy(x.dtype(), size.span(), ElementOf(x, offset), strides.span(), y->raw_data(),
              RowMajorStrides(shape).span(), &c.intra_op());
  return OkStatus();
}

struct SliceMasks {
  int64_t begin = 0, end = 0, ellipsis = 0, new_axis = 0, shrink = 0;
};

// One input dimension of a slice; then the result's dimensions from them.
struct SliceSpec {
  IntVec begin, stride, size;  // of every input dimension
  Shape output;                // with new axes, without shrunk ones
};

struct SparseSpec {
  IntVec begin, end, stride;
  SliceMasks masks;
  bool Has(int64_t mask, int i) const { return i < 63 && (mask >> i & 1) != 0; }
};

// A dimension's begin, end and stride as given, filled in where masked.
struct DenseDim {
  int64_t begin = 0, end = 0, stride = 1;
  bool begin_masked = true, end_masked = true, shrink = false;
};

constexpr int64_t kNewAxis = -1;
constexpr int kMaxSliceRank = 32;

// In place, so that slicing allocates nothing.
struct DenseDims {
  std::array<DenseDim, kMaxSliceRank> dims;
  size_t count = 0;

  size_t size() const { return count; }
  void push_back(const DenseDim& dim) { dims[count++] = dim; }  // REQUIRES: count < kMaxSliceRank
  const DenseDim& operator[](size_t d) const { return dims[d]; }
};

// Expands the ellipsis: one DenseDim an input dimension; `result` lists, for each dimension of the
// output, the input dimension it comes from or kNewAxis.
Status Densify(const SparseSpec& spec, int rank, DenseDims* dims, IntVec* result) {
  int ellipsis = -1, new_axes_behind = 0;
  for (int i = 0; i < spec.stride.rank(); ++i) {
    if (spec.Has(spec.masks.ellipsis, i)) {
      if (ellipsis >= 0) {
        return InvalidArgumentError("Multiple ellipses in slice spec not allowed");
      }
      ellipsis = i;
    } else if (ellipsis >= 0 && spec.Has(spec.masks.new_axis, i)) {
      ++new_axes_behind;
    }
  }
  const int count = spec.stride.rank();
  const auto fill_to = [&](int upto) {
    while (static_cast<int>(dims->size()) < upto) {
      result->push_back(static_cast<int64_t>(dims->size()));
      dims->push_back(DenseDim());
    }
  };
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i);
    if (i == ellipsis) {
      fill_to(std::min(rank - (count - i) + 1 + new_axes_behind, rank));
    } else if (spec.Has(spec.masks.new_axis, i)) {
      result->push_back(kNewAxis);
    } else {
      if (static_cast<int>(dims->size()) == rank) {
        return InvalidArgumentError(StrCat("Index out of range using input dim ", rank,
                                           "; input has only ", rank, " dims"));
      }
      DenseDim dim = {spec.begin[at],
                      spec.end[at],
                      spec.stride[at],
                      spec.Has(spec.masks.begin, i),
                      spec.Has(spec.masks.end, i),
                      spec.Has(spec.masks.shrink, i)};
      if (!dim.shrink) result->push_back(static_cast<int64_t>(dims->size()));
      dims->push_back(dim);
    }
  }
  fill_to(rank);
  return OkStatus();
}

// Where a slice of a dimension of `whole` begins and how many elements it has.
struct Run {
  int64_t begin, size;
};
StatusOr<Run> ResolveDim(const DenseDim& dim, int64_t whole, size_t index) {
  if (dim.shrink) {
    if (dim.stride <= 0) {
      return InvalidArgumentError("only stride 1 allowed on non-range indexing.");
    }
    const int64_t at = dim.begin < 0 ? dim.begin + whole : dim.begin;
    if (at < 0 || at >= whole) {
      return InvalidArgumentError(
          StrCat("slice index ", dim.begin, " of dimension ", index, " out of bounds."));
    }
    return Run{at, 1};
  }
  const bool forward = dim.stride > 0;
  const int64_t low = forward ? 0 : -1, high = forward ? whole : whole - 1;
  const auto canonical = [&](int64_t x) {
    return std::clamp(x < 0 ? x + whole : x, low, std::max(low, high));
  };
  const int64_t begin = dim.begin_masked ? (forward ? low : high) : canonical(dim.begin);
  const int64_t end = dim.end_masked ? (forward ? high : low) : canonical(dim.end);
  const int64_t interval = end - begin;
  if (interval == 0 || (interval < 0) == forward) return Run{begin, 0};
  return Run{begin, interval / dim.stride + (interval % dim.stride != 0)};
}

StatusOr<SliceSpec> ResolveSlice(const Shape& shape, const SparseSpec& sparse) {
  if (shape.rank() > kMaxSliceRank) {
    return UnimplementedError(
        StrCat("StridedSlice of ", shape.rank(), " dimensions; at most ", kMaxSliceRank));
  }
  DenseDims dims;
  IntVec result;
  RETURN_IF_ERROR(Densify(sparse, shape.rank(), &dims, &result));
  SliceSpec spec;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d].stride == 0) {
      return InvalidArgumentError(StrCat("strides[", d, "] must be non-zero"));
    }
    ASSIGN_OR_RETURN(Run run, ResolveDim(dims[d], shape.dim(static_cast<int>(d)), d));
    spec.begin.push_back(run.begin);
    spec.size.push_back(run.size);
    // A stride beyond the dimension takes one element: its size does not matter then.
    spec.stride.push_back(run.size <= 1 ? 1 : dims[d].stride);
  }
  for (int64_t d : result) {
    spec.output.AddDim(d == kNewAxis ? 1 : spec.size[static_cast<size_t>(d)]);
  }
  return spec;
}

StatusOr<SparseSpec> ReadSparse(const KernelContext& c, const SliceMasks& masks) {
  SparseSpec spec;
  spec.masks = masks;
  const auto read = [&](int i, std::string_view what) -> StatusOr<IntVec> {
    if (c.input(i).dtype() != DType::kInt16) return ReadIntVector(c.input(i), what);
    RETURN_IF_ERROR(CheckRank(c.input(i), 1, what));
    IntVec values;
    for (int16_t v : c.input(i).flat<int16_t>()) values.push_back(v);
    return values;
  };
  ASSIGN_OR_RETURN(spec.begin, read(1, "begin"));
  ASSIGN_OR_RETURN(spec.end, read(2, "end"));
  ASSIGN_OR_RETURN(spec.stride, read(3, "strides"));
  if (spec.begin.size() != spec.end.size() || spec.begin.size() != spec.stride.size()) {
    return InvalidArgumentError(
        StrCat("Expected begin, end, and strides to be 1D equal size "
               "tensors, but got shapes ",
               c.input(1).shape().ToString(), ", ", c.input(2).shape().ToString(), ", and ",
               c.input(3).shape().ToString(), " instead."));
  }
  if (spec.stride.size() > kMaxSliceRank) {
    return InvalidArgumentError(
        StrCat("A slice of ", spec.stride.size(), " dimensions; at most 32"));
  }
  return spec;
}

// Strides in elements of the slice within its tensor, and where it begins.
struct Window {
  IntVec strides;
  int64_t offset = 0;
};
Window WindowOf(const Shape& shape, const SliceSpec& spec) {
  Window window;
  window.strides = RowMajorStrides(shape);
  for (size_t d = 0; d < spec.size.size(); ++d) {
    window.offset += spec.begin[d] * window.strides[d];
    window.strides[d] *= spec.stride[d];
  }
  return window;
}

// The strides of the result's memory, for the input's dimensions.
IntVec DenseStrides(const SliceSpec& spec) {
  const Shape sizes(spec.size.span());
  return RowMajorStrides(sizes);
}

SliceMasks MasksOf(const ir::Node& node) {
  return {IntAttr(node, "begin_mask"), IntAttr(node, "end_mask"), IntAttr(node, "ellipsis_mask"),
          IntAttr(node, "new_axis_mask"), IntAttr(node, "shrink_axis_mask")};
}

StatusOr<KernelFn> BindStridedSlice(const BindContext& bind) {
  const SliceMasks masks = MasksOf(*bind.node);
  return KernelFn([masks](KernelContext& c) -> Status {
    const Tensor& x = c.input(0);
    ASSIGN_OR_RETURN(SparseSpec sparse, ReadSparse(c, masks));
    ASSIGN_OR_RETURN(SliceSpec spec, ResolveSlice(x.shape(), sparse));
    ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, spec.output));
    if (y->num_elements() == 0) return OkStatus();
    const Window window = WindowOf(x.shape(), spec);
    StridedCopy(x.dtype(), spec.size.span(), ElementOf(x, window.offset), window.strides.span(),
                y->raw_data(), DenseStrides(spec).span(), &c.intra_op());
    return OkStatus();
  });
}

StatusOr<KernelFn> BindStridedSliceGrad(const BindContext& bind) {
  const SliceMasks masks = MasksOf(*bind.node);
  return KernelFn([masks](KernelContext& c) -> Status {
    ASSIGN_OR_RETURN(Shape shape, ReadShape(c.input(0), "shape"));
    const Tensor& dy = c.input(4);
    ASSIGN_OR_RETURN(SparseSpec sparse, ReadSparse(c, masks));
    ASSIGN_OR_RETURN(SliceSpec spec, ResolveSlice(shape, sparse));
    if (!(dy.shape() == spec.output)) {
      return InvalidArgumentError(StrCat("shape of dy was ", dy.shape().ToString(), " instead of ",
                                         spec.output.ToString()));
    }
    if (IsObject(dy.dtype())) return UnimplementedError("StridedSliceGrad of strings or handles");
    ASSIGN_OR_RETURN(Tensor * dx, c.AllocateOutput(0, shape));
    if (dx->num_elements() > 0) std::memset(dx->raw_data(), 0, dx->byte_size());
    if (dy.num_elements() == 0) return OkStatus();
    const Window window = WindowOf(shape, spec);
    auto* to = static_cast<char*>(dx->raw_data()) +
               window.offset * static_cast<int64_t>(DTypeSize(dx->dtype()));
    StridedCopy(dy.dtype(), spec.size.span(), dy.raw_data(), DenseStrides(spec).span(), to,
                window.strides.span(), &c.intra_op());
    return OkStatus();
  });
}

// target[slice] = value, which has the shape of the slice.
Status AssignSlice(KernelContext& c, const SliceMasks& masks, Tensor& target) {
  const Tensor& value = c.input(4);
  if (value.dtype() != target.dtype()) {
    return InvalidArgumentError(StrCat("A value of ", DTypeName(value.dtype()),
                                       " does not fit a target of ", DTypeName(target.dtype())));
  }
  ASSIGN_OR_RETURN(SparseSpec sparse, ReadSparse(c, masks));
  ASSIGN_OR_RETURN(SliceSpec spec, ResolveSlice(target.shape(), sparse));
  if (spec.output.num_elements() == 0 && value.num_elements() == 0) return OkStatus();
  const bool scalar = value.rank() == 0 && spec.output.num_elements() == 1;
  if (!(value.shape() == spec.output) && !scalar) {
    return InvalidArgumentError(StrCat("Expected value shape to be ", spec.output.ToString(),
                                       ", got ", value.shape().ToString(),
                                       " that must match the slice"));
  }
  const Window window = WindowOf(target.shape(), spec);
  auto* to = static_cast<char*>(target.raw_data()) +
             window.offset * static_cast<int64_t>(DTypeSize(target.dtype()));
  StridedCopy(value.dtype(), spec.size.span(), value.raw_data(), DenseStrides(spec).span(), to,
              window.strides.span(), &c.intra_op());
  return OkStatus();
}

StatusOr<KernelFn> BindResourceStridedSliceAssign(const BindContext& bind) {
  const SliceMasks masks = MasksOf(*bind.node);
  return KernelFn([masks](KernelContext& c) -> Status {
    ASSIGN_OR_RETURN(Variable * variable, InputVariable(c, 0));
    return variable->UpdateWith([&](Tensor& value) { return AssignSlice(c, masks, value); });
  });
}

StatusOr<KernelFn> BindTensorStridedSliceUpdate(const BindContext& bind) {
  const SliceMasks masks = MasksOf(*bind.node);
  return KernelFn([masks](KernelContext& c) -> Status {
    const Tensor& x = c.input(0);
    ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, x.shape()));
    if (y->raw_data() != x.raw_data()) {
      CopyElements(x.dtype(), x.raw_data(), y->raw_data(), x.num_elements());
    }
    return AssignSlice(c, masks, *y);
  });
}

std::vector<KernelDef> MakeTable() {
  return MakeKernels({
      {"ResourceStridedSliceAssign", BindResourceStridedSliceAssign},
      {"Slice", [](const BindContext&) -> StatusOr<KernelFn> { return KernelFn(RunSlice); }},
      {"StridedSlice", BindStridedSlice},
      {"StridedSliceGrad", BindStridedSliceGrad},
      {"TensorStridedSliceUpdate", BindTensorStridedSliceUpdate, {}, "T", {{0, 0}}},
  });
}

}  // namespace

std::span<const KernelDef> SliceKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
