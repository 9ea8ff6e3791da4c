// SPDX-License-Identifier: Apache-2.0
//
// The fast product against an obvious one, over sizes around every block and tile border.
#include "kernels/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace slipway::kernels {
namespace {

double Activate(double x, Activation activation, double alpha) {
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return std::max(x, 0.0);
    case Activation::kRelu6:
      return std::min(std::max(x, 0.0), 6.0);
    case Activation::kLeakyRelu:
      return x > 0 ? x : alpha * x;
    case Activation::kElu:
      return x < 0 ? std::expm1(x) : x;
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kSigmoid:
      return 1 / (1 + std::exp(-x));
  }
  return x;
}

// The definition, in double.
double ReferenceElement(const GemmArgs& g, int64_t i, int64_t j) {
  double sum = 0;
  for (int64_t p = 0; p < g.k; ++p) {
    const float a = g.transpose_a ? g.a[p * g.lda + i] : g.a[i * g.lda + p];
    const float b = g.transpose_b ? g.b[j * g.ldb + p] : g.b[p * g.ldb + j];
    sum += static_cast<double>(a) * static_cast<double>(b);
  }
  if (g.bias != nullptr) sum += static_cast<double>(g.bias[j]);
  return Activate(sum, g.activation, static_cast<double>(g.alpha));
}

class GemmCheck {
 public:
  std::vector<float> Random(int64_t n) {
    std::vector<float> values(static_cast<size_t>(n));
    for (float& v : values) v = distribution_(engine_);
    return values;
  }

  // Fills g's matrices with random values (rows `gap` longer than needed), runs and compares.
  // The gaps of C must stay as they were. Returns C.
  std::vector<float> Run(GemmArgs g, int64_t gap) {
    g.lda = (g.transpose_a ? g.m : g.k) + gap;
    g.ldb = (g.transpose_b ? g.k : g.n) + gap;
    g.ldc = g.n + gap;
    const auto a = Random((g.transpose_a ? g.k : g.m) * g.lda + 1);
    const auto b = Random((g.transpose_b ? g.n : g.k) * g.ldb + 1);
    const auto bias = Random(g.n + 1);
    std::vector<float> c(static_cast<size_t>(g.m * g.ldc) + 1, -77.0f);
    g.a = a.data();
    g.b = b.data();
    g.c = c.data();
    if (g.bias != nullptr) g.bias = bias.data();
    std::vector<float> packed(static_cast<size_t>(PackedGemmBSize(g.n, g.k)) + 1, 0.0f);
    if (g.packed_b != nullptr) {
      PackGemmB(g, packed.data());
      g.packed_b = packed.data();
    }
    Gemm(g);
    for (int64_t i = 0; i < g.m; ++i) {
      for (int64_t j = 0; j < g.ldc; ++j) {
        const double got = static_cast<double>(c[static_cast<size_t>(i * g.ldc + j)]);
        const double want = j < g.n ? ReferenceElement(g, i, j) : -77.0;
        const double bound =
            j < g.n ? 1e-6 * static_cast<double>(g.k + 4) + 1e-6 * std::abs(want) : 0;
        EXPECT_NEAR(got, want, bound)
            << "m " << g.m << " n " << g.n << " k " << g.k << " at " << i << "," << j << " ta "
            << g.transpose_a << " tb " << g.transpose_b;
        if (testing::Test::HasFailure()) return c;
      }
    }
    return c;
  }

 private:
  std::mt19937 engine_{11};
  std::uniform_real_distribution<float> distribution_{-1, 1};
};

const float kSomeBias = 0;     // says that a bias is wanted; Run puts the values there
const float kPackedFirst = 0;  // the same for packed_b

TEST(Gemm, EqualsTheDefinitionForAllSizesAndTransposes) {
  GemmCheck check;
  for (int64_t m : {0, 1, 2, 3, 5, 6, 7, 13, 73}) {
    for (int64_t n : {0, 1, 7, 8, 15, 16, 17, 31, 33, 65}) {
      for (int64_t k : {0, 1, 2, 9, 33}) {
        for (int transposes = 0; transposes < 4; ++transposes) {
          GemmArgs g;
          g.m = m;
          g.n = n;
          g.k = k;
          g.transpose_a = (transposes & 1) != 0;
          g.transpose_b = (transposes & 2) != 0;
          check.Run(g, (m + n + k) % 3);
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST(Gemm, EqualsTheDefinitionAcrossBlocks) {
  GemmCheck check;
  for (auto [m, n, k] : {std::array<int64_t, 3>{75, 260, 513}, {2, 530, 300}, {145, 17, 257}}) {
    for (int transposes = 0; transposes < 4; ++transposes) {
      GemmArgs g;
      g.m = m;
      g.n = n;
      g.k = k;
      g.transpose_a = (transposes & 1) != 0;
      g.transpose_b = (transposes & 2) != 0;
      g.bias = &kSomeBias;
      check.Run(g, 1);
      if (HasFailure()) return;
    }
  }
}

TEST(Gemm, TakesWeightsPackedBefore) {
  ThreadPool pool(2);
  for (auto [m, n, k] : {std::array<int64_t, 3>{7, 9, 5},
                         {3, 530, 300},
                         {75, 256, 513},
                         {1, 40, 8},
                         {9, 1000, 300}}) {
    for (int transposes = 0; transposes < 4; ++transposes) {
      GemmCheck check;
      GemmArgs g;
      g.m = m;
      g.n = n;
      g.k = k;
      g.transpose_a = (transposes & 1) != 0;
      g.transpose_b = (transposes & 2) != 0;
      g.packed_b = &kPackedFirst;
      g.pool = &pool;
      check.Run(g, 0);
      if (HasFailure()) return;
    }
  }
}

TEST(Gemm, AppliesBiasAndActivation) {
  GemmCheck check;
  for (Activation activation :
       {Activation::kNone, Activation::kRelu, Activation::kRelu6, Activation::kLeakyRelu,
        Activation::kElu, Activation::kTanh, Activation::kSigmoid}) {
    for (int64_t m : {1, 9}) {
      for (int64_t k : {0, 12}) {
        GemmArgs g;
        g.m = m;
        g.n = 37;
        g.k = k;
        g.bias = &kSomeBias;
        g.activation = activation;
        g.alpha = 0.3f;
        check.Run(g, 0);
        if (HasFailure()) return;
      }
    }
  }
}

TEST(Gemm, GivesTheSameBitsWithAnyNumberOfThreads) {
  for (auto [m, n, k] : {std::array<int64_t, 3>{300, 40, 90}, {12, 700, 100}, {1, 900, 400}}) {
    std::vector<float> first;
    for (int threads : {0, 1, 3}) {
      ThreadPool pool(threads);
      GemmCheck check;  // the same random numbers each time
      GemmArgs g;
      g.m = m;
      g.n = n;
      g.k = k;
      g.pool = &pool;
      const auto c = check.Run(g, 0);
      if (first.empty()) first = c;
      EXPECT_EQ(c, first) << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace slipway::kernels
