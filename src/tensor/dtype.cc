// SPDX-License-Identifier: Apache-2.0
#include "slipway/dtype.h"

#include <bit>

namespace slipway {
namespace {

struct DTypeInfo {
  std::string_view enum_name;
  std::string_view name;
  size_t size;
};

constexpr DTypeInfo kInfo[] = {
    {"DT_INVALID", "invalid", 0},
    {"DT_FLOAT", "float32", 4},
    {"DT_DOUBLE", "float64", 8},
    {"DT_INT32", "int32", 4},
    {"DT_UINT8", "uint8", 1},
    {"DT_INT16", "int16", 2},
    {"DT_INT8", "int8", 1},
    {"DT_STRING", "string", sizeof(std::string)},
    {"DT_COMPLEX64", "complex64", 8},
    {"DT_INT64", "int64", 8},
    {"DT_BOOL", "bool", 1},
    {"DT_QINT8", "qint8", 1},
    {"DT_QUINT8", "quint8", 1},
    {"DT_QINT32", "qint32", 4},
    {"DT_BFLOAT16", "bfloat16", 2},
    {"DT_QINT16", "qint16", 2},
    {"DT_QUINT16", "quint16", 2},
    {"DT_UINT16", "uint16", 2},
    {"DT_COMPLEX128", "complex128", 16},
    {"DT_HALF", "float16", 2},
    {"DT_RESOURCE", "resource", sizeof(ResourceHandle)},
    {"DT_VARIANT", "variant", sizeof(Variant)},
    {"DT_UINT32", "uint32", 4},
    {"DT_UINT64", "uint64", 8},
};
constexpr size_t kCount = sizeof(kInfo) / sizeof(kInfo[0]);

const DTypeInfo& Info(DType dtype) {
  const auto index = static_cast<size_t>(dtype);
  return kInfo[index < kCount ? index : 0];
}

}  // namespace

size_t DTypeSize(DType dtype) { return Info(dtype).size; }
std::string_view DTypeEnumName(DType dtype) { return Info(dtype).enum_name; }
std::string_view DTypeName(DType dtype) { return Info(dtype).name; }

std::string_view DTypeMessageName(DType dtype) {
  if (dtype == DType::kFloat) return "float";
  if (dtype == DType::kDouble) return "double";
  if (dtype == DType::kHalf) return "half";
  return DTypeName(dtype);
}

std::optional<DType> ParseDType(std::string_view name) {
  if (name == "float") return DType::kFloat;
  if (name == "double") return DType::kDouble;
  if (name == "half") return DType::kHalf;
  for (size_t i = 1; i < kCount; ++i) {
    if (name == kInfo[i].enum_name || name == kInfo[i].name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

std::optional<DType> DTypeFromNumber(int64_t number) {
  if (number > 100) number -= 100;
  if (number <= 0 || number >= static_cast<int64_t>(kCount)) return std::nullopt;
  return static_cast<DType>(number);
}

bool IsFloating(DType dtype) {
  return dtype == DType::kFloat || dtype == DType::kDouble || dtype == DType::kHalf ||
         dtype == DType::kBFloat16;
}

bool IsInteger(DType dtype) {
  switch (dtype) {
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kInt64:
    case DType::kUInt8:
    case DType::kUInt16:
    case DType::kUInt32:
    case DType::kUInt64:
      return true;
    default:
      return false;
  }
}

bool IsComplex(DType dtype) { return dtype == DType::kComplex64 || dtype == DType::kComplex128; }

bool IsQuantized(DType dtype) {
  return dtype == DType::kQInt8 || dtype == DType::kQUInt8 || dtype == DType::kQInt16 ||
         dtype == DType::kQUInt16 || dtype == DType::kQInt32;
}

Half::Half(float value) {
  const auto f = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((f >> 16) & 0x8000u);
  uint32_t magnitude = f & 0x7fffffffu;
  if (magnitude >= 0x47800000u) {  // too large for a half, infinity or NaN
    bits = static_cast<uint16_t>(sign | (magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u));
  } else if (magnitude < 0x38800000u) {  // subnormal or zero: let the float unit do the rounding
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    bits = static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
  } else {
    const uint32_t odd = (magnitude >> 13) & 1u;
    magnitude += 0xc8000fffu + odd;  // rebias the exponent, round to nearest even
    bits = static_cast<uint16_t>(sign | (magnitude >> 13));
  }
}

Half::operator float() const {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1fu;
  const uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0)
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float subnormal = static_cast<float>(mantissa) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(subnormal));
}

BFloat16::BFloat16(float value) {
  const auto f = std::bit_cast<uint32_t>(value);
  if ((f & 0x7fffffffu) > 0x7f800000u) {
    bits = static_cast<uint16_t>((f >> 16) | 0x40u);
  } else {
    bits = static_cast<uint16_t>((f + 0x7fffu + ((f >> 16) & 1u)) >> 16);
  }
}

BFloat16::operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

}  // namespace slipway
