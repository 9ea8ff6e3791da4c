// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstdint>
#include <string>

#include "slipway/tensor.h"

namespace slipway {

// Calls f(T{}) with the type that elements are stored as.
template <typename F>
auto WithStorage(DType dtype, F f) {
  switch (dtype) {
    case DType::kFloat:
      return f(float{});
    case DType::kDouble:
      return f(double{});
    case DType::kHalf:
      return f(Half());
    case DType::kBFloat16:
      return f(BFloat16());
    case DType::kInt8:
    case DType::kQInt8:
      return f(int8_t{});
    case DType::kUInt8:
    case DType::kQUInt8:
      return f(uint8_t{});
    case DType::kInt16:
    case DType::kQInt16:
      return f(int16_t{});
    case DType::kUInt16:
    case DType::kQUInt16:
      return f(uint16_t{});
    case DType::kInt32:
    case DType::kQInt32:
      return f(int32_t{});
    case DType::kUInt32:
      return f(uint32_t{});
    case DType::kInt64:
      return f(int64_t{});
    case DType::kUInt64:
      return f(uint64_t{});
    case DType::kBool:
      return f(bool{});
    case DType::kComplex64:
      return f(std::complex<float>());
    case DType::kComplex128:
      return f(std::complex<double>());
    default:
      return f(std::string());
  }
}

}  // namespace slipway
