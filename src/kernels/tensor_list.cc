// SPDX-License-Identifier: Apache-2.0
//
// Tensor lists: making them, one element at a time.
#include "kernels/tensor_list.h"

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"

namespace slipway::kernels {

std::string TensorList::DebugString() const {
  return StrCat("TensorList of ", items.size(), " ", DTypeName(element_dtype),
                element_shape.ToString());
}

StatusOr<const TensorList*> ListOf(const Tensor& handle, DType dtype) {
  if (handle.dtype() != DType::kVariant || handle.num_elements() != 1) {
    return InvalidArgumentError(
        StrCat("Input list must be a scalar saw: ", handle.shape().ToString()));
  }
  const Variant& value = handle.scalar<Variant>();
  const auto* list = dynamic_cast<const TensorList*>(value.get());
  if (list == nullptr) {
    return InvalidArgumentError(StrCat("Input handle is not a list. Saw: '",
                                       value ? value->DebugString() : "<empty>", "'"));
  }
  if (dtype == DType::kInvalid || list->element_dtype == dtype) return list;
  return InvalidArgumentError(StrCat("Invalid data types; op elements ", DTypeName(dtype),
                                     " but list elements ", DTypeName(list->element_dtype)));
}

Tensor ListHandle(TensorList list) {
  return Tensor::Scalar<Variant>(std::make_shared<const TensorList>(std::move(list)));
}

StatusOr<PartialShape> ReadPartialShape(const Tensor& tensor) {
  ASSIGN_OR_RETURN(const IntVec dims, ReadInts(tensor, "element_shape"));
  if (tensor.rank() == 0) {
    if (dims[0] == -1) return PartialShape::Unknown();
    return InvalidArgumentError(
        StrCat("The only valid scalar shape tensor is the fully unknown shape specified as -1, "
               "got ",
               dims[0]));
  }
  if (tensor.rank() != 1) {
    return InvalidArgumentError(StrCat("A shape must be a vector of sizes or -1, but has shape ",
                                       tensor.shape().ToString()));
  }
  IntVec known;
  for (const int64_t dim : dims) {
    if (dim < -1) return InvalidArgumentError(StrCat("Dimension ", dim, " must be >= -1"));
    known.push_back(std::max<int64_t>(dim, 1));
  }
  RETURN_IF_ERROR(Shape::FromDims(known.span()).status());
  return PartialShape(std::vector<int64_t>(dims.begin(), dims.end()));
}

StatusOr<PartialShape> MergeElementShapes(const PartialShape& a, const PartialShape& b) {
  StatusOr<PartialShape> merged = a.Merge(b);
  if (merged.ok()) return merged;
  return InvalidArgumentError(
      StrCat("Incompatible shapes during merge: ", a.ToString(), " vs. ", b.ToString()));
}

void FillZeros(Tensor* tensor) {
  if (!IsObject(tensor->dtype()) && tensor->byte_size() > 0) {
    std::memset(tensor->raw_data(), 0, tensor->byte_size());
  }
}

StatusOr<Tensor> ZeroTensor(DType dtype, const Shape& shape) {
  ASSIGN_OR_RETURN(Tensor zeros, Tensor::Allocate(dtype, shape));
  FillZeros(&zeros);
  return zeros;
}

StatusOr<Tensor> AddLists(const Tensor& a, const Tensor& b, const AddTensorsFn& add) {
  ASSIGN_OR_RETURN(const TensorList* x, ListOf(a));
  ASSIGN_OR_RETURN(const TensorList* y, ListOf(b));
  if (x->element_dtype != y->element_dtype) {
    return InvalidArgumentError(
        StrCat("Trying to add two lists of tensors of different dtypes. One is ",
               DTypeName(x->element_dtype), " and the other is ", DTypeName(y->element_dtype)));
  }
  if (x->items.size() != y->items.size()) {
    return InvalidArgumentError(
        StrCat("Trying to add two lists of tensors with different lengths. One is ",
               x->items.size(), " and the other is ", y->items.size()));
  }
  TensorList sum = *x;
  ASSIGN_OR_RETURN(sum.element_shape, MergeElementShapes(x->element_shape, y->element_shape));
  for (int64_t i = 0; i < x->items.size(); ++i) {
    if (!y->items[i].valid()) continue;
    if (!x->items[i].valid()) {
      sum.items.Set(i, y->items[i]);
      continue;
    }
    ASSIGN_OR_RETURN(Tensor item, add(x->items[i], y->items[i]));
    sum.items.Set(i, std::move(item));
  }
  return ListHandle(std::move(sum));
}

StatusOr<Tensor> ZerosLikeList(const Tensor& handle) {
  ASSIGN_OR_RETURN(const TensorList* list, ListOf(handle));
  TensorList zeros = *list;
  for (int64_t i = 0; i < list->items.size(); ++i) {
    const Tensor& item = list->items[i];
    if (!item.valid()) continue;
    if (item.dtype() == DType::kVariant) {
      ASSIGN_OR_RETURN(Tensor inner, ZerosLikeList(item));
      zeros.items.Set(i, std::move(inner));
      continue;
    }
    ASSIGN_OR_RETURN(Tensor zero, ZeroTensor(item.dtype(), item.shape()));
    zeros.items.Set(i, std::move(zero));
  }
  return ListHandle(std::move(zeros));
}

namespace {

DType ElementType(const BindContext& c) {
  return AttrOr<DType>(*c.node, "element_dtype", DType::kInvalid);
}

StatusOr<KernelFn> BindReserve(const BindContext& c) {
  return KernelFn([dtype = ElementType(c)](KernelContext& ctx) -> Status {
    TensorList list;
    list.element_dtype = dtype;
    ASSIGN_OR_RETURN(list.element_shape, ReadPartialShape(ctx.input(0)));
    RETURN_IF_ERROR(CheckScalar(ctx.input(1), "num_elements"));
    const int32_t size = ctx.input(1).scalar<int32_t>();
    if (size < 0) {
      return InvalidArgumentError(
          StrCat("The num_elements to reserve must be a non negative number, but got ", size));
    }
    list.items = PersistentVector<Tensor>(size);
    ctx.SetOutput(0, ListHandle(std::move(list)));
    return OkStatus();
  });
}

StatusOr<KernelFn> BindEmpty(const BindContext& c) {
  return KernelFn([dtype = ElementType(c)](KernelContext& ctx) -> Status {
    TensorList list;
    list.element_dtype = dtype;
    ASSIGN_OR_RETURN(list.element_shape, ReadPartialShape(ctx.input(0)));
    RETURN_IF_ERROR(CheckScalar(ctx.input(1), "max_num_elements"));
    list.max_elements = ctx.input(1).scalar<int32_t>();
    ctx.SetOutput(0, ListHandle(std::move(list)));
    return OkStatus();
  });
}

Status CheckElement(const TensorList& list, const Tensor& element, std::string_view what) {
  if (list.element_shape.Admits(element.shape())) return OkStatus();
  return InvalidArgumentError(StrCat(what, " Op element shape: ", element.shape().ToString(),
                                     " list shape: ", list.element_shape.ToString()));
}

StatusOr<KernelFn> BindPushBack(const BindContext& c) {
  return KernelFn([dtype = ElementType(c)](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(const TensorList* list, ListOf(ctx.input(0), dtype));
    RETURN_IF_ERROR(CheckElement(*list, ctx.input(1),
                                 "Tried to append a tensor with incompatible shape to a list."));
    if (list->max_elements >= 0 && list->items.size() >= list->max_elements) {
      return InvalidArgumentError(
          StrCat("Tried to push item to a full list. list size: ", list->items.size(),
                 " max_num_elements: ", list->max_elements));
    }
    TensorList longer = *list;
    longer.items.PushBack(ctx.input(1).Owned());
    ctx.SetOutput(0, ListHandle(std::move(longer)));
    return OkStatus();
  });
}

// One list for each row of the tensor; each gets its row.
StatusOr<KernelFn> BindPushBackBatch(const BindContext& c) {
  return KernelFn([dtype = ElementType(c)](KernelContext& ctx) -> Status {
    const Tensor& handles = ctx.input(0);
    const Tensor& rows = ctx.input(1);
    if (rows.rank() < 1 || handles.rank() != 1 || rows.dim(0) != handles.dim(0)) {
      return InvalidArgumentError(StrCat("Expected ", handles.shape().ToString(),
                                         " lists to match the first dimension of a tensor of "
                                         "shape ",
                                         rows.shape().ToString()));
    }
    const Tensor kept = rows.Owned();
    const Shape shape(rows.shape().dims().subspan(1));
    Tensor out(DType::kVariant, handles.shape());
    for (int64_t i = 0; i < handles.dim(0); ++i) {
      const auto at = static_cast<size_t>(i);
      const Tensor handle = Tensor::Scalar<Variant>(handles.flat<Variant>()[at]);
      ASSIGN_OR_RETURN(const TensorList* list, ListOf(handle, dtype));
      TensorList longer = *list;
      Tensor row = kept.Slice(i, i + 1).Reshaped(shape);
      RETURN_IF_ERROR(
          CheckElement(*list, row, "Tried to append a tensor with incompatible shape to a list."));
      longer.items.PushBack(std::move(row));
      out.flat<Variant>()[at] = std::make_shared<const TensorList>(std::move(longer));
    }
    ctx.SetOutput(0, std::move(out));
    return OkStatus();
  });
}

// The element, or the zeros that stand for one that was never set. `wanted` is the op's idea of its
// shape.
StatusOr<Tensor> ReadElement(const TensorList& list, int64_t i, const Tensor& wanted) {
  const Tensor& item = list.items[i];
  if (item.valid()) return item;
  ASSIGN_OR_RETURN(PartialShape shape, ReadPartialShape(wanted));
  ASSIGN_OR_RETURN(shape, MergeElementShapes(list.element_shape, shape));
  for (int64_t k = 0; k < list.items.size() && !shape.IsFullyDefined(); ++k) {
    if (!list.items[k].valid()) continue;
    ASSIGN_OR_RETURN(shape, MergeElementShapes(shape, list.items[k].shape()));
  }
  const auto known = shape.ToShape();
  if (!known) {
    return InvalidArgumentError(
        StrCat("Trying to read an uninitialized element but element_shape is not fully defined: ",
               shape.ToString()));
  }
  return ZeroTensor(list.element_dtype, *known);
}

StatusOr<KernelFn> BindPopBack(const BindContext& c) {
  return KernelFn([dtype = ElementType(c)](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(const TensorList* list, ListOf(ctx.input(0), dtype));
    const int64_t size = list->items.size();
    if (size == 0) return InvalidArgumentError("Trying to pop from an empty list.");
    ASSIGN_OR_RETURN(Tensor last, ReadElement(*list, size - 1, ctx.input(1)));
    TensorList shorter = *list;
    shorter.items.Resize(size - 1);
    ctx.SetOutput(0, ListHandle(std::move(shorter)));
    ctx.SetOutput(1, std::move(last));
    return OkStatus();
  });
}

StatusOr<KernelFn> BindGetItem(const BindContext& c) {
  return KernelFn([dtype = ElementType(c)](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(const TensorList* list, ListOf(ctx.input(0), dtype));
    RETURN_IF_ERROR(CheckScalar(ctx.input(1), "index"));
    const int32_t i = ctx.input(1).scalar<int32_t>();
    if (i < 0 || i >= list->items.size()) {
      return InvalidArgumentError(StrCat("Trying to access element ", i, " in a list with ",
                                         list->items.size(), " elements."));
    }
    ASSIGN_OR_RETURN(Tensor item, ReadElement(*list, i, ctx.input(2)));
    ctx.SetOutput(0, std::move(item));
    return OkStatus();
  });
}

StatusOr<KernelFn> BindSetItem(const BindContext& c) {
  const bool resize = BoolAttr(*c.node, "resize_if_index_out_of_bounds");
  return KernelFn([dtype = ElementType(c), resize](KernelContext& ctx) -> Status {
    ASSIGN_OR_RETURN(const TensorList* list, ListOf(ctx.input(0), dtype));
    RETURN_IF_ERROR(CheckScalar(ctx.input(1), "index"));
    const int32_t i = ctx.input(1).scalar<int32_t>();
    const int64_t size = list->items.size();
    if (i < 0 || (i >= size && !resize)) {
      return InvalidArgumentError(
          StrCat("Trying to modify element ", i, " in a list with ", size, " elements."));
    }
    RETURN_IF_ERROR(CheckElement(*list, ctx.input(2),
                                 "Tried to set a tensor with incompatible shape at a list index."));
    TensorList changed = *list;
    if (i >= size) changed.items.Resize(int64_t{i} + 1);
    changed.items.Set(i, ctx.input(2).Owned());
    ctx.SetOutput(0, ListHandle(std::move(changed)));
    return OkStatus();
  });
}

Status RunLength(KernelContext& c) {
  ASSIGN_OR_RETURN(const TensorList* list, ListOf(c.input(0)));
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, Shape()));
  out->flat<int32_t>()[0] = static_cast<int32_t>(list->items.size());
  return OkStatus();
}

Status RunElementShape(KernelContext& c) {
  ASSIGN_OR_RETURN(const TensorList* list, ListOf(c.input(0)));
  const PartialShape& shape = list->element_shape;
  const bool known = shape.has_rank();
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, known ? Shape({shape.rank()}) : Shape()));
  for (int d = 0; d < (known ? shape.rank() : 1); ++d) {
    const int64_t dim = known ? shape.dim(d) : -1;
    if (out->dtype() == DType::kInt64) {
      out->flat<int64_t>()[static_cast<size_t>(d)] = dim;
    } else {
      out->flat<int32_t>()[static_cast<size_t>(d)] = static_cast<int32_t>(dim);
    }
  }
  return OkStatus();
}

Status RunResize(KernelContext& c) {
  ASSIGN_OR_RETURN(const TensorList* list, ListOf(c.input(0)));
  RETURN_IF_ERROR(CheckScalar(c.input(1), "size"));
  const int32_t size = c.input(1).scalar<int32_t>();
  if (size < 0) {
    return InvalidArgumentError(
        StrCat("TensorListSlice expects size to be non-negative. Got: ", size));
  }
  TensorList resized = *list;
  resized.items.Resize(size);
  c.SetOutput(0, ListHandle(std::move(resized)));
  return OkStatus();
}

// Of two scalars, or of as many lists pairwise.
StatusOr<KernelFn> BindConcatLists(const BindContext& c) {
  return KernelFn([dtype = ElementType(c)](KernelContext& ctx) -> Status {
    const Tensor &a = ctx.input(0), &b = ctx.input(1);
    RETURN_IF_ERROR(CheckSameShape(a, b, "input_a", "input_b"));
    Tensor out(DType::kVariant, a.shape());
    for (size_t k = 0; k < static_cast<size_t>(a.num_elements()); ++k) {
      const Tensor ha = Tensor::Scalar<Variant>(a.flat<Variant>()[k]);
      const Tensor hb = Tensor::Scalar<Variant>(b.flat<Variant>()[k]);
      ASSIGN_OR_RETURN(const TensorList* first, ListOf(ha, dtype));
      ASSIGN_OR_RETURN(const TensorList* second, ListOf(hb, dtype));
      TensorList both = *first;
      ASSIGN_OR_RETURN(both.element_shape,
                       MergeElementShapes(first->element_shape, second->element_shape));
      const int64_t n = first->items.size();
      both.items.Resize(n + second->items.size());
      for (int64_t i = 0; i < second->items.size(); ++i) {
        if (second->items[i].valid()) both.items.Set(n + i, second->items[i]);
      }
      out.flat<Variant>()[k] = std::make_shared<const TensorList>(std::move(both));
    }
    ctx.SetOutput(0, std::move(out));
    return OkStatus();
  });
}

template <Status (*kRun)(KernelContext&)>
StatusOr<KernelFn> BindPlain(const BindContext&) {
  return KernelFn(kRun);
}

}  // namespace

std::span<const KernelDef> TensorListKernels() {
  static const std::vector<KernelDef> table = MakeKernels({
      {"TensorListReserve", BindReserve},
      {"EmptyTensorList", BindEmpty},
      {"TensorListPushBack", BindPushBack},
      {"TensorListPushBackBatch", BindPushBackBatch},
      {"TensorListPopBack", BindPopBack},
      {"TensorListGetItem", BindGetItem},
      {"TensorListSetItem", BindSetItem},
      {"TensorListLength", BindPlain<RunLength>},
      {"TensorListElementShape", BindPlain<RunElementShape>},
      {"TensorListResize", BindPlain<RunResize>},
      {"TensorListConcatLists", BindConcatLists},
  });
  return table;
}

}  // namespace slipway::kernels
