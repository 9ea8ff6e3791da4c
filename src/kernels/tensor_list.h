// SPDX-License-Identifier: Apache-2.0
//
// TensorList: the value behind the variant handles of TensorList ops.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "kernels/kernel.h"
#include "kernels/persistent_vector.h"

namespace slipway::kernels {

// Immutable; ops make a changed copy, which shares what did not change. An element that is not
// valid() was never set: it reads as zeros of the list's shape.
struct TensorList : public VariantValue {
  DType element_dtype = DType::kInvalid;
  PartialShape element_shape;
  int64_t max_elements = -1;  // -1: no limit
  PersistentVector<Tensor> items;

  std::string DebugString() const override;
};

// The list in a scalar variant tensor. INVALID_ARGUMENT "Input handle is not a list. Saw: '…'", or
// if its elements are of another type than `dtype` (kInvalid: any).
StatusOr<const TensorList*> ListOf(const Tensor& handle, DType dtype = DType::kInvalid);
Tensor ListHandle(TensorList list);

// A shape given as a tensor: sizes with -1 for unknown ones, or the scalar -1.
StatusOr<PartialShape> ReadPartialShape(const Tensor& tensor);
// What both say. INVALID_ARGUMENT "Incompatible shapes: … vs. …".
StatusOr<PartialShape> MergeElementShapes(const PartialShape& a, const PartialShape& b);

// Zeros; empty strings.
StatusOr<Tensor> ZeroTensor(DType dtype, const Shape& shape);
// In memory that is there. Objects are new already.
void FillZeros(Tensor* tensor);

// add(x, y) for each pair of elements; an element that only one list has is taken as it is.
// INVALID_ARGUMENT if types, lengths or shapes do not agree.
using AddTensorsFn = std::function<StatusOr<Tensor>(const Tensor&, const Tensor&)>;
StatusOr<Tensor> AddLists(const Tensor& a, const Tensor& b, const AddTensorsFn& add);

// 0 for each element of a list; what ZerosLike of a list is.
StatusOr<Tensor> ZerosLikeList(const Tensor& handle);

}  // namespace slipway::kernels
