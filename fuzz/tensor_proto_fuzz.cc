// SPDX-License-Identifier: Apache-2.0
//
// TensorProto and the Predict messages from any bytes; what was read must write and read again.
#include <cstdlib>

#include "wire/predict.h"
#include "wire/tensor_proto.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace slipway;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  TensorDecodeOptions options;
  options.max_bytes = 1 << 20;
  const auto tensor = DecodeTensorProto(bytes, options);
  if (tensor.ok()) {
    for (TensorEncoding encoding : {TensorEncoding::kTyped, TensorEncoding::kContent}) {
      std::string again;
      if (!AppendTensorProto(*tensor, encoding, &again).ok()) std::abort();
      if (again.size() != TensorProtoSize(*tensor, encoding)) std::abort();
      const auto back = DecodeTensorProto(again, TensorDecodeOptions());
      if (!back.ok() || back->shape() != tensor->shape()) std::abort();
    }
  }
  DecodePredictRequest(bytes, options).status().IgnoreError();
  DecodePredictResponse(bytes, options).status().IgnoreError();
  DecodeShapeProto(bytes).status().IgnoreError();
  return 0;
}
