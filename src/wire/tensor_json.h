// SPDX-License-Identifier: Apache-2.0
//
// Typed tensor JSON: tensors in a JSON file, exact for every dtype. What `slipway model run` reads
// and writes, and what cases for tests are kept in.
//
//   request   {"signature": S, "inputs": {NAME: TENSOR}}    or {"steps": [request, …]}
//   response  {"outputs": {NAME: TENSOR}}
//             or {"steps": [response or {"error": {"code", "message"}}, …]}
//   TENSOR    {"npy": "file.npy"}, relative to the JSON file, with an optional "dtype"
//             or {"dtype": "DT_INT32", "shape": [2], "values": [1, 2]}, flat in row-major order
//
// A string value is text or {"b64": "…"}; NaN and infinities are the strings "NaN", "Infinity",
// "-Infinity"; a complex value is [real, imaginary] or a text such as "1.5-2j". Other keys of a
// request are ignored. Resources and variants have no form: {"dtype": "DT_RESOURCE", "shape"} only
// is written. This is not the hot path; predict bodies of REST are in json_tensor.h.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/env.h"
#include "slipway/status.h"
#include "slipway/tensor.h"

namespace slipway {

using TensorMap = std::vector<std::pair<std::string, Tensor>>;  // in the order of the file

struct TensorJsonCall {
  std::string signature;  // empty: not given
  TensorMap inputs;
};
struct TensorJsonRequest {
  bool has_steps = false;  // else exactly one call
  std::vector<TensorJsonCall> calls;
};
struct TensorJsonResult {
  Status status;
  TensorMap outputs;  // if ok
};

// INVALID_ARGUMENT names the step, the input and what was wrong. `folder` is where .npy files lie.
StatusOr<TensorJsonRequest> ParseTensorJsonRequest(std::string_view text, Env* env,
                                                   const std::string& folder);
StatusOr<TensorJsonRequest> ReadTensorJsonRequest(Env* env, const std::string& path);

// The object {NAME: TENSOR} under `key` of the file's top level, such as "outputs" of a case.
StatusOr<TensorMap> ReadTensorJsonMap(Env* env, const std::string& path, std::string_view key);

// Up to this many elements are written inline, more beside the JSON file as
// <stem>.<name>.npy (<stem>.<step>.<name>.npy with steps).
inline constexpr int64_t kTensorJsonInlineElements = 1000;

// Writes a response: one result without steps, or all of them under "steps".
// A response without steps must be a success.
Status WriteTensorJsonResponse(Env* env, const std::string& path, bool steps,
                               std::span<const TensorJsonResult> results);

// One tensor as it is written inline, whatever its size; for messages and logs.
std::string TensorToJson(const Tensor& tensor);

// Python writes NaN and infinities as bare words, which are not JSON: they are put into quotes.
std::string QuoteBareWords(std::string_view text);

}  // namespace slipway
