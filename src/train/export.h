// SPDX-License-Identifier: Apache-2.0
//
// A built model as a SavedModel: callable in inference and in training mode, with the signature
// serving_default (input "inputs", output "output_0", as Keras names them).
#pragma once

#include <string>

#include "train/model_state.h"

namespace slipway::train {

// FAILED_PRECONDITION if the model is not built yet. An existing SavedModel at the directory is
// replaced in one step.
Status ExportSavedModel(ModelState& state, const std::string& directory);

}  // namespace slipway::train
