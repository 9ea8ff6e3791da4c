// SPDX-License-Identifier: Apache-2.0
//
// A SavedModel, ours or TensorFlow's, that is loaded and runs.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "slipway/status.h"
#include "slipway/tensor.h"

namespace slipway {

// It owns its variables and tables: two loaded models share nothing, and all memory goes with the
// object. What a signature writes into a variable is seen by the calls that follow.
//
// Thread safety: const methods from any thread at once; no lock is held while a signature runs.
class SavedModel {
 public:
  // Reads the folder (the one with saved_model.pb), the MetaGraph with the tag "serve"; restores
  // variables, initialises tables, compiles all signatures.
  // NOT_FOUND if there is none at `directory`, DATA_LOSS if it is damaged, UNIMPLEMENTED if it
  // needs ops that Slipway does not have (all of them are listed).
  static StatusOr<SavedModel> Load(const std::string& directory);
  SavedModel(SavedModel&&) noexcept;
  SavedModel& operator=(SavedModel&&) noexcept;
  ~SavedModel();

  std::vector<std::string> signatures() const;  // names, sorted
  // What a signature takes and gives, by name; unknown sizes are -1. Errors as Run.
  StatusOr<std::vector<TensorSpec>> inputs(const std::string& signature = "serving_default") const;
  StatusOr<std::vector<TensorSpec>> outputs(const std::string& signature = "serving_default") const;

  // Runs a signature; tensors are shared, not copied. Inputs with a default may be left out.
  // FAILED_PRECONDITION for an unknown signature (those there are, are listed); INVALID_ARGUMENT
  // for inputs that are missing, unknown or of another type, and for what an op does not take (the
  // node is named).
  StatusOr<std::map<std::string, Tensor>> Run(const std::string& signature,
                                              const std::map<std::string, Tensor>& inputs) const;
  // Runs "serving_default".
  StatusOr<std::map<std::string, Tensor>> Run(const std::map<std::string, Tensor>& inputs) const;

 private:
  struct State;
  explicit SavedModel(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace slipway
