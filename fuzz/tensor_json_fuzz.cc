// SPDX-License-Identifier: Apache-2.0
//
// Typed tensor JSON from any bytes, beside a .npy file that it may name; what was read must have
// a text that can be read.
#include <cstdlib>

#include "base/strings.h"
#include "wire/npy.h"
#include "wire/tensor_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace slipway;
  const auto env = NewMemoryEnv();
  WriteNpy(env.get(), "x.npy", Tensor::Vector<int8_t>({1, 2})).IgnoreError();
  const auto request =
      ParseTensorJsonRequest({reinterpret_cast<const char*>(data), size}, env.get(), ".");
  if (!request.ok()) return 0;
  for (const TensorJsonCall& call : request->calls) {
    for (const auto& [name, tensor] : call.inputs) {
      const std::string text = StrCat("{\"inputs\": {\"x\": ", TensorToJson(tensor), "}}");
      if (!ParseTensorJsonRequest(text, env.get(), ".").ok()) std::abort();
    }
  }
  return 0;
}
