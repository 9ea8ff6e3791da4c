// SPDX-License-Identifier: Apache-2.0
//
// The fields of tensorflow.TensorProto, for its reader and its writer.
#pragma once

#include <cstdint>

#include "slipway/tensor.h"

namespace slipway::tensor_proto {

// Field numbers of tensorflow.TensorProto.
enum Field : uint32_t {
  kDType = 1,
  kShape = 2,
  kContent = 4,
  kFloatVal = 5,
  kDoubleVal = 6,
  kIntVal = 7,
  kStringVal = 8,
  kSComplexVal = 9,
  kInt64Val = 10,
  kBoolVal = 11,
  kDComplexVal = 12,
  kHalfVal = 13,
  kUInt32Val = 16,
  kUInt64Val = 17,
};

// The field that holds values of the type.
inline uint32_t ValueField(DType dtype) {
  switch (dtype) {
    case DType::kFloat:
      return kFloatVal;
    case DType::kDouble:
      return kDoubleVal;
    case DType::kString:
      return kStringVal;
    case DType::kComplex64:
      return kSComplexVal;
    case DType::kComplex128:
      return kDComplexVal;
    case DType::kInt64:
      return kInt64Val;
    case DType::kBool:
      return kBoolVal;
    case DType::kHalf:
    case DType::kBFloat16:
      return kHalfVal;
    case DType::kUInt32:
      return kUInt32Val;
    case DType::kUInt64:
      return kUInt64Val;
    default:
      return kIntVal;
  }
}

// Resources and variants have no values to write.
inline bool HasTypedForm(DType dtype) {
  return dtype != DType::kInvalid && dtype != DType::kResource && dtype != DType::kVariant;
}

}  // namespace slipway::tensor_proto
