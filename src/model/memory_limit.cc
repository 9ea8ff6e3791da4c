// SPDX-License-Identifier: Apache-2.0
#include "model/memory_limit.h"

#include "base/strings.h"
#include "checkpoint/bundle.h"

namespace slipway::model {
namespace {

// Sizes of a file may add up to anything.
uint64_t Sum(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

}  // namespace

MemoryLimit::MemoryLimit(uint64_t max_bytes, const ir::Graph& graph) : max_bytes_(max_bytes) {
  if (max_bytes == 0) return;
  for (const ir::Node* node : graph.nodes()) {
    if (node->IsConst() && node->schema() != nullptr) {
      constant_bytes_ = Sum(constant_bytes_, node->const_value().byte_size());
    }
  }
}

Status MemoryLimit::Check(uint64_t variable_bytes) const {
  if (max_bytes_ == 0 || Sum(variable_bytes, constant_bytes_) <= max_bytes_) return OkStatus();
  return ResourceExhaustedError(
      StrCat("The model takes ", variable_bytes, " bytes of variables and ", constant_bytes_,
             " of constants; at most ", max_bytes_, " are allowed (--max_model_bytes)"));
}

Status MemoryLimit::CheckCheckpoint(Env* env, const std::string& prefix) const {
  if (max_bytes_ == 0) return OkStatus();
  ASSIGN_OR_RETURN(const auto bundle, BundleReader::Open(env, prefix));
  uint64_t bytes = 0;
  RETURN_IF_ERROR(bundle->ForEachStored([&](std::string_view, const BundleEntry& entry) {
    bytes = Sum(bytes, entry.size);
    return OkStatus();
  }));
  return Check(bytes);
}

Status MemoryLimit::CheckVariables(const kernels::ResourceContainer& resources) const {
  if (max_bytes_ == 0) return OkStatus();
  uint64_t bytes = 0;
  for (const auto& [name, resource] : resources.All()) {
    const auto* variable = dynamic_cast<const kernels::Variable*>(resource.get());
    if (variable == nullptr || !variable->IsInitialized()) continue;
    ASSIGN_OR_RETURN(const Tensor value, variable->Read());
    bytes = Sum(bytes, value.byte_size());
  }
  return Check(bytes);
}

}  // namespace slipway::model
