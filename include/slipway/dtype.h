// SPDX-License-Identifier: Apache-2.0
//
// Element types, with TensorFlow's numbers and names (tensorflow/core/framework/types.proto).
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace slipway {

enum class DType : uint8_t {
  kInvalid = 0,
  kFloat = 1,
  kDouble = 2,
  kInt32 = 3,
  kUInt8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kString = 7,
  kComplex64 = 8,
  kInt64 = 9,
  kBool = 10,
  kQInt8 = 11,
  kQUInt8 = 12,
  kQInt32 = 13,
  kBFloat16 = 14,
  kQInt16 = 15,
  kQUInt16 = 16,
  kUInt16 = 17,
  kComplex128 = 18,
  kHalf = 19,
  kResource = 20,
  kVariant = 21,
  kUInt32 = 22,
  kUInt64 = 23,
};

// IEEE binary16 and bfloat16 as they are stored; kernels compute in float.
struct Half {
  uint16_t bits = 0;
  Half() = default;
  explicit Half(float value);
  explicit operator float() const;
};
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value);  // rounds to nearest even, keeps NaN
  explicit operator float() const;
};

// What a DT_RESOURCE element points to (a variable, a table…). Defined by those who own one.
class Resource {
 public:
  virtual ~Resource() = default;
  // For messages: "variable dense/kernel".
  virtual std::string DebugString() const = 0;
};
using ResourceHandle = std::shared_ptr<Resource>;

// What a DT_VARIANT element holds (a tensor list, a dataset…); immutable once shared.
class VariantValue {
 public:
  virtual ~VariantValue() = default;
  virtual std::string DebugString() const = 0;
};
using Variant = std::shared_ptr<const VariantValue>;

// Bytes of one element as it lies in memory (sizeof(std::string) for strings); 0 for kInvalid.
size_t DTypeSize(DType dtype);
// "DT_FLOAT".
std::string_view DTypeEnumName(DType dtype);
// "float32", as Keras and NumPy say it; the quantised and object types as TensorFlow does.
std::string_view DTypeName(DType dtype);
// Either spelling, with "float" and "double" too.
std::optional<DType> ParseDType(std::string_view name);
// The value of a DataType field; a reference type (value + 100) gives its base. Nothing if unknown.
std::optional<DType> DTypeFromNumber(int64_t number);

bool IsFloating(DType dtype);  // half, bfloat16, float, double
bool IsInteger(DType dtype);   // signed and unsigned, not bool, not quantised
bool IsComplex(DType dtype);
bool IsQuantized(DType dtype);
// Elements are C++ objects with constructors: strings, resources, variants.
inline bool IsObject(DType dtype) {
  return dtype == DType::kString || dtype == DType::kResource || dtype == DType::kVariant;
}

// DTypeOf<T>(): the DType whose elements are of the C++ type T.
template <typename T>
struct DTypeTraits;
#define SLIPWAY_DTYPE(T, D)                       \
  template <>                                     \
  struct DTypeTraits<T> {                         \
    static constexpr DType kValue = DType::D;     \
  };
SLIPWAY_DTYPE(float, kFloat)
SLIPWAY_DTYPE(double, kDouble)
SLIPWAY_DTYPE(int8_t, kInt8)
SLIPWAY_DTYPE(int16_t, kInt16)
SLIPWAY_DTYPE(int32_t, kInt32)
SLIPWAY_DTYPE(int64_t, kInt64)
SLIPWAY_DTYPE(uint8_t, kUInt8)
SLIPWAY_DTYPE(uint16_t, kUInt16)
SLIPWAY_DTYPE(uint32_t, kUInt32)
SLIPWAY_DTYPE(uint64_t, kUInt64)
SLIPWAY_DTYPE(bool, kBool)
SLIPWAY_DTYPE(Half, kHalf)
SLIPWAY_DTYPE(BFloat16, kBFloat16)
SLIPWAY_DTYPE(std::complex<float>, kComplex64)
SLIPWAY_DTYPE(std::complex<double>, kComplex128)
SLIPWAY_DTYPE(std::string, kString)
SLIPWAY_DTYPE(ResourceHandle, kResource)
SLIPWAY_DTYPE(Variant, kVariant)
#undef SLIPWAY_DTYPE

template <typename T>
constexpr DType DTypeOf() {
  return DTypeTraits<std::remove_cv_t<T>>::kValue;
}

// True if elements of `dtype` lie in memory as T (quantised types lie as their integers).
template <typename T>
constexpr bool IsStoredAs(DType dtype) {
  using U = std::remove_cv_t<T>;
  if (dtype == DTypeOf<U>()) return true;
  if constexpr (std::is_same_v<U, int8_t>) return dtype == DType::kQInt8;
  if constexpr (std::is_same_v<U, uint8_t>) return dtype == DType::kQUInt8;
  if constexpr (std::is_same_v<U, int16_t>) return dtype == DType::kQInt16;
  if constexpr (std::is_same_v<U, uint16_t>) return dtype == DType::kQUInt16;
  if constexpr (std::is_same_v<U, int32_t>) return dtype == DType::kQInt32;
  return false;
}

}  // namespace slipway
