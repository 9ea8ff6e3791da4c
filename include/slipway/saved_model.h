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

// Thread safety: const methods from any thread.
class SavedModel {
 public:
  // NOT_FOUND if there is none at `directory`, DATA_LOSS if it is damaged, UNIMPLEMENTED if it
  // needs ops that Slipway does not have (all of them are listed).
  static StatusOr<SavedModel> Load(const std::string& directory);
  SavedModel(SavedModel&&) noexcept;
  SavedModel& operator=(SavedModel&&) noexcept;
  ~SavedModel();

  std::vector<std::string> signatures() const;
  // What a signature takes and gives, by name. NOT_FOUND… as Run.
  StatusOr<std::vector<TensorSpec>> inputs(const std::string& signature = "serving_default") const;
  StatusOr<std::vector<TensorSpec>> outputs(const std::string& signature = "serving_default") const;

  // FAILED_PRECONDITION for an unknown signature; INVALID_ARGUMENT for inputs that do not fit.
  StatusOr<std::map<std::string, Tensor>> Run(
      const std::map<std::string, Tensor>& inputs,
      const std::string& signature = "serving_default") const;

 private:
  struct State;
  explicit SavedModel(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace slipway
