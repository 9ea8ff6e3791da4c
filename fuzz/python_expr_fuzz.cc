// SPDX-License-Identifier: Apache-2.0
//
// A Python expression from any bytes, and the array or example it makes.
#include "model/python_expr.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace slipway::model;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto value = ParsePython(text, {.max_elements = 1 << 16});
  if (!value.ok()) return 0;
  ArrayFromPython(*value).status().IgnoreError();
  ExampleFromPython(*value).status().IgnoreError();
  return 0;
}
