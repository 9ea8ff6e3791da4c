// SPDX-License-Identifier: Apache-2.0
#include "kernels/quantization.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/strings.h"

namespace slipway::kernels {

std::vector<DType> QuantizedDTypes() {
  return {DType::kQInt8, DType::kQUInt8, DType::kQInt16, DType::kQUInt16, DType::kQInt32};
}

DType StoredDType(DType dtype) {
  switch (dtype) {
    case DType::kQInt8:
      return DType::kInt8;
    case DType::kQUInt8:
      return DType::kUInt8;
    case DType::kQInt16:
      return DType::kInt16;
    case DType::kQUInt16:
      return DType::kUInt16;
    case DType::kQInt32:
      return DType::kInt32;
    default:
      return dtype;
  }
}

QuantizedLimits LimitsOf(DType dtype) {
  return SwitchType<QuantizedLimits>(QuantizedTypes{}, StoredDType(dtype), []<typename T>() {
    return QuantizedLimits{std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max(),
                           static_cast<int>(sizeof(T)) * 8};
  });
}

namespace {

// A step more than the range has, so that both its ends are numbers.
double WidenedRange(FloatRange range, const QuantizedLimits& limits) {
  const auto steps = static_cast<double>(limits.steps());
  const double adjust = steps / (steps - 1.0);
  return (static_cast<double>(range.max) - static_cast<double>(range.min)) * adjust;
}

// Untrusted ranges make numbers beyond what an integer holds.
int64_t SaturatedInt(double v) {
  if (v != v) return 0;
  return static_cast<int64_t>(std::clamp(v, -1e18, 1e18));
}

}  // namespace

int64_t QuantizeUnclamped(float value, FloatRange range, const QuantizedLimits& limits) {
  if (range.min == range.max) return 0;
  const double scale = static_cast<double>(limits.steps()) / WidenedRange(range, limits);
  const double steps = std::round(value * scale) - std::round(range.min * scale);
  return SaturatedInt(steps + static_cast<double>(limits.lowest));
}

int64_t QuantizeOne(float value, FloatRange range, const QuantizedLimits& limits) {
  return std::clamp(QuantizeUnclamped(value, range, limits), limits.lowest, limits.highest);
}

float DequantizeOne(int64_t value, FloatRange range, const QuantizedLimits& limits) {
  if (range.min == range.max) return range.min;
  const double scale = WidenedRange(range, limits) / static_cast<double>(limits.steps());
  const auto narrow = static_cast<double>(static_cast<float>(scale));
  const double min = std::round(range.min / narrow) * narrow;
  return static_cast<float>(min + static_cast<double>(value - limits.lowest) * scale);
}

ManyToFloat::ManyToFloat(FloatRange range, const QuantizedLimits& limits)
    : scale_(static_cast<float>((range.max - range.min) /
                                (static_cast<double>(limits.steps()) - 1.0))) {
  const float min = range.max == range.min ? range.min : std::round(range.min / scale_) * scale_;
  offset_ = min - static_cast<float>(limits.lowest) * scale_;
}

ManyToQuantized::ManyToQuantized(FloatRange range, const QuantizedLimits& limits)
    : lower_(std::max(static_cast<float>(limits.lowest), -2.147483648e+09f)),
      upper_(std::min(static_cast<float>(limits.highest), 2.147483520e+09f)) {
  const double widened = WidenedRange(range, limits);
  scale_ = widened == 0 ? 0 : static_cast<float>(static_cast<double>(limits.steps()) / widened);
  const float min_scaled = std::round(range.min * scale_);
  shift_ = static_cast<float>(min_scaled - static_cast<double>(limits.lowest));
}

int32_t ManyToQuantized::operator()(float value) const {
  const float steps = std::round(value * scale_) - shift_;
  // Also what NaN becomes: an ordered comparison with it is false.
  const float low = steps > lower_ ? steps : lower_;
  return static_cast<int32_t>(low < upper_ ? low : upper_);
}

FloatRange RangeOfProduct(FloatRange a, const QuantizedLimits& a_limits, FloatRange b,
                          const QuantizedLimits& b_limits) {
  const auto level = [](FloatRange range, const QuantizedLimits& limits) {
    return (range.max - range.min) /
           (static_cast<float>(limits.highest) - static_cast<float>(limits.lowest));
  };
  const float product = level(a, a_limits) * level(b, b_limits);
  return {product * -2147483648.0f, product * 2147483647.0f};
}

StatusOr<FloatRange> ReadRange(const KernelContext& c, int i, std::string_view min_name,
                               std::string_view max_name) {
  FloatRange range;
  for (const auto& [input, name, value] :
       {std::tuple(i, min_name, &range.min), std::tuple(i + 1, max_name, &range.max)}) {
    const Tensor& t = c.input(input);
    if (t.num_elements() != 1 || t.rank() > 1) {
      return InvalidArgumentError(StrCat("`", name, "` must be rank 0 but is rank ", t.rank(),
                                         ", shape ", t.shape().ToString()));
    }
    *value = t.flat<float>()[0];
  }
  return range;
}

Status PutRange(KernelContext& c, int i, FloatRange range) {
  ASSIGN_OR_RETURN(Tensor * min, c.AllocateOutput(i, Shape()));
  ASSIGN_OR_RETURN(Tensor * max, c.AllocateOutput(i + 1, Shape()));
  min->flat<float>()[0] = range.min;
  max->flat<float>()[0] = range.max;
  return OkStatus();
}

}  // namespace slipway::kernels
