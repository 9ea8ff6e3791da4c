// SPDX-License-Identifier: Apache-2.0
#include "kernels/row_blocks.h"

#include "kernels/checks.h"
#include "kernels/strided_copy.h"
#include "kernels/tensor_list.h"

namespace slipway::kernels {
namespace {

void CopyTo(const Tensor& from, int64_t at, Tensor* out) {
  char* to =
      static_cast<char*>(out->raw_data()) + static_cast<size_t>(at) * DTypeSize(out->dtype());
  CopyElements(out->dtype(), from.raw_data(), to, from.num_elements());
}

Status CheckElementType(const Tensor& element, DType dtype) {
  if (!element.valid() || element.dtype() == dtype) return OkStatus();
  return InvalidArgumentError(StrCat("Invalid data types; op elements ", DTypeName(dtype),
                                     " but list elements ", DTypeName(element.dtype())));
}

}  // namespace

Status StackRows(KernelContext& ctx, DType dtype, int64_t n, PartialShape shape,
                 const ElementFn& element, std::string_view if_empty, std::string_view if_unset) {
  bool any_set = false;
  for (int64_t i = 0; i < n; ++i) {
    ASSIGN_OR_RETURN(const Tensor* item, element(i));
    if (!item->valid()) continue;
    RETURN_IF_ERROR(CheckElementType(*item, dtype));
    any_set = true;
    if (!shape.Admits(item->shape())) {
      return InvalidArgumentError(StrCat("Tried to stack elements with different shapes: element ",
                                         i, " has shape ", item->shape().ToString(), ", not ",
                                         shape.ToString()));
    }
    if (!shape.IsFullyDefined()) shape = item->shape();
  }
  const auto known = shape.ToShape();
  if (!known) {
    return InvalidArgumentError(StrCat(n == 0 || any_set ? if_empty : if_unset, shape.ToString()));
  }
  IntVec dims;
  dims.push_back(n);
  for (const int64_t dim : known->dims()) dims.push_back(dim);
  ASSIGN_OR_RETURN(const Shape all, Shape::FromDims(dims.span()));
  ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, all));
  const int64_t row = known->num_elements();
  Tensor zeros;
  for (int64_t i = 0; i < n; ++i) {
    ASSIGN_OR_RETURN(const Tensor* item, element(i));
    if (!item->valid() && !zeros.valid()) {
      ASSIGN_OR_RETURN(zeros, ZeroTensor(dtype, *known));
    }
    CopyTo(item->valid() ? *item : zeros, i * row, out);
  }
  return OkStatus();
}

Status ConcatRows(KernelContext& ctx, DType dtype, int64_t n, const PartialShape& shape,
                  const ElementFn& element) {
  std::vector<const Tensor*> parts;
  PartialShape rest = PartialShape::Unknown();
  if (shape.has_rank()) {
    if (shape.rank() < 1) {
      return InvalidArgumentError("Concat requires elements to be at least vectors, found scalars");
    }
    rest = PartialShape(std::vector<int64_t>(shape.dims().begin() + 1, shape.dims().end()));
  }
  int64_t total = 0;
  ASSIGN_OR_RETURN(Tensor * lengths, ctx.AllocateOutput(1, Shape({n})));
  for (int64_t i = 0; i < n; ++i) {
    ASSIGN_OR_RETURN(const Tensor* item, element(i));
    RETURN_IF_ERROR(CheckElementType(*item, dtype));
    if (item->rank() < 1) {
      return InvalidArgumentError(
          StrCat("Concat saw a scalar shape at index ", i, " but requires at least vectors."));
    }
    const Shape row(item->shape().dims().subspan(1));
    if (!rest.Admits(row)) {
      return InvalidArgumentError(StrCat("Tried to concat tensors with unequal shapes: ",
                                         rest.ToString(), " vs ", row.ToString()));
    }
    rest = row;
    if (__builtin_add_overflow(total, item->dim(0), &total)) {
      return InvalidArgumentError("Concat: the elements are together too long");
    }
    lengths->flat<int64_t>()[static_cast<size_t>(i)] = item->dim(0);
    parts.push_back(item);
  }
  if (!rest.IsFullyDefined()) {
    return InvalidArgumentError(
        StrCat("All except the first dimension must be fully defined when concating an empty "
               "tensor list. element_shape: ",
               shape.ToString()));
  }
  IntVec dims;
  dims.push_back(total);
  for (const int64_t dim : rest.dims()) dims.push_back(dim);
  ASSIGN_OR_RETURN(const Shape all, Shape::FromDims(dims.span()));
  ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, all));
  int64_t at = 0;
  for (const Tensor* part : parts) {
    CopyTo(*part, at, out);
    at += part->num_elements();
  }
  return OkStatus();
}

StatusOr<std::vector<Tensor>> TakeRows(const Tensor& tensor) {
  const Tensor kept = tensor.Owned();
  if (!kept.valid()) return ResourceExhaustedError("No memory for a copy of the rows");
  const Shape row(tensor.shape().dims().subspan(1));
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < tensor.dim(0); ++i) rows.push_back(kept.Slice(i, i + 1).Reshaped(row));
  return rows;
}

StatusOr<std::vector<Tensor>> SplitRows(const Tensor& tensor, const Tensor& lengths) {
  if (tensor.rank() < 1) {
    return InvalidArgumentError(
        StrCat("Tensor must be at least a vector, but saw shape: ", tensor.shape().ToString()));
  }
  if (lengths.rank() != 1) {
    return InvalidArgumentError(
        StrCat("Expected lengths to be a vector, received shape: ", lengths.shape().ToString()));
  }
  const Tensor kept = tensor.Owned();
  if (!kept.valid()) return ResourceExhaustedError("No memory for a copy of the rows");
  std::vector<Tensor> pieces;
  int64_t at = 0;
  for (const int64_t length : lengths.flat<int64_t>()) {
    if (length < 0) {
      return InvalidArgumentError(StrCat("Invalid value in lengths: ", length));
    }
    if (length > tensor.dim(0) - at) {
      return InvalidArgumentError(StrCat("Attempt to slice [", at, ", ", length,
                                         "] from tensor with length ", tensor.dim(0)));
    }
    pieces.push_back(kept.Slice(at, at + length));
    at += length;
  }
  if (at != tensor.dim(0)) {
    return InvalidArgumentError(
        StrCat("Unused values in tensor. Length of tensor: ", tensor.dim(0), " Values used: ", at));
  }
  return pieces;
}

}  // namespace slipway::kernels
