// SPDX-License-Identifier: Apache-2.0
//
// The IDX format: two zero bytes, a type byte, the number of dimensions, their sizes as big-endian
// 32-bit integers, then the elements, big-endian. Files are gzipped or not, by their first bytes.
#pragma once

#include <string>
#include <string_view>

#include "base/env.h"
#include "slipway/tensor.h"

namespace slipway::data {

// `limit` bounds the bytes after decompression. `name` is for messages.
// DATA_LOSS: wrong magic, truncated, too long, or larger than the limit.
StatusOr<Tensor> ParseIdx(std::string_view bytes, const std::string& name,
                          uint64_t limit = uint64_t{4} << 30);
StatusOr<Tensor> ReadIdx(Env* env, const std::string& path);

}  // namespace slipway::data
