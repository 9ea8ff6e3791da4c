// SPDX-License-Identifier: Apache-2.0
//
// A .npy file from any bytes; what was read must write and read again.
#include <cstdlib>

#include "wire/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace slipway;
  const auto tensor = DecodeNpy({reinterpret_cast<const char*>(data), size});
  if (!tensor.ok()) return 0;
  const auto bytes = EncodeNpy(*tensor);
  if (!bytes.ok()) return 0;
  const auto back = DecodeNpy(*bytes);
  if (!back.ok() || back->shape() != tensor->shape() || back->dtype() != tensor->dtype()) {
    std::abort();
  }
  return 0;
}
