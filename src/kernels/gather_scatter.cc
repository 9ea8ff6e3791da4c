// SPDX-License-Identifier: Apache-2.0
//
// Rows by index: gather, scatter, segment reductions, one-hot.
#include <algorithm>
#include <complex>
#include <cstring>
#include <limits>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/index_loops.h"
#include "kernels/kernel_table.h"
#include "kernels/strided_copy.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

// Element i of an index tensor.
int64_t IndexAt(const Tensor& t, int64_t i) {
  const auto at = static_cast<size_t>(i);
  switch (t.dtype()) {
    case DType::kInt32:
      return t.flat<int32_t>()[at];
    case DType::kInt64:
      return t.flat<int64_t>()[at];
    case DType::kInt16:
      return t.flat<int16_t>()[at];
    case DType::kUInt16:
      return t.flat<uint16_t>()[at];
    case DType::kInt8:
      return t.flat<int8_t>()[at];
    default:
      return t.flat<uint8_t>()[at];
  }
}

Status CheckIndexType(const Tensor& t) {
  switch (t.dtype()) {
    case DType::kInt32:
    case DType::kInt64:
    case DType::kInt16:
    case DType::kUInt16:
    case DType::kInt8:
    case DType::kUInt8:
      return OkStatus();
    default:
      return InvalidArgumentError(StrCat("indices of ", DTypeName(t.dtype())));
  }
}

// "indices[1,0]" for flat position i of `shape`.
std::string PositionName(const Shape& shape, int64_t i) {
  if (shape.rank() == 0) return "indices";
  std::vector<int64_t> at(static_cast<size_t>(shape.rank()));
  for (int d = shape.rank() - 1; d >= 0; --d) {
    at[static_cast<size_t>(d)] = i % shape.dim(d);
    i /= shape.dim(d);
  }
  return StrCat("indices[", StrJoin(at, ","), "]");
}

Status CheckIndices(const Tensor& indices, int64_t limit) {
  RETURN_IF_ERROR(CheckIndexType(indices));
  for (int64_t i = 0; i < indices.num_elements(); ++i) {
    const int64_t index = IndexAt(indices, i);
    if (index >= 0 && index < limit) continue;
    return InvalidArgumentError(
        StrCat(PositionName(indices.shape(), i), " = ", index, " is not in [0, ", limit, ")"));
  }
  return OkStatus();
}

const char* Bytes(const Tensor& t, int64_t element) {
  return static_cast<const char*>(t.raw_data()) +
         element * static_cast<int64_t>(DTypeSize(t.dtype()));
}
char* Bytes(Tensor& t, int64_t element) {
  return static_cast<char*>(t.raw_data()) + element * static_cast<int64_t>(DTypeSize(t.dtype()));
}

struct GatherPlan {
  int axis, batch_dims;
  Shape output;
};
StatusOr<GatherPlan> PlanGather(const Shape& params, const Shape& indices, int64_t axis,
                                int64_t batch_dims) {
  if (params.rank() < 1) {
    return InvalidArgumentError("params must be at least 1 dimensional, but is a scalar");
  }
  ASSIGN_OR_RETURN(int a, NormalizeAxis(axis, params.rank(), "Gather axis"));
  const int64_t b = batch_dims < 0 ? batch_dims + indices.rank() : batch_dims;
  if (b < 0 || b > std::min(indices.rank(), a)) {
    return InvalidArgumentError(StrCat("batch_dims ", batch_dims, " does not fit axis ", axis,
                                       ", params ", params.ToString(), " and indices ",
                                       indices.ToString()));
  }
  GatherPlan plan = {a, static_cast<int>(b), Shape()};
  for (int d = 0; d < plan.batch_dims; ++d) {
    if (params.dim(d) == indices.dim(d)) continue;
    return InvalidArgumentError(StrCat("params.shape[", d, "]: ", params.dim(d),
                                       " should be equal to indices.shape[", d,
                                       "]: ", indices.dim(d)));
  }
  IntVec dims;
  for (int d = 0; d < a; ++d) dims.push_back(params.dim(d));
  for (int d = plan.batch_dims; d < indices.rank(); ++d) dims.push_back(indices.dim(d));
  for (int d = a + 1; d < params.rank(); ++d) dims.push_back(params.dim(d));
  ASSIGN_OR_RETURN(plan.output, Shape::FromDims(dims.span()));
  return plan;
}

}  // namespace

Status Gather(KernelContext& c, const Tensor& params, const Tensor& indices, int64_t axis,
              int64_t batch_dims) {
  ASSIGN_OR_RETURN(GatherPlan plan, PlanGather(params.shape(), indices.shape(), axis, batch_dims));
  const Shape& p = params.shape();
  const int64_t limit = p.dim(plan.axis);
  RETURN_IF_ERROR(CheckIndices(indices, limit));
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, plan.output));
  if (plan.output.num_elements() == 0) return OkStatus();
  const int64_t batch = ProductOfDims(p, 0, plan.batch_dims);
  const int64_t outer = ProductOfDims(p, plan.batch_dims, plan.axis);
  const int64_t inner = ProductOfDims(p, plan.axis + 1, p.rank());
  const int64_t count = ProductOfDims(indices.shape(), plan.batch_dims, indices.rank());
  int64_t to = 0;
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t o = 0; o < outer; ++o) {
      const int64_t base = (b * outer + o) * limit;
      for (int64_t i = 0; i < count; ++i, to += inner) {
        const int64_t index = IndexAt(indices, b * count + i);
        CopyElements(params.dtype(), Bytes(params, (base + index) * inner), Bytes(*out, to), inner);
      }
    }
  }
  return OkStatus();
}

namespace {

using ScatterTypes =
    TypeList<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
             uint64_t, Half, BFloat16, std::complex<float>, std::complex<double>>;

template <typename T>
T Combined(ScatterOp op, T a, T b) {
  switch (op) {
    case ScatterOp::kAdd:
      return WrapAdd(a, b);
    case ScatterOp::kSub:
      return WrapSub(a, b);
    case ScatterOp::kMul:
      return WrapMul(a, b);
    default:
      break;
  }
  if constexpr (kIsComplex<T>) {
    return op == ScatterOp::kDiv ? a / b : b;
  } else {
    const auto x = Widen(a), y = Widen(b);
    if (op == ScatterOp::kMax) return y > x ? b : a;
    if (op == ScatterOp::kMin) return y < x ? b : a;
    if constexpr (std::is_integral_v<T>) {
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return WrapSub(T{0}, a);  // the smallest one would trap
      }
      return static_cast<T>(a / b);  // a zero was refused before
    } else {
      return T(x / y);
    }
  }
}

template <typename T>
void CombineRun(ScatterOp op, const T* x, T* to, int64_t n, bool x_moves) {
  for (int64_t i = 0; i < n; ++i) to[i] = Combined(op, to[i], x[x_moves ? i : 0]);
}

// Integers are not divided by zero.
Status CheckDivisors(const Tensor& updates) {
  const bool zero = SwitchType<bool>(Ints{}, updates.dtype(), [&]<typename T>() {
    const auto values = updates.flat<T>();
    return std::find(values.begin(), values.end(), T{0}) != values.end();
  });
  return zero ? InvalidArgumentError("updates must not contain 0") : OkStatus();
}

// to op= n values of updates from element `from` (or the one value, if it does not move).
Status ApplyRun(ScatterOp op, const Tensor& updates, int64_t from, Tensor& target, int64_t to,
                int64_t n, bool moves) {
  const DType dtype = target.dtype();
  if (op == ScatterOp::kUpdate) {
    if (moves) {
      CopyElements(dtype, Bytes(std::as_const(updates), from), Bytes(target, to), n);
    } else {
      FillElements(dtype, Bytes(std::as_const(updates), from), Bytes(target, to), n);
    }
    return OkStatus();
  }
  const bool known = SwitchType<bool>(ScatterTypes{}, dtype, [&]<typename T>() {
    CombineRun<T>(op, updates.flat<T>().data() + from, target.flat<T>().data() + to, n, moves);
    return true;
  });
  return known ? OkStatus() : UnimplementedError(StrCat("Scatter of ", DTypeName(dtype)));
}

bool StartsWith(const Shape& shape, const Shape& head, int head_rank) {
  if (shape.rank() < head_rank) return false;
  for (int d = 0; d < head_rank; ++d) {
    if (shape.dim(d) != head.dim(d)) return false;
  }
  return true;
}

}  // namespace

Status ScatterRows(ScatterOp op, const Tensor& indices, const Tensor& updates, Tensor& target) {
  if (target.rank() < 1) return InvalidArgumentError("Cannot scatter into a scalar");
  if (updates.dtype() != target.dtype()) {
    return InvalidArgumentError(StrCat("updates of ", DTypeName(updates.dtype()),
                                       " do not fit a target of ", DTypeName(target.dtype())));
  }
  bool fits = updates.rank() == 0;
  if (!fits && updates.rank() == indices.rank() + target.rank() - 1) {
    fits = StartsWith(updates.shape(), indices.shape(), indices.rank());
    for (int d = 1; fits && d < target.rank(); ++d) {
      fits = updates.dim(indices.rank() + d - 1) == target.dim(d);
    }
  }
  if (!fits) {
    return InvalidArgumentError(
        StrCat("Must have updates.shape = indices.shape + params.shape[1:] "
               "or updates.shape = [], got updates.shape ",
               updates.shape().ToString(), ", indices.shape ", indices.shape().ToString(),
               ", params.shape ", target.shape().ToString()));
  }
  RETURN_IF_ERROR(CheckIndices(indices, target.dim(0)));
  if (op == ScatterOp::kDiv) RETURN_IF_ERROR(CheckDivisors(updates));
  const int64_t inner = ProductOfDims(target.shape(), 1, target.rank());
  for (int64_t i = 0; i < indices.num_elements() && inner > 0; ++i) {
    RETURN_IF_ERROR(ApplyRun(op, updates, updates.rank() == 0 ? 0 : i * inner, target,
                             IndexAt(indices, i) * inner, inner, updates.rank() != 0));
  }
  return OkStatus();
}

namespace {

StatusOr<KernelFn> BindGather(const BindContext& bind) {
  const int64_t batch_dims = IntAttr(*bind.node, "batch_dims");
  const bool has_axis = bind.node->op() == "GatherV2";
  return KernelFn([=](KernelContext& c) -> Status {
    int64_t axis = 0;
    if (has_axis) {
      RETURN_IF_ERROR(CheckScalar(c.input(2), "axis"));
      ASSIGN_OR_RETURN(axis, ReadInt(c.input(2), "axis"));
    }
    return Gather(c, c.input(0), c.input(1), axis, batch_dims);
  });
}

// indices [..., depth] name places in the first `depth` dimensions of `shape`; each place holds
// `inner` elements.
struct Places {
  int64_t count = 1, depth = 0, inner = 1;
  IntVec strides;
};
StatusOr<Places> PlanPlaces(const Shape& shape, const Tensor& indices, std::string_view what) {
  if (indices.rank() < 1) return InvalidArgumentError("indices must be at least a vector");
  RETURN_IF_ERROR(CheckIndexType(indices));
  Places places;
  places.depth = indices.dim(indices.rank() - 1);
  if (places.depth > shape.rank()) {
    return InvalidArgumentError(StrCat("index innermost dimension length must be <= ", what,
                                       " rank; saw: ", places.depth, " vs. ", shape.rank()));
  }
  places.count = ProductOfDims(indices.shape(), 0, indices.rank() - 1);
  const int depth = static_cast<int>(places.depth);
  places.inner = ProductOfDims(shape, depth, shape.rank());
  for (int d = 0; d < depth; ++d) places.strides.push_back(ProductOfDims(shape, d + 1, depth));
  return places;
}

// The place that index row i names, or -1 if it lies outside.
int64_t PlaceAt(const Places& places, const Shape& shape, const Tensor& indices, int64_t i) {
  int64_t at = 0;
  for (int64_t d = 0; d < places.depth; ++d) {
    const int64_t index = IndexAt(indices, i * places.depth + d);
    if (index < 0 || index >= shape.dim(static_cast<int>(d))) return -1;
    at += index * places.strides[static_cast<size_t>(d)];
  }
  return at;
}

Status BadPlace(const Places& places, const Shape& shape, const Tensor& indices, int64_t i) {
  std::vector<int64_t> row;
  for (int64_t d = 0; d < places.depth; ++d) row.push_back(IndexAt(indices, i * places.depth + d));
  Shape rows;
  for (int d = 0; d + 1 < indices.rank(); ++d) rows.AddDim(indices.dim(d));
  return InvalidArgumentError(StrCat(PositionName(rows, i), " = [", StrJoin(row, ", "),
                                     "] does not index into shape ", shape.ToString()));
}

Status RunGatherNd(KernelContext& c) {
  const Tensor& params = c.input(0);
  const Tensor& indices = c.input(1);
  if (params.rank() < 1) return InvalidArgumentError("params must be at least a vector");
  ASSIGN_OR_RETURN(Places places, PlanPlaces(params.shape(), indices, "params"));
  IntVec dims;
  for (int d = 0; d + 1 < indices.rank(); ++d) dims.push_back(indices.dim(d));
  for (int d = static_cast<int>(places.depth); d < params.rank(); ++d) {
    dims.push_back(params.dim(d));
  }
  ASSIGN_OR_RETURN(Shape shape, Shape::FromDims(dims.span()));
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  for (int64_t i = 0; i < places.count; ++i) {
    const int64_t place = PlaceAt(places, params.shape(), indices, i);
    if (place < 0) return BadPlace(places, params.shape(), indices, i);
    CopyElements(params.dtype(), Bytes(params, place * places.inner), Bytes(*out, i * places.inner),
                 places.inner);
  }
  return OkStatus();
}

}  // namespace

Status ScatterPlaces(ScatterOp op, const Tensor& indices, const Tensor& updates, Tensor& target) {
  ASSIGN_OR_RETURN(Places places, PlanPlaces(target.shape(), indices, "output"));
  const int batch_rank = indices.rank() - 1;
  bool fits = StartsWith(updates.shape(), indices.shape(), batch_rank) &&
              updates.rank() == batch_rank + target.rank() - static_cast<int>(places.depth);
  for (int d = static_cast<int>(places.depth); fits && d < target.rank(); ++d) {
    fits = updates.dim(batch_rank + d - static_cast<int>(places.depth)) == target.dim(d);
  }
  if (!fits) {
    return InvalidArgumentError(StrCat("updates of shape ", updates.shape().ToString(),
                                       " do not fit indices of shape ", indices.shape().ToString(),
                                       " into shape ", target.shape().ToString()));
  }
  for (int64_t i = 0; i < places.count; ++i) {
    const int64_t place = PlaceAt(places, target.shape(), indices, i);
    if (place < 0) return BadPlace(places, target.shape(), indices, i);
    RETURN_IF_ERROR(
        ApplyRun(op, updates, i * places.inner, target, place * places.inner, places.inner, true));
  }
  return OkStatus();
}

namespace {

void SetZero(Tensor& t) {
  if (IsObject(t.dtype())) {
    const Tensor empty(t.dtype(), Shape());
    FillElements(t.dtype(), empty.raw_data(), t.raw_data(), t.num_elements());
  } else if (t.num_elements() > 0) {
    std::memset(t.raw_data(), 0, t.byte_size());
  }
}

StatusOr<Shape> ReadAnyShape(const Tensor& t) {
  RETURN_IF_ERROR(CheckRank(t, 1, "shape"));
  RETURN_IF_ERROR(CheckIndexType(t));
  IntVec dims;
  for (int64_t i = 0; i < t.num_elements(); ++i) dims.push_back(IndexAt(t, i));
  return Shape::FromDims(dims.span());
}

Status RunScatterNd(KernelContext& c) {
  ASSIGN_OR_RETURN(Shape shape, ReadAnyShape(c.input(2)));
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  SetZero(*out);
  // Strings are not added, but there is nothing under them either.
  const ScatterOp op =
      IsObject(out->dtype()) || out->dtype() == DType::kBool ? ScatterOp::kUpdate : ScatterOp::kAdd;
  return ScatterPlaces(op, c.input(0), c.input(1), *out);
}

}  // namespace

ScatterOp ScatterOpOf(std::string_view op) {
  static constexpr std::pair<std::string_view, ScatterOp> kEndings[] = {
      {"Add", ScatterOp::kAdd}, {"Sub", ScatterOp::kSub}, {"Mul", ScatterOp::kMul},
      {"Div", ScatterOp::kDiv}, {"Max", ScatterOp::kMax}, {"Min", ScatterOp::kMin},
  };
  for (const auto& [ending, scatter] : kEndings) {
    if (op.ends_with(ending)) return scatter;
  }
  return ScatterOp::kUpdate;
}

namespace {

StatusOr<KernelFn> BindTensorScatter(const BindContext& bind) {
  const std::string& name = bind.node->op();
  const ScatterOp op = ScatterOpOf(name);
  return KernelFn([op](KernelContext& c) -> Status {
    const Tensor& x = c.input(0);
    ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, x.shape()));
    if (out->raw_data() != x.raw_data()) {
      CopyElements(x.dtype(), x.raw_data(), out->raw_data(), x.num_elements());
    }
    return ScatterPlaces(op, c.input(1), c.input(2), *out);
  });
}

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
  return SwitchType<Status>(ScatterTypes{}, data.dtype(), [&]<typename T>() {
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

StatusOr<KernelFn> BindOneHot(const BindContext& bind) {
  const int64_t given = IntAttr(*bind.node, "axis", -1);
  return KernelFn([given](KernelContext& c) -> Status {
    const Tensor& indices = c.input(0);
    RETURN_IF_ERROR(CheckIndexType(indices));
    RETURN_IF_ERROR(CheckScalar(c.input(1), "depth"));
    RETURN_IF_ERROR(CheckScalar(c.input(2), "on_value"));
    RETURN_IF_ERROR(CheckScalar(c.input(3), "off_value"));
    ASSIGN_OR_RETURN(int64_t depth, ReadInt(c.input(1), "depth"));
    if (depth < 0) return InvalidArgumentError(StrCat("depth must be non-negative, got: ", depth));
    if (given < -1 || given > indices.rank()) {
      return InvalidArgumentError(StrCat("Expected axis to be -1 or between 0 and ", indices.rank(),
                                         ". But received: ", given));
    }
    const int axis = static_cast<int>(given == -1 ? indices.rank() : given);
    IntVec dims;
    for (int d = 0; d < axis; ++d) dims.push_back(indices.dim(d));
    dims.push_back(depth);
    for (int d = axis; d < indices.rank(); ++d) dims.push_back(indices.dim(d));
    ASSIGN_OR_RETURN(Shape shape, Shape::FromDims(dims.span()));
    ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    FillElements(out->dtype(), c.input(3).raw_data(), out->raw_data(), out->num_elements());
    const int64_t inner = ProductOfDims(indices.shape(), axis, indices.rank());
    for (int64_t i = 0; i < indices.num_elements(); ++i) {
      const int64_t index = IndexAt(indices, i);
      if (index < 0 || index >= depth) continue;
      const int64_t at = (i / inner * depth + index) * inner + i % inner;
      CopyElements(out->dtype(), c.input(2).raw_data(), Bytes(*out, at), 1);
    }
    return OkStatus();
  });
}

template <Status (*kRun)(KernelContext&)>
StatusOr<KernelFn> BindPlain(const BindContext&) {
  return KernelFn(kRun);
}

std::vector<KernelDef> MakeTable() {
  const std::vector<DType> numbers = AllNumbers::DTypes(), all = ScatterTypes::DTypes();
  return MakeKernels({
      {"Gather", BindGather},
      {"GatherV2", BindGather},
      {"GatherNd", BindPlain<RunGatherNd>},
      {"ScatterNd", BindPlain<RunScatterNd>},
      {"TensorScatterUpdate", BindTensorScatter, {}, "T", {{0, 0}}},
      {"TensorScatterAdd", BindTensorScatter, all, "T", {{0, 0}}},
      {"TensorScatterMax", BindTensorScatter, numbers, "T", {{0, 0}}},
      {"TensorScatterMin", BindTensorScatter, numbers, "T", {{0, 0}}},
      {"TensorScatterSub", BindTensorScatter, all, "T", {{0, 0}}},
      {"ScatterNdNonAliasingAdd", BindTensorScatter, all, "T", {{0, 0}}},
      {"UnsortedSegmentSum", BindPlain<RunSegment<Segment::kSum>>, all},
      {"UnsortedSegmentProd", BindPlain<RunSegment<Segment::kProd>>, all},
      {"UnsortedSegmentMax", BindPlain<RunSegment<Segment::kMax>>, numbers},
      {"UnsortedSegmentMin", BindPlain<RunSegment<Segment::kMin>>, numbers},
      {"OneHot", BindOneHot},
  });
}

}  // namespace

std::span<const KernelDef> GatherScatterKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
