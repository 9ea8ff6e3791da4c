// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as saved_model.pb, loaded as `slipway serve` loads it and run: import, passes, shape
// functions and kernels see whatever a graph can say. Files may not be touched.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/clock.h"
#include "graph_mutator.h"
#include "model/saved_model.h"
#include "tensor/allocator.h"

namespace {

using namespace slipway;

// Unknown sizes are 2; numbers are zero bytes, strings "7".
Tensor MakeInput(const TensorSpec& spec) {
  std::vector<int64_t> dims;
  int64_t elements = 1;
  if (spec.shape.has_rank()) {
    for (int i = 0; i < static_cast<int>(spec.shape.dims().size()); ++i) {
      dims.push_back(spec.shape.dim(i) < 0 ? 2 : std::min<int64_t>(spec.shape.dim(i), 64));
      elements *= dims.back();
      if (elements > 4096) return Tensor();
    }
  }
  auto tensor = Tensor::Allocate(spec.dtype, Shape(dims));
  if (!tensor.ok()) return Tensor();
  if (spec.dtype == DType::kString) {
    std::ranges::fill(tensor->flat<std::string>(), std::string("7"));
  } else if (spec.dtype != DType::kResource && spec.dtype != DType::kVariant) {
    std::memset(tensor->raw_data(), 0, tensor->byte_size());
  }
  return *std::move(tensor);
}

void RunOnce(const model::Signature& signature) {
  model::TensorMap inputs;
  for (const TensorSpec& spec : signature.inputs()) {
    Tensor input = MakeInput(spec);
    if (input.dtype() != spec.dtype) return;
    inputs.emplace(spec.name, std::move(input));
  }
  exec::RunOptions options;
  options.max_loop_iterations = 64;
  options.max_call_depth = 16;
  options.deadline_ns = Clock::Default()->NowNanos() + 2'000'000'000;
  signature.Run(inputs, {}, options).status().IgnoreError();
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  SetCpuMemoryLimit(int64_t{64} << 20);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto env = NewMemoryEnv();
  if (!env->CreateDirectories("m").ok()) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (!WriteFile(env.get(), "m/saved_model.pb", bytes).ok()) return 0;
  model::LoadOptions options;
  options.limits.max_constant_bytes = 1 << 20;
  options.allow_file_ops = false;
  for (const bool run_passes : {true, false}) {
    options.run_passes = run_passes;
    const auto model = model::SavedModel::Load(env.get(), "m", options);
    if (!model.ok()) continue;
    for (const model::Signature* signature : (*model)->signatures()) RunOnce(*signature);
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  tensorflow::SavedModel model;
  if (!model.ParseFromArray(data, static_cast<int>(size))) return size;
  fuzz::MutateSavedModel(&model, seed);
  if (model.ByteSizeLong() > max_size) return size;
  return model.SerializeToArray(data, static_cast<int>(max_size)) ? model.ByteSizeLong() : size;
}
