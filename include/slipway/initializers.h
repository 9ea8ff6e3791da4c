// SPDX-License-Identifier: Apache-2.0
//
// How weights get their first values: Keras's initialisers, with Keras's names and defaults. The
// same seed gives the numbers that Keras gives (Philox, float32).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace slipway {

// A value type: which distribution, with which numbers.
struct Initializer {
  enum class Kind { kConstant, kUniform, kNormal, kTruncatedNormal, kVarianceScaling };
  enum class Mode { kFanIn, kFanOut, kFanAvg };
  enum class Distribution { kTruncatedNormal, kUntruncatedNormal, kUniform };

  std::string class_name = "Zeros";  // as Keras's configs spell it: "GlorotUniform"
  Kind kind = Kind::kConstant;
  double a = 0;  // the constant; the lower bound; the mean; the scale of kVarianceScaling
  double b = 0;  // the upper bound; the standard deviation
  Mode mode = Mode::kFanIn;
  Distribution distribution = Distribution::kTruncatedNormal;
  // Nothing: one is drawn from the model's seed. One seed always gives the same numbers, so two
  // layers with one seed start alike.
  std::optional<int64_t> seed;
};

namespace initializers {

Initializer Zeros();
Initializer Ones();
Initializer Constant(double value);
Initializer RandomUniform(double minval = -0.05, double maxval = 0.05,
                          std::optional<int64_t> seed = {});
Initializer RandomNormal(double mean = 0, double stddev = 0.05, std::optional<int64_t> seed = {});
// Numbers further than two standard deviations from the mean are drawn again.
Initializer TruncatedNormal(double mean = 0, double stddev = 0.05,
                            std::optional<int64_t> seed = {});
Initializer VarianceScaling(
    double scale = 1, Initializer::Mode mode = Initializer::Mode::kFanIn,
    Initializer::Distribution distribution = Initializer::Distribution::kTruncatedNormal,
    std::optional<int64_t> seed = {});
Initializer GlorotUniform(std::optional<int64_t> seed = {});
Initializer GlorotNormal(std::optional<int64_t> seed = {});
Initializer HeUniform(std::optional<int64_t> seed = {});
Initializer HeNormal(std::optional<int64_t> seed = {});
Initializer LecunUniform(std::optional<int64_t> seed = {});
Initializer LecunNormal(std::optional<int64_t> seed = {});

}  // namespace initializers
}  // namespace slipway
