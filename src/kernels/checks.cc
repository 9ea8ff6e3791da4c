// SPDX-License-Identifier: Apache-2.0
#include "kernels/checks.h"

namespace slipway::kernels {

StatusOr<IntVec> ReadInts(const Tensor& tensor, std::string_view what) {
  IntVec values;
  if (tensor.dtype() == DType::kInt32) {
    for (int32_t v : tensor.flat<int32_t>()) values.push_back(v);
  } else if (tensor.dtype() == DType::kInt64) {
    for (int64_t v : tensor.flat<int64_t>()) values.push_back(v);
  } else {
    return InvalidArgumentError(
        StrCat(what, " must be int32 or int64, not ", DTypeName(tensor.dtype())));
  }
  return values;
}

StatusOr<IntVec> ReadIntVector(const Tensor& tensor, std::string_view what, bool allow_scalar) {
  if (tensor.rank() != 1 && !(allow_scalar && tensor.rank() == 0)) {
    return InvalidArgumentError(StrCat(what, " must be a vector",
                                       allow_scalar ? " or a scalar" : "", ", but has shape ",
                                       tensor.shape().ToString()));
  }
  return ReadInts(tensor, what);
}

StatusOr<int64_t> ReadInt(const Tensor& tensor, std::string_view what) {
  if (tensor.num_elements() != 1) {
    return InvalidArgumentError(
        StrCat(what, " must be a scalar, but has shape ", tensor.shape().ToString()));
  }
  if (tensor.dtype() == DType::kInt32) return int64_t{tensor.flat<int32_t>()[0]};
  if (tensor.dtype() == DType::kInt64) return tensor.flat<int64_t>()[0];
  return InvalidArgumentError(
      StrCat(what, " must be int32 or int64, not ", DTypeName(tensor.dtype())));
}

StatusOr<double> ReadFloat(const Tensor& tensor, std::string_view what) {
  RETURN_IF_ERROR(CheckScalar(tensor, what));
  switch (tensor.dtype()) {
    case DType::kFloat:
      return double{tensor.flat<float>()[0]};
    case DType::kDouble:
      return tensor.flat<double>()[0];
    case DType::kHalf:
      return double{static_cast<float>(tensor.flat<Half>()[0])};
    case DType::kBFloat16:
      return double{static_cast<float>(tensor.flat<BFloat16>()[0])};
    default:
      return InvalidArgumentError(
          StrCat(what, " must be floating point, not ", DTypeName(tensor.dtype())));
  }
}

StatusOr<Shape> ReadShape(const Tensor& tensor, std::string_view what) {
  ASSIGN_OR_RETURN(IntVec dims, ReadIntVector(tensor, what));
  auto shape = Shape::FromDims(dims.span());
  if (!shape.ok()) return shape.status().WithContext(what);
  return shape;
}

StatusOr<int> NormalizeAxis(int64_t axis, int rank, std::string_view what) {
  if (axis < -rank || axis >= rank) {
    return InvalidArgumentError(StrCat(what, ": Expected dimension in the range [", -rank, ", ",
                                       rank, "), but got ", axis));
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Status CheckRank(const Tensor& tensor, int rank, std::string_view what) {
  if (tensor.rank() == rank) return OkStatus();
  return InvalidArgumentError(
      StrCat(what, " must be ", rank, "-dimensional, but has shape ", tensor.shape().ToString()));
}

Status CheckScalar(const Tensor& tensor, std::string_view what) {
  if (tensor.rank() == 0) return OkStatus();
  return InvalidArgumentError(
      StrCat(what, " must be a scalar, but has shape ", tensor.shape().ToString()));
}

Status CheckSameShape(const Tensor& a, const Tensor& b, std::string_view what_a,
                      std::string_view what_b) {
  if (a.shape() == b.shape()) return OkStatus();
  return InvalidArgumentError(StrCat(what_a, " and ", what_b, " do not have the same shape: ",
                                     a.shape().ToString(), " vs. ", b.shape().ToString()));
}

StatusOr<int64_t> CheckedMul(int64_t a, int64_t b, std::string_view what) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    return InvalidArgumentError(StrCat(what, ": ", a, " * ", b, " elements are too many"));
  }
  return product;
}

}  // namespace slipway::kernels
