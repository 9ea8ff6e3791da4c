// SPDX-License-Identifier: Apache-2.0
//
// A table from any bytes.
#include "checkpoint/table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace slipway;
  TableReader::Options options;
  options.max_block_bytes = 1 << 20;
  const auto reader = TableReader::FromBytes(std::string(reinterpret_cast<const char*>(data), size),
                                             "fuzz.index", options);
  if (!reader.ok()) return 0;
  reader->ForEach([](std::string_view, std::string_view) { return OkStatus(); }).IgnoreError();
  return 0;
}
