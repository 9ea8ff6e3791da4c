// SPDX-License-Identifier: Apache-2.0
//
// Special functions of real numbers, computed in double whatever the tensor holds. Poles, domains
// and limits are TensorFlow's; each is good to about 1e-13 relative where it is not near a zero.
// No function fails: outside its domain it is NaN.
#pragma once

namespace slipway::kernels {

// Modified Bessel functions of the first kind; the "e" forms times exp(-|x|).
double BesselI0(double x);
double BesselI0e(double x);
double BesselI1(double x);
double BesselI1e(double x);
// Of the second kind; the "e" forms times exp(x). Infinite for x <= 0.
double BesselK0(double x);
double BesselK0e(double x);
double BesselK1(double x);
double BesselK1e(double x);
// Bessel functions of the first and the second kind. NaN for infinite x.
double BesselJ0(double x);
double BesselJ1(double x);
double BesselY0(double x);
double BesselY1(double x);
// exp(-x^2) times the integral of exp(t^2) from 0 to x.
double Dawson(double x);
// The exponential integral Ei.
double ExponentialIntegral(double x);
// The integrals of cos(pi t^2 / 2) and sin(pi t^2 / 2) from 0 to x.
double FresnelCosine(double x);
double FresnelSine(double x);
// The dilogarithm Li2(1 - x).
double Spence(double x);

// psi, the logarithmic derivative of the gamma function.
double Digamma(double x);
// Its n-th derivative; NaN unless n is a whole number >= 0.
double Polygamma(double n, double x);
// Hurwitz's zeta function: the sum of (q + k)^-x over k >= 0.
double HurwitzZeta(double x, double q);
// The regularised incomplete gamma functions, lower and upper.
double IncompleteGammaP(double a, double x);
double IncompleteGammaQ(double a, double x);
// The derivative of the lower one by a.
double IncompleteGammaPByA(double a, double x);
// The regularised incomplete beta function.
double IncompleteBeta(double a, double b, double x);

}  // namespace slipway::kernels
