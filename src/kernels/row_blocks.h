// SPDX-License-Identifier: Apache-2.0
//
// Between one tensor and many along its first dimension: what TensorList and TensorArray ops share.
#pragma once

#include <functional>
#include <vector>

#include "kernels/kernel.h"

namespace slipway::kernels {

// Element i; a tensor that is not valid() was never set and counts as zeros.
using ElementFn = std::function<StatusOr<const Tensor*>(int64_t i)>;

// Output 0 = [element(0), … element(n-1)]. `shape` is what is known of the elements' shape: they
// must fit it and each other. INVALID_ARGUMENT with one of the texts and the shape behind it where
// no element says what the shape is.
Status StackRows(KernelContext& ctx, DType dtype, int64_t n, PartialShape shape,
                 const ElementFn& element, std::string_view if_empty, std::string_view if_unset);

// Output 0 = the elements end to end, output 1 = their lengths. `shape` is that of an element; its
// first size does not count. INVALID_ARGUMENT unless all other sizes agree.
Status ConcatRows(KernelContext& ctx, DType dtype, int64_t n, const PartialShape& shape,
                  const ElementFn& element);

// The rows of a tensor, which share its memory (a copy of it, if that is only lent).
// REQUIRES: rank >= 1.
StatusOr<std::vector<Tensor>> TakeRows(const Tensor& tensor);

// Pieces of `tensor` with these lengths (an int64 vector) that are all of it; memory as TakeRows.
StatusOr<std::vector<Tensor>> SplitRows(const Tensor& tensor, const Tensor& lengths);

}  // namespace slipway::kernels
