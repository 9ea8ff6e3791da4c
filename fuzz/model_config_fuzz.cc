// SPDX-License-Identifier: Apache-2.0
//
// A model config file from any bytes.
#include <cstdlib>

#include "serve/model_config_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto models =
      slipway::serve::ParseModelConfigFile({reinterpret_cast<const char*>(data), size});
  if (!models.ok() && models.status().message().empty()) std::abort();
  return 0;
}
