// SPDX-License-Identifier: Apache-2.0
//
// Gather and scatter by rows, shared by the ops on tensors and on variables.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/kernel.h"

namespace slipway::kernels {

// Output 0 = params gathered along `axis` with indices, whose first batch_dims dimensions go
// together with those of params. Negative axis and batch_dims count from the end (of params, of
// indices). INVALID_ARGUMENT "indices[0] = 7 is not in [0, 5)".
Status Gather(KernelContext& c, const Tensor& params, const Tensor& indices, int64_t axis,
              int64_t batch_dims);

enum class ScatterOp : uint8_t { kUpdate, kAdd, kSub, kMul, kDiv, kMax, kMin };
// By the end of an op's name: "ResourceScatterMax", "TensorScatterAdd".
ScatterOp ScatterOpOf(std::string_view op);

// target[indices[i], …] op= updates[i, …], for indices of any rank; updates may be a scalar.
Status ScatterRows(ScatterOp op, const Tensor& indices, const Tensor& updates, Tensor& target);

// target[indices[i]] op= updates[i], where the last dimension of indices names a place.
Status ScatterPlaces(ScatterOp op, const Tensor& indices, const Tensor& updates, Tensor& target);

}  // namespace slipway::kernels
