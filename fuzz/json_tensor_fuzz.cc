// SPDX-License-Identifier: Apache-2.0
//
// A predict body from any bytes. The first byte picks the signature.
#include "wire/json_number.h"
#include "wire/json_tensor.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace slipway;
  if (size == 0) return 0;
  constexpr DType kTypes[] = {DType::kFloat,  DType::kString, DType::kInt32,  DType::kInt64,
                              DType::kUInt64, DType::kBool,   DType::kDouble, DType::kUInt8};
  std::vector<TensorSpec> specs(data[0] / 8 % 4);
  for (size_t i = 0; i < specs.size(); ++i) {
    specs[i].name = std::string(1, static_cast<char>('a' + i));
    specs[i].dtype = kTypes[(data[0] + i) % 8];
  }
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  TensorDecodeOptions options;
  options.max_bytes = 1 << 22;
  auto request = ParsePredictJson(
      body,
      [&](std::string_view) -> StatusOr<std::span<const TensorSpec>> {
        return std::span<const TensorSpec>(specs);
      },
      options);
  if (!request.ok()) {
    JsonErrorBody(request.status().message());
    return 0;
  }
  std::vector<NamedTensor> outputs;
  for (const auto& [name, tensor] : request->inputs) outputs.push_back({name, tensor});
  std::string out;
  AppendPredictJson(request->format, outputs, &out).IgnoreError();
  return 0;
}
