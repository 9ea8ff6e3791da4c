// SPDX-License-Identifier: Apache-2.0
//
// tensorflow.serving.PredictRequest and PredictResponse (predict.proto, model.proto): both ends of
// the hot path of gRPC, without message objects.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slipway/status.h"
#include "slipway/tensor.h"
#include "wire/model_spec.h"
#include "wire/tensor_proto.h"

namespace slipway {

// Views point into the bytes decoded, or into what the caller keeps alive.
struct NamedTensor {
  std::string_view name;
  Tensor tensor;
};

struct PredictRequestView {
  bool has_model_spec = false;
  ModelSpecView model_spec;
  std::vector<NamedTensor> inputs;  // each name once; the last of equal names wins
  std::vector<std::string_view> output_filter;
};

struct PredictResponseView {
  ModelSpecView model_spec;
  std::vector<NamedTensor> outputs;
};

// INVALID_ARGUMENT as DecodeTensorProto (the message names the input), for malformed messages and
// for names that are not UTF-8; RESOURCE_EXHAUSTED when the tensors together are over
// options.max_bytes or options.max_splat_bytes. The views live as long as `bytes`; the tensors do
// not depend on them.
StatusOr<PredictRequestView> DecodePredictRequest(std::string_view bytes,
                                                  const TensorDecodeOptions& options = {});
StatusOr<PredictResponseView> DecodePredictResponse(std::string_view bytes,
                                                    const TensorDecodeOptions& options = {});

// Appended to `out`, which is grown once. UNIMPLEMENTED for resources and variants; `out` then
// holds what it held before.
Status AppendPredictRequest(const ModelSpecView& model_spec, std::span<const NamedTensor> inputs,
                            std::span<const std::string_view> output_filter,
                            TensorEncoding encoding, std::string* out);
Status AppendPredictResponse(const ModelSpecView& model_spec, std::span<const NamedTensor> outputs,
                             TensorEncoding encoding, std::string* out);

}  // namespace slipway
