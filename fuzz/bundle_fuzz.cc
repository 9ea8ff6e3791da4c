// SPDX-License-Identifier: Apache-2.0
//
// A bundle whose index holds entries made from the input and whose shard is the input too. The
// table around them is written by us: its checksums would stop almost every other input.
// Input: records of one length byte and that many bytes, in turn keys and entries.
#include <map>

#include "checkpoint/bundle.h"
#include "checkpoint/table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace slipway;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::map<std::string, std::string> entries = {{"", std::string("\x08\x01", 2)}};
  std::string_view rest = bytes;
  const auto take = [&rest] {
    const size_t length = rest.empty() ? 0 : static_cast<uint8_t>(rest[0]);
    rest.remove_prefix(rest.empty() ? 0 : 1);
    const std::string piece(rest.substr(0, length));
    rest.remove_prefix(piece.size());
    return piece;
  };
  while (!rest.empty()) {
    std::string key = take();
    entries[std::move(key)] = take();
  }
  const auto env = NewMemoryEnv();
  auto file = env->OpenForWriting("b.index");
  if (!file.ok()) return 0;
  TableWriter writer(file->get());
  for (const auto& [key, value] : entries) {
    if (!writer.Add(key, value).ok()) return 0;
  }
  if (!writer.Finish().ok() || !(*file)->Close().ok()) return 0;
  WriteFile(env.get(), BundleDataName("b", 0, 1), bytes).IgnoreError();
  VerifyBundle(env.get(), "b", {.checksums = true}).IgnoreError();
  BundleReader::Options options;
  options.verify_checksums = false;
  const auto reader = BundleReader::Open(env.get(), "b", options);
  if (!reader.ok()) return 0;
  for (const auto& [key, entry] : (*reader)->entries()) {
    (*reader)->Read(key).status().IgnoreError();
    for (const TensorSlice& slice : entry.slices) {
      (*reader)->ReadSlice(key, slice).status().IgnoreError();
    }
  }
  return 0;
}
