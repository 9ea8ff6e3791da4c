// SPDX-License-Identifier: Apache-2.0
//
// Single kernels on one thread: products in FLOP/s, the others in bytes/s.
#include <benchmark/benchmark.h>

#include "kernels/elementwise.h"
#include "kernels/gemm.h"
#include "kernels/simd_rows.h"

namespace slipway::kernels {
namespace {

std::vector<float> Values(int64_t n) {
  std::vector<float> values(static_cast<size_t>(n));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 17) * 0.1f - 0.8f;
  return values;
}

// m, n, k, which of A (1) and B (2) are transposed.
void BM_Gemm(benchmark::State& state) {
  GemmArgs g;
  g.m = state.range(0);
  g.n = state.range(1);
  g.k = state.range(2);
  g.transpose_a = (state.range(3) & 1) != 0;
  g.transpose_b = (state.range(3) & 2) != 0;
  g.lda = g.transpose_a ? g.m : g.k;
  g.ldb = g.transpose_b ? g.k : g.n;
  g.ldc = g.n;
  const auto a = Values(g.m * g.k), b = Values(g.k * g.n);
  auto c = Values(g.m * g.n);
  g.a = a.data();
  g.b = b.data();
  g.c = c.data();
  for (auto _ : state) {
    Gemm(g);
    benchmark::ClobberMemory();
  }
  state.counters["flops"] = benchmark::Counter(
      2.0 * static_cast<double>(g.m * g.n * g.k) * static_cast<double>(state.iterations()),
      benchmark::Counter::kIsRate);
}
// The three products of a dense layer's step (forward, dW, dx) at batch 32, one row, and a square.
BENCHMARK(BM_Gemm)
    ->Args({32, 300, 784, 0})
    ->Args({784, 300, 32, 1})
    ->Args({32, 784, 300, 2})
    ->Args({32, 10, 100, 0})
    ->Args({100, 10, 32, 1})
    ->Args({1, 300, 784, 0})
    ->Args({512, 512, 512, 0});

void BM_Unary(benchmark::State& state) {
  const int64_t n = 4096;
  const auto x = Values(n);
  auto y = Values(n);
  const UnaryLoop loop = FastUnaryLoop(static_cast<FastUnary>(state.range(0)));
  for (auto _ : state) {
    loop(x.data(), y.data(), n, 0.1f);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * n);
}
BENCHMARK(BM_Unary)
    ->Arg(static_cast<int>(FastUnary::kRelu))
    ->Arg(static_cast<int>(FastUnary::kExp))
    ->Arg(static_cast<int>(FastUnary::kTanh))
    ->Arg(static_cast<int>(FastUnary::kSigmoid));

void BM_Adam(benchmark::State& state) {
  const int64_t n = 235200;
  auto var = Values(n), m = Values(n), v = std::vector<float>(static_cast<size_t>(n), 0.5f);
  const auto grad = Values(n);
  for (auto _ : state) {
    Rows().adam(var.data(), m.data(), v.data(), grad.data(), {1e-3f, 0.9f, 0.999f, 1e-7f, false},
                n);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * n * 7 * 4);
}
BENCHMARK(BM_Adam);

}  // namespace
}  // namespace slipway::kernels
