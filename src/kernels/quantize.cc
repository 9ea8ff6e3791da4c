// SPDX-License-Identifier: Apache-2.0
//
// Real numbers to quantised ones and back, with one range for all or one for each slice along an
// axis.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/strings.h"
#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/quantization.h"
#include "kernels/strided_copy.h"

namespace slipway::kernels {
namespace {

enum class Mode { kMinCombined, kMinFirst, kScaled };

StatusOr<Mode> ModeOf(const ir::Node& node) {
  const auto name = AttrOr<std::string>(node, "mode", "MIN_COMBINED");
  if (name == "MIN_COMBINED") return Mode::kMinCombined;
  if (name == "MIN_FIRST") return Mode::kMinFirst;
  if (name == "SCALED") return Mode::kScaled;
  return InvalidArgumentError(
      StrCat("mode is ", name, "; wanted MIN_COMBINED, MIN_FIRST or SCALED"));
}

Status CheckMode(const ir::Node& node, Mode mode, int64_t axis) {
  if (mode != Mode::kMinFirst || axis == -1) return OkStatus();
  return UnimplementedError(StrCat("MIN_FIRST mode is not implemented for ",
                                   node.op() == "Dequantize" ? "Dequantize" : "Quantize",
                                   " with axis != -1, got ", axis, "; use SCALED"));
}

// A tensor as [outer, slices, inner]; one slice where there is no axis.
struct Layout {
  int64_t outer = 1, slices = 1, inner = 0;

  // fn(first element, number) for each run of neighbours that is in slice s.
  template <typename Fn>
  void ForRuns(int64_t s, Fn&& fn) const {
    for (int64_t o = 0; o < outer; ++o) fn((o * slices + s) * inner, inner);
  }
};

StatusOr<Layout> LayoutAlong(const Tensor& x, int64_t axis) {
  if (axis < -1 || axis >= x.rank()) {
    return InvalidArgumentError(StrCat("Shape must be at least rank ", axis + 1, " but is rank ",
                                       x.rank(), ": Axis must be less than input dimension, got ",
                                       axis));
  }
  const auto a = static_cast<int>(axis);
  if (axis < 0) return Layout{1, 1, x.num_elements()};
  return Layout{ProductOfDims(x.shape(), 0, a), x.dim(a),
                ProductOfDims(x.shape(), a + 1, x.rank())};
}

// The ranges of the slices: scalars where there is no axis, else vectors.
Status CheckRanges(const KernelContext& c, int first, int64_t axis, int64_t slices) {
  for (int i = first; i < first + 2; ++i) {
    const Tensor& t = c.input(i);
    const char* name = i == first ? "input_min_range" : "input_max_range";
    if (axis == -1 ? t.num_elements() != 1 : t.rank() != 1 || t.num_elements() != slices) {
      return InvalidArgumentError(
          StrCat(name, " has shape ", t.shape().ToString(), "; wanted ",
                 axis == -1 ? std::string("a scalar") : StrCat("a vector of size ", slices)));
    }
  }
  return OkStatus();
}

template <typename T>
int64_t HalfRange() {
  return std::is_signed_v<T>
             ? (int64_t{std::numeric_limits<T>::max()} - std::numeric_limits<T>::lowest() + 1) / 2
             : 0;
}

// An integer from a rounded number. What does not fit saturates, but 2^31 becomes the lowest number
// of 32 bits, as TensorFlow has it on x86: it is where every float at the upper end is rounded to.
template <typename T>
T ToInteger(float v) {
  constexpr float kLow = std::numeric_limits<T>::lowest();
  constexpr float kHigh = static_cast<float>(std::numeric_limits<T>::max());
  if (!(v > kLow)) return std::numeric_limits<T>::lowest();
  if (v < kHigh) return static_cast<T>(v);
  return sizeof(T) == 4 ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
}

struct QuantizeSpec {
  Mode mode = Mode::kMinCombined;
  bool half_to_even = false, narrow = false;
  int64_t axis = -1;
  float minimum_range = 0.01f;
};

// The range that zero is in, and that is not empty.
StatusOr<FloatRange> Adjusted(FloatRange given, float minimum_range) {
  if (given.max < given.min) {
    return InvalidArgumentError(StrCat("input_max_range must be larger than input_min_range, got ",
                                       given.max, " and ", given.min));
  }
  FloatRange range;
  range.min = std::min(0.0f, given.min);
  const float epsilon =
      std::max(1.0f, std::max(std::fabs(given.min), std::fabs(given.max))) * minimum_range;
  range.max = std::max(0.0f, std::max(given.max, range.min + epsilon));
  return range;
}

// SCALED: zero is zero; the factor is that of the side of the range that needs it.
template <typename T>
float ScaleOf(bool narrow, FloatRange* range) {
  const int64_t lowest = int64_t{std::numeric_limits<T>::lowest()} + (narrow ? 1 : 0);
  const auto low = static_cast<float>(lowest);
  const auto high = static_cast<float>(std::numeric_limits<T>::max());
  const float none = std::numeric_limits<float>::max();
  const float scale = std::min(low * range->min > 0 ? low / range->min : none,
                               high * range->max > 0 ? high / range->max : none);
  *range = {low / scale, high / scale};
  return scale;
}

template <typename T>
void QuantizeRun(const QuantizeSpec& spec, FloatRange range, float scale, const float* x, T* y,
                 int64_t n) {
  const auto clamped = [&](float v) { return std::max(std::min(v, range.max), range.min); };
  if (spec.mode == Mode::kMinFirst) {
    const ManyToQuantized convert(range, LimitsOf(DTypeOf<T>()));
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(convert(x[i]));
  } else if (spec.mode == Mode::kScaled) {
    for (int64_t i = 0; i < n; ++i) {
      const float v = clamped(x[i]) * scale;
      y[i] = ToInteger<T>(spec.half_to_even ? std::nearbyint(v) : std::round(v));
    }
  } else {
    const float steps = (static_cast<float>(std::numeric_limits<T>::max()) -
                         static_cast<float>(std::numeric_limits<T>::lowest())) /
                        (range.max - range.min);
    const auto half = static_cast<float>(HalfRange<T>());
    for (int64_t i = 0; i < n; ++i) {
      const float v = (clamped(x[i]) - range.min) * steps;
      y[i] = ToInteger<T>(std::is_signed_v<T> ? std::round(v - half) : std::floor(v + 0.5f));
    }
  }
}

Status Quantize(KernelContext& c, const QuantizeSpec& spec) {
  const Tensor& x = c.input(0);
  ASSIGN_OR_RETURN(const Layout layout, LayoutAlong(x, spec.axis));
  RETURN_IF_ERROR(CheckRanges(c, 1, spec.axis, layout.slices));
  const Shape range_shape = spec.axis == -1 ? Shape() : Shape({layout.slices});
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, x.shape()));
  ASSIGN_OR_RETURN(Tensor * min, c.AllocateOutput(1, range_shape));
  ASSIGN_OR_RETURN(Tensor * max, c.AllocateOutput(2, range_shape));
  for (int64_t s = 0; s < layout.slices; ++s) {
    const auto at = static_cast<size_t>(s);
    const FloatRange given{c.input(1).flat<float>()[at], c.input(2).flat<float>()[at]};
    ASSIGN_OR_RETURN(FloatRange range, Adjusted(given, spec.minimum_range));
    SwitchType<int>(QuantizedTypes{}, StoredDType(y->dtype()), [&]<typename T>() {
      float scale = 0;
      if (spec.mode == Mode::kScaled) scale = ScaleOf<T>(spec.narrow, &range);
      layout.ForRuns(s, [&](int64_t first, int64_t n) {
        QuantizeRun<T>(spec, range, scale, x.flat<float>().data() + first,
                       y->flat<T>().data() + first, n);
      });
      return 0;
    });
    min->flat<float>()[at] = range.min;
    max->flat<float>()[at] = range.max;
  }
  return OkStatus();
}

StatusOr<KernelFn> BindQuantize(const BindContext& bind) {
  QuantizeSpec spec;
  ASSIGN_OR_RETURN(spec.mode, ModeOf(*bind.node));
  spec.half_to_even = AttrOr<std::string>(*bind.node, "round_mode", "") == "HALF_TO_EVEN";
  spec.narrow = BoolAttr(*bind.node, "narrow_range");
  spec.axis = IntAttr(*bind.node, "axis", -1);
  spec.minimum_range = AttrOr<float>(*bind.node, "ensure_minimum_range", 0.01f);
  if (spec.half_to_even && spec.mode != Mode::kScaled) {
    return InvalidArgumentError(
        StrCat("Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode is '",
               AttrOr<std::string>(*bind.node, "mode", "MIN_COMBINED"), "'."));
  }
  RETURN_IF_ERROR(CheckMode(*bind.node, spec.mode, spec.axis));
  return KernelFn([spec](KernelContext& c) { return Quantize(c, spec); });
}

// Every mode is a line.
struct Line {
  float before = 0, scale = 0, after = 0;
  float operator()(float q) const { return (q + before) * scale + after; }
};

template <typename T>
Line DequantizeLine(Mode mode, bool narrow, FloatRange range) {
  const auto low = static_cast<float>(std::numeric_limits<T>::lowest());
  const auto high = static_cast<float>(std::numeric_limits<T>::max());
  if (mode == Mode::kMinCombined) {
    return {static_cast<float>(HalfRange<T>()), (range.max - range.min) / (high - low), range.min};
  }
  const float lowest = static_cast<float>(int64_t{std::numeric_limits<T>::lowest()} + narrow);
  const float from_max = range.max / high;
  return {0, std::is_signed_v<T> ? std::max(range.min / lowest, from_max) : from_max, 0};
}

template <typename T>
void DequantizeRun(Mode mode, bool narrow, FloatRange range, const T* x, int64_t n, float* y) {
  if (mode == Mode::kMinFirst) {
    const ManyToFloat convert(range, LimitsOf(DTypeOf<T>()));
    for (int64_t i = 0; i < n; ++i) y[i] = convert(static_cast<float>(x[i]));
    return;
  }
  const Line line = DequantizeLine<T>(mode, narrow, range);
  // SCALED goes by way of integers: see ToInteger.
  const bool scaled = mode == Mode::kScaled;
  for (int64_t i = 0; i < n; ++i) {
    const auto v = static_cast<float>(x[i]);
    y[i] = line(scaled ? static_cast<float>(ToInteger<T>(v)) : v);
  }
}

Status Dequantize(KernelContext& c, Mode mode, bool narrow, int64_t axis) {
  const Tensor& x = c.input(0);
  ASSIGN_OR_RETURN(const Layout layout, LayoutAlong(x, axis));
  RETURN_IF_ERROR(CheckRanges(c, 1, axis, layout.slices));
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, x.shape()));
  const bool narrow_output = y->dtype() == DType::kBFloat16;
  float* out =
      narrow_output
          ? static_cast<float*>(c.Scratch(static_cast<size_t>(x.num_elements()) * sizeof(float)))
          : y->flat<float>().data();
  if (out == nullptr && x.num_elements() > 0) {
    return ResourceExhaustedError("No memory to convert to bfloat16");
  }
  for (int64_t s = 0; s < layout.slices; ++s) {
    const auto at = static_cast<size_t>(s);
    const FloatRange range{c.input(1).flat<float>()[at], c.input(2).flat<float>()[at]};
    SwitchType<int>(QuantizedTypes{}, StoredDType(x.dtype()), [&]<typename T>() {
      layout.ForRuns(s, [&](int64_t first, int64_t n) {
        DequantizeRun<T>(mode, narrow, range, x.flat<T>().data() + first, n, out + first);
      });
      return 0;
    });
  }
  if (narrow_output) {
    for (size_t i = 0; i < static_cast<size_t>(x.num_elements()); ++i) {
      y->flat<BFloat16>()[i] = BFloat16(out[i]);
    }
  }
  return OkStatus();
}

StatusOr<KernelFn> BindDequantize(const BindContext& bind) {
  ASSIGN_OR_RETURN(const Mode mode, ModeOf(*bind.node));
  const bool narrow = BoolAttr(*bind.node, "narrow_range");
  const int64_t axis = IntAttr(*bind.node, "axis", -1);
  RETURN_IF_ERROR(CheckMode(*bind.node, mode, axis));
  if (mode != Mode::kMinCombined && bind.node->dtype(0) == DType::kBFloat16) {
    return InvalidArgumentError(
        StrCat("When output type is bfloat16, Mode string must be 'MIN_COMBINED', is '",
               AttrOr<std::string>(*bind.node, "mode", ""), "'"));
  }
  return KernelFn(
      [mode, narrow, axis](KernelContext& c) { return Dequantize(c, mode, narrow, axis); });
}

struct RoundTrip {
  bool is_signed = true, range_given = false, half_up = false, narrow = false;
  int64_t axis = -1, bits = 8;
};

Status CheckBits(const RoundTrip& spec) {
  if (spec.bits >= 1 && spec.bits < (spec.is_signed ? 62 : 63)) return OkStatus();
  return InvalidArgumentError(StrCat("num_bits is out of range: ", spec.bits,
                                     " with `signed_input_` ", spec.is_signed ? 1 : 0));
}

template <typename T>
struct Grid {
  T min = 0, max = 0, scale = 0, inverse = 0;

  // The range widened on the side that does not determine the scale, so that zero stays zero.
  Grid(const RoundTrip& spec, T range_min, T range_max) : min(range_min), max(range_max) {
    const int64_t half = int64_t{1} << (spec.bits - 1);
    const auto lowest = static_cast<T>(spec.is_signed ? -half + (spec.narrow ? 1 : 0) : 0);
    const auto highest = static_cast<T>(spec.is_signed ? half - 1 : 2 * half - 1);
    const T none = std::numeric_limits<T>::max();
    const T from_min = lowest * min > 0 ? lowest / min : none;
    const T from_max = highest * max > 0 ? highest / max : none;
    if (from_min < from_max) {
      scale = from_min;
      inverse = min / lowest;
      max = highest * inverse;
    } else {
      scale = from_max;
      inverse = max / highest;
      min = lowest * inverse;
    }
  }
  T operator()(const RoundTrip& spec, T x) const {
    const T v = (spec.range_given ? std::max(std::min(x, max), min) : x) * scale;
    return (spec.half_up ? std::floor(v + T(0.5)) : std::nearbyint(v)) * inverse;
  }
};

template <typename T>
Status RoundSlice(const RoundTrip& spec, const Layout& layout, int64_t s, T min, T max,
                  const Tensor& x, Tensor* y) {
  const T* in = x.flat<T>().data();
  if (!spec.range_given) {
    min = std::numeric_limits<T>::max();
    max = std::numeric_limits<T>::lowest();
    layout.ForRuns(s, [&](int64_t first, int64_t n) {
      for (int64_t i = first; i < first + n; ++i) {
        min = std::min(min, in[i]);
        max = std::max(max, in[i]);
      }
    });
  } else if (!(min <= max)) {
    return InvalidArgumentError(StrCat("Invalid range: input_min ", min, " > input_max ", max));
  }
  const Grid<T> grid(spec, min, max);
  T* out = y->flat<T>().data();
  layout.ForRuns(s, [&](int64_t first, int64_t n) {
    for (int64_t i = first; i < first + n; ++i) out[i] = grid(spec, in[i]);
  });
  return OkStatus();
}

Status RunRoundTrip(KernelContext& c, RoundTrip spec) {
  const Tensor& x = c.input(0);
  if (c.num_inputs() == 4) {
    ASSIGN_OR_RETURN(spec.bits, ReadInt(c.input(3), "num_bits"));
  }
  RETURN_IF_ERROR(CheckBits(spec));
  ASSIGN_OR_RETURN(const Layout layout, LayoutAlong(x, spec.axis));
  if (spec.range_given) RETURN_IF_ERROR(CheckRanges(c, 1, spec.axis, layout.slices));
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, x.shape()));
  if (x.num_elements() == 0) return OkStatus();
  for (int64_t s = 0; s < layout.slices; ++s) {
    RETURN_IF_ERROR(SwitchType<Status>(Reals{}, x.dtype(), [&]<typename T>() -> Status {
      const auto range = [&](int i) {
        return spec.range_given ? c.input(i).flat<T>()[static_cast<size_t>(s)] : T(0);
      };
      return RoundSlice<T>(spec, layout, s, range(1), range(2), x, y);
    }));
  }
  return OkStatus();
}

StatusOr<KernelFn> BindRoundTrip(const BindContext& bind) {
  RoundTrip spec;
  spec.is_signed = BoolAttr(*bind.node, "signed_input", true);
  spec.range_given = BoolAttr(*bind.node, "range_given");
  spec.narrow = BoolAttr(*bind.node, "narrow_range");
  spec.half_up = AttrOr<std::string>(*bind.node, "round_mode", "HALF_TO_EVEN") == "HALF_UP";
  spec.axis = IntAttr(*bind.node, "axis", -1);
  spec.bits = IntAttr(*bind.node, "num_bits", 8);
  if (bind.node->op() != "QuantizeAndDequantizeV3") RETURN_IF_ERROR(CheckBits(spec));
  return KernelFn([spec](KernelContext& c) { return RunRoundTrip(c, spec); });
}

// What was inside the range passes; the range itself gets nothing.
StatusOr<KernelFn> BindRoundTripGradient(const BindContext& bind) {
  return KernelFn([axis = IntAttr(*bind.node, "axis", -1)](KernelContext& c) -> Status {
    const Tensor& x = c.input(1);
    RETURN_IF_ERROR(CheckSameShape(c.input(0), x, "gradient", "input"));
    ASSIGN_OR_RETURN(const Layout layout, LayoutAlong(x, axis));
    RETURN_IF_ERROR(CheckRanges(c, 2, axis, layout.slices));
    ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, x.shape()));
    ASSIGN_OR_RETURN(Tensor * dmin, c.AllocateOutput(1, c.input(2).shape()));
    ASSIGN_OR_RETURN(Tensor * dmax, c.AllocateOutput(2, c.input(3).shape()));
    SwitchType<int>(Reals{}, x.dtype(), [&]<typename T>() {
      std::ranges::fill(dmin->flat<T>(), T(0));
      std::ranges::fill(dmax->flat<T>(), T(0));
      const T* in = x.flat<T>().data();
      const T* g = c.input(0).flat<T>().data();
      for (int64_t s = 0; s < layout.slices; ++s) {
        const T min = c.input(2).flat<T>()[static_cast<size_t>(s)];
        const T max = c.input(3).flat<T>()[static_cast<size_t>(s)];
        layout.ForRuns(s, [&](int64_t first, int64_t n) {
          for (int64_t i = first; i < first + n; ++i) {
            y->flat<T>()[static_cast<size_t>(i)] = in[i] >= min && in[i] <= max ? g[i] : T(0);
          }
        });
      }
      return 0;
    });
    return OkStatus();
  });
}

std::vector<KernelDef> MakeTable() {
  const std::vector<DType> reals = Reals::DTypes(), quantized = QuantizedDTypes();
  return MakeKernels({
      {"Dequantize", BindDequantize, quantized},
      {"QuantizeAndDequantizeV2", BindRoundTrip, reals},
      {"QuantizeAndDequantizeV3", BindRoundTrip, reals},
      {"QuantizeAndDequantizeV4", BindRoundTrip, reals},
      {"QuantizeAndDequantizeV4Grad", BindRoundTripGradient, reals},
      {"QuantizeV2", BindQuantize, quantized},
  });
}

}  // namespace

std::span<const KernelDef> QuantizeKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
