// SPDX-License-Identifier: Apache-2.0
//
// How quantised numbers stand for real ones, to the bit as TensorFlow computes it: 2^bits steps
// over a range widened by one step, lowest number first.
#pragma once

#include <cstdint>

#include "kernels/kernel.h"
#include "kernels/types.h"

namespace slipway::kernels {

using QuantizedTypes = TypeList<int8_t, uint8_t, int16_t, uint16_t, int32_t>;

std::vector<DType> QuantizedDTypes();
// The integer type that a quantised one lies in memory as; every other type is itself.
DType StoredDType(DType dtype);

// The bounds of a quantised type.
struct QuantizedLimits {
  int64_t lowest = 0, highest = 0;
  int bits = 0;

  int64_t steps() const { return int64_t{1} << bits; }
};
QuantizedLimits LimitsOf(DType dtype);

struct FloatRange {
  float min = 0, max = 0;
};

// One number there and back.
int64_t QuantizeUnclamped(float value, FloatRange range, const QuantizedLimits& limits);
int64_t QuantizeOne(float value, FloatRange range, const QuantizedLimits& limits);
float DequantizeOne(int64_t value, FloatRange range, const QuantizedLimits& limits);

// The same for many, whose terms that are common to all are rounded once.
class ManyToFloat {
 public:
  ManyToFloat(FloatRange range, const QuantizedLimits& limits);
  float operator()(float quantized) const { return offset_ + quantized * scale_; }

 private:
  float scale_ = 0, offset_ = 0;
};
class ManyToQuantized {
 public:
  ManyToQuantized(FloatRange range, const QuantizedLimits& limits);
  int32_t operator()(float value) const;

 private:
  float scale_ = 0, shift_ = 0, lower_ = 0, upper_ = 0;
};

// The range of a product of numbers with these ranges, held in 32 bits.
FloatRange RangeOfProduct(FloatRange a, const QuantizedLimits& a_limits, FloatRange b,
                          const QuantizedLimits& b_limits);

// The range in inputs i and i + 1. INVALID_ARGUMENT unless they are scalars.
StatusOr<FloatRange> ReadRange(const KernelContext& c, int i, std::string_view min_name,
                               std::string_view max_name);
// Outputs i and i + 1 = the range.
Status PutRange(KernelContext& c, int i, FloatRange range);

}  // namespace slipway::kernels
