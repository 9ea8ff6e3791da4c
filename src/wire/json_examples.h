// SPDX-License-Identifier: Apache-2.0
//
// Classify and regress bodies of TensorFlow Serving's REST API:
//
//   {"signature_name"?: S, "context"?: {feature…}, "examples": [{feature…}, …]}
//
// A feature is "name": value or list of values; all of one kind: integers and bools make an
// int64_list, numbers with a point or an exponent a float_list, strings and {"b64": …} a
// bytes_list.
#pragma once

#include <string>
#include <string_view>

#include "slipway/status.h"
#include "slipway/tensor.h"

namespace slipway {

struct JsonExamplesRequest {
  std::string signature_name;  // kDefaultSignature if the body gives none
  Tensor examples;             // serialised, the context in front of each
};

// All errors are INVALID_ARGUMENT. No recursion. Bytes after the document are ignored; of duplicate
// keys the last one counts.
StatusOr<JsonExamplesRequest> ParseExamplesJson(std::string_view body);

}  // namespace slipway
