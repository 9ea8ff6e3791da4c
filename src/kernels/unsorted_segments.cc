// SPDX-License-Identifier: Apache-2.0
//
// Reductions of the rows that share a segment id; the ids come in any order.
#include <algorithm>
#include <limits>

#include "kernels/index_tensor.h"
#include "kernels/kernel_table.h"
#include "kernels/strided_copy.h"

namespace slipway::kernels {
namespace {

enum class Segment : uint8_t { kSum, kProd, kMax, kMin };

template <typename T>
T LowestOf() {
  if constexpr (std::is_same_v<T, Half>) return Half(-65504.0f);
  if constexpr (std::is_same_v<T, BFloat16>) return BFloat16(-3.3895314e38f);
  if constexpr (!kIsHalf<T>) return std::numeric_limits<T>::lowest();
}
template <typename T>
T HighestOf() {
  if constexpr (kIsHalf<T>) return T(-Widen(LowestOf<T>()));
  if constexpr (!kIsHalf<T>) return std::numeric_limits<T>::max();
}

template <typename T>
T SegmentInit(Segment kind) {
  if constexpr (!kIsComplex<T>) {
    if (kind == Segment::kMax) return LowestOf<T>();
    if (kind == Segment::kMin) return HighestOf<T>();
  }
  return T(static_cast<WideOf<T>>(kind == Segment::kProd ? 1 : 0));
}

template <typename T>
T SegmentCombine(Segment kind, T a, T b) {
  if (kind == Segment::kProd) return WrapMul(a, b);
  if constexpr (!kIsComplex<T>) {
    if (kind == Segment::kMax) return Widen(a) < Widen(b) ? b : a;
    if (kind == Segment::kMin) return Widen(b) < Widen(a) ? b : a;
  }
  return WrapAdd(a, b);
}

Status CheckSegments(const Tensor& data, const Tensor& ids, int64_t segments) {
  if (segments < 0) {
    return InvalidArgumentError(
        StrCat("Input num_segments == ", segments, " must not be negative"));
  }
  if (!StartsWith(data.shape(), ids.shape(), ids.rank())) {
    return InvalidArgumentError(
        StrCat("data.shape = ", data.shape().ToString(),
               " does not start with segment_ids.shape = ", ids.shape().ToString()));
  }
  RETURN_IF_ERROR(CheckIndexType(ids));
  for (int64_t i = 0; i < ids.num_elements(); ++i) {
    if (IndexAt(ids, i) < segments) continue;
    return InvalidArgumentError(
        StrCat("segment_ids[", i, "] = ", IndexAt(ids, i), " is out of range [0, ", segments, ")"));
  }
  return OkStatus();
}

template <Segment kKind>
Status RunSegment(KernelContext& c) {
  const Tensor& data = c.input(0);
  const Tensor& ids = c.input(1);
  RETURN_IF_ERROR(CheckScalar(c.input(2), "num_segments"));
  ASSIGN_OR_RETURN(int64_t segments, ReadInt(c.input(2), "num_segments"));
  RETURN_IF_ERROR(CheckSegments(data, ids, segments));
  IntVec dims;
  dims.push_back(segments);
  for (int d = ids.rank(); d < data.rank(); ++d) dims.push_back(data.dim(d));
  ASSIGN_OR_RETURN(Shape shape, Shape::FromDims(dims.span()));
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  const int64_t inner = ProductOfDims(data.shape(), ids.rank(), data.rank());
  return SwitchType<Status>(CombinedTypes{}, data.dtype(), [&]<typename T>() {
    T* to = out->flat<T>().data();
    const T* from = data.flat<T>().data();
    std::fill_n(to, out->num_elements(), SegmentInit<T>(kKind));
    for (int64_t i = 0; i < ids.num_elements(); ++i, from += inner) {
      const int64_t id = IndexAt(ids, i);
      if (id < 0) continue;  // TensorFlow drops them
      for (int64_t j = 0; j < inner; ++j) {
        to[id * inner + j] = SegmentCombine<T>(kKind, to[id * inner + j], from[j]);
      }
    }
    return OkStatus();
  });
}

template <Segment kKind>
StatusOr<KernelFn> BindSegment(const BindContext&) {
  return KernelFn(RunSegment<kKind>);
}

std::vector<KernelDef> MakeTable() {
  const std::vector<DType> numbers = AllNumbers::DTypes(), all = CombinedTypes::DTypes();
  return MakeKernels({
      {"UnsortedSegmentSum", BindSegment<Segment::kSum>, all},
      {"UnsortedSegmentProd", BindSegment<Segment::kProd>, all},
      {"UnsortedSegmentMax", BindSegment<Segment::kMax>, numbers},
      {"UnsortedSegmentMin", BindSegment<Segment::kMin>, numbers},
  });
}

}  // namespace

std::span<const KernelDef> UnsortedSegmentKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
