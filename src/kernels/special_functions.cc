// SPDX-License-Identifier: Apache-2.0
#include "kernels/special_functions.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

namespace slipway::kernels {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kPi = std::numbers::pi;

double LogGamma(double x) {
  int sign = 0;  // lgamma's own variable for it is not safe with threads
  return lgamma_r(x, &sign);
}

// exp(-|x|) I_n(|x|), n = 0 or 1: all terms of the power series are positive, so nothing cancels;
// from 30 on the asymptotic series has reached its precision before it diverges.
double BesselIScaled(int n, double x) {
  const double a = std::abs(x);
  if (a <= 30) {
    double term = n == 0 ? 1 : a / 2, sum = term;
    for (int k = 1; term > kEpsilon / 8 * sum; ++k) {
      term *= a * a / 4 / (static_cast<double>(k) * (k + n));
      sum += term;
    }
    return sum * std::exp(-a);
  }
  if (std::isinf(a)) return 0;
  const double mu = 4.0 * n * n;
  double term = 1, sum = 1;
  for (int k = 1; k < 40 && std::abs(term) > kEpsilon / 8; ++k) {
    const double odd = 2.0 * k - 1;
    term *= (odd * odd - mu) / (8.0 * a * k);
    sum += term;
  }
  return sum / std::sqrt(2 * kPi * a);
}

// exp(x) K_n(x) as the integral of exp(x (1 - cosh t)) cosh(n t): the trapezoidal rule converges
// exponentially here. The integrand is as narrow as 1 / sqrt(x).
double BesselKIntegral(int n, double x) {
  const double step = (x > 40 ? std::sqrt(40 / x) : 1) / 16;
  double sum = 0.5;
  for (int i = 1;; ++i) {
    const double t = i * step, s = std::sinh(t / 2);
    const double value = std::exp(-2 * x * s * s) * (n == 0 ? 1 : std::cosh(t));
    sum += value;
    if (value < kEpsilon / 8 * sum) return sum * step;
  }
}

// K_n(x) for 0 < x <= 2 by its series.
double BesselKSeries(int n, double x) {
  const double log_half = std::log(x / 2), q = x * x / 4;
  double term = 1, harmonic = 0, sum = 0;
  if (n == 0) {
    for (int k = 0; k < 30; ++k) {
      sum += term * (harmonic - std::numbers::egamma - log_half);
      term *= q / ((k + 1.0) * (k + 1.0));
      harmonic += 1.0 / (k + 1);
    }
    return sum;
  }
  for (int k = 0; k < 30; ++k) {  // psi(k + 1) + psi(k + 2)
    const double psi = 2 * harmonic + 1.0 / (k + 1) - 2 * std::numbers::egamma;
    sum += term * (log_half - psi / 2);
    term *= q / ((k + 1.0) * (k + 2.0));
    harmonic += 1.0 / (k + 1);
  }
  return 1 / x + x / 2 * sum;
}

double BesselKScaled(int n, double x) {
  if (std::isnan(x)) return kNan;
  if (x <= 0) return kInf;
  if (std::isinf(x)) return 0;
  return x <= 2 ? BesselKSeries(n, x) * std::exp(x) : BesselKIntegral(n, x);
}

// The continued fraction of erfc, for the Fresnel integrals of x >= 1.5.
std::complex<double> FresnelFraction(double x) {
  using Complex = std::complex<double>;
  const double square = kPi * x * x;
  Complex b(1, -square), c(1e300, 0), d = 1.0 / b, h = d;
  for (double n = 1; n < 400; n += 2) {
    const double a = -n * (n + 1);
    b += 4.0;
    d = 1.0 / (a * d + b);
    c = b + a / c;
    const Complex step = c * d;
    h *= step;
    if (std::abs(step - 1.0) < kEpsilon) break;
  }
  h *= Complex(x, -x);
  const Complex turn(std::cos(square / 2), std::sin(square / 2));
  return Complex(0.5, 0.5) * (1.0 - turn * h);
}

// C(x) + i S(x).
std::complex<double> Fresnel(double x) {
  const double a = std::abs(x);
  std::complex<double> value;
  if (a < 1.5) {
    const double t = kPi / 2 * a * a;
    double term = a, real = 0, imaginary = 0;
    for (int k = 0; k < 60 && term != 0; ++k) {  // a (i t)^k / (k! (2k + 1))
      const double part = term / (2 * k + 1) * (k % 4 < 2 ? 1 : -1);
      (k % 2 == 0 ? real : imaginary) += part;
      term *= t / (k + 1);
    }
    value = {real, imaginary};
  } else {
    value = a < 1e8 ? FresnelFraction(a) : std::complex<double>(0.5, 0.5);
  }
  return std::isnan(x) ? std::complex<double>(kNan, kNan) : x < 0 ? -value : value;
}

// Li2(1 - x) for 1/2 <= x <= 2, in powers of u = -log(x) with Bernoulli's numbers.
double SpenceSeries(double x) {
  constexpr double kCoefficients[] = {1.0 / 36,
                                      -1.0 / 3600,
                                      1.0 / 211680,
                                      -1.0 / 10886400,
                                      1.0 / 526901760,
                                      -4.0647616451442255e-11,
                                      8.9216910204564526e-13,
                                      -1.9939295860721076e-14,
                                      4.5189800296199182e-16};
  const double u = -std::log(x), square = u * u;
  double power = u * square, sum = u - square / 4;
  for (double coefficient : kCoefficients) {
    sum += coefficient * power;
    power *= square;
  }
  return sum;
}

// x^a e^-x / Gamma(a + 1), without overflow.
double GammaDensity(double a, double x) { return std::exp(a * std::log(x) - x - LogGamma(a + 1)); }

double GammaSeries(double a, double x) {
  double term = 1, sum = 1, n = a;
  for (int i = 0; i < 100000 && term > kEpsilon * sum; ++i) {
    n += 1;
    term *= x / n;
    sum += term;
  }
  return sum * GammaDensity(a, x);
}

// The upper function, by Lentz's method for its continued fraction.
double GammaFraction(double a, double x) {
  constexpr double kTiny = 1e-300;
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, h = d;
  for (int i = 1; i < 100000; ++i) {
    const double an = -i * (i - a);
    b += 2;
    d = an * d + b;
    if (std::abs(d) < kTiny) d = kTiny;
    c = b + an / c;
    if (std::abs(c) < kTiny) c = kTiny;
    d = 1 / d;
    const double step = d * c;
    h *= step;
    if (std::abs(step - 1) < kEpsilon) break;
  }
  return h * std::exp(a * std::log(x) - x - LogGamma(a));
}

double BetaFraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  const auto tiny = [](double v) { return std::abs(v) < kTiny ? kTiny : v; };
  double c = 1, d = 1 / tiny(1 - (a + b) * x / (a + 1)), h = d;
  for (int m = 1; m < 20000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / tiny(1 + even * d);
    c = tiny(1 + even / c);
    h *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / tiny(1 + odd * d);
    c = tiny(1 + odd / c);
    h *= d * c;
    if (std::abs(d * c - 1) < kEpsilon) break;
  }
  return h;
}

}  // namespace

double BesselI0e(double x) { return BesselIScaled(0, x); }
double BesselI0(double x) { return BesselIScaled(0, x) * std::exp(std::abs(x)); }
double BesselI1e(double x) { return std::copysign(BesselIScaled(1, x), x); }
double BesselI1(double x) { return BesselI1e(x) * std::exp(std::abs(x)); }

double BesselK0e(double x) { return BesselKScaled(0, x); }
double BesselK0(double x) {
  return x > 0 && x <= 2 ? BesselKSeries(0, x) : BesselKScaled(0, x) * std::exp(-x);
}
double BesselK1e(double x) { return BesselKScaled(1, x); }
double BesselK1(double x) {
  return x > 0 && x <= 2 ? BesselKSeries(1, x) : BesselKScaled(1, x) * std::exp(-x);
}

double BesselJ0(double x) { return std::isinf(x) ? kNan : j0(x); }
double BesselJ1(double x) { return std::isinf(x) ? kNan : j1(x); }
double BesselY0(double x) { return x <= 0 ? -kInf : std::isinf(x) ? kNan : y0(x); }
double BesselY1(double x) { return x <= 0 ? -kInf : std::isinf(x) ? kNan : y1(x); }

double Dawson(double x) {
  const double a = std::abs(x);
  if (!(a >= 0.25)) {  // the series, by its recurrence; NaN stays
    double term = x, sum = x;
    for (int k = 1; k < 20; ++k) {
      term *= -2 * x * x / (2 * k + 1);
      sum += term;
    }
    return sum;
  }
  if (a > 25) {
    const double i = 1 / (2 * x * x);
    return (1 + i * (1 + i * (3 + i * (15 + i * (105 + i * 945))))) / (2 * x);
  }
  // Rybicki's sampling formula with odd multiples of the step.
  constexpr double kStep = 0.25;
  const int center = static_cast<int>(a / kStep / 2) * 2 + 1;
  double sum = 0;
  for (int n = center - 50; n <= center + 50; n += 2) {
    const double d = a - n * kStep;
    sum += std::exp(-d * d) / n;
  }
  return std::copysign(sum / std::sqrt(kPi), x);
}

double ExponentialIntegral(double x) {
  if (std::isnan(x) || x < 0) return kNan;
  if (x == 0) return -kInf;
  if (std::isinf(x)) return kNan;  // as TensorFlow
  if (x < 40) {
    double term = 1, sum = 0;
    for (int k = 1; k < 400 && term > kEpsilon / 8 * sum; ++k) {
      term *= x / k;
      sum += term / k;
    }
    return std::numbers::egamma + std::log(x) + sum;
  }
  double term = 1, sum = 1;
  for (int k = 1; k < x && term > kEpsilon / 8; ++k) {
    term *= k / x;
    sum += term;
  }
  return std::exp(x - std::log(x)) * sum;
}

double FresnelCosine(double x) { return Fresnel(x).real(); }
double FresnelSine(double x) { return Fresnel(x).imag(); }

double Spence(double x) {
  if (std::isnan(x) || x < 0) return kNan;
  if (x == 0) return kPi * kPi / 6;
  if (std::isinf(x)) return kNan;  // as TensorFlow
  if (x > 2) {
    const double log = std::log(x);
    return -log * log / 2 - Spence(1 / x);
  }
  if (x < 0.5) return kPi * kPi / 6 - std::log(x) * std::log1p(-x) - SpenceSeries(1 - x);
  return SpenceSeries(x);
}

double Digamma(double x) {
  if (x <= 0) {
    if (x == std::floor(x)) return kNan;
    return Digamma(1 - x) - kPi / std::tan(kPi * x);
  }
  double shift = 0;
  for (; x < 10; x += 1) shift += 1 / x;
  const double i = 1 / (x * x);
  const double series =
      i * (1.0 / 12 - i * (1.0 / 120 - i * (1.0 / 252 - i * (1.0 / 240 - i * (1.0 / 132)))));
  return std::log(x) - 0.5 / x - series - shift;
}

double Polygamma(double n, double x) {
  if (!(n >= 0) || n != std::floor(n)) return kNan;
  if (n == 0) return Digamma(x);
  const double sign = std::fmod(n, 2) == 0 ? -1 : 1;
  return sign * std::exp(LogGamma(n + 1)) * HurwitzZeta(n + 1, x);
}

double HurwitzZeta(double x, double q) {
  if (std::isnan(x) || std::isnan(q)) return kNan;
  if (x == 1) return kInf;
  if (x < 1) return kNan;
  if (q <= 0) {
    if (q == std::floor(q)) return x == std::floor(x) && std::fmod(x, 2) == 0 ? kInf : kNan;
    if (x != std::floor(x)) return kNan;
    // The terms left of 0, backwards, are those of a function that begins right of it.
    const double count = std::ceil(-q), first = 1 - (q + count);
    const double left = HurwitzZeta(x, first) - HurwitzZeta(x, first + count);
    return HurwitzZeta(x, q + count) + (std::fmod(x, 2) == 0 ? left : -left);
  }
  // Some terms one by one, the rest by Euler and Maclaurin.
  double sum = 0, a = q;
  for (int i = 0; i < 12; ++i, a += 1) sum += std::pow(a, -x);
  constexpr double kTerms[] = {1.0 / 12,         -1.0 / 720,     1.0 / 30240,
                               -1.0 / 1209600,   1.0 / 47900160, -691.0 / 1307674368000,
                               1.0 / 74724249600};
  const double power = std::pow(a, -x);
  sum += power * a / (x - 1) + power / 2;
  double factor = x * power / a;
  for (int k = 0; k < 7; ++k) {
    sum += kTerms[k] * factor;
    factor *= (x + 2 * k + 1) * (x + 2 * k + 2) / (a * a);
  }
  return sum;
}

double IncompleteGammaP(double a, double x) {
  if (x == 0) return 0;
  if (!(x > 0) || !(a > 0)) return kNan;
  if (std::isinf(a)) return std::isinf(x) ? kNan : 0;
  if (std::isinf(x)) return 1;
  return x > 1 && x > a ? 1 - GammaFraction(a, x) : GammaSeries(a, x);
}

double IncompleteGammaQ(double a, double x) {
  if (!(x >= 0) || !(a > 0)) return kNan;
  if (x == 0) return 1;
  if (std::isinf(a)) return std::isinf(x) ? kNan : 1;
  if (std::isinf(x)) return 0;
  return x < 1 || x < a ? 1 - GammaSeries(a, x) : GammaFraction(a, x);
}

// Term by term from P = x^a e^-x / Gamma(a + 1) (1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + …).
double IncompleteGammaPByA(double a, double x) {
  if (!(x >= 0) || !(a > 0)) return kNan;
  if (x == 0 || std::isinf(x) || std::isinf(a)) return 0;
  // So far from a that nothing is left of it.
  if (x > a + 40 * std::sqrt(a) + 800) return 0;
  double term = 1, sum = 1, harmonic = 0, by_a = 0;
  constexpr int kMostTerms = 1000000;
  for (int n = 1; n < kMostTerms; ++n) {
    term *= x / (a + n);
    harmonic += 1 / (a + n);
    sum += term;
    by_a -= term * harmonic;
    if (term * (1 + harmonic) < 1e-17 * sum) break;
  }
  const double scale = std::exp(a * std::log(x) - x - LogGamma(a + 1));
  return scale * (sum * (std::log(x) - Digamma(a + 1)) + by_a);
}

double IncompleteBeta(double a, double b, double x) {
  if (!(a > 0) || !(b > 0) || !(x >= 0) || x > 1) return kNan;
  if (x == 0 || x == 1) return x;
  const double scale =
      std::exp(LogGamma(a + b) - LogGamma(a) - LogGamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return scale * BetaFraction(a, b, x) / a;
  return 1 - scale * BetaFraction(b, a, 1 - x) / b;
}

}  // namespace slipway::kernels
