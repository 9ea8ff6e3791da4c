// SPDX-License-Identifier: Apache-2.0
#include "model/bench.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/strings.h"

namespace slipway::model {
namespace {

StatusOr<Shape> ShapeOf(const TensorSpec& spec, const SynthesisOptions& options) {
  if (!spec.shape.has_rank()) return Shape({options.batch});
  std::vector<int64_t> dims;
  for (int i = 0; i < spec.shape.rank(); ++i) {
    const int64_t dim = spec.shape.dim(i);
    dims.push_back(dim >= 0 ? dim : i == 0 ? options.batch : options.dimension);
  }
  return Shape::FromDims(dims);
}

// A step of splitmix64: any numbers will do, if they are the same every time.
uint64_t NextRandom(uint64_t* state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

template <typename T>
void FillUniform(Tensor* tensor, uint64_t* state) {
  for (T& element : tensor->flat<T>()) {
    element = static_cast<T>(static_cast<float>(NextRandom(state) >> 40) / (1 << 24));
  }
}

StatusOr<Tensor> Synthesise(const TensorSpec& spec, const SynthesisOptions& options,
                            uint64_t* state) {
  if (spec.dtype == DType::kResource || spec.dtype == DType::kVariant) {
    return InvalidArgumentError("a resource or variant cannot be made up");
  }
  ASSIGN_OR_RETURN(const Shape shape, ShapeOf(spec, options));
  if (shape.num_elements() > (int64_t{4} << 30) / static_cast<int64_t>(DTypeSize(spec.dtype))) {
    return ResourceExhaustedError(StrCat("its shape ", shape.ToString(), " takes over 4 GiB"));
  }
  ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(spec.dtype, shape));
  switch (spec.dtype) {
    case DType::kFloat:
      FillUniform<float>(&tensor, state);
      break;
    case DType::kDouble:
      FillUniform<double>(&tensor, state);
      break;
    case DType::kHalf:
      FillUniform<Half>(&tensor, state);
      break;
    case DType::kBFloat16:
      FillUniform<BFloat16>(&tensor, state);
      break;
    case DType::kString:
      break;
    default:  // indices, lengths: 0 is the one that nearly always fits
      std::memset(tensor.raw_data(), 0, tensor.byte_size());
  }
  return tensor;
}

// Durations in nanoseconds; enough of them to keep all.
struct Samples {
  std::vector<int64_t> nanos;
  double Quantile(double share) const {
    if (nanos.empty()) return 0;
    const auto index = static_cast<size_t>(share * static_cast<double>(nanos.size() - 1));
    return static_cast<double>(nanos[index]) / 1e3;
  }
};

StatusOr<std::vector<Tensor>> InOrder(const Signature& signature, const TensorMap& inputs) {
  std::vector<Tensor> ordered;
  for (const TensorSpec& spec : signature.inputs()) {
    auto it = inputs.find(spec.name);
    if (it == inputs.end()) {
      it = signature.defaults().find(spec.name);
      if (it == signature.defaults().end()) {
        return InvalidArgumentError(StrCat("Input '", spec.name, "' is missing"));
      }
    }
    ordered.push_back(it->second);
  }
  if (inputs.size() > ordered.size()) {
    return InvalidArgumentError(
        StrCat(inputs.size(), " inputs are given, '", signature.name(), "' has ", ordered.size()));
  }
  return ordered;
}

// What the callers share.
struct Race {
  std::atomic<bool> stop{false};
  std::mutex mutex;
  Status error;
  Samples samples;
};

void Call(const Signature& signature, const std::vector<Tensor>& inputs, int64_t end_ns,
          Race* race) {
  constexpr size_t kMostSamples = size_t{1} << 24;
  std::vector<Tensor> outputs(signature.outputs().size());
  std::vector<int64_t> nanos;
  Status status;
  for (int64_t start = Clock::Default()->NowNanos(); status.ok() && !race->stop.load();) {
    status = signature.Run(inputs, outputs);
    const int64_t now = Clock::Default()->NowNanos();
    if (nanos.size() < kMostSamples) nanos.push_back(now - start);
    start = now;
    if (now >= end_ns) break;
  }
  std::lock_guard lock(race->mutex);
  if (!status.ok()) {
    race->stop.store(true);
    if (race->error.ok()) race->error = status;
  }
  race->samples.nanos.insert(race->samples.nanos.end(), nanos.begin(), nanos.end());
}

}  // namespace

StatusOr<TensorMap> SynthesiseInputs(const Signature& signature, const SynthesisOptions& options) {
  TensorMap inputs;
  uint64_t state = options.seed;
  for (const TensorSpec& spec : signature.inputs()) {
    auto tensor = Synthesise(spec, options, &state);
    if (!tensor.ok()) return tensor.status().WithContext(StrCat("Input '", spec.name, "'"));
    inputs.emplace(spec.name, *std::move(tensor));
  }
  return inputs;
}

StatusOr<BenchResult> Bench(const Signature& signature, const TensorMap& inputs,
                            const BenchOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<Tensor> ordered, InOrder(signature, inputs));
  std::vector<Tensor> outputs(signature.outputs().size());
  for (int64_t i = 0; i < options.warmup_calls; ++i) {
    RETURN_IF_ERROR(signature.Run(ordered, outputs));
  }
  Race race;
  const int64_t start = Clock::Default()->NowNanos();
  const int64_t end = start + static_cast<int64_t>(options.seconds * 1e9);
  std::vector<std::thread> threads;
  for (int i = 1; i < options.callers; ++i) {
    threads.emplace_back([&] { Call(signature, ordered, end, &race); });
  }
  Call(signature, ordered, end, &race);
  for (std::thread& thread : threads) thread.join();
  RETURN_IF_ERROR(race.error);
  const double took = static_cast<double>(Clock::Default()->NowNanos() - start) / 1e9;
  std::ranges::sort(race.samples.nanos);
  BenchResult result;
  result.callers = options.callers;
  result.calls = static_cast<int64_t>(race.samples.nanos.size());
  result.calls_per_second = static_cast<double>(result.calls) / took;
  double sum = 0;
  for (const int64_t nanos : race.samples.nanos) sum += static_cast<double>(nanos) / 1e3;
  result.mean_us = sum / static_cast<double>(std::max<int64_t>(result.calls, 1));
  result.min_us = race.samples.Quantile(0);
  result.p50_us = race.samples.Quantile(0.5);
  result.p90_us = race.samples.Quantile(0.9);
  result.p99_us = race.samples.Quantile(0.99);
  result.max_us = race.samples.Quantile(1);
  return result;
}

Status Profile(const Signature& signature, const TensorMap& inputs, int calls,
               exec::StepProfile* profile) {
  ASSIGN_OR_RETURN(const std::vector<Tensor> ordered, InOrder(signature, inputs));
  std::vector<Tensor> outputs(signature.outputs().size());
  for (int i = 0; i < calls; ++i) {
    RETURN_IF_ERROR(signature.Run(ordered, outputs, {.profile = profile}));
  }
  return OkStatus();
}

}  // namespace slipway::model
