// SPDX-License-Identifier: Apache-2.0
//
// JSON of the REST server, both ways, in ns a number (items_per_second is numbers a second).
#include <benchmark/benchmark.h>

#include "base/random.h"
#include "base/strings.h"
#include "wire/crc32c.h"
#include "wire/json_number.h"
#include "wire/json_tensor.h"

namespace slipway {
namespace {

constexpr int64_t kNumbers = 150'000;

// 17 digits is what Python's tolist() of a float32 array gives, 9 what a careful client sends.
std::string Body(int digits) {
  Philox random(5);
  std::string body = "{\"instances\": [";
  for (int64_t i = 0; i < kNumbers; ++i) {
    char text[40];
    std::snprintf(text, sizeof(text), "%.*g", digits,
                  static_cast<double>(UniformFloat(random.Next()[0])));
    StrAppend(&body, i % 1000 == 0 ? (i == 0 ? "[" : "], [") : ", ", text);
  }
  return body + "]]}";
}

void BM_ReadJson(benchmark::State& state) {
  const std::string body = Body(static_cast<int>(state.range(0)));
  TensorSpec spec;
  spec.name = "x";
  spec.dtype = DType::kFloat;
  for (auto _ : state) {
    auto request =
        ParsePredictJson(body, [&](std::string_view) -> StatusOr<std::span<const TensorSpec>> {
          return std::span<const TensorSpec>(&spec, 1);
        });
    if (!request.ok()) return state.SkipWithError("refused");
    benchmark::DoNotOptimize(request->inputs[0].second.raw_data());
  }
  state.SetItemsProcessed(state.iterations() * kNumbers);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(body.size()));
}
BENCHMARK(BM_ReadJson)->Arg(2)->Arg(6)->Arg(9)->Arg(17)->Unit(benchmark::kMicrosecond);

void BM_WriteJson(benchmark::State& state) {
  Philox random(5);
  Tensor t(DType::kFloat, Shape({150, 1000}));
  for (float& v : t.flat<float>()) {
    const float uniform = UniformFloat(random.Next()[0]);
    v = state.range(0) == 6 ? static_cast<float>(static_cast<int>(uniform * 1e5f)) / 1e5f : uniform;
  }
  const NamedTensor output{"y", t};
  std::string out;
  for (auto _ : state) {
    out.clear();
    AppendPredictJson(JsonPredictFormat::kRow, {&output, 1}, &out).IgnoreError();
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations() * kNumbers);
}
BENCHMARK(BM_WriteJson)->Arg(6)->Arg(9)->Unit(benchmark::kMicrosecond);

void BM_Crc32c(benchmark::State& state) {
  const std::string bytes(static_cast<size_t>(state.range(0)), 'x');
  for (auto _ : state) benchmark::DoNotOptimize(Crc32c(bytes));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Crc32c)->Arg(64)->Arg(4096)->Arg(1 << 20);

}  // namespace
}  // namespace slipway
