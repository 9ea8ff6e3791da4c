// SPDX-License-Identifier: Apache-2.0
//
// Products of plain row-major matrices of any number type, for ops that contract.
#pragma once

#include <cstdint>

#include "kernels/kernel.h"

namespace slipway::kernels {

// c[i] = a[i] b[i] for `batch` pairs that lie one behind the other: a is m x k, b is k x n. All
// three have c's dtype. Sizes may be 0. UNIMPLEMENTED for dtypes without a product.
Status MultiplyMatrices(KernelContext& ctx, int64_t batch, int64_t m, int64_t n, int64_t k,
                        const Tensor& a, const Tensor& b, Tensor* c);

}  // namespace slipway::kernels
