// SPDX-License-Identifier: Apache-2.0
//
// Classify and Regress: signatures that parse tf.Example, their inputs bound, their outputs checked
// and written. Messages are TensorFlow Serving's.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "serve/predict.h"
#include "slipway/status.h"
#include "slipway/tensor.h"

namespace slipway::serve {

// Makes the signature (kDefaultSignature if `name` is empty) and the examples the prediction's, for
// its method, which is kClassify or kRegress. INVALID_ARGUMENT: no such signature, one whose inputs
// or outputs are not those of the method, or, with `check_method_name`, whose method is another.
Status BindExamples(std::string_view name, Tensor examples, bool check_method_name,
                    Prediction* prediction);

// After the run: the result as field `field` of a message (ClassificationResult or
// RegressionResult). INVALID_ARGUMENT: outputs of other types or shapes than the method's.
Status AppendExamplesResult(const Prediction& prediction, uint32_t field, std::string* out);

// {"results": [[["label", 0.5], …], …]}, or {"results": [0.5, …]}.
Status AppendExamplesJson(const Prediction& prediction, std::string* out);

}  // namespace slipway::serve
