// SPDX-License-Identifier: Apache-2.0
//
// Reductions over runs of rows with the same segment id, and over chosen rows.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/strided_copy.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

using SegmentTypes =
    TypeList<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
             uint64_t, Half, BFloat16, std::complex<float>, std::complex<double>>;

enum class Segment : uint8_t { kSum, kMean, kSqrtN, kProd, kMax, kMin };

Segment SegmentOf(std::string_view op) {
  if (op.find("SqrtN") != std::string_view::npos) return Segment::kSqrtN;
  if (op.find("Mean") != std::string_view::npos) return Segment::kMean;
  if (op.find("Prod") != std::string_view::npos) return Segment::kProd;
  if (op.find("Max") != std::string_view::npos) return Segment::kMax;
  if (op.find("Min") != std::string_view::npos) return Segment::kMin;
  return Segment::kSum;
}

int64_t IdAt(const Tensor& ids, int64_t i) {
  const auto at = static_cast<size_t>(i);
  return ids.dtype() == DType::kInt32 ? ids.flat<int32_t>()[at] : ids.flat<int64_t>()[at];
}

template <typename W>
W Combine(Segment kind, W a, W b) {
  if (kind == Segment::kProd) return WrapMul(a, b);
  if constexpr (!kIsComplex<W>) {
    if (kind == Segment::kMax) return b > a || b != b ? b : a;
    if (kind == Segment::kMin) return b < a || b != b ? b : a;
  }
  return WrapAdd(a, b);
}

template <typename W>
W Scaled(Segment kind, W total, int64_t count) {
  if constexpr (std::is_integral_v<W>) {
    using Wide = std::conditional_t<std::is_signed_v<W>, int64_t, uint64_t>;
    if (kind != Segment::kMean) return total;
    return static_cast<W>(static_cast<Wide>(total) / static_cast<Wide>(count));
  } else {
    if (kind == Segment::kMean) return total / static_cast<W>(static_cast<float>(count));
    if (kind == Segment::kSqrtN) return total / W(std::sqrt(static_cast<double>(count)));
    return total;
  }
}

// One output row from rows [begin, end) of `indices` (or of the data itself) into `out`.
template <typename T>
void ReduceRun(Segment kind, const T* data, int64_t inner, const Tensor* indices, int64_t begin,
               int64_t end, T* out) {
  using W = WideOf<T>;
  const auto row = [&](int64_t i) { return data + (indices ? IdAt(*indices, i) : i) * inner; };
  for (int64_t j = 0; j < inner; ++j) {
    W total = Widen(row(begin)[j]);
    for (int64_t i = begin + 1; i < end; ++i) total = Combine<W>(kind, total, Widen(row(i)[j]));
    out[j] = T(Scaled<W>(kind, total, end - begin));
  }
}

template <typename T>
void ReduceRuns(Segment kind, const Tensor& data, const Tensor& ids, const Tensor* indices, T empty,
                Tensor* y) {
  const int64_t inner = ProductOfDims(data.shape(), 1, data.rank());
  T* out = y->flat<T>().data();
  std::fill_n(out, y->num_elements(), empty);
  const int64_t n = ids.num_elements();
  for (int64_t begin = 0; begin < n;) {
    int64_t end = begin + 1;
    while (end < n && IdAt(ids, end) == IdAt(ids, begin)) ++end;
    ReduceRun<T>(kind, data.flat<T>().data(), inner, indices, begin, end,
                 out + IdAt(ids, begin) * inner);
    begin = end;
  }
}

// Ids must not decrease; how many segments they make.
StatusOr<int64_t> CountSegments(const Tensor& ids, int64_t given) {
  RETURN_IF_ERROR(CheckRank(ids, 1, "segment_ids should be a vector: segment_ids"));
  const int64_t n = ids.num_elements();
  for (int64_t i = 0; i < n; ++i) {
    const int64_t id = IdAt(ids, i);
    if (id < 0) {
      return InvalidArgumentError(
          StrCat("Segment id ", id, " out of range: segment ids must be >= 0"));
    }
    if (i > 0 && id < IdAt(ids, i - 1)) {
      return InvalidArgumentError(StrCat("segment ids are not increasing: segment_ids[", i,
                                         "] = ", id, " follows ", IdAt(ids, i - 1)));
    }
    if (given >= 0 && id >= given) {
      return InvalidArgumentError(StrCat("segment ids must be < num_segments: segment_ids[", i,
                                         "] = ", id, " is out of range [0, ", given, ")"));
    }
  }
  if (given >= 0) return given;
  return n == 0 ? 0 : IdAt(ids, n - 1) + 1;
}

StatusOr<Tensor*> AllocateRows(KernelContext& c, const Tensor& data, int64_t rows) {
  IntVec dims(data.shape().dims());
  dims[0] = rows;
  ASSIGN_OR_RETURN(Shape shape, Shape::FromDims(dims.span()));
  return c.AllocateOutput(0, shape);
}

StatusOr<KernelFn> BindSegment(const BindContext& bind) {
  const Segment kind = SegmentOf(bind.node->op());
  return KernelFn([kind](KernelContext& c) -> Status {
    const Tensor& data = c.input(0);
    const Tensor& ids = c.input(1);
    if (data.rank() < 1) return InvalidArgumentError("data should be at least a vector");
    RETURN_IF_ERROR(CheckRank(ids, 1, "segment_ids should be a vector: segment_ids"));
    if (ids.num_elements() != data.dim(0)) {
      return InvalidArgumentError(StrCat(
          "segment_ids should be the same size as dimension 0 of input: ", ids.num_elements(),
          " vs. ", data.dim(0)));
    }
    ASSIGN_OR_RETURN(const int64_t rows, CountSegments(ids, -1));
    ASSIGN_OR_RETURN(Tensor * y, AllocateRows(c, data, rows));
    return SwitchType<Status>(SegmentTypes{}, data.dtype(), [&]<typename T>() {
      const WideOf<T> empty(static_cast<WideOf<T>>(kind == Segment::kProd ? 1 : 0));
      ReduceRuns<T>(kind, data, ids, nullptr, T(empty), y);
      return OkStatus();
    });
  });
}

Status CheckRowIndices(const Tensor& indices, int64_t rows) {
  for (int64_t i = 0; i < indices.num_elements(); ++i) {
    const int64_t index = IdAt(indices, i);
    if (index >= 0 && index < rows) continue;
    return InvalidArgumentError(
        StrCat("Bad: indices[", i, "] == ", index, " out of range [0, ", rows, ")"));
  }
  return OkStatus();
}

StatusOr<KernelFn> BindSparseSegment(const BindContext& bind) {
  const Segment kind = SegmentOf(bind.node->op());
  return KernelFn([kind](KernelContext& c) -> Status {
    const Tensor& data = c.input(0);
    const Tensor& indices = c.input(1);
    const Tensor& ids = c.input(2);
    if (data.rank() < 1) return InvalidArgumentError("input must be at least rank 1");
    RETURN_IF_ERROR(CheckRank(indices, 1, "indices should be a vector: indices"));
    RETURN_IF_ERROR(CheckRank(ids, 1, "segment_ids should be a vector: segment_ids"));
    if (indices.num_elements() != ids.num_elements()) {
      return InvalidArgumentError(StrCat("segment_ids and indices should have same size: ",
                                         ids.num_elements(), " vs. ", indices.num_elements()));
    }
    int64_t segments = -1;
    if (c.num_inputs() == 4) {
      if (c.input(3).rank() != 0) {
        return InvalidArgumentError(
            StrCat("num_segments should be a scalar, not shape ", c.input(3).shape().ToString()));
      }
      ASSIGN_OR_RETURN(segments, ReadInt(c.input(3), "num_segments"));
      if (segments < 0) {
        return InvalidArgumentError(StrCat("segment ids must be >= 0: num_segments is ", segments));
      }
    }
    ASSIGN_OR_RETURN(const int64_t rows, CountSegments(ids, segments));
    RETURN_IF_ERROR(CheckRowIndices(indices, data.dim(0)));
    ASSIGN_OR_RETURN(Tensor * y, AllocateRows(c, data, rows));
    return SwitchType<Status>(AllNumbers{}, data.dtype(), [&]<typename T>() {
      ReduceRuns<T>(kind, data, ids, &indices, T(WideOf<T>{0}), y);
      return OkStatus();
    });
  });
}

std::vector<KernelDef> MakeTable() {
  std::vector<KernelRow> rows;
  for (const char* op : {"SegmentMean", "SegmentProd", "SegmentSum"}) {
    rows.push_back({op, BindSegment, SegmentTypes::DTypes()});
  }
  for (const char* op : {"SegmentMax", "SegmentMin"}) {
    rows.push_back({op, BindSegment, AllNumbers::DTypes()});
  }
  for (const char* op : {"SparseSegmentSum", "SparseSegmentSumWithNumSegments"}) {
    rows.push_back({op, BindSparseSegment, AllNumbers::DTypes()});
  }
  for (const char* op : {"SparseSegmentMean", "SparseSegmentMeanWithNumSegments",
                         "SparseSegmentSqrtN", "SparseSegmentSqrtNWithNumSegments"}) {
    rows.push_back({op, BindSparseSegment, FloatTypes()});
  }
  return MakeKernels(std::move(rows));
}

}  // namespace

std::span<const KernelDef> SegmentKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
