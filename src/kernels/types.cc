// SPDX-License-Identifier: Apache-2.0
#include "kernels/types.h"

namespace slipway::kernels {

std::vector<DType> NumberTypes() {
  std::vector<DType> types = Numbers::DTypes();
  types.push_back(DType::kHalf);
  types.push_back(DType::kBFloat16);
  return types;
}

std::vector<DType> FloatTypes() { return Floats::DTypes(); }

std::vector<DType> IndexTypes() { return Indices::DTypes(); }

std::vector<DType> WithComplex(std::vector<DType> types) {
  types.push_back(DType::kComplex64);
  types.push_back(DType::kComplex128);
  return types;
}

std::vector<DType> AllTypes() {
  std::vector<DType> types;
  for (int i = 1; i <= static_cast<int>(DType::kUInt64); ++i)
    types.push_back(static_cast<DType>(i));
  return types;
}

}  // namespace slipway::kernels
