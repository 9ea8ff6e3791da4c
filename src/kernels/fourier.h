// SPDX-License-Identifier: Apache-2.0
//
// Discrete Fourier transforms of any length, in double precision.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace slipway::kernels {

// The tables for one length. Immutable; from any thread.
//
// Lengths of small prime factors are split by Cooley and Tukey's method; one with a large prime
// factor becomes a convolution (Bluestein), so that no length costs more than n log n.
class FourierPlan {
 public:
  using Complex = std::complex<double>;

  // The plan for n >= 1 numbers; the last few are kept and shared.
  static std::shared_ptr<const FourierPlan> ForLength(int64_t n);
  explicit FourierPlan(int64_t n);

  int64_t length() const { return n_; }
  // Complex numbers that Forward needs as scratch.
  int64_t scratch_size() const { return convolution_ == nullptr ? n_ : 3 * convolution_->n_; }
  // line[k] becomes the sum of line[t] exp(-2 pi i k t / n), in place.
  void Forward(Complex* line, Complex* scratch) const;
  // The same with the other sign, divided by n.
  void Inverse(Complex* line, Complex* scratch) const;

 private:
  void Split(size_t level, int64_t n, const Complex* x, int64_t stride, Complex* y) const;
  void Join(int64_t p, int64_t m, Complex* y) const;
  void Convolve(Complex* line, Complex* scratch) const;

  const int64_t n_;
  std::vector<int64_t> factors_;
  std::vector<Complex> roots_;  // exp(-2 pi i k / n)
  // Of Bluestein's method: exp(-pi i k^2 / n), and the transform of its inverse, padded.
  std::unique_ptr<FourierPlan> convolution_;
  std::vector<Complex> chirp_, kernel_;
};

}  // namespace slipway::kernels
