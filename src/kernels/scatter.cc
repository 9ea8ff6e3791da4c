// SPDX-License-Identifier: Apache-2.0
//
// Updates of rows and elements by index, of tensors; those of variables use them too.
#include <algorithm>
#include <cstring>

#include "kernels/index_loops.h"
#include "kernels/index_tensor.h"
#include "kernels/kernel_table.h"
#include "kernels/strided_copy.h"

namespace slipway::kernels {
namespace {

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
  const bool known = SwitchType<bool>(CombinedTypes{}, dtype, [&]<typename T>() {
    CombineRun<T>(op, updates.flat<T>().data() + from, target.flat<T>().data() + to, n, moves);
    return true;
  });
  return known ? OkStatus() : UnimplementedError(StrCat("Scatter of ", DTypeName(dtype)));
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

// Of the ways to scatter nothing, or into nothing, TensorFlow takes some.
Status CheckScatterNd(const Tensor& indices, const Tensor& updates, const Tensor& shape) {
  const bool none = indices.num_elements() == 0 && updates.num_elements() == 0;
  const bool some = indices.num_elements() != 0 && updates.num_elements() != 0;
  if (!none && !(some && shape.num_elements() != 0)) {
    return InvalidArgumentError(StrCat("Indices ", indices.shape().ToString(), " and updates ",
                                       updates.shape().ToString(),
                                       " specified for empty output shape"));
  }
  const int64_t depth = indices.rank() == 0 ? 1 : indices.dim(indices.rank() - 1);
  if (depth >= 1 && depth <= 7) return OkStatus();
  return InvalidArgumentError(
      StrCat("Only indices.shape[-1] values between 1 and 7 are supported, got ", depth));
}

Status RunScatterNd(KernelContext& c) {
  ASSIGN_OR_RETURN(Shape shape, ReadAnyShape(c.input(2)));
  RETURN_IF_ERROR(CheckScatterNd(c.input(0), c.input(1), c.input(2)));
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  SetZero(*out);
  // Strings are not added, but there is nothing under them either.
  const ScatterOp op =
      IsObject(out->dtype()) || out->dtype() == DType::kBool ? ScatterOp::kUpdate : ScatterOp::kAdd;
  return ScatterPlaces(op, c.input(0), c.input(1), *out);
}

StatusOr<KernelFn> BindScatterNd(const BindContext&) { return KernelFn(RunScatterNd); }

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

std::vector<KernelDef> MakeTable() {
  const std::vector<DType> numbers = AllNumbers::DTypes(), all = CombinedTypes::DTypes();
  return MakeKernels({
      {"ScatterNd", BindScatterNd},
      {"TensorScatterUpdate", BindTensorScatter, {}, "T", {{0, 0}}},
      {"TensorScatterAdd", BindTensorScatter, all, "T", {{0, 0}}},
      {"TensorScatterMax", BindTensorScatter, numbers, "T", {{0, 0}}},
      {"TensorScatterMin", BindTensorScatter, numbers, "T", {{0, 0}}},
      {"TensorScatterSub", BindTensorScatter, all, "T", {{0, 0}}},
      {"ScatterNdNonAliasingAdd", BindTensorScatter, all, "T", {{0, 0}}},
  });
}

}  // namespace

std::span<const KernelDef> ScatterKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
