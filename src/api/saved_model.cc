// SPDX-License-Identifier: Apache-2.0
#include "slipway/saved_model.h"

#include "model/saved_model.h"

namespace slipway {

struct SavedModel::State {
  std::unique_ptr<model::SavedModel> model;
};

SavedModel::SavedModel(std::unique_ptr<State> state) : state_(std::move(state)) {}
SavedModel::SavedModel(SavedModel&&) noexcept = default;
SavedModel& SavedModel::operator=(SavedModel&&) noexcept = default;
SavedModel::~SavedModel() = default;

StatusOr<SavedModel> SavedModel::Load(const std::string& directory) {
  auto state = std::make_unique<State>();
  ASSIGN_OR_RETURN(state->model, model::SavedModel::Load(Env::Default(), directory));
  return SavedModel(std::move(state));
}

std::vector<std::string> SavedModel::signatures() const {
  std::vector<std::string> names;
  for (const model::Signature* signature : state_->model->signatures()) {
    names.push_back(signature->name());
  }
  return names;
}

StatusOr<std::vector<TensorSpec>> SavedModel::inputs(const std::string& signature) const {
  ASSIGN_OR_RETURN(const model::Signature* found, state_->model->FindSignature(signature));
  return found->inputs();
}

StatusOr<std::vector<TensorSpec>> SavedModel::outputs(const std::string& signature) const {
  ASSIGN_OR_RETURN(const model::Signature* found, state_->model->FindSignature(signature));
  return found->outputs();
}

StatusOr<std::map<std::string, Tensor>> SavedModel::Run(
    const std::map<std::string, Tensor>& inputs) const {
  return Run("serving_default", inputs);
}

StatusOr<std::map<std::string, Tensor>> SavedModel::Run(
    const std::string& signature, const std::map<std::string, Tensor>& inputs) const {
  ASSIGN_OR_RETURN(const model::Signature* found, state_->model->FindSignature(signature));
  model::TensorMap by_name(inputs.begin(), inputs.end());
  ASSIGN_OR_RETURN(model::TensorMap outputs, found->Run(by_name));
  return std::map<std::string, Tensor>(outputs.begin(), outputs.end());
}

}  // namespace slipway
