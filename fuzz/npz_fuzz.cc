// SPDX-License-Identifier: Apache-2.0
//
// A .npz file from any bytes: the names, and every array of them.
#include "wire/npz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace slipway;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const NpzOptions options{.max_member_bytes = 1 << 24, .max_members = 1000};
  const auto names = ListNpz(bytes, options);
  if (!names.ok()) return 0;
  for (const std::string& name : *names) DecodeNpz(bytes, name, options).status().IgnoreError();
  return 0;
}
