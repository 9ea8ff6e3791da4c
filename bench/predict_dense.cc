// SPDX-License-Identifier: Apache-2.0
//
// One prediction in process, batch 1, against its kernels called back to back: what the engine
// adds. The dense network 784-300-100-10, and half_plus_two (y = x / 2 + 2), where there is hardly
// anything else. One line of JSON each.
//   predict_dense [--seconds=S]
#include <cstdio>
#include <random>
#include <string>

#include "base/flags.h"
#include "bench/report.h"
#include "exec/device.h"
#include "exec/executable.h"
#include "ir/builder.h"
#include "kernels/gemm.h"
#include "kernels/simd_rows.h"

namespace slipway::bench {
namespace {

Tensor Random(const Shape& shape) {
  Tensor tensor(DType::kFloat, shape);
  std::minstd_rand rng(7);
  std::uniform_real_distribution<float> value(-0.1f, 0.1f);
  for (float& v : tensor.flat<float>()) v = value(rng);
  return tensor;
}

template <typename Call>
Status Measure(const char* workload, const char* engine, double seconds, Call&& call) {
  Blocks blocks;
  const double end = ClockSeconds(CLOCK_MONOTONIC) + seconds;
  constexpr int64_t kCalls = 2000;
  for (int i = 0; i < 5 || ClockSeconds(CLOCK_MONOTONIC) < end; ++i) {
    blocks.Begin();
    for (int64_t c = 0; c < kCalls; ++c) RETURN_IF_ERROR(call());
    blocks.End(kCalls);
  }
  Print({.workload = workload,
         .engine = engine,
         .metric = "latency",
         .threads = 1,
         .batch = 1,
         .unit = "us",
         .scale = 1e6,
         .more = {}},
        blocks);
  return OkStatus();
}

Status RunExecutable(const char* workload, ir::Function function, const Tensor& x, double seconds) {
  ASSIGN_OR_RETURN(auto executable, exec::Executable::Compile(std::move(function), {}));
  Tensor y;
  return Measure(workload, "slipway", seconds, [&] { return executable->Run({&x, 1}, {&y, 1}); });
}

struct Dense {
  Tensor kernel, bias;
};

void DenseKernels(const Tensor& x, std::span<const Dense> layers, std::span<Tensor> values) {
  const float* from = x.flat<float>().data();
  for (size_t l = 0; l < layers.size(); ++l) {
    kernels::GemmArgs g;
    g.m = 1;
    g.k = layers[l].kernel.dim(0);
    g.n = layers[l].kernel.dim(1);
    g.a = from;
    g.lda = g.k;
    g.b = layers[l].kernel.flat<float>().data();
    g.ldb = g.n;
    g.c = values[l].flat<float>().data();
    g.ldc = g.n;
    g.bias = layers[l].bias.flat<float>().data();
    if (l + 1 < layers.size()) g.activation = kernels::Activation::kRelu;
    kernels::Gemm(g);
    from = g.c;
  }
  float* logits = values.back().flat<float>().data();
  kernels::Rows().softmax(logits, logits, values.back().num_elements());
}

Status PredictDense(double seconds) {
  constexpr const char* kWorkload = "infer/mlp";
  const int64_t sizes[] = {784, 300, 100, 10};
  ir::Function function;
  function.name = kWorkload;
  ir::GraphBuilder b(&function.graph);
  ASSIGN_OR_RETURN(ir::Output value,
                   function.AddArg("x", DType::kFloat, PartialShape({-1, sizes[0]})));
  std::vector<Dense> layers;
  std::vector<Tensor> values;
  for (int l = 0; l < 3; ++l) {
    layers.push_back({Random(Shape({sizes[l], sizes[l + 1]})), Random(Shape({sizes[l + 1]}))});
    values.emplace_back(DType::kFloat, Shape({1, sizes[l + 1]}));
    value = b.Op("MatMul", {value, b.Const(layers.back().kernel)});
    value = b.Op("BiasAdd", {value, b.Const(layers.back().bias)});
    value = b.Op(l < 2 ? "Relu" : "Softmax", {value});
  }
  RETURN_IF_ERROR(b.status());
  function.returns.push_back({"y", value});
  const Tensor x = Random(Shape({1, sizes[0]}));
  RETURN_IF_ERROR(RunExecutable(kWorkload, std::move(function), x, seconds));
  return Measure(kWorkload, "slipway-kernels", seconds, [&] {
    DenseKernels(x, layers, values);
    return OkStatus();
  });
}

Status PredictHalfPlusTwo(double seconds) {
  ir::Function function;
  function.name = "half_plus_two";
  ir::GraphBuilder b(&function.graph);
  ASSIGN_OR_RETURN(ir::Output x, function.AddArg("x", DType::kFloat, PartialShape({-1})));
  const ir::Output half = b.Op("Mul", {x, b.Scalar(0.5f)});
  function.returns.push_back({"y", b.Op("AddV2", {half, b.Scalar(2.0f)})});
  RETURN_IF_ERROR(b.status());
  return RunExecutable("infer/half_plus_two", std::move(function), Random(Shape({1})), seconds);
}

Status Run(double seconds) {
  RETURN_IF_ERROR(
      exec::Device::ConfigureDefaultCpu({.intra_op_threads = 1, .inter_op_threads = 1}));
  RETURN_IF_ERROR(PredictDense(seconds));
  return PredictHalfPlusTwo(seconds);
}

}  // namespace
}  // namespace slipway::bench

int main(int argc, char** argv) {
  double seconds = 2;
  slipway::FlagSet flags("predict_dense [flags]",
                         "Time of one prediction in process, with and without the engine.",
                         {{"seconds", &seconds, "seconds a measurement"}});
  slipway::Status status = flags.Parse(argc - 1, argv + 1).status();
  if (flags.help_wanted()) {
    std::printf("%s", flags.Help().c_str());
    return 0;
  }
  if (status.ok()) status = slipway::bench::Run(seconds);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
