// SPDX-License-Identifier: Apache-2.0
//
// RaggedRange: a row of numbers for each start, limit and delta.
#include <cmath>
#include <limits>

#include "base/strings.h"
#include "kernels/kernel_table.h"
#include "kernels/map_strings.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

template <typename T>
StatusOr<int64_t> RangeSize(T start, T limit, T delta) {
  if (delta == T{0}) return InvalidArgumentError("Requires delta != 0");
  if ((delta > 0 && start >= limit) || (delta < 0 && start <= limit)) return 0;
  double size = 0;
  if constexpr (std::is_integral_v<T>) {
    const auto span = delta > 0 ? static_cast<uint64_t>(limit) - static_cast<uint64_t>(start)
                                : static_cast<uint64_t>(start) - static_cast<uint64_t>(limit);
    const uint64_t step =
        delta > 0 ? static_cast<uint64_t>(delta) : uint64_t{0} - static_cast<uint64_t>(delta);
    const uint64_t count = span / step + (span % step == 0 ? 0 : 1);
    size = static_cast<double>(count);
    if (size < 9e18) return static_cast<int64_t>(count);
  } else {
    size = std::ceil(std::abs(static_cast<double>((limit - start) / delta)));
    if (size < 9e18) return static_cast<int64_t>(size);
  }
  return InvalidArgumentError(StrCat("Requires ((limit - start) / delta) <= ",
                                     std::numeric_limits<int64_t>::max(), ", got ", size));
}

template <typename T, typename Stored>
Status RunRange(KernelContext& c, DType splits_type) {
  int64_t rows = 1;
  bool vectors = false;
  for (int i = 0; i < 3; ++i) {
    const Tensor& x = c.input(i);
    if (x.rank() > 1) {
      return InvalidArgumentError(
          StrCat("starts, limits and deltas must be scalars or vectors, "
                 "but one has shape ",
                 x.shape().ToString()));
    }
    if (x.rank() == 0) continue;
    if (vectors && x.dim(0) != rows) {
      return InvalidArgumentError("starts, limits, and deltas must have the same shape");
    }
    rows = x.dim(0);
    vectors = true;
  }
  const auto at = [&](int i, int64_t row) {
    const Tensor& x = c.input(i);
    return static_cast<T>(x.flat<Stored>()[x.rank() == 0 ? 0 : static_cast<size_t>(row)]);
  };
  std::vector<int64_t> splits = {0};
  for (int64_t row = 0; row < rows; ++row) {
    ASSIGN_OR_RETURN(const int64_t size, RangeSize(at(0, row), at(1, row), at(2, row)));
    int64_t end = 0;
    const int64_t most = splits_type == DType::kInt32 ? INT32_MAX : INT64_MAX;
    if (__builtin_add_overflow(splits.back(), size, &end) || end > most) {
      return InvalidArgumentError(StrCat("Requires ((limit - start) / delta) <= ", most));
    }
    splits.push_back(end);
  }
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(1, Shape({splits.back()})));
  Stored* to = out->flat<Stored>().data();
  for (int64_t row = 0; row < rows; ++row) {
    T value = at(0, row);
    const T delta = at(2, row);
    const auto r = static_cast<size_t>(row);
    for (int64_t k = splits[r]; k < splits[r + 1]; ++k, value = WrapAdd<T>(value, delta)) {
      *to++ = static_cast<Stored>(value);
    }
  }
  return OutputIndices(c, 0, splits_type, splits);
}

StatusOr<KernelFn> BindRange(const BindContext& c) {
  const DType splits_type = c.node->dtype(0), dtype = c.node->dtype(1);
  return KernelFn([=](KernelContext& ctx) -> Status {
    if (dtype == DType::kBFloat16) return RunRange<float, BFloat16>(ctx, splits_type);
    return SwitchType<Status>(TypeList<float, double, int32_t, int64_t>{}, dtype,
                              [&]<typename T>() { return RunRange<T, T>(ctx, splits_type); });
  });
}

}  // namespace

std::span<const KernelDef> RaggedRangeKernels() {
  static const std::vector<KernelDef> table = MakeKernels({
      {"RaggedRange",
       BindRange,
       {DType::kBFloat16, DType::kFloat, DType::kDouble, DType::kInt32, DType::kInt64}},
  });
  return table;
}

}  // namespace slipway::kernels
