// SPDX-License-Identifier: Apache-2.0
//
// NumPy's .npy files, versions 1 to 3: booleans, integers, half, float, double and complex, of
// either byte order, in C and Fortran order; and text: bytes ("S") as they are, characters ("U") as
// UTF-8, both without the zeros that fill them up. Object arrays, which are pickles, are refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/env.h"
#include "slipway/status.h"
#include "slipway/tensor.h"

namespace slipway {

struct NpyOptions {
  uint64_t max_bytes = uint64_t{4} << 30;  // of the file
  Allocator* allocator = nullptr;
};

// INVALID_ARGUMENT: not a .npy file, a dtype that has no DType, fewer or more bytes than the shape
// needs. Always in C order in memory.
StatusOr<Tensor> DecodeNpy(std::string_view bytes, const NpyOptions& options = {});
StatusOr<Tensor> ReadNpy(Env* env, const std::string& path, const NpyOptions& options = {});

// The dtype under which values of `dtype` are written: a quantised type's integers, else itself.
DType NpyStorage(DType dtype);
// .npy has a type for this dtype (quantised types are written as their integers). Not for
// bfloat16, strings (which may lose zeros at their end), resources and variants.
bool NpyHolds(DType dtype);
// Version 1, C order, as numpy.save writes it. Strings are written as bytes
// ("S"). UNIMPLEMENTED for other types that NpyHolds denies, and for a string that ends with a
// zero.
StatusOr<std::string> EncodeNpy(const Tensor& tensor);
Status WriteNpy(Env* env, const std::string& path, const Tensor& tensor);

}  // namespace slipway
