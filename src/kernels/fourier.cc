// SPDX-License-Identifier: Apache-2.0
#include "kernels/fourier.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>

namespace slipway::kernels {
namespace {

constexpr int64_t kLargestFactor = 31;
constexpr size_t kKeptPlans = 32;

FourierPlan::Complex Root(int64_t k, int64_t n) {
  const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
  return {std::cos(angle), std::sin(angle)};
}

std::vector<int64_t> FactorsOf(int64_t n) {
  std::vector<int64_t> factors;
  for (int64_t p = 2; p <= kLargestFactor && n > 1; p += p == 2 ? 1 : 2) {
    for (; n % p == 0; n /= p) factors.push_back(p);
  }
  if (n > 1) factors.push_back(n);  // too large: not for splitting
  return factors;
}

}  // namespace

std::shared_ptr<const FourierPlan> FourierPlan::ForLength(int64_t n) {
  static std::mutex mutex;
  static std::map<int64_t, std::shared_ptr<const FourierPlan>> plans;
  std::lock_guard lock(mutex);
  auto it = plans.find(n);
  if (it != plans.end()) return it->second;
  auto plan = std::make_shared<const FourierPlan>(n);
  if (plans.size() >= kKeptPlans) plans.clear();
  plans.emplace(n, plan);
  return plan;
}

FourierPlan::FourierPlan(int64_t n) : n_(n), factors_(FactorsOf(n)) {
  if (factors_.empty() || factors_.back() <= kLargestFactor) {
    roots_.resize(static_cast<size_t>(n));
    for (int64_t k = 0; k < n; ++k) roots_[static_cast<size_t>(k)] = Root(k, n);
    return;
  }
  int64_t size = 1;
  while (size < 2 * n - 1) size *= 2;
  convolution_ = std::make_unique<FourierPlan>(size);
  chirp_.resize(static_cast<size_t>(n));
  kernel_.assign(static_cast<size_t>(size), 0);
  int64_t square = 0;  // k^2 modulo 2n
  for (int64_t k = 0; k < n; ++k) {
    const Complex value = Root(square, 2 * n);
    chirp_[static_cast<size_t>(k)] = value;
    kernel_[static_cast<size_t>(k)] = std::conj(value);
    if (k > 0) kernel_[static_cast<size_t>(size - k)] = std::conj(value);
    square = (square + 2 * k + 1) % (2 * n);
  }
  std::vector<Complex> scratch(static_cast<size_t>(size));
  convolution_->Forward(kernel_.data(), scratch.data());
}

void FourierPlan::Forward(Complex* line, Complex* scratch) const {
  if (convolution_ != nullptr) return Convolve(line, scratch);
  std::copy_n(line, n_, scratch);
  Split(0, n_, scratch, 1, line);
}

void FourierPlan::Inverse(Complex* line, Complex* scratch) const {
  for (int64_t i = 0; i < n_; ++i) line[i] = std::conj(line[i]);
  Forward(line, scratch);
  const double scale = 1 / static_cast<double>(n_);
  for (int64_t i = 0; i < n_; ++i) line[i] = std::conj(line[i]) * scale;
}

void FourierPlan::Split(size_t level, int64_t n, const Complex* x, int64_t stride,
                        Complex* y) const {
  if (n == 1) {
    *y = *x;
    return;
  }
  const int64_t p = factors_[level], m = n / p;
  for (int64_t r = 0; r < p; ++r) Split(level + 1, m, x + r * stride, stride * p, y + r * m);
  Join(p, m, y);
}

// p transforms of m numbers, one behind the other, become one of p * m.
void FourierPlan::Join(int64_t p, int64_t m, Complex* y) const {
  const int64_t step = n_ / (p * m);
  const Complex* roots = roots_.data();
  if (p == 2) {
    for (int64_t k = 0; k < m; ++k) {
      const Complex odd = y[m + k] * roots[k * step], even = y[k];
      y[k] = even + odd;
      y[m + k] = even - odd;
    }
    return;
  }
  Complex part[kLargestFactor];
  for (int64_t k = 0; k < m; ++k) {
    for (int64_t r = 0; r < p; ++r) part[r] = y[r * m + k] * roots[r * k * step];
    for (int64_t q = 0; q < p; ++q) {
      Complex sum = part[0];
      for (int64_t r = 1; r < p; ++r) sum += part[r] * roots[q * r % p * (n_ / p)];
      y[q * m + k] = sum;
    }
  }
}

void FourierPlan::Convolve(Complex* line, Complex* scratch) const {
  const int64_t size = convolution_->n_;
  Complex* work = scratch;
  std::fill_n(work, size, Complex(0));
  for (int64_t k = 0; k < n_; ++k) work[k] = line[k] * chirp_[static_cast<size_t>(k)];
  convolution_->Forward(work, scratch + size);
  for (int64_t k = 0; k < size; ++k) work[k] *= kernel_[static_cast<size_t>(k)];
  convolution_->Inverse(work, scratch + size);
  for (int64_t k = 0; k < n_; ++k) line[k] = work[k] * chirp_[static_cast<size_t>(k)];
}

}  // namespace slipway::kernels
