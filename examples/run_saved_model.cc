// SPDX-License-Identifier: Apache-2.0
//
// Runs a SavedModel on a vector of numbers: run_saved_model DIRECTORY INPUT NUMBER...
#include <slipway/slipway.h>

#include <cstdio>

namespace sw = slipway;

sw::Status Run(const std::string& directory, const std::string& input, const sw::Tensor& x) {
  ASSIGN_OR_RETURN(const sw::SavedModel model, sw::SavedModel::Load(directory));
  ASSIGN_OR_RETURN(const auto outputs, model.Run("serving_default", {{input, x}}));
  for (const auto& [name, value] : outputs) {
    std::printf("%s = %s\n", name.c_str(), value.ToString().c_str());
  }
  return sw::OkStatus();
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  std::vector<float> numbers;
  for (int i = 3; i < argc; ++i) numbers.push_back(std::stof(argv[i]));
  const sw::Tensor x = sw::Tensor::FromValues<float>(numbers, sw::Shape({argc - 3}));
  const sw::Status status = Run(argv[1], argv[2], x);
  if (!status.ok()) std::printf("%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
