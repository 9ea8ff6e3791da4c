// SPDX-License-Identifier: Apache-2.0
//
// Serialized examples, in both forms. The first byte picks one.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "wire/example.h"

namespace slipway {
namespace {

void ReadValues(std::string_view bytes) {
  const auto view = ReadFeature(bytes);
  if (!view.ok()) return;
  // Values are never more than the bytes that hold them.
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string> texts;
  AppendValues(view->list, &floats);
  AppendValues(view->list, &ints);
  AppendValues(view->list, &texts);
  if (floats.size() > bytes.size() || ints.size() > bytes.size() || texts.size() > bytes.size()) {
    std::abort();
  }
}

void ReadAll(std::string_view bytes) {
  std::vector<NamedFeature> context, lists;
  if (!ReadSequenceExample(bytes, &context, &lists).ok()) return;
  for (const NamedFeature& feature : context) ReadValues(feature.bytes);
  for (const NamedFeature& list : lists) {
    std::vector<std::string_view> features;
    if (!ReadFeatureList(list.bytes, &features).ok()) continue;
    for (std::string_view feature : features) ReadValues(feature);
  }
}

}  // namespace
}  // namespace slipway

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    slipway::ReadAll(bytes);
    return 0;
  }
  // What JSON becomes can be read.
  const auto encoded = slipway::ExampleFromJson(bytes);
  std::vector<slipway::NamedFeature> features;
  if (encoded.ok() && !slipway::ReadExample(*encoded, &features).ok()) std::abort();
  return 0;
}
