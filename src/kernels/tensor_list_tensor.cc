// SPDX-License-Identifier: Apache-2.0
//
// Tensor lists as tensors and back: stack, gather, concatenate, split, scatter.
#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/row_blocks.h"
#include "kernels/tensor_list.h"

namespace slipway::kernels {
namespace {

DType ElementType(const BindContext& c) {
  return AttrOr<DType>(*c.node, "element_dtype", DType::kInvalid);
}

// `wanted` made as exact as the list's own shape and its elements make it.
StatusOr<PartialShape> CommonShape(const TensorList& list, const Tensor& wanted) {
  ASSIGN_OR_RETURN(PartialShape shape, ReadPartialShape(wanted));
  StatusOr<PartialShape> merged = shape.Merge(list.element_shape);
  if (merged.ok()) return merged;
  return InvalidArgumentError(StrCat("Incompatible shapes during merge: ", shape.ToString(),
                                     " vs. ", list.element_shape.ToString()));
}

StatusOr<KernelFn> BindStack(const BindContext& c) {
  const int64_t wanted = IntAttr(*c.node, "num_elements", -1);
  return KernelFn([dtype = ElementType(c), wanted](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(const TensorList* list, ListOf(ctx.input(0), dtype));
    const int64_t size = list->items.size();
    if (wanted >= 0 && size != wanted) {
      return InvalidArgumentError(StrCat("Operation expected a list with ", wanted,
                                         " elements but got a list with ", size, " elements."));
    }
    ASSIGN_OR_RETURN(const PartialShape shape, CommonShape(*list, ctx.input(1)));
    return StackRows(
        ctx, dtype, size, shape,
        [&](int64_t i) -> StatusOr<const Tensor*> { return &list->items[i]; },
        "Tried to stack elements of an empty list with non-fully-defined element_shape: ",
        "Tried to stack list which only contains uninitialized tensors and has a "
        "non-fully-defined element shape: ");
  });
}

StatusOr<KernelFn> BindGather(const BindContext& c) {
  return KernelFn([dtype = ElementType(c)](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(const TensorList* list, ListOf(ctx.input(0), dtype));
    RETURN_IF_ERROR(CheckRank(ctx.input(1), 1, "indices"));
    const auto indices = ctx.input(1).flat<int32_t>();
    ASSIGN_OR_RETURN(const PartialShape shape, CommonShape(*list, ctx.input(2)));
    return StackRows(
        ctx, dtype, static_cast<int64_t>(indices.size()), shape,
        [&](int64_t i) -> StatusOr<const Tensor*> {
          const int32_t index = indices[static_cast<size_t>(i)];
          if (index >= 0 && index < list->items.size()) return &list->items[index];
          return InvalidArgumentError(StrCat("Trying to gather element ", index, " in a list with ",
                                             list->items.size(), " elements."));
        },
        "Tried to gather 0-elements from a list with non-fully-defined shape: ",
        "Tried to gather uninitialized tensors from a list with non-fully-defined element shape: ");
  });
}

// Elements end to end along their first dimension. One that was never set has the length that
// `leading_dims` says.
StatusOr<KernelFn> BindConcat(const BindContext& c) {
  const bool v2 = c.node->op() == "TensorListConcatV2";
  const auto fixed = AttrOr<PartialShape>(*c.node, "element_shape", PartialShape());
  return KernelFn([dtype = ElementType(c), v2, fixed](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(const TensorList* list, ListOf(ctx.input(0), dtype));
    PartialShape shape = fixed;
    if (v2) {
      ASSIGN_OR_RETURN(shape, ReadPartialShape(ctx.input(1)));
    }
    ASSIGN_OR_RETURN(shape, MergeElementShapes(shape, list->element_shape));
    const int64_t size = list->items.size();
    std::vector<Tensor> made;  // zeros
    made.reserve(static_cast<size_t>(size > 0 && v2 ? ctx.input(2).num_elements() : 0));
    const auto element = [&](int64_t i) -> StatusOr<const Tensor*> {
      const Tensor& item = list->items[i];
      if (item.valid()) return &item;
      if (!v2 || i >= ctx.input(2).num_elements()) {
        return InvalidArgumentError(StrCat("List contains uninitialized tensor at index ", i,
                                           " but leading_dims has only ",
                                           v2 ? ctx.input(2).num_elements() : 0, " elements."));
      }
      Shape zero;
      zero.AddDim(ctx.input(2).flat<int64_t>()[static_cast<size_t>(i)]);
      for (int d = 1; d < shape.rank(); ++d) zero.AddDim(shape.dim(d));
      for (const int64_t dim : zero.dims()) {
        if (dim >= 0) continue;
        return InvalidArgumentError(StrCat(
            "Tried to concat an uninitialized tensor whose shape is not known: ", shape.ToString(),
            " with a first dimension of ", zero.dim(0)));
      }
      RETURN_IF_ERROR(Shape::FromDims(zero.dims()).status());
      ASSIGN_OR_RETURN(Tensor zeros, ZeroTensor(dtype, zero));
      made.push_back(std::move(zeros));
      return &made.back();
    };
    return ConcatRows(ctx, dtype, size, shape, element);
  });
}

StatusOr<KernelFn> BindFromTensor(const BindContext& c) {
  return KernelFn([dtype = ElementType(c)](KernelContext& ctx) -> Status {
    TensorList list;
    list.element_dtype = dtype;
    ASSIGN_OR_RETURN(list.element_shape, ReadPartialShape(ctx.input(1)));
    const Tensor& tensor = ctx.input(0);
    if (tensor.rank() < 1) {
      return InvalidArgumentError(
          StrCat("Tensor must be at least a vector, but saw shape: ", tensor.shape().ToString()));
    }
    const Shape row(tensor.shape().dims().subspan(1));
    if (!list.element_shape.Admits(row)) {
      return InvalidArgumentError(StrCat("Specified a list with shape ",
                                         list.element_shape.ToString(),
                                         " from a tensor with shape ", row.ToString()));
    }
    ASSIGN_OR_RETURN(const std::vector<Tensor> rows, TakeRows(tensor));
    list.items = PersistentVector<Tensor>(tensor.dim(0));
    for (int64_t i = 0; i < tensor.dim(0); ++i) list.items.Set(i, rows[static_cast<size_t>(i)]);
    ctx.SetOutput(0, ListHandle(std::move(list)));
    return OkStatus();
  });
}

StatusOr<KernelFn> BindSplit(const BindContext& c) {
  return KernelFn([dtype = ElementType(c)](KernelContext& ctx) -> Status {
    TensorList list;
    list.element_dtype = dtype;
    ASSIGN_OR_RETURN(list.element_shape, ReadPartialShape(ctx.input(1)));
    ASSIGN_OR_RETURN(const std::vector<Tensor> pieces, SplitRows(ctx.input(0), ctx.input(2)));
    list.items = PersistentVector<Tensor>(static_cast<int64_t>(pieces.size()));
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (!list.element_shape.Admits(pieces[i].shape())) {
        return InvalidArgumentError(
            StrCat("Specified a list with shape ", list.element_shape.ToString(),
                   " from pieces with shape ", pieces[i].shape().ToString()));
      }
      list.items.Set(static_cast<int64_t>(i), pieces[i]);
    }
    ctx.SetOutput(0, ListHandle(std::move(list)));
    return OkStatus();
  });
}

// Row k of the tensor becomes element indices[k].
Status ScatterInto(const Tensor& tensor, const Tensor& indices, TensorList* list) {
  RETURN_IF_ERROR(CheckRank(indices, 1, "indices"));
  if (tensor.rank() < 1 || tensor.dim(0) < indices.num_elements()) {
    return InvalidArgumentError(
        StrCat("Invalid number of rows in input tensor. Expected: ", indices.num_elements(),
               " Actual: ", tensor.rank() < 1 ? 0 : tensor.dim(0)));
  }
  int64_t highest = -1;
  for (const int32_t index : indices.flat<int32_t>()) {
    if (index < 0) {
      return InvalidArgumentError("Indices in TensorListScatter must all be non-negative.");
    }
    highest = std::max<int64_t>(highest, index);
  }
  const Shape row(tensor.shape().dims().subspan(1));
  if (!list->element_shape.Admits(row)) {
    return InvalidArgumentError(
        StrCat("Tried to set a tensor with incompatible shape at a list "
               "index. Item element shape: ",
               row.ToString(), " list shape: ", list->element_shape.ToString()));
  }
  if (highest >= list->items.size()) list->items.Resize(highest + 1);
  ASSIGN_OR_RETURN(const std::vector<Tensor> rows, TakeRows(tensor));
  const auto flat = indices.flat<int32_t>();
  for (size_t k = 0; k < flat.size(); ++k) list->items.Set(flat[k], rows[k]);
  return OkStatus();
}

StatusOr<KernelFn> BindScatter(const BindContext& c) {
  const bool sized = c.node->op() == "TensorListScatterV2";
  return KernelFn([dtype = ElementType(c), sized](KernelContext& ctx) -> Status {
    TensorList list;
    list.element_dtype = dtype;
    ASSIGN_OR_RETURN(list.element_shape, ReadPartialShape(ctx.input(2)));
    int64_t size = -1;
    if (sized) {
      RETURN_IF_ERROR(CheckScalar(ctx.input(3), "num_elements"));
      size = ctx.input(3).scalar<int32_t>();
    }
    if (size < -1) {
      return InvalidArgumentError(
          StrCat("TensorListScatter expects num_elements >= -1, found: ", size));
    }
    RETURN_IF_ERROR(ScatterInto(ctx.input(0), ctx.input(1), &list));
    if (size >= 0 && list.items.size() > size) {
      return InvalidArgumentError(StrCat("TensorListScatter: Trying to scatter at index ",
                                         list.items.size() - 1, " in list with size ", size));
    }
    if (size >= 0) list.items.Resize(size);
    ctx.SetOutput(0, ListHandle(std::move(list)));
    return OkStatus();
  });
}

StatusOr<KernelFn> BindScatterInto(const BindContext& c) {
  return KernelFn([dtype = ElementType(c)](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(const TensorList* list, ListOf(ctx.input(0), dtype));
    TensorList changed = *list;
    RETURN_IF_ERROR(ScatterInto(ctx.input(1), ctx.input(2), &changed));
    ctx.SetOutput(0, ListHandle(std::move(changed)));
    return OkStatus();
  });
}

}  // namespace

std::span<const KernelDef> TensorListTensorKernels() {
  static const std::vector<KernelDef> table = MakeKernels({
      {"TensorListStack", BindStack},
      {"TensorListGather", BindGather},
      {"TensorListConcat", BindConcat},
      {"TensorListConcatV2", BindConcat},
      {"TensorListFromTensor", BindFromTensor},
      {"TensorListSplit", BindSplit},
      {"TensorListScatter", BindScatter},
      {"TensorListScatterV2", BindScatter},
      {"TensorListScatterIntoExistingList", BindScatterInto},
  });
  return table;
}

}  // namespace slipway::kernels
