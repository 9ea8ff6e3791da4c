// SPDX-License-Identifier: Apache-2.0
//
// Random numbers of distributions that take an unknown number of draws: gamma, Poisson,
// categorical. Each value has draws of its own, so that the order of computing does not matter; the
// draws are TensorFlow's, so the values are too.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/random_draws.h"
#include "kernels/random_sources.h"
#include "kernels/types.h"
#include "kernels/variable_access.h"

namespace slipway::kernels {
namespace {

// Rejection ends here where parameters leave nothing to accept.
constexpr int kMostTries = 10000;

// Marsaglia and Tsang's method (2000).
double DrawGamma(double alpha, PairedDraws& draws) {
  if (alpha == 1) return -std::log1p(-draws.Uniform());
  const bool small = alpha < 1;
  const double d = alpha + (small ? 2.0 / 3 : -1.0 / 3), c = 1.0 / 3 / std::sqrt(d);
  if (!(d > 0)) return std::numeric_limits<double>::quiet_NaN();
  for (;;) {
    const double x = draws.Normal();
    double v = 1 + c * x;
    if (v <= 0) continue;
    v = v * v * v;
    const double u = draws.Uniform();
    if (u < 1 - 0.0331 * (x * x) * (x * x) ||
        std::log(u) < 0.5 * x * x + d * (1 - v + std::log(v))) {
      return small ? d * v * std::pow(draws.Uniform(), 1 / alpha) : d * v;
    }
  }
}

double LogFactorial(double k) {
  int sign = 0;
  return lgamma_r(k + 1, &sign);
}

// Knuth's product of uniforms, or Hoermann's transformed rejection (1993) from 10 on. Values above
// `most` are drawn again.
double DrawPoisson(double rate, double most, PairedDraws& draws) {
  if (std::isnan(rate) || rate < 0) return std::numeric_limits<double>::quiet_NaN();
  if (rate < 10) {
    const double limit = std::exp(-rate);
    double product = 1, x = 0;
    for (;; x += 1) {
      product *= draws.Uniform();
      if (product <= limit && x <= most) return x;
    }
  }
  if (std::isinf(rate)) return rate;
  const double log_rate = std::log(rate);
  const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  for (int tries = 0; tries < kMostTries; ++tries) {
    const double u = draws.Uniform() - 0.5, v = draws.Uniform();
    const double shifted = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / shifted + b) * u + rate + 0.43);
    if (k > most) continue;
    if (shifted >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2)) return k;
    if (k < 0 || (shifted < 0.013 && v > shifted)) continue;
    const double s = std::log(v * inverse_alpha / (a / (shifted * shifted) + b));
    if (s <= -rate + k * log_rate - LogFactorial(k)) return k;
  }
  return most;  // the type holds nothing near the rate
}

double LargestOf(DType dtype) {
  switch (dtype) {
    case DType::kHalf:
      return 65504;
    case DType::kFloat:
      return std::numeric_limits<float>::max();
    case DType::kInt32:
      return std::numeric_limits<int32_t>::max();
    case DType::kInt64:
      return static_cast<double>(std::numeric_limits<int64_t>::max());
    default:
      return std::numeric_limits<double>::max();
  }
}

// Output [samples…, params…]: value s of parameter p is draw(p, draws), its draws 256 blocks after
// those of the value before; all values of one parameter follow each other.
template <typename Draw>
Status FillByParameter(KernelContext& c, const Philox& base, int64_t params, Tensor* y,
                       const Draw& draw) {
  const int64_t total = y->num_elements();
  if (total == 0) return OkStatus();
  const int64_t samples = total / params;
  SwitchType<int>(DrawTypes{}, y->dtype(), [&]<typename T>() {
    T* out = y->flat<T>().data();
    c.intra_op().ParallelFor(total, 512, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        Philox own = base;
        own.Skip(static_cast<uint64_t>(kReservedPerValue * i));
        PairedDraws draws(own);
        out[i % samples * params + i / samples] = ToValue<T>(draw(i / samples, draws));
      }
    });
    return 0;
  });
  return OkStatus();
}

double Drawn(bool poisson, double parameter, double most, PairedDraws& draws) {
  return poisson ? DrawPoisson(parameter, most, draws) : DrawGamma(parameter, draws);
}

// RandomGamma, RandomPoissonV2: shape + the parameters' shape.
StatusOr<KernelFn> BindStateful(const BindContext& bind) {
  ASSIGN_OR_RETURN(auto generator, GeneratorOf(bind));
  const bool poisson = bind.node->op() != "RandomGamma";
  return KernelFn([=](KernelContext& c) -> Status {
    ASSIGN_OR_RETURN(const Shape samples, ReadShape(c.input(0), "shape"));
    const Tensor& parameter = c.input(1);
    IntVec dims(samples.dims());
    for (int64_t d : parameter.shape().dims()) dims.push_back(d);
    ASSIGN_OR_RETURN(const Shape shape, Shape::FromDims(dims.span()));
    ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, shape));
    if (shape.num_elements() == 0) return OkStatus();
    const double most = LargestOf(y->dtype());
    const Philox base = generator->Reserve(shape.num_elements() * kReservedPerValue);
    return FillByParameter(c, base, parameter.num_elements(), y, [&](int64_t p, auto& draws) {
      return Drawn(poisson, NumberAt(parameter, p), most, draws);
    });
  });
}

// The parameter is the last input; the shape ends with its shape.
StatusOr<KernelFn> BindStateless(const BindContext& bind) {
  const bool by_key = bind.node->op().ends_with("V3");
  const bool poisson = bind.node->op().find("Poisson") != std::string::npos;
  return KernelFn([=](KernelContext& c) -> Status {
    ASSIGN_OR_RETURN(const Shape shape, ReadShape(c.input(0), "shape"));
    ASSIGN_OR_RETURN(const Philox base, by_key ? FromKeyCounter(c, 1) : FromSeed(c.input(1)));
    const Tensor& parameter = c.input(c.num_inputs() - 1);
    RETURN_IF_ERROR(CheckEnd(shape, parameter.shape()));
    ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, shape));
    const double most = LargestOf(y->dtype());
    return FillByParameter(c, base, parameter.num_elements(), y, [&](int64_t p, auto& draws) {
      return Drawn(poisson, NumberAt(parameter, p), most, draws);
    });
  });
}

Status CheckLogits(const Tensor& logits, const Tensor& samples, int64_t* count) {
  if (logits.rank() != 2) {
    return InvalidArgumentError(
        StrCat("logits should be a matrix, got shape ", logits.shape().ToString()));
  }
  if (samples.rank() != 0) {
    return InvalidArgumentError(
        StrCat("num_samples should be a scalar, got shape ", samples.shape().ToString()));
  }
  ASSIGN_OR_RETURN(*count, ReadInt(samples, "num_samples"));
  if (*count < 0) {
    return InvalidArgumentError(StrCat("num_samples should be non-negative, got ", *count));
  }
  if (logits.dim(1) <= 0 && logits.dim(0) > 0) {
    return InvalidArgumentError(StrCat("num_classes should be positive, got ", logits.dim(1)));
  }
  return OkStatus();
}

// Running sums of exp(logit - the largest); what is not finite counts nothing.
template <typename T>
void Accumulate(const T* logits, int64_t n, double* sums) {
  double most = static_cast<double>(std::numeric_limits<WideOf<T>>::lowest());
  for (int64_t j = 0; j < n; ++j) {
    const auto v = static_cast<double>(Widen(logits[j]));
    if (std::isfinite(v)) most = std::max(most, v);
  }
  double total = 0;
  for (int64_t j = 0; j < n; ++j) {
    const auto v = static_cast<double>(Widen(logits[j]));
    if (std::isfinite(v)) total += std::exp(v - most);
    sums[j] = total;
  }
}

Status DrawClasses(KernelContext& c, int64_t count, WordStream words) {
  const Tensor& logits = c.input(0);
  const int64_t rows = logits.dim(0), classes = logits.dim(1);
  const IntVec dims(std::array<int64_t, 2>{rows, count});
  ASSIGN_OR_RETURN(const Shape shape, Shape::FromDims(dims.span()));
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, shape));
  auto* sums = static_cast<double*>(c.Scratch(static_cast<size_t>(classes) * sizeof(double) + 1));
  if (sums == nullptr) return ResourceExhaustedError("No memory for the classes' sums");
  for (int64_t r = 0; r < rows; ++r) {
    SwitchType<int>(AllNumbers{}, logits.dtype(), [&]<typename T>() {
      Accumulate<T>(logits.flat<T>().data() + r * classes, classes, sums);
      return 0;
    });
    for (int64_t j = 0; j < count; ++j) {
      const uint32_t low = words.Next(), high = words.Next();
      const double place = UniformDouble(low, high) * sums[classes - 1];
      const auto found = std::upper_bound(sums, sums + classes, place) - sums;
      const auto at = static_cast<size_t>(r * count + j);
      if (y->dtype() == DType::kInt64) {
        y->flat<int64_t>()[at] = found;
      } else {
        y->flat<int32_t>()[at] = static_cast<int32_t>(found);
      }
    }
  }
  return OkStatus();
}

StatusOr<KernelFn> BindMultinomial(const BindContext& bind) {
  ASSIGN_OR_RETURN(auto generator, GeneratorOf(bind));
  return KernelFn([generator](KernelContext& c) -> Status {
    int64_t count = 0;
    RETURN_IF_ERROR(CheckLogits(c.input(0), c.input(1), &count));
    const int64_t values = c.input(0).dim(0) * ((count + 3) / 4 * 4) * 2;
    return DrawClasses(c, count, WordStream(generator->Reserve(values * kReservedPerValue)));
  });
}

Status RunStatelessMultinomial(KernelContext& c) {
  int64_t count = 0;
  RETURN_IF_ERROR(CheckLogits(c.input(0), c.input(1), &count));
  ASSIGN_OR_RETURN(const Philox base, FromSeed(c.input(2)));
  return DrawClasses(c, count, WordStream(base));
}

Status RunStatelessShuffle(KernelContext& c) {
  ASSIGN_OR_RETURN(const Philox base, FromKeyCounter(c, 1));
  return ShuffleRows(c, WordStream(base));
}

// The state of a tf.random.Generator of Philox: two counter words and a key; its counter moves on
// by 256 for every value to be drawn.
Status RunReadAndSkip(KernelContext& c) {
  ASSIGN_OR_RETURN(Variable * variable, InputVariable(c, 0));
  ASSIGN_OR_RETURN(const int64_t algorithm, ReadInt(c.input(1), "alg"));
  RETURN_IF_ERROR(CheckScalar(c.input(2), "delta"));
  if (algorithm != 1 && algorithm != 3) {
    return InvalidArgumentError(StrCat("Unsupported algorithm id: ", algorithm, "; Philox is 1"));
  }
  const uint64_t delta = c.input(2).flat<uint64_t>()[0];
  ASSIGN_OR_RETURN(Tensor * old, c.AllocateOutput(0, Shape({3})));
  return variable->UpdateWith([&](Tensor& state) -> Status {
    if (state.dtype() != DType::kInt64 || state.rank() != 1 || state.dim(0) < 3) {
      return InvalidArgumentError(
          StrCat("The state of the generator must be an int64 vector of at "
                 "least 3 elements, not ",
                 state.ToString()));
    }
    std::copy_n(state.flat<int64_t>().begin(), 3, old->flat<int64_t>().begin());
    auto* words = reinterpret_cast<uint64_t*>(state.flat<int64_t>().data());
    const uint64_t low = words[0] + delta * static_cast<uint64_t>(kReservedPerValue);
    words[1] += low < words[0] ? 1 : 0;
    words[0] = low;
    return OkStatus();
  });
}

template <Status (*kRun)(KernelContext&)>
StatusOr<KernelFn> BindPlain(const BindContext&) {
  return KernelFn(kRun);
}

std::vector<KernelDef> MakeTable() {
  return MakeKernels({
      {"Multinomial", BindMultinomial, AllNumbers::DTypes()},
      {"RandomGamma", BindStateful, FloatTypes()},
      {"RandomPoissonV2", BindStateful},
      {"RngReadAndSkip", BindPlain<RunReadAndSkip>},
      {"StatelessMultinomial", BindPlain<RunStatelessMultinomial>, AllNumbers::DTypes()},
      {"StatelessRandomGammaV2", BindStateless, FloatTypes(), "dtype"},
      {"StatelessRandomGammaV3", BindStateless, FloatTypes(), "dtype"},
      {"StatelessRandomPoisson", BindStateless},
      {"StatelessShuffle", BindPlain<RunStatelessShuffle>},
  });
}

}  // namespace

std::span<const KernelDef> RandomDistributionKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
