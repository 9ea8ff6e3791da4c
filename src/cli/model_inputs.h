// SPDX-License-Identifier: Apache-2.0
//
// Flags that `slipway model run` and `slipway model bench` share: which model, which signature, and
// the inputs, as saved_model_cli run takes them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/flags.h"
#include "model/load_flags.h"
#include "model/saved_model.h"
#include "slipway/status.h"

namespace slipway::cli {

struct ModelInputFlags {
  std::string dir;
  std::string tag_set = "serve";
  std::string signature = "serving_default";
  std::vector<std::string> inputs;
  std::vector<std::string> input_exprs;
  std::vector<std::string> input_examples;
  model::LoadFlags load;

  std::vector<Flag> Table();
  bool any_inputs() const {
    return !inputs.empty() || !input_exprs.empty() || !input_examples.empty();
  }
  StatusOr<std::unique_ptr<model::SavedModel>> Load(const model::LoadOptions& options = {}) const;
  // What the three flags give, a later one before an earlier one, in the types that the signature
  // wants. INVALID_ARGUMENT names the flag, the input and what was seen.
  StatusOr<model::TensorMap> Inputs(const model::Signature& signature) const;
};

// "serve,gpu" as tags; blanks around them and empty ones are left out.
std::vector<std::string> SplitTags(const std::string& tag_set);

}  // namespace slipway::cli
