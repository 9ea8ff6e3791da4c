// SPDX-License-Identifier: Apache-2.0
//
// Requests over examples, from any bytes.
#include "wire/inference.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace slipway;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto request = DecodeExamplesRequest(bytes); request.ok())
    DecodeInput(request->input).status().IgnoreError();
  if (const auto request = DecodeMultiInferenceRequest(bytes); request.ok())
    DecodeInput(request->input).status().IgnoreError();
  return 0;
}
