// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as saved_model.pb: an error or a model, within the limits of memory, never a crash.
#include <cstddef>
#include <cstdint>
#include <string>

#include "formats/saved_model_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  slipway::formats::ReadLimits limits;
  limits.max_constant_bytes = 1 << 20;
  auto file = slipway::formats::ParseSavedModel(
      std::string(reinterpret_cast<const char*>(data), size), "fuzz", limits);
  if (!file.ok()) return 0;
  for (const auto& meta_graph : file->meta_graphs) {
    for (const auto& name : meta_graph.functions->Names()) {
      meta_graph.functions->Find(name).status().IgnoreError();
    }
  }
  return 0;
}
