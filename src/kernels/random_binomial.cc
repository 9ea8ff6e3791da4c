// SPDX-License-Identifier: Apache-2.0
//
// Binomial random numbers. As in random_distributions.cc each value has draws of its own, which are
// TensorFlow's.
#include <cmath>
#include <limits>

#include "kernels/broadcast.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/random_draws.h"
#include "kernels/random_sources.h"

namespace slipway::kernels {
namespace {

// Blocks of draws between one value and the next.
constexpr uint64_t kByInversion = 42, kByRejection = 256;

// Sums geometric waiting times until they are over the count (Devroye 1986, p. 525).
double DrawByInversion(double count, double prob, PairedDraws& draws) {
  double sum = 0;
  for (double successes = 0;; successes += 1) {
    sum += std::ceil(std::log(draws.Uniform()) / std::log1p(-prob));
    if (sum > count) return successes;
  }
}

// log(k!) - (log(sqrt(2 pi)) + (k + 1/2) log(k + 1) - (k + 1))
double StirlingTail(double k) {
  static constexpr double kSmall[] = {
      0.0810614667953272,  0.0413406959554092,  0.0276779256849983, 0.02079067210376509,
      0.0166446911898211,  0.0138761288230707,  0.0118967099458917, 0.0104112652619720,
      0.00925546218271273, 0.00833056343336287,
  };
  if (k <= 9) return kSmall[static_cast<int>(k)];
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

// Hoermann's transformed rejection (1993), BTRS.
double DrawByRejection(double count, double prob, PairedDraws& draws) {
  const double deviation = std::sqrt(count * prob * (1 - prob));
  const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * prob;
  const double c = count * prob + 0.5, v_r = 0.92 - 4.2 / b, odds = prob / (1 - prob);
  const double alpha = (2.83 + 5.1 / b) * deviation, m = std::floor((count + 1) * prob);
  for (;;) {
    const double u = draws.Uniform() - 0.5, v = draws.Uniform();
    const double us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + c);
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || k > count) continue;
    const double bound = (m + 0.5) * std::log((m + 1) / (odds * (count - m + 1))) +
                         (count + 1) * std::log((count - m + 1) / (count - k + 1)) +
                         (k + 0.5) * std::log(odds * (count - k + 1) / (k + 1)) + StirlingTail(m) +
                         StirlingTail(count - m) - StirlingTail(k) - StirlingTail(count - k);
    if (std::log(v * alpha / (a / (us * us) + b)) <= bound) return k;
  }
}

// Value `at` of all. Count and probability are of the type T, in which TensorFlow reckons what
// decides between the methods.
template <typename T>
double DrawBinomial(T count, T prob, Philox own, int64_t at) {
  const auto wide_count = static_cast<double>(Widen(count));
  if (wide_count <= 0 || Widen(prob) <= 0) return 0;
  if (Widen(prob) >= 1) return wide_count;
  if (std::isnan(Widen(prob)) || !std::isfinite(wide_count)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const bool mirrored = Widen(prob) > 0.5;
  const T rare = mirrored ? T(WideOf<T>(1) - Widen(prob)) : prob;
  const bool rejects = Widen(T(Widen(count) * Widen(rare))) >= 10;
  own.Skip((rejects ? kByRejection : kByInversion) * static_cast<uint64_t>(at));
  PairedDraws draws(own);
  const auto p = static_cast<double>(Widen(rare));
  const double drawn =
      rejects ? DrawByRejection(wide_count, p, draws) : DrawByInversion(wide_count, p, draws);
  return mirrored ? wide_count - drawn : drawn;
}

struct Inputs {
  const Tensor& counts;
  const Tensor& probs;
  Broadcast both;
};

// Output [samples…, parameters…]: all values of one parameter follow each other in the draws.
template <typename T>
void FillBinomial(KernelContext& c, const Inputs& in, const Philox& base, Tensor* y) {
  const T* counts = in.counts.flat<T>().data();
  const T* probs = in.probs.flat<T>().data();
  const int64_t total = y->num_elements(), params = in.both.output.num_elements();
  const int64_t samples = total / params;
  SwitchType<int>(DrawTypes{}, y->dtype(), [&]<typename Out>() {
    Out* out = y->flat<Out>().data();
    c.intra_op().ParallelFor(total, 512, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t param = i / samples;
        in.both.ForEachRun(param, param + 1, [&](const int64_t* offsets, int64_t, int64_t) {
          const double v = DrawBinomial(counts[offsets[0]], probs[offsets[1]], base, i);
          out[i % samples * params + param] = ToValue<Out>(v);
        });
      }
    });
    return 0;
  });
}

Status RunStateless(KernelContext& c) {
  ASSIGN_OR_RETURN(const Shape shape, ReadShape(c.input(0), "shape"));
  ASSIGN_OR_RETURN(const Philox base, FromSeed(c.input(1)));
  Inputs in{c.input(2), c.input(3), {}};
  const Shape* shapes[] = {&in.counts.shape(), &in.probs.shape()};
  RETURN_IF_ERROR(Broadcast::Make(shapes, &in.both));
  RETURN_IF_ERROR(CheckEnd(shape, in.both.output));
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, shape));
  if (y->num_elements() == 0) return OkStatus();
  SwitchType<int>(TypeList<float, double, Half>{}, in.counts.dtype(), [&]<typename T>() {
    FillBinomial<T>(c, in, base, y);
    return 0;
  });
  return OkStatus();
}

StatusOr<KernelFn> Bind(const BindContext&) { return KernelFn(RunStateless); }

std::vector<KernelDef> MakeTable() {
  return MakeKernels({
      {"StatelessRandomBinomial", Bind, {DType::kHalf, DType::kFloat, DType::kDouble}},
  });
}

}  // namespace

std::span<const KernelDef> RandomBinomialKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
