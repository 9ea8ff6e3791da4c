// SPDX-License-Identifier: Apache-2.0
//
// A TFRecord file and an event file from any bytes, as they are and as the payload of a record.
#include "wire/events.h"
#include "wire/record.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace slipway;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto env = NewMemoryEnv();
  if (!WriteFile(env.get(), "plain", bytes).ok()) return 0;
  std::string framed;
  AppendRecord(bytes, &framed);
  if (!WriteFile(env.get(), "framed", framed).ok()) return 0;
  for (const char* path : {"plain", "framed"}) {
    ReadScalarEvents(env.get(), path).status().IgnoreError();
    const auto reader = RecordReader::Open(env.get(), path);
    std::string_view record;
    while (reader.ok()) {
      const auto more = (*reader)->Next(&record);
      if (!more.ok() || !*more) break;
    }
  }
  return 0;
}
