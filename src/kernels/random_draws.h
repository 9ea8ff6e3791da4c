// SPDX-License-Identifier: Apache-2.0
//
// What the distributions that take an unknown number of draws have in common.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/random.h"
#include "base/strings.h"
#include "kernels/types.h"
#include "slipway/shape.h"
#include "slipway/tensor.h"

namespace slipway::kernels {

// Uniform and normal doubles in pairs, the second of each pair first.
class PairedDraws {
 public:
  explicit PairedDraws(Philox generator) : generator_(generator) {}

  double Uniform() {
    if (uniforms_ == 0) {
      const Philox::Block w = generator_.Next();
      uniform_[0] = UniformDouble(w[0], w[1]);
      uniform_[1] = UniformDouble(w[2], w[3]);
      uniforms_ = 2;
    }
    return uniform_[--uniforms_];
  }
  double Normal() {
    if (normals_ == 0) {
      const Philox::Block w = generator_.Next();
      const double u1 = std::max(UniformDouble(w[0], w[1]), 1.0e-7);
      const double angle = 2.0 * std::numbers::pi * UniformDouble(w[2], w[3]);
      const double radius = std::sqrt(-2.0 * std::log(u1));
      normal_[0] = std::sin(angle) * radius;
      normal_[1] = std::cos(angle) * radius;
      normals_ = 2;
    }
    return normal_[--normals_];
  }

 private:
  Philox generator_;
  double uniform_[2], normal_[2];
  size_t uniforms_ = 0, normals_ = 0;
};

// What parameters and values may be.
using DrawTypes = TypeList<float, double, Half, BFloat16, int32_t, int64_t>;

inline double NumberAt(const Tensor& t, int64_t i) {
  return SwitchType<double>(DrawTypes{}, t.dtype(), [&]<typename T>() {
    return static_cast<double>(Widen(t.flat<T>()[static_cast<size_t>(i)]));
  });
}

template <typename T>
T ToValue(double v) {
  if constexpr (std::is_integral_v<T>) {
    if (!(v > -9.2e18 && v < 9.2e18)) return std::numeric_limits<T>::min();
    return static_cast<T>(static_cast<int64_t>(v));
  } else {
    return T(static_cast<WideOf<T>>(v));
  }
}

// shape must end with the parameters' shape.
inline Status CheckEnd(const Shape& shape, const Shape& end) {
  bool fits = shape.rank() >= end.rank();
  for (int d = 0; fits && d < end.rank(); ++d) {
    fits = shape.dim(shape.rank() - end.rank() + d) == end.dim(d);
  }
  return fits ? OkStatus()
              : InvalidArgumentError(
                    StrCat("Shape passed in must end with broadcasted shape: ", shape.ToString(),
                           " does not end with ", end.ToString()));
}

}  // namespace slipway::kernels
