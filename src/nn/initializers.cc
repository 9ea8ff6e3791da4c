// SPDX-License-Identifier: Apache-2.0
#include "slipway/initializers.h"

#include <cmath>

#include "nn/random.h"
#include "nn/variable.h"

namespace slipway {
namespace initializers {

using Kind = Initializer::Kind;
using Mode = Initializer::Mode;
using Distribution = Initializer::Distribution;

Initializer Zeros() { return {.class_name = "Zeros"}; }
Initializer Ones() { return {.class_name = "Ones", .a = 1}; }
Initializer Constant(double value) { return {.class_name = "Constant", .a = value}; }

Initializer RandomUniform(double minval, double maxval, std::optional<int64_t> seed) {
  return {.class_name = "RandomUniform",
          .kind = Kind::kUniform,
          .a = minval,
          .b = maxval,
          .seed = seed};
}

Initializer RandomNormal(double mean, double stddev, std::optional<int64_t> seed) {
  return {
      .class_name = "RandomNormal", .kind = Kind::kNormal, .a = mean, .b = stddev, .seed = seed};
}

Initializer TruncatedNormal(double mean, double stddev, std::optional<int64_t> seed) {
  return {.class_name = "TruncatedNormal",
          .kind = Kind::kTruncatedNormal,
          .a = mean,
          .b = stddev,
          .seed = seed};
}

namespace {
Initializer Scaled(const char* name, double scale, Mode mode, Distribution distribution,
                   std::optional<int64_t> seed) {
  return {.class_name = name,
          .kind = Kind::kVarianceScaling,
          .a = scale,
          .mode = mode,
          .distribution = distribution,
          .seed = seed};
}
}  // namespace

Initializer VarianceScaling(double scale, Mode mode, Distribution distribution,
                            std::optional<int64_t> seed) {
  return Scaled("VarianceScaling", scale, mode, distribution, seed);
}
Initializer GlorotUniform(std::optional<int64_t> seed) {
  return Scaled("GlorotUniform", 1, Mode::kFanAvg, Distribution::kUniform, seed);
}
Initializer GlorotNormal(std::optional<int64_t> seed) {
  return Scaled("GlorotNormal", 1, Mode::kFanAvg, Distribution::kTruncatedNormal, seed);
}
Initializer HeUniform(std::optional<int64_t> seed) {
  return Scaled("HeUniform", 2, Mode::kFanIn, Distribution::kUniform, seed);
}
Initializer HeNormal(std::optional<int64_t> seed) {
  return Scaled("HeNormal", 2, Mode::kFanIn, Distribution::kTruncatedNormal, seed);
}
Initializer LecunUniform(std::optional<int64_t> seed) {
  return Scaled("LecunUniform", 1, Mode::kFanIn, Distribution::kUniform, seed);
}
Initializer LecunNormal(std::optional<int64_t> seed) {
  return Scaled("LecunNormal", 1, Mode::kFanIn, Distribution::kTruncatedNormal, seed);
}

}  // namespace initializers

namespace nn {
namespace {

// The standard deviation of a normal distribution cut at two standard deviations.
constexpr double kTruncatedStddev = 0.87962566103423978;

double FanOf(const Initializer& initializer, const Shape& shape) {
  Fans fans = ComputeFans(shape);
  switch (initializer.mode) {
    case Initializer::Mode::kFanIn:
      return std::max(1.0, fans.in);
    case Initializer::Mode::kFanOut:
      return std::max(1.0, fans.out);
    case Initializer::Mode::kFanAvg:
      return std::max(1.0, (fans.in + fans.out) / 2);
  }
  return 1;
}

// The distribution that scaling by the fans comes down to.
Initializer Resolved(Initializer initializer, const Shape& shape) {
  if (initializer.kind != Initializer::Kind::kVarianceScaling) return initializer;
  double variance = initializer.a / FanOf(initializer, shape);
  switch (initializer.distribution) {
    case Initializer::Distribution::kUniform:
      initializer.kind = Initializer::Kind::kUniform;
      initializer.b = std::sqrt(3 * variance);
      initializer.a = -initializer.b;
      break;
    case Initializer::Distribution::kUntruncatedNormal:
      initializer.kind = Initializer::Kind::kNormal;
      initializer.a = 0;
      initializer.b = std::sqrt(variance);
      break;
    case Initializer::Distribution::kTruncatedNormal:
      initializer.kind = Initializer::Kind::kTruncatedNormal;
      initializer.a = 0;
      initializer.b = std::sqrt(variance) / kTruncatedStddev;
      break;
  }
  return initializer;
}

// low + (high - low) * draw, each step in float32 as Keras's backend does it.
ir::Output Spread(ir::GraphBuilder& b, ir::Output draw, float scale, float shift) {
  return b.Op("AddV2", {b.Op("Mul", {draw, b.Scalar(scale)}), b.Scalar(shift)});
}

}  // namespace

Fans ComputeFans(const Shape& shape) {
  int rank = shape.rank();
  if (rank == 0) return {};
  auto size = [&](int i) { return static_cast<double>(shape.dim(i)); };
  if (rank == 1) return {size(0), size(0)};
  double field = 1;
  for (int i = 0; i < rank - 2; ++i) field *= size(i);
  return {size(rank - 2) * field, size(rank - 1) * field};
}

bool IsRandom(const Initializer& initializer) {
  return initializer.kind != Initializer::Kind::kConstant;
}

ir::Output BuildInitialValue(ir::GraphBuilder& b, const Variable& variable) {
  if (variable.initial.valid()) return b.Const(variable.initial);
  Initializer init = Resolved(variable.initializer, variable.shape);
  std::vector<int32_t> dims(variable.shape.dims().begin(), variable.shape.dims().end());
  ir::Output shape = b.Int32Vector(dims);
  if (!IsRandom(init)) {
    ir::Output one = variable.dtype == DType::kInt64 ? b.Scalar(static_cast<int64_t>(init.a))
                                                     : b.Scalar(static_cast<float>(init.a));
    return b.Op("Fill", {shape, one});
  }
  ir::Output seed =
      b.Const(Tensor::Vector<int32_t>({FoldedSeed(init.seed.value_or(0)), 0}), "seed");
  float a = static_cast<float>(init.a);
  float range = init.kind == Initializer::Kind::kUniform ? static_cast<float>(init.b) - a
                                                         : static_cast<float>(init.b);
  const char* op = init.kind == Initializer::Kind::kUniform  ? "StatelessRandomUniformV2"
                   : init.kind == Initializer::Kind::kNormal ? "StatelessRandomNormalV2"
                                                             : "StatelessTruncatedNormalV2";
  return Spread(b, StatelessRandom(b, op, shape, seed), range, a);
}

}  // namespace nn
}  // namespace slipway
