// SPDX-License-Identifier: Apache-2.0
//
// Predict bodies of TensorFlow Serving's REST API, read straight into tensors and written straight
// from them; no tree in between. Rules, messages and number formats are TensorFlow Serving's.
//
//   row     {"signature_name"?: S, "instances": […]}     ->  {"predictions": […]}
//   column  {"signature_name"?: S, "inputs": …}          ->  {"outputs": …}
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "slipway/status.h"
#include "slipway/tensor.h"
#include "wire/predict.h"
#include "wire/tensor_proto.h"

namespace slipway {

inline constexpr std::string_view kDefaultSignature = "serving_default";

enum class JsonPredictFormat { kRow, kColumn };

struct JsonPredictRequest {
  std::string signature_name;  // kDefaultSignature if the body gives none
  JsonPredictFormat format = JsonPredictFormat::kRow;
  std::vector<std::pair<std::string, Tensor>> inputs;  // in the order of the signature's inputs
};

// The inputs of a signature: names and dtypes (shapes are not checked here, the graph decides).
// Called once per body; the span must live until ParsePredictJson returns. Its error is returned.
using SignatureInputs =
    std::function<StatusOr<std::span<const TensorSpec>>(std::string_view signature_name)>;

// All errors are INVALID_ARGUMENT but: UNIMPLEMENTED for inputs of complex
// and quantised types, RESOURCE_EXHAUSTED over options.max_bytes. Bytes after the document are
// ignored. No recursion: any depth of brackets is either skipped or a clear error. Of duplicate
// keys of the top level the last one counts; in an object of named inputs a duplicate is an error.
StatusOr<JsonPredictRequest> ParsePredictJson(std::string_view body, const SignatureInputs& inputs,
                                              const TensorDecodeOptions& options = {});

// Appends the answer. Row form needs outputs of rank >= 1 with one common first dimension. With
// one output its name is dropped. Strings of an output named "…_bytes" become {"b64": …}.
// INVALID_ARGUMENT for those and for dtypes JSON has no form for (complex,
// quantised, resources, variants); `out` then holds what it held before.
Status AppendPredictJson(JsonPredictFormat format, std::span<const NamedTensor> outputs,
                         std::string* out);

// `{"error": "…"}` as TensorFlow Serving prints it, with the message escaped.
std::string JsonErrorBody(std::string_view message);

// A JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD.
void AppendJsonString(std::string_view text, std::string* out);

}  // namespace slipway
