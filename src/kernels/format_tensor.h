// SPDX-License-Identifier: Apache-2.0
//
// Tensors as text, in the two forms that TensorFlow's messages and prints have.
#pragma once

#include <cstdint>
#include <string>

#include "slipway/tensor.h"

namespace slipway::kernels {

// "1 2 3...", rows in brackets: what Assert and Print show. At most `limit` elements; -1: all.
std::string FormatFlat(const Tensor& tensor, int64_t limit);
// "[[1 2 ... 9]\n [...]]": `ends` elements at either end of each dimension; -1: all. Strings are
// quoted. What StringFormat, and so tf.print, shows.
std::string FormatNested(const Tensor& tensor, int64_t ends);

}  // namespace slipway::kernels
