// SPDX-License-Identifier: Apache-2.0
//
// Lists of element types, and a switch from a DType to a C++ type. A kernel names the list it is
// made for in its KernelDef and switches over the same list when it is bound.
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "slipway/dtype.h"

namespace slipway::kernels {

template <typename... Ts>
struct TypeList {
  static std::vector<DType> DTypes() { return {DTypeOf<Ts>()...}; }
};

using Ints = TypeList<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;
using Indices = TypeList<int32_t, int64_t>;
using Reals = TypeList<float, double>;
using Floats = TypeList<float, double, Half, BFloat16>;
using Halves = TypeList<Half, BFloat16>;
using Complexes = TypeList<std::complex<float>, std::complex<double>>;
using Numbers = TypeList<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
                         uint32_t, uint64_t>;
using AllNumbers = TypeList<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
                            uint32_t, uint64_t, Half, BFloat16>;

// The numbers, and half and bfloat16 (computed in float).
std::vector<DType> NumberTypes();
std::vector<DType> FloatTypes();
std::vector<DType> IndexTypes();
// `types` and the complex ones.
std::vector<DType> WithComplex(std::vector<DType> types);
// Everything that memory holds, strings and handles included.
std::vector<DType> AllTypes();

inline bool IsHalfSize(DType dtype) { return dtype == DType::kHalf || dtype == DType::kBFloat16; }

// fn.operator()<T>() for the T of the list that `dtype` is; a default Result if there is none.
template <typename Result, typename... Ts, typename Fn>
Result SwitchType(TypeList<Ts...>, DType dtype, Fn&& fn) {
  Result result{};
  static_cast<void>(
      ((dtype == DTypeOf<Ts>() ? (result = fn.template operator()<Ts>(), true) : false) || ...));
  return result;
}

template <typename T>
inline constexpr bool kIsHalf = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <typename T>
inline constexpr bool kIsComplex =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;
// What values of T are computed as: half types as float.
template <typename T>
using WideOf = std::conditional_t<kIsHalf<T>, float, T>;
template <typename T>
WideOf<T> Widen(T v) {
  return static_cast<WideOf<T>>(v);
}

// Integer arithmetic that wraps, as TensorFlow's does, without C++'s undefined overflow; that of
// half types is rounded at every step.
template <typename T>
using WrapType = std::conditional_t<sizeof(T) <= 4, uint32_t, uint64_t>;
template <typename T>
T WrapAdd(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<WrapType<T>>(a) + static_cast<WrapType<T>>(b));
  } else if constexpr (kIsHalf<T>) {
    return T(Widen(a) + Widen(b));
  } else {
    return a + b;
  }
}
template <typename T>
T WrapSub(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<WrapType<T>>(a) - static_cast<WrapType<T>>(b));
  } else if constexpr (kIsHalf<T>) {
    return T(Widen(a) - Widen(b));
  } else {
    return a - b;
  }
}
template <typename T>
T WrapMul(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<WrapType<T>>(a) * static_cast<WrapType<T>>(b));
  } else if constexpr (kIsHalf<T>) {
    return T(Widen(a) * Widen(b));
  } else {
    return a * b;
  }
}

}  // namespace slipway::kernels
