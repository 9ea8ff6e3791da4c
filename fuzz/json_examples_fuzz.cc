// SPDX-License-Identifier: Apache-2.0
//
// A classify or regress body from any bytes; each Example read must be one.
#include <cstdlib>

#include "wire/example.h"
#include "wire/json_examples.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace slipway;
  const auto request = ParseExamplesJson({reinterpret_cast<const char*>(data), size});
  if (!request.ok()) return 0;
  for (const std::string& example : request->examples.flat<std::string>()) {
    std::vector<NamedFeature> features;
    if (!ReadExample(example, &features).ok()) std::abort();
  }
  return 0;
}
